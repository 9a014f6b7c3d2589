/* Readers of lists, and of the leash, whose axes are lists. */
#include <string.h>

#include "core/config/load.h"

/* The texts of an array of strings; a single string gets a hint. */
static void read_list(struct loader *l, const struct key *k,
		      const struct toml_value *v, bool may_be_empty,
		      struct strlist *ret)
{
	struct strlist list = {NULL, 0};

	if (v->type == TOML_STRING) {
		load_error(l, v->line, v->col,
			   "\"%s\" must be %s; put the string into brackets: "
			   "[\"…\"]",
			   k->name, key_type_text(k->type));
		return;
	}
	if (v->type != TOML_ARRAY) {
		load_wrong_type(l, k, v);
		return;
	}
	list.item = ARENA_ARRAY(l->arena, const char *, v->array.n + 1);
	for (size_t i = 0; i < v->array.n; i++) {
		const struct toml_value *item = &v->array.item[i];

		if (may_be_empty ? load_is_usable(l, k, item)
				 : load_is_filled(l, k, item))
			list.item[list.n++] = load_cstr(l, item);
	}
	*ret = list;
}

void read_STRINGS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	read_list(l, k, &m->value, true, load_field(k, object));
}

void read_RULES(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	struct golden_rules *rules = object;

	read_list(l, k, &m->value, false, &rules->ignore);
	rules->written = &m->value;
}

static void read_expandables(struct loader *l, const struct key *k,
			     enum expansion_kind kind,
			     const struct toml_value *v, struct strlist *list)
{
	size_t filled = 0;

	read_list(l, k, v, false, list);
	if (v->type != TOML_ARRAY)
		return;
	for (size_t i = 0; i < v->array.n && filled < list->n; i++) {
		const struct toml_value *item = &v->array.item[i];

		/* items with an error are not in the list */
		if (item->type != TOML_STRING ||
		    !str_is(item->string, list->item[filled]))
			continue;
		load_expand(l, k, kind, item, &list->item[filled++]);
	}
}

void read_PATHS(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_PATH, &m->value, load_field(k, object));
}

void read_READ_PATHS(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_READ, &m->value, load_field(k, object));
}

void read_WRITE_PATHS(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_WRITE, &m->value, load_field(k, object));
}

void read_PROGRAMS(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_PROGRAM, &m->value,
			 load_field(k, object));
}

/* Only the program is expanded; arguments stay as written. */
void read_COMMAND(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct strlist *list = load_field(k, object);
	const struct toml_value *v = &m->value;

	read_list(l, k, v, true, list);
	if (v->type != TOML_ARRAY)
		return;
	if (!v->array.n)
		load_error(l, v->line, v->col, "\"%s\" needs a program",
			   k->name);
	/* one that is no string has its error */
	else if (v->array.item[0].type == TOML_STRING && list->n &&
		 load_is_filled(l, k, &v->array.item[0]))
		load_expand(l, k, EXPAND_PROGRAM, &v->array.item[0],
			    &list->item[0]);
}

/* Have the gate check rows of `net`; the error stands at `v`. */
static bool check_net(struct loader *l, const struct toml_value *v,
		      const struct strlist *rows)
{
	const struct gate_policy p = {.net = *rows};
	struct err err = ERR_INIT;

	if (gate_policy_check(&p, &err) == 0)
		return true;
	load_error(l, v->line, v->col, "%s", err.msg);
	return false;
}

static bool check_net_row(struct loader *l, const struct toml_value *v)
{
	const char *row = load_cstr(l, v);

	if (!gate_net_is_word(row))
		return check_net(l, v, &(struct strlist){&row, 1});
	load_error(l, v->line, v->col,
		   "\"%s\" is not an endpoint; write net = \"%s\" without "
		   "brackets",
		   row, row);
	return false;
}

static void read_net_list(struct loader *l, const struct key *k,
			  const struct toml_value *v, struct strlist *list)
{
	bool is_right = true;

	read_list(l, k, v, false, list);
	for (size_t i = 0; i < v->array.n; i++)
		if (v->array.item[i].type == TOML_STRING &&
		    v->array.item[i].string.n)
			is_right &= check_net_row(l, &v->array.item[i]);
	if (is_right)
		(void)check_net(l, v, list);
}

void read_NET(struct loader *l, const struct key *k,
	      const struct toml_member *m, void *object)
{
	struct strlist *list = load_field(k, object);
	const struct toml_value *v = &m->value;
	struct strlist one = {ARENA_ARRAY(l->arena, const char *, 1), 1};

	if (v->type == TOML_ARRAY) {
		read_net_list(l, k, v, list);
		return;
	}
	if (!load_is_filled(l, k, v))
		return;
	one.item[0] = load_cstr(l, v);
	if (!check_net(l, v, &one))
		return;
	if (!gate_net_is_word(one.item[0])) {
		load_error(l, v->line, v->col,
			   "\"net\" must be a list of hosts; write net = "
			   "[\"%s\"]",
			   one.item[0]);
		return;
	}
	/* "none" is the empty list */
	one.n = strcmp(one.item[0], "none") != 0;
	*list = one;
}

/* ---- the leash ---- */

/* The one member of { only = … } or { at_most = … }; NULL after an error. */
static const struct toml_value *only_member(struct loader *l,
					    const struct key *k,
					    const struct toml_value *v,
					    const char *name)
{
	const struct toml_value *member = toml_get(v, name);

	if (member && v->table.n == 1)
		return member;
	load_wrong_type(l, k, v);
	return NULL;
}

/* The list of an axis; NULL when it is "all" or wrong. */
static const struct toml_value *axis_list(struct loader *l, const struct key *k,
					  const struct toml_value *v,
					  struct gate_axis *axis)
{
	if (v->type == TOML_STRING && str_is(v->string, "all")) {
		axis->all = true;
		return NULL;
	}
	return only_member(l, k, v, "only");
}

void read_AXIS(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_list(l, k, list, false, &axis->only);
}

void read_AXIS_PATHS(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_expandables(l, k, EXPAND_PATH, list, &axis->only);
}

void read_AXIS_PROGRAMS(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_expandables(l, k, EXPAND_PROGRAM, list, &axis->only);
}

void read_AXIS_NUMBERS(struct loader *l, const struct key *k,
		       const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (!list)
		return;
	if (list->type != TOML_ARRAY) {
		load_wrong_type(l, k, list);
		return;
	}
	axis->only.item = ARENA_ARRAY(l->arena, const char *, list->array.n);
	for (size_t i = 0; i < list->array.n; i++) {
		const struct toml_value *item = &list->array.item[i];

		if (item->type != TOML_INTEGER || item->integer < 0)
			load_wrong_type(l, k, item);
		else
			axis->only.item[axis->only.n++] = arena_printf(
				l->arena, "%lld", (long long)item->integer);
	}
}

void read_CALLS(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	struct gate_leash *caveats = object;
	const struct toml_value *v = &m->value;

	if (v->type == TOML_STRING && str_is(v->string, "unlimited")) {
		caveats->calls_unlimited = true;
		return;
	}
	v = only_member(l, k, v, "at_most");
	if (!v)
		return;
	if (v->type != TOML_INTEGER || v->integer < 0)
		load_wrong_type(l, k, v);
	else
		caveats->max_calls = (uint64_t)v->integer;
}
