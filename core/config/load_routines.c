/* [routines]: each routine, its steps, and what must go together in one. */
#include <stdio.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/config/load.h"

static void check_command(struct loader *l, const struct toml_value *from,
			  const struct step *s, const struct step_kind *kind)
{
	bool may_have_server = key_find(kind->section, "server");
	bool has_command = toml_get(from, "command");
	bool has_server = may_have_server && toml_get(from, "server");

	/* modulex: the server counts, the command only joins the leash */
	if (has_command && has_server && kind->section == SECTION_step_query)
		load_warning(l, s->line, s->col,
			     "both \"command\" and \"server\": the server is "
			     "called, and \"command\" only counts for what may "
			     "be started");
	else if (has_command && has_server)
		load_error(l, s->line, s->col,
			   "both \"command\" and \"server\"; keep one");
	else if (!has_command && !has_server)
		load_error(l, s->line, s->col, "the step lacks \"command\"%s",
			   may_have_server ? " or \"server\"" : "");
	if (s->args.n && !has_command && s->server_name)
		load_error(l, s->line, s->col,
			   "\"args\" are for a \"command\"; server \"%s\" has "
			   "its own",
			   s->server_name);
	if (s->tool && !*s->tool)
		load_error(l, s->line, s->col, "\"tool\" is empty");
	if (s->strict && !s->tool)
		load_error(l, s->line, s->col,
			   "\"strict\" needs a \"tool\": what stdout holds "
			   "has no schema");
	if (s->params && !s->tool && s->command)
		load_warning(l, s->line, s->col,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

static void check_duplicate(struct loader *l, const struct routine *r,
			    const struct step *s)
{
	for (const struct step *other = r->steps; other < s; other++)
		if (s->name && other->name && !strcmp(s->name, other->name)) {
			load_error(l, s->line, s->col,
				   "duplicate step \"%s\"; first defined in "
				   "line %u",
				   s->name, other->line);
			return;
		}
}

static const struct step_kind *kind_of(struct loader *l,
				       const struct toml_value *table,
				       const char **ret_instead)
{
	const struct toml_value *type = toml_get(table, "type");
	const struct step_kind *kind;
	const char *name;

	*ret_instead = NULL;
	if (!type || type->type != TOML_STRING)
		return NULL;
	name = load_cstr(l, type);
	kind = step_kind_find(name);
	if (!kind)
		*ret_instead = step_kind_instead(name);
	if (!kind && !*ret_instead && l->lax)
		*ret_instead = "`matins steps` lists those that there are";
	return kind;
}

/* Copy of a step that is skipped for its type, with the keys of all types. */
static struct toml_value skipped_step(struct loader *l,
				      const struct toml_value *from)
{
	static const char *const names[] = {"name", "type", "parallel",
					    "enabled", "required"};
	struct toml_value own = *from;

	own.table.member =
		ARENA_ARRAY(l->arena, struct toml_member, from->table.n);
	own.table.n = 0;
	for (size_t i = 0; i < from->table.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (!strcmp(from->table.member[i].key, names[k]))
				own.table.member[own.table.n++] =
					from->table.member[i];
	return own;
}

static void load_step(struct loader *l, const struct key *k,
		      const struct routine *r, const struct toml_value *from,
		      struct step *s)
{
	const struct toml_value *server;
	const struct step_kind *kind;
	struct toml_value own;

	s->line = from->line;
	s->col = from->col;
	if (!load_is_table(l, k, from))
		return;
	kind = kind_of(l, from, &s->instead);
	if (s->instead) {
		own = skipped_step(l, from);
		from = &own;
	}
	/* of an unknown type any key may be right */
	l->unset = &s->unset;
	load_table(l, from, SECTION_step,
		   kind ? kind->section : SECTION_step_query, s);
	l->unset = NULL;
	server = toml_get(from, "server");
	if (server) {
		s->server_line = server->line;
		s->server_col = server->col;
	}
	if (!toml_get(from, "name"))
		load_error(l, s->line, s->col, "the step lacks \"name\"");
	if (!toml_get(from, "type"))
		load_error(l, s->line, s->col,
			   "the step lacks \"type\"; `matins steps` lists the "
			   "types");
	if (kind)
		check_command(l, from, s, kind);
	check_duplicate(l, r, s);
}

void read_STEPS(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	struct routine *r = object;
	const struct toml_value *v = &m->value;

	if (v->type != TOML_ARRAY) {
		load_wrong_type(l, k, v);
		return;
	}
	if (v->array.n > LIMIT_STEPS) {
		load_error(l, m->line, m->col, "more than %d steps",
			   LIMIT_STEPS);
		return;
	}
	r->steps = ARENA_ARRAY(l->arena, struct step, v->array.n);
	r->n_steps = v->array.n;
	for (size_t i = 0; i < v->array.n; i++)
		load_step(l, k, r, &v->array.item[i], &r->steps[i]);
}

void read_ROUTINES(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	struct config *config = object;
	const struct toml_value *v = &m->value;

	if (!load_is_table(l, k, v))
		return;
	config->routines = ARENA_ARRAY(l->arena, struct routine, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];
		struct routine *r = &config->routines[config->n_routines];

		load_check_name(l, "routine", from->key, from->line, from->col);
		if (!load_is_table(l, k, &from->value))
			continue;
		config->n_routines++;
		r->name = from->key;
		r->line = from->line;
		r->col = from->col;
		l->routine = from->key;
		load_table(l, &from->value, SECTION_routine, SECTION_routine,
			   r);
		l->routine = NULL;
		if (!r->n_steps && !toml_get(&from->value, "steps"))
			load_warning(l, r->line, r->col,
				     "routine \"%s\" has no steps", r->name);
	}
}
