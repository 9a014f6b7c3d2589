#include "core/config/routine.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/keys.h"

struct loader {
	struct arena *arena;	   /* of the model */
	struct config *config;	   /* being filled */
	struct findings *findings; /* collected */
	bool lax;
	const char *routine, *server; /* being read, or NULL */
	const char **unset;	      /* of the server or step, or NULL */
	struct expansion **tail;      /* where the next one is hung */
};

#define load_error(l, ...) findings_addf((l)->findings, false, __VA_ARGS__)
#define load_warning(l, ...) findings_addf((l)->findings, true, __VA_ARGS__)
/* Add an error: a value of another type than the key's. */
static void load_wrong_type(struct loader *l, const struct key *k,
			    const struct toml_value *v);

/*
 * Read a table into the struct of its section: defaults first, then every
 * member through the reader of its key. Keys that neither section knows are
 * errors (lax: warnings).
 */
static void load_table(struct loader *l, const struct toml_value *table,
		       enum key_section section, enum key_section more,
		       void *object);

/* Set the defaults of the keys of one or two sections. */
static void load_defaults(enum key_section section, enum key_section more,
			  void *object);

/* Read the keys of a sandbox, and have the gate check their values. */
static void load_sandbox(struct loader *l, const struct toml_value *table,
			 struct gate_policy *p);

/*
 * A name that ends up in options, lists and file names: not empty, no
 * control characters, slashes or commas, no dash or dot in front.
 */
static void load_check_name(struct loader *l, const char *what,
			    const char *name, uint32_t line, uint32_t col);

/* A program whose name is a key: `~/` and ${VAR} in it are replaced later. */
static void load_expand_program(struct loader *l, const struct key *k,
				const struct toml_member *m, const char **slot);

/* The field of a key in the struct of its section. */
static void *load_field(const struct key *k, void *object);
/* Test for a table; another type is an error. */
static bool load_is_table(struct loader *l, const struct key *k,
			  const struct toml_value *v);
/* A string as a C string, in the arena. */
static const char *load_cstr(struct loader *l, const struct toml_value *v);
/* Test for a string without NUL; anything else is an error. */
static bool load_is_usable(struct loader *l, const struct key *k,
			   const struct toml_value *v);
/* Likewise, and not empty. */
static bool load_is_filled(struct loader *l, const struct key *k,
			   const struct toml_value *v);
/* Note that `~/` and ${VAR} in the slot are to be replaced later. */
static void load_expand(struct loader *l, const struct key *k,
			enum expansion_kind kind, const struct toml_value *v,
			const char **slot);

/* One reader for each key type; `object` is the struct of the section. */
#define KEY_TYPE(name, text)                                           \
	static void read_##name(struct loader *l, const struct key *k, \
				const struct toml_member *m, void *object);
#include "core/config/key_types.def"
#undef KEY_TYPE

/*
 * Readers of single values: one function for each row of key_types.def that
 * is neither a list (values_list.c) nor a table (values_table.c,
 * load_sections.c, load_servers.c, load_routines.c).
 */

static void *load_field(const struct key *k, void *object)
{
	return (char *)object + k->offset;
}

/* Words in a message: `the string "abc"`, "a table". */
static void describe(const struct toml_value *v, struct buf *out)
{
	switch (v->type) {
	case TOML_STRING:
		buf_adds(out, "the string \"");
		log_visible(out,
			    (struct str){v->string.p,
					 v->string.n < 40 ? v->string.n : 40},
			    false);
		buf_adds(out, v->string.n < 40 ? "\"" : "…\"");
		break;
	case TOML_INTEGER:
		buf_addf(out, "the integer %lld", (long long)v->integer);
		break;
	case TOML_BOOLEAN:
		buf_adds(out, v->boolean ? "true" : "false");
		break;
	case TOML_ARRAY:
		buf_adds(out, "an array");
		break;
	default:
		buf_addf(out, "a %s", toml_type_name(v->type));
		break;
	}
}

static void load_wrong_type(struct loader *l, const struct key *k,
			    const struct toml_value *v)
{
	struct buf what = BUF_INIT(BUF_UNBOUNDED);

	describe(v, &what);
	load_error(l, v->line, v->col, "\"%s\" must be %s, not %s", k->name,
		   key_type_text(k->type), buf_cstr(&what));
	buf_release(&what);
}

static bool load_is_table(struct loader *l, const struct key *k,
			  const struct toml_value *v)
{
	if (v->type == TOML_TABLE)
		return true;
	load_wrong_type(l, k, v);
	return false;
}

static const char *load_cstr(struct loader *l, const struct toml_value *v)
{
	return arena_strndup(l->arena, v->string.p, v->string.n);
}

static bool load_is_usable(struct loader *l, const struct key *k,
			   const struct toml_value *v)
{
	if (v->type != TOML_STRING) {
		load_wrong_type(l, k, v);
		return false;
	}
	if (str_find(v->string, '\0') < v->string.n) {
		load_error(l, v->line, v->col,
			   "\"%s\" contains the character NUL", k->name);
		return false;
	}
	return true;
}

static bool load_is_filled(struct loader *l, const struct key *k,
			   const struct toml_value *v)
{
	if (!load_is_usable(l, k, v))
		return false;
	if (v->string.n)
		return true;
	load_error(l, v->line, v->col, "\"%s\" is empty; it must be %s",
		   k->name, key_type_text(k->type));
	return false;
}

static void load_expand(struct loader *l, const struct key *k,
			enum expansion_kind kind, const struct toml_value *v,
			const char **slot)
{
	struct expansion *e = ARENA_NEW(l->arena, struct expansion);

	*e = (struct expansion){
		.slot = slot,
		.kind = kind,
		.key = k->name,
		.routine = l->routine,
		.server = l->server,
		.unset = l->unset,
		.line = v->line,
		.col = v->col,
	};
	*l->tail = e;
	l->tail = &e->next;
}

static void load_expand_program(struct loader *l, const struct key *k,
				const struct toml_member *m, const char **slot)
{
	/* the place of the key, not of its value */
	const struct toml_value at = {.line = m->line, .col = m->col};

	load_expand(l, k, EXPAND_PROGRAM, &at, slot);
}

static void read_STRING(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (load_is_usable(l, k, &m->value))
		*field = load_cstr(l, &m->value);
}

static void read_expandable(struct loader *l, const struct key *k,
			    enum expansion_kind kind,
			    const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (!load_is_filled(l, k, &m->value))
		return;
	*field = load_cstr(l, &m->value);
	load_expand(l, k, kind, &m->value, field);
}

static void read_PATH(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_PATH, m, object);
}

static void read_PROGRAM(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_PROGRAM, m, object);
}

static void read_URL(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_URL, m, object);
}

static void load_check_name(struct loader *l, const char *what,
			    const char *name, uint32_t line, uint32_t col)
{
	struct str s = str_of(name);
	bool bad = !s.n || s.n > 128 || s.p[0] == '-' || s.p[0] == '.';

	for (size_t i = 0; i < s.n; i++)
		bad |= (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ||
		       s.p[i] == '/' || s.p[i] == ',';
	if (bad)
		load_error(l, line, col,
			   "the name of a %s has 1 to 128 bytes, no control "
			   "character, slash or comma, and does not begin "
			   "with a dash or dot",
			   what);
}

static void read_NAME(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (!load_is_usable(l, k, &m->value))
		return;
	*field = load_cstr(l, &m->value);
	load_check_name(l, "step", *field, m->value.line, m->value.col);
}

static void read_TYPE(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);
	const struct step_kind *kind;
	const char *near, *name;

	if (!load_is_usable(l, k, &m->value))
		return;
	name = load_cstr(l, &m->value);
	kind = step_kind_find(name);
	*field = kind ? kind->canonical : name;
	if (kind || step_kind_instead(name))
		return;
	near = step_kind_nearest(name);
	findings_addf(l->findings, l->lax, m->value.line, m->value.col,
		      "unknown step type \"%s\"%s%s%s", name,
		      near ? "; did you mean \""
			   : "; `matins steps` lists them",
		      near ? near : "", near ? "\"?" : "");
}

/* Index of the value among the words of a key; -1 after an error. */
static int find_word(struct loader *l, const struct key *k,
		     const struct toml_value *v)
{
	AUTO(buf_release) struct buf what = BUF_INIT(BUF_UNBOUNDED);
	int i = v->type == TOML_STRING ? key_word(k, v->string) : -1;

	if (i >= 0)
		return i;
	key_add_words(k, "\"", &what);
	buf_adds(&what, ", not ");
	describe(v, &what);
	load_error(l, v->line, v->col, "\"%s\" must be %s", k->name,
		   buf_cstr(&what));
	return -1;
}

static void read_WORD(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (find_word(l, k, &m->value) >= 0)
		*field = load_cstr(l, &m->value);
}

static void read_CHOICE(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	unsigned *field = load_field(k, object);
	int i = find_word(l, k, &m->value);

	if (i >= 0)
		*field = (unsigned)i;
}

static void read_BOOL(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	bool *field = load_field(k, object);

	if (m->value.type == TOML_BOOLEAN)
		*field = m->value.boolean;
	else
		load_wrong_type(l, k, &m->value);
}

static void set_number(struct loader *l, const struct key *k,
		       const struct toml_value *v, uint64_t number,
		       void *object)
{
	AUTO(buf_release) struct buf bounds = BUF_INIT(BUF_UNBOUNDED);
	uint64_t *field = load_field(k, object);

	if (key_holds(k, number, &bounds))
		*field = number;
	else
		load_error(l, v->line, v->col, "\"%s\" is %s", k->name,
			   buf_cstr(&bounds));
}

static void read_COUNT(struct loader *l, const struct key *k,
		       const struct toml_member *m, void *object)
{
	if (m->value.type != TOML_INTEGER || m->value.integer < 0)
		load_wrong_type(l, k, &m->value);
	else
		set_number(l, k, &m->value, (uint64_t)m->value.integer, object);
}

/* False after an error. */
static bool read_ms(struct loader *l, const struct key *k,
		    const struct toml_value *v, uint64_t *ret_ms)
{
	/* far above every bound, and its milliseconds fit */
	const double most = 1e12;

	if (v->type == TOML_STRING && str_duration_ms(v->string, ret_ms))
		return true;
	if (v->type == TOML_INTEGER && v->integer >= 0) {
		*ret_ms = v->integer < (int64_t)most
				  ? (uint64_t)v->integer * 1000
				  : UINT64_MAX;
		return true;
	}
	if (v->type == TOML_FLOAT && v->real >= 0 && v->real < most) {
		*ret_ms = (uint64_t)(v->real * 1000 + 0.5);
		return true;
	}
	load_wrong_type(l, k, v);
	return false;
}

static void read_DURATION_MS(struct loader *l, const struct key *k,
			     const struct toml_member *m, void *object)
{
	uint64_t ms;

	if (read_ms(l, k, &m->value, &ms))
		set_number(l, k, &m->value, ms, object);
}

/* Rounded up, but below one second stays below the bound of one. */
static void read_SECONDS(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	uint64_t ms;

	if (read_ms(l, k, &m->value, &ms))
		set_number(l, k, &m->value,
			   ms / 1000 + (ms > 1000 && ms % 1000), object);
}

static void read_SIZE_BYTES(struct loader *l, const struct key *k,
			    const struct toml_member *m, void *object)
{
	const struct toml_value *v = &m->value;
	uint64_t bytes;

	if (v->type == TOML_STRING && str_size_bytes(v->string, &bytes))
		set_number(l, k, v, bytes, object);
	else if (v->type == TOML_INTEGER && v->integer >= 0)
		set_number(l, k, v, (uint64_t)v->integer, object);
	else
		load_wrong_type(l, k, v);
}

static bool is_date(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (i == 4 || i == 7 ? s.p[i] != '-'
				     : s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n == 10;
}

static void read_REVISION(struct loader *l, const struct key *k,
			  const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);
	const struct toml_value *v = &m->value;

	if (v->type == TOML_STRING && str_is(v->string, "auto"))
		*field = NULL;
	else if ((v->type == TOML_STRING || v->type == TOML_DATETIME) &&
		 is_date(v->string))
		*field = load_cstr(l, v);
	else
		load_wrong_type(l, k, v);
}

static void read_PARAMS(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	const struct toml_value **field = load_field(k, object);

	if (m->value.type != TOML_TABLE)
		load_wrong_type(l, k, &m->value);
	else if (*field)
		load_error(l, m->line, m->col,
			   "\"params\" and \"arguments\" are the same; keep "
			   "one");
	else
		*field = &m->value;
}

/* Readers of lists, and of the leash, whose axes are lists. */

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

static void read_STRINGS(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	read_list(l, k, &m->value, true, load_field(k, object));
}

static void read_RULES(struct loader *l, const struct key *k,
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

static void read_PATHS(struct loader *l, const struct key *k,
		       const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_PATH, &m->value, load_field(k, object));
}

static void read_READ_PATHS(struct loader *l, const struct key *k,
			    const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_READ, &m->value, load_field(k, object));
}

static void read_WRITE_PATHS(struct loader *l, const struct key *k,
			     const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_WRITE, &m->value, load_field(k, object));
}

static void read_PROGRAMS(struct loader *l, const struct key *k,
			  const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_PROGRAM, &m->value,
			 load_field(k, object));
}

/* Only the program is expanded; arguments stay as written. */
static void read_COMMAND(struct loader *l, const struct key *k,
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

static void read_NET(struct loader *l, const struct key *k,
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

static void read_AXIS(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_list(l, k, list, false, &axis->only);
}

static void read_AXIS_PATHS(struct loader *l, const struct key *k,
			    const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_expandables(l, k, EXPAND_PATH, list, &axis->only);
}

static void read_AXIS_PROGRAMS(struct loader *l, const struct key *k,
			       const struct toml_member *m, void *object)
{
	struct gate_axis *axis = load_field(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_expandables(l, k, EXPAND_PROGRAM, list, &axis->only);
}

static void read_AXIS_NUMBERS(struct loader *l, const struct key *k,
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

static void read_CALLS(struct loader *l, const struct key *k,
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

/* Readers of tables whose keys are free: headers, credentials. */

/* Values of headers are never shown: they may be credentials. */
static void read_HEADERS(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	struct headers *headers = load_field(k, object);
	const struct toml_value *v = &m->value;

	if (!load_is_table(l, k, v))
		return;
	headers->item = ARENA_ARRAY(l->arena, struct header, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];
		struct header *h = &headers->item[headers->n];

		if (!http_is_token(str_of(from->key))) {
			load_error(l, from->line, from->col,
				   "a key of \"headers\" is not a name of an "
				   "HTTP header");
		} else if (from->value.type != TOML_STRING ||
			   str_find(from->value.string, '\0') <
				   from->value.string.n) {
			load_error(l, from->value.line, from->value.col,
				   "header %s takes a string without NUL, in "
				   "which \"${NAME}\" is a variable",
				   from->key);
		} else {
			h->name = from->key;
			h->value = load_cstr(l, &from->value);
			h->is_reference = strstr(h->value, "${") != NULL;
			load_expand(l, k, EXPAND_HEADER, &from->value,
				    &h->value);
			headers->n++;
		}
	}
}

static bool is_variable(const char *s)
{
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == '=' || *p == 0x7f)
			return false;
	return *s;
}

/* Read exactly one of the three keys; false after an error. */
static bool load_reference(struct loader *l, const struct toml_member *m,
			   struct env_ref *ref)
{
	ref->name = m->key;
	ref->line = m->line;
	ref->col = m->col;
	if (m->value.type != TOML_TABLE) {
		load_error(l, m->value.line, m->value.col,
			   "credentials do not stand in the file; write "
			   "%s = { env = \"NAME\" }, { file = \"~/path\" } or "
			   "{ cmd = \"line\" }",
			   m->key);
		return false;
	}
	load_table(l, &m->value, SECTION_reference, SECTION_reference, ref);
	if (m->value.table.n != 1) {
		load_error(l, m->value.line, m->value.col,
			   "%s takes exactly one of \"env\", \"file\" and "
			   "\"cmd\"",
			   m->key);
		return false;
	}
	return ref->from != NULL;
}

static void read_REFERENCE(struct loader *l, const struct key *k,
			   const struct toml_member *m, void *object)
{
	struct env_ref *ref = load_field(k, object);

	if (!load_reference(l, m, ref))
		ref->from = NULL;
}

static void read_variable(struct loader *l, const struct toml_member *m,
			  struct env_refs *refs)
{
	if (!is_variable(m->key))
		load_error(l, m->line, m->col,
			   "a key of \"env\" is not a name of a variable");
	else if (load_reference(l, m, &refs->item[refs->n]))
		refs->n++;
}

static void read_ENV(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	struct env_refs *refs = load_field(k, object);

	if (m->value.type != TOML_TABLE) {
		load_error(l, m->value.line, m->value.col, "\"env\" must be %s",
			   key_type_text(k->type));
		return;
	}
	refs->item = ARENA_ARRAY(l->arena, struct env_ref, m->value.table.n);
	for (size_t i = 0; i < m->value.table.n; i++)
		read_variable(l, &m->value.table.member[i], refs);
}

static void set_reference(struct loader *l, const struct key *k,
			  const struct toml_member *m, struct env_ref *ref,
			  enum secret_source source)
{
	if (!load_is_filled(l, k, &m->value))
		return;
	ref->source = source;
	ref->from = load_cstr(l, &m->value);
}

static void read_REF_ENV(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	struct env_ref *ref = object;

	set_reference(l, k, m, ref, SECRET_ENV);
	if (ref->from && !is_variable(ref->from)) {
		load_error(l, m->value.line, m->value.col,
			   "\"env\" must be a name of a variable");
		ref->from = NULL;
	}
}

static void read_REF_FILE(struct loader *l, const struct key *k,
			  const struct toml_member *m, void *object)
{
	struct env_ref *ref = object;

	set_reference(l, k, m, ref, SECRET_FILE);
	if (ref->from)
		load_expand(l, k, EXPAND_PATH, &m->value, &ref->from);
}

static void read_REF_CMD(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	set_reference(l, k, m, object, SECRET_CMD);
}

/*
 * A table by the rows of keys.def: defaults, then each member through the
 * reader of its key, and what is said of a key that is not known.
 */

static void (*const readers[])(struct loader *l, const struct key *k,
			       const struct toml_member *m, void *object) = {
#define KEY_TYPE(name, text) read_##name,
#include "core/config/key_types.def"
#undef KEY_TYPE
};

static bool belongs(const struct key *k, enum key_section section,
		    enum key_section more)
{
	return k->section == section || k->section == more;
}

/* The texts in the table are ours: they read as what they say. */
static void set_default(const struct key *k, void *object)
{
	void *field = load_field(k, object);
	struct str def = str_of(k->def);
	bool ok = true;

	switch (k->type) {
	case KEY_BOOL:
		*(bool *)field = str_is(def, "true");
		break;
	case KEY_COUNT:
		ok = str_uint64(def, field);
		break;
	case KEY_DURATION_MS:
		ok = str_duration_ms(def, field);
		break;
	case KEY_SIZE_BYTES:
		ok = str_size_bytes(def, field);
		break;
	case KEY_STRING:
	case KEY_WORD:
		*(const char **)field = k->def;
		break;
	default: /* "auto" and the like: nothing is pinned */
		break;
	}
	assert(ok);
	(void)ok;
}

static void load_defaults(enum key_section section, enum key_section more,
			  void *object)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	/* unset until all policies are merged; the gate fills them in */
	if (section == SECTION_sandbox)
		return;
	for (size_t i = 0; i < n; i++)
		if (keys[i].def && belongs(&keys[i], section, more))
			set_default(&keys[i], object);
}

/* Which step types know the key; NULL when none does. */
static const char *types_with_key(struct loader *l, const char *name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);
	const char *text = NULL;

	for (size_t i = 0; i < n; i++)
		if (key_find(kinds[i].section, name))
			text = text ? arena_printf(l->arena, "%s or %s", text,
						   kinds[i].name)
				    : kinds[i].name;
	return text;
}

static void unknown_key(struct loader *l, const struct toml_member *m,
			enum key_section section, enum key_section more)
{
	const char *near = key_nearest(section, more, m->key);
	const char *types =
		section == SECTION_step ? types_with_key(l, m->key) : NULL;
	struct buf key = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&key, str_of(m->key), false);
	if (types)
		findings_addf(
			l->findings, l->lax, m->line, m->col,
			"key \"%s\" does not fit this step; it is for type %s",
			buf_cstr(&key), types);
	else if (section == SECTION_step && !strcmp(m->key, "url"))
		findings_addf(l->findings, l->lax, m->line, m->col,
			      "a step has no \"url\"; write it in "
			      "[servers.NAME], and "
			      "server = \"NAME\" here");
	else if (near)
		findings_addf(l->findings, l->lax, m->line, m->col,
			      "unknown key \"%s\"; did you mean \"%s\"?",
			      buf_cstr(&key), near);
	else
		findings_addf(l->findings, l->lax, m->line, m->col,
			      "unknown key \"%s\" in %s; `matins steps --md` "
			      "lists the keys",
			      buf_cstr(&key), key_section(section)->title);
	buf_release(&key);
}

static bool is_foreign(struct loader *l, const struct toml_member *m,
		       enum key_section section)
{
	struct err err;

	if (section != SECTION_top || !key_is_foreign(m->key))
		return false;
	err_at(&err, ERR_CONFIG, m->line, m->col,
	       "[%s] is a table of modulex; it is ignored", m->key);
	findings_add_note(l->findings, &err);
	return true;
}

static void load_table(struct loader *l, const struct toml_value *table,
		       enum key_section section, enum key_section more,
		       void *object)
{
	load_defaults(section, more, object);
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = key_find(section, m->key);

		if (!k)
			k = key_find(more, m->key);
		if (k)
			readers[k->type](l, k, m, object);
		else if (!is_foreign(l, m, section))
			unknown_key(l, m, section, more);
	}
}

/*
 * Readers of tables that have rows of their own in keys.def: sandbox and its
 * programs, auth, golden, caveats.
 */

/* ---- sandbox ---- */

/* Have the gate check the value of one key, all others being unset. */
static void check_value(struct loader *l, const struct key *k,
			const struct toml_value *v, const struct gate_policy *p)
{
	size_t bytes = k->type == KEY_STRINGS  ? sizeof(struct strlist)
		       : k->type == KEY_STRING ? sizeof(const char *)
					       : 0;
	struct gate_policy one = {0};
	struct err err = ERR_INIT;

	memcpy((char *)&one + k->offset, (const char *)p + k->offset, bytes);
	if (gate_policy_check(&one, &err) < 0)
		load_error(l, v->line, v->col, "%s", err.msg);
}

static void load_sandbox(struct loader *l, const struct toml_value *table,
			 struct gate_policy *p)
{
	load_table(l, table, SECTION_sandbox, SECTION_sandbox, p);
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = key_find(SECTION_sandbox, m->key);

		if (k)
			check_value(l, k, &m->value, p);
	}
}

static void read_SANDBOX(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	if (load_is_table(l, k, &m->value))
		load_sandbox(l, &m->value, load_field(k, object));
}

/* The name may hold variables; the last part of it is enough. */
static void check_rule(struct loader *l, const struct gate_program_rule *rule)
{
	const char *slash = strrchr(rule->name, '/');
	struct gate_program_rule named = *rule;
	const struct gate_policy p = {.programs = {&named, 1}};
	struct err err = ERR_INIT;

	named.name = slash && slash[1] ? slash + 1 : rule->name;
	if (gate_policy_check(&p, &err) < 0)
		load_error(l, rule->line, rule->col, "%s", err.msg);
}

static void load_program(struct loader *l, const struct toml_member *m,
			 const struct key *k, struct gate_program_rule *p)
{
	p->name = m->key;
	p->line = m->line;
	p->col = m->col;
	load_table(l, &m->value, SECTION_sandbox_program,
		   SECTION_sandbox_program, p);
	p->has_args = toml_get(&m->value, "args");
	check_rule(l, p);
	load_expand_program(l, k, m, &p->name);
}

static void read_PROGRAM_RULES(struct loader *l, const struct key *k,
			       const struct toml_member *m, void *object)
{
	struct gate_program_rules *rules = load_field(k, object);
	struct gate_program_rule *rule;
	const struct toml_value *v = &m->value;

	if (!load_is_table(l, k, v))
		return;
	rule = ARENA_ARRAY(l->arena, struct gate_program_rule, v->table.n);
	rules->item = rule;
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];

		if (!load_is_table(l, k, &from->value))
			continue;
		if (!*from->key)
			load_error(l, from->line, from->col,
				   "a program without a name");
		else
			load_program(l, from, k, &rule[rules->n++]);
	}
}

static void read_AUTH(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	struct server_auth *a = load_field(k, object);

	if (!load_is_table(l, k, &m->value))
		return;
	a->line = m->line;
	a->col = m->col;
	load_table(l, &m->value, SECTION_auth, SECTION_auth, a);
}

static void read_GOLDEN(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	if (load_is_table(l, k, &m->value))
		load_table(l, &m->value, SECTION_golden, SECTION_golden,
			   load_field(k, object));
}

static void read_CAVEATS(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	struct gate_leash *caveats = load_field(k, object);
	size_t n;
	const struct key *keys = keys_all(&n);

	if (!load_is_table(l, k, &m->value))
		return;
	caveats->source = "[caveats]";
	load_table(l, &m->value, SECTION_caveats, SECTION_caveats, caveats);
	for (size_t i = 0; i < n; i++)
		if (keys[i].section == SECTION_caveats &&
		    !toml_get(&m->value, keys[i].name))
			load_error(l, m->line, m->col,
				   "[caveats] lacks \"%s\" (%s); all six must "
				   "be there",
				   keys[i].name, keys[i].help);
}

/* [servers] and [mcp_servers]: each server, and what must go together in it. */

/* Keys that hold for a url, or for a program, by their rows. */
static void check_belonging(struct loader *l, const struct toml_value *from,
			    const struct server *s)
{
	bool has_url = toml_get(from, "url");
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		const struct key *k = &keys[i];

		if (k->section != SECTION_server || !k->of ||
		    !toml_get(from, k->name))
			continue;
		if (!has_url && strcmp(k->of, "url") == 0)
			load_error(l, s->line, s->col,
				   "server \"%s\": \"%s\" is for a \"url\"",
				   s->name, k->name);
		else if (s->url && strcmp(k->of, "command") == 0)
			load_warning(l, s->line, s->col,
				     "server \"%s\": \"%s\" is for a program; "
				     "nothing is started for a \"url\"",
				     s->name, k->name);
	}
}

/* Keys count by presence: a value of the wrong type has its own error. */
static void check_server(struct loader *l, const struct toml_value *from,
			 const struct server *s)
{
	bool has_command = toml_get(from, "command");
	bool has_url = toml_get(from, "url");

	if (has_command == has_url)
		load_error(l, s->line, s->col,
			   "server \"%s\" has %s; it takes exactly one of the "
			   "two",
			   s->name,
			   has_url ? "both \"command\" and \"url\""
				   : "neither \"command\" nor \"url\"");
	check_belonging(l, from, s);
	if (toml_get(from, "token") && toml_get(from, "api_key"))
		load_error(l, s->line, s->col,
			   "server \"%s\" has both \"token\" and \"api_key\"; "
			   "keep one",
			   s->name);
	if (s->args.n && !has_command)
		load_error(l, s->line, s->col,
			   "server \"%s\": \"args\" are for a \"command\"",
			   s->name);
}

/* Before it is expanded. */
static bool has_reference_behind_host(const char *url)
{
	const char *host = url ? strstr(url, "://") : NULL;

	if (!host)
		return false;
	host += 3;
	return strstr(host + strcspn(host, "/?"), "${") != NULL;
}

static void load_server(struct loader *l, const struct key *k,
			const struct toml_member *m)
{
	struct server *s = &l->config->servers[l->config->n_servers];

	load_check_name(l, "server", m->key, m->line, m->col);
	if (!load_is_table(l, k, &m->value))
		return;
	if (config_server(l->config, m->key)) {
		load_error(l, m->line, m->col,
			   "duplicate server \"%s\", in [servers] and in "
			   "[mcp_servers]",
			   m->key);
		return;
	}
	s->name = m->key;
	s->line = m->line;
	s->col = m->col;
	l->config->n_servers++;
	l->server = m->key;
	l->unset = &s->unset;
	load_table(l, &m->value, SECTION_server, SECTION_server, s);
	l->server = NULL;
	l->unset = NULL;
	s->url_has_reference = has_reference_behind_host(s->url);
	check_server(l, &m->value, s);
}

static void read_SERVERS(struct loader *l, const struct key *k,
			 const struct toml_member *m, void *object)
{
	(void)object;
	if (!load_is_table(l, k, &m->value))
		return;
	for (size_t i = 0; i < m->value.table.n; i++)
		load_server(l, k, &m->value.table.member[i]);
}

/* [routines]: each routine, its steps, and what must go together in one. */

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

static void read_STEPS(struct loader *l, const struct key *k,
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

static void read_ROUTINES(struct loader *l, const struct key *k,
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

/* Both spellings share one array, whose items must not move. */
static void make_servers(struct loader *l, const struct toml_value *root)
{
	const struct toml_value *a = toml_get(root, "servers");
	const struct toml_value *b = toml_get(root, "mcp_servers");
	size_t n = (a && a->type == TOML_TABLE ? a->table.n : 0) +
		   (b && b->type == TOML_TABLE ? b->table.n : 0);

	l->config->servers = ARENA_ARRAY(l->arena, struct server, n);
}

/* ---- what can be said when everything is read ---- */

static void unknown_server(struct loader *l, const struct step *s)
{
	const struct config *c = l->config;
	const char **names = ARENA_ARRAY(l->arena, const char *, c->n_servers);
	const char *near;

	for (size_t i = 0; i < c->n_servers; i++)
		names[i] = c->servers[i].name;
	near = str_nearest(str_of(s->server_name), names, c->n_servers);
	if (near)
		load_error(l, s->server_line, s->server_col,
			   "there is no server \"%s\"; did you mean \"%s\"?",
			   s->server_name, near);
	else
		load_error(l, s->server_line, s->server_col,
			   "there is no server \"%s\"; define it as "
			   "[servers.%s]",
			   s->server_name, s->server_name);
}

static void link_step(struct loader *l, struct step *s)
{
	if (!s->server_name)
		return;
	s->server = config_server(l->config, s->server_name);
	if (!s->server)
		unknown_server(l, s);
	else if (s->server->url && !s->tool)
		load_error(l, s->line, s->col,
			   "\"tool\" is missing: server \"%s\" has a url, "
			   "there is no stdout to read",
			   s->server_name);
	else if (s->params && !s->tool)
		load_warning(l, s->line, s->col,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

/* ---- the whole ---- */

static struct loader loader_of(bool lax, struct arena *arena,
			       struct config *config, struct findings *findings)
{
	return (struct loader){
		.arena = arena,
		.config = config,
		.findings = findings,
		.lax = lax,
		.tail = &config->expansions,
	};
}

int routine_load(const struct toml_value *root, bool lax, struct arena *arena,
		 struct config *ret_config, struct findings *findings)
{
	struct loader l = loader_of(lax, arena, ret_config, findings);

	*ret_config = (struct config){0};
	make_servers(&l, root);
	load_table(&l, root, SECTION_top, SECTION_top, ret_config);
	for (size_t i = 0; i < ret_config->n_routines; i++)
		for (size_t j = 0; j < ret_config->routines[i].n_steps; j++)
			link_step(&l, &ret_config->routines[i].steps[j]);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

int routine_load_policy(const struct toml_value *root, bool lax,
			struct arena *arena, struct config *ret_config,
			struct findings *findings)
{
	struct loader l = loader_of(lax, arena, ret_config, findings);

	if (toml_get(root, "sandbox"))
		return routine_load(root, lax, arena, ret_config, findings);
	*ret_config = (struct config){0};
	load_sandbox(&l, root, &ret_config->sandbox);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

/* ---- looking things up ---- */

const struct routine *config_routine(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_routines; i++)
		if (!strcmp(c->routines[i].name, name))
			return &c->routines[i];
	return NULL;
}

const struct server *config_server(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_servers; i++)
		if (!strcmp(c->servers[i].name, name))
			return &c->servers[i];
	return NULL;
}

struct server server_by_default(void)
{
	struct server s = {0};

	load_defaults(SECTION_server, SECTION_server, &s);
	return s;
}

const struct env_ref *server_reference(const struct server *s, size_t nth)
{
	const struct env_ref *const all[SERVER_REFERENCES] = {
		&s->token,
		&s->api_key,
#define AUTH_SECRET(key, ...) &s->auth.key,
#include "core/auth/auth.def"
	};

	return all[nth];
}
