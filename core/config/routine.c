#include "core/config/routine.h"

#include <assert.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/findings.h"
#include "core/config/keys.h"
#include "core/config/notify.h"
#include "core/config/params.h"
#include "core/config/rate.h"
#include "core/config/spellings.h"
#include "core/schema/describe.h"
#include "core/secret/literal.h"
#include "core/toml/toml.h"

/*
 * ---- schema words ----
 *
 * Keywords of the JSON Schemas that a person writes into a configuration.
 *
 * A validator passes over a keyword that it does not know, as JSON Schema
 * says: { maximun = 3 } takes every number. Pure.
 */

/* Where findings go, and whether they are warnings. */
struct walk {
	struct findings *findings;
	bool is_warning;
};

static void check_below(const struct walk *w, const struct toml_value *v,
			enum schema_below below);

static void check_member(const struct walk *w, const struct toml_member *m)
{
	struct str name = str_of(m->key);
	enum schema_below below;
	const char *near;

	if (schema_keyword(name, &below, &near))
		check_below(w, &m->value, below);
	else if (near && strcmp(near, "required") == 0 &&
		 m->value.type == TOML_BOOLEAN)
		findings_addf(
			w->findings, w->is_warning, m->line, m->col,
			"JSON Schema has no keyword \"%s\"; " PARAMS_REQUIRED,
			m->key);
	else if (!str_starts(name, "x-"))
		findings_addf(w->findings, w->is_warning, m->line, m->col,
			      "JSON Schema has no keyword \"%s\", so it would "
			      "say nothing; %s%s%s",
			      m->key, near ? "did you mean \"" : "",
			      near ? near
				   : "a note of your own begins with \"x-\"",
			      near ? "\"?" : "");
}

static void check_below(const struct walk *w, const struct toml_value *v,
			enum schema_below below)
{
	bool is_each = below == SCHEMA_BELOW_EACH;

	if (below == SCHEMA_BELOW_NONE)
		return;
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		if (is_each)
			check_below(w, &v->table.member[i].value,
				    SCHEMA_BELOW_ONE);
		else
			check_member(w, &v->table.member[i]);
	for (size_t i = 0; !is_each && v->type == TOML_ARRAY && i < v->array.n;
	     i++)
		check_below(w, &v->array.item[i], below);
}

/*
 * Find every keyword that no draft has, in a table of schemas and in those
 * beneath them; a name that begins with "x-" is one's own.
 *
 * is_warning  findings are no errors
 */
static void schema_words_check(const struct toml_value *schemas,
			       bool is_warning, struct findings *findings)
{
	check_below(&(struct walk){findings, is_warning}, schemas,
		    SCHEMA_BELOW_EACH);
}

struct loader {
	struct arena *arena;	   /* of the model */
	struct config *config;	   /* being filled */
	struct findings *findings; /* collected */
	bool lax;
	const char *routine, *server; /* being read, or NULL */
	const char **unset;	      /* of the server or step, or NULL */
	struct expansion **tail;      /* where the next one is hung */
};

/* One member of a table, on its way into the struct of its section. */
struct reading {
	struct loader *l;
	const struct key *k;
	const struct toml_member *m;
	const struct toml_value *v; /* of the member */
	void *object;		    /* struct of the section */
	void *field;		    /* of the key, in it */
	int as;			    /* column of key_types.def */
};

/* In place of a kind of expansion: strings stay as they are. */
#define AS_WRITTEN (-1)

/* at  has a line and a column */
#define load_add(l, is_warning, at, ...)                                \
	findings_addf((l)->findings, is_warning, (at)->line, (at)->col, \
		      __VA_ARGS__)
#define load_error(l, at, ...) load_add(l, false, at, __VA_ARGS__)
#define load_warning(l, at, ...) load_add(l, true, at, __VA_ARGS__)
/* Keys and types that are not known. */
#define load_unknown(l, at, ...) load_add(l, (l)->lax, at, __VA_ARGS__)

/*
 * Read a table into the struct of its section: defaults first, then every
 * member through the reader of its key. Keys that neither section knows are
 * errors (lax: warnings).
 */
static void load_table(struct loader *l, const struct toml_value *table,
		       enum key_section section, enum key_section more,
		       void *object);

/* Letters that a shortened key has. */
#define SHORT_KEY 3

/* The key of one of two sections that is spelled most alike, or begins so; or
   NULL. */
static const char *nearest_key(struct arena *arena, enum key_section a,
			       enum key_section b, const char *name)
{
	size_t n;
	const struct key *keys = keys_all(&n);
	struct strlist names = {NULL, 0};
	const char *near;

	for (size_t i = 0; i < n; i++)
		if (keys[i].section == a || keys[i].section == b)
			list_add(&names, arena, keys[i].name);
	near = str_nearest(str_of(name), names.item, names.n);
	for (size_t i = 0; !near && i < names.n && strlen(name) >= SHORT_KEY;
	     i++)
		if (str_starts(str_of(names.item[i]), name))
			near = names.item[i];
	return near;
}

static const struct step_kind *find_kind(const char *name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* ---- what a value is ---- */

/* Words in a message: `the string "abc"`, "a table". */
static void describe(const struct toml_value *v, struct buf *out)
{
	const size_t max = 40;

	switch (v->type) {
	case TOML_STRING:
		buf_adds(out, "the string \"");
		log_visible(out,
			    v->string.n < max ? v->string
					      : (struct str){v->string.p, max},
			    false);
		buf_adds(out, v->string.n < max ? "\"" : "…\"");
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

/* Add an error: a value of another type than the key's. */
static void wrong_type(const struct reading *r, const struct toml_value *v)
{
	AUTO(buf_release) struct buf what = BUF_INIT(BUF_UNBOUNDED);

	describe(v, &what);
	load_error(r->l, v, "\"%s\" must be %s, not %s", r->k->name,
		   key_type_text(r->k->type), buf_cstr(&what));
}

/* Test for a table; another type is an error. */
static bool is_table(const struct reading *r, const struct toml_value *v)
{
	if (v->type != TOML_TABLE)
		wrong_type(r, v);
	return v->type == TOML_TABLE;
}

/* Test for a string without NUL; anything else is an error. */
static bool is_usable(const struct reading *r, const struct toml_value *v)
{
	if (v->type != TOML_STRING)
		wrong_type(r, v);
	else if (str_find(v->string, '\0') == v->string.n)
		return true;
	else
		load_error(r->l, v, "\"%s\" contains the character NUL",
			   r->k->name);
	return false;
}

/* Test for a usable string that is not empty. */
static bool is_filled(const struct reading *r, const struct toml_value *v)
{
	if (!is_usable(r, v))
		return false;
	if (!v->string.n)
		load_error(r->l, v, "\"%s\" is empty; it must be %s",
			   r->k->name, key_type_text(r->k->type));
	return v->string.n;
}

static const char *copy(struct loader *l, const struct toml_value *v)
{
	return arena_strndup(l->arena, v->string.p, v->string.n);
}

/* Note that `~/` and ${VAR} in the slot are to be replaced later. */
static void expand_later(const struct reading *r, int kind, uint32_t line,
			 uint32_t col, const char **slot)
{
	struct loader *l = r->l;
	struct expansion *e = ARENA_NEW(l->arena, struct expansion);

	*e = (struct expansion){
		.slot = slot,
		.written = *slot,
		.kind = (enum expansion_kind)kind,
		.key = r->k->name,
		.routine = l->routine,
		.server = l->server,
		.unset = l->unset,
		.line = line,
		.col = col,
	};
	*l->tail = e;
	l->tail = &e->next;
}

/*
 * Check a name that ends up in options, lists and file names: not empty, no
 * control characters, slashes or commas, no dash or dot in front.
 *
 * of  routine, server or step
 */
static void check_name(struct loader *l, const char *of, const char *name,
		       uint32_t line, uint32_t col)
{
	size_t n = strlen(name);
	bool bad = !n || n > 128 || name[0] == '-' || name[0] == '.';

	for (size_t i = 0; i < n; i++)
		bad |= (unsigned char)name[i] < 0x20 ||
		       strchr("\x7f/,", name[i]);
	if (bad)
		findings_addf(l->findings, false, line, col,
			      "the name of a %s has 1 to 128 bytes, no control "
			      "character, slash or comma, and does not begin "
			      "with a dash or dot",
			      of);
}

/* ---- single values ---- */

static void read_string(const struct reading *r)
{
	if (is_usable(r, r->v))
		*(const char **)r->field = copy(r->l, r->v);
}

static void warn_literal(const struct reading *r, const struct toml_value *v,
			 const char *like, const char *way)
{
	if (like)
		load_warning(r->l, v,
			     "\"%s\" holds what looks like %s; credentials do "
			     "not stand in the file: %s",
			     r->k->name, like, way);
}

static void read_path(const struct reading *r)
{
	const char **field = r->field;
	struct str ignored;

	if (!is_filled(r, r->v))
		return;
	if (r->k->type == KEY_URL)
		warn_literal(r, r->v, literal_find(r->v->string, &ignored),
			     "write \"${NAME}\" in its place and set that "
			     "variable, or send it as a header: token = { env "
			     "= \"NAME\" }");
	*field = copy(r->l, r->v);
	expand_later(r, r->as, r->v->line, r->v->col, field);
}

static void read_name(const struct reading *r)
{
	read_string(r);
	if (r->v->type == TOML_STRING && *(const char **)r->field)
		check_name(r->l, "step", *(const char **)r->field, r->v->line,
			   r->v->col);
}

static void read_type(const struct reading *r)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n), *kind;
	const char **names = ARENA_ARRAY(r->l->arena, const char *, n);
	const char *near, *name, *other;

	if (!is_usable(r, r->v))
		return;
	name = copy(r->l, r->v);
	kind = find_kind(name);
	*(const char **)r->field = kind ? kind->canonical : name;
	if (kind || step_kind_instead(name))
		return;
	for (size_t i = 0; i < n; i++)
		names[i] = kinds[i].name;
	near = str_nearest(str_of(name), names, n);
	other = step_kind_of_others(name);
	load_unknown(r->l, r->v, "unknown step type \"%s\"; %s%s%s", name,
		     other  ? other
		     : near ? "did you mean \""
			    : "`matins steps` lists them",
		     near && !other ? near : "", near && !other ? "\"?" : "");
}

/* A word, or the index of one among those of the key. */
static void read_word(const struct reading *r)
{
	AUTO(buf_release) struct buf what = BUF_INIT(BUF_UNBOUNDED);
	int i = r->v->type == TOML_STRING ? key_word(r->k, r->v->string) : -1;

	if (i < 0) {
		key_add_words(r->k, "\"", &what);
		buf_adds(&what, ", not ");
		describe(r->v, &what);
		load_error(r->l, r->v, "\"%s\" must be %s", r->k->name,
			   buf_cstr(&what));
	} else if (r->k->type == KEY_CHOICE) {
		*(unsigned *)r->field = (unsigned)i;
	} else {
		*(const char **)r->field = copy(r->l, r->v);
	}
}

static void read_rate(const struct reading *r)
{
	uint64_t n, ns;

	if (r->v->type == TOML_STRING && rate_read(r->v->string, &n, &ns))
		*(const char **)r->field = copy(r->l, r->v);
	else
		wrong_type(r, r->v);
}

/* A word, or "on" and "off" as they are said otherwise. */
static void read_audit(const struct reading *r)
{
	if (r->v->type == TOML_BOOLEAN)
		*(const char **)r->field = r->v->boolean ? "on" : "off";
	else
		read_word(r);
}

static void read_bool(const struct reading *r)
{
	if (r->v->type == TOML_BOOLEAN)
		*(bool *)r->field = r->v->boolean;
	else
		wrong_type(r, r->v);
}

/* Times are milliseconds. */
static bool is_number(const struct toml_value *v, enum key_type type,
		      uint64_t *ret)
{
	/* far above every bound, and its milliseconds fit */
	const double most = 1e12;
	bool is_time = type == KEY_DURATION_MS || type == KEY_SECONDS;

	if (v->type == TOML_STRING && is_time)
		return str_duration_ms(v->string, ret);
	if (v->type == TOML_STRING && type == KEY_SIZE_BYTES)
		return str_size_bytes(v->string, ret);
	if (v->type == TOML_INTEGER && v->integer >= 0)
		*ret = !is_time ? (uint64_t)v->integer
		       : v->integer < (int64_t)most
			       ? (uint64_t)v->integer * 1000
			       : UINT64_MAX;
	else if (is_time && v->type == TOML_FLOAT && v->real >= 0 &&
		 v->real < most)
		*ret = (uint64_t)(v->real * 1000 + 0.5);
	else
		return false;
	return true;
}

static void read_number(const struct reading *r)
{
	AUTO(buf_release) struct buf bounds = BUF_INIT(BUF_UNBOUNDED);
	uint64_t n;

	if (!is_number(r->v, r->k->type, &n)) {
		wrong_type(r, r->v);
		return;
	}
	/* rounded up, but below one second stays below the bound of one */
	if (r->k->type == KEY_SECONDS)
		n = n / 1000 + (n > 1000 && n % 1000);
	if (key_holds(r->k, n, &bounds))
		*(uint64_t *)r->field = n;
	else
		load_error(r->l, r->v, "\"%s\" is %s", r->k->name,
			   buf_cstr(&bounds));
}

static bool is_date(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (i == 4 || i == 7 ? s.p[i] != '-' : !text_is_digit(s.p[i]))
			return false;
	return s.n == 10;
}

static void read_revision(const struct reading *r)
{
	const struct toml_value *v = r->v;
	bool is_text = v->type == TOML_STRING || v->type == TOML_DATETIME;

	if (v->type == TOML_STRING && str_is(v->string, "auto"))
		*(const char **)r->field = NULL;
	else if (is_text && is_date(v->string))
		*(const char **)r->field = copy(r->l, v);
	else
		wrong_type(r, v);
}

static void read_params(const struct reading *r)
{
	const struct toml_value **field = r->field;

	if (is_table(r, r->v))
		*field = r->v;
}

static void read_schemas(const struct reading *r)
{
	read_params(r);
	schema_words_check(r->v, r->l->lax, r->l->findings);
}

/* ---- lists ---- */

/* Arguments can be read by every user of the machine, and are logged. */
static void warn_argument(const struct reading *r,
			  const struct toml_value *before,
			  const struct toml_value *item)
{
	struct loader *l = r->l;
	struct str none = {NULL, 0}, token = none;
	const char *like = literal_argument(
		before && before->type == TOML_STRING ? before->string : none,
		item->string);

	if (like && (!literal_find(item->string, &token) || !token.n))
		token = item->string;
	/* no report shows it */
	if (like)
		list_add(&l->config->literals, l->arena,
			 arena_strndup(l->arena, token.p, token.n));
	warn_literal(r, item, like,
		     "hand it over as a variable, env = { NAME = { env = "
		     "\"NAME\" } }");
}

/* The texts of an array of strings; a single string gets a hint. */
static void read_list(const struct reading *r, const struct toml_value *v,
		      struct strlist *ret)
{
	bool may_be_empty =
		r->k->type == KEY_STRINGS || r->k->type == KEY_COMMAND;
	struct strlist list = {NULL, 0};

	if (v->type == TOML_STRING) {
		load_error(r->l, v,
			   "\"%s\" must be %s; put the string into brackets: "
			   "[\"…\"]",
			   r->k->name, key_type_text(r->k->type));
		return;
	}
	if (v->type != TOML_ARRAY) {
		wrong_type(r, v);
		return;
	}
	list.item = ARENA_ARRAY(r->l->arena, const char *, v->array.n + 1);
	for (size_t i = 0; i < v->array.n; i++) {
		const struct toml_value *item = &v->array.item[i];

		if (may_be_empty ? !is_usable(r, item) : !is_filled(r, item))
			continue;
		if (may_be_empty)
			warn_argument(r, i ? item - 1 : NULL, item);
		list.item[list.n] = copy(r->l, item);
		if (r->as != AS_WRITTEN)
			expand_later(r, r->as, item->line, item->col,
				     &list.item[list.n]);
		list.n++;
	}
	*ret = list;
}

static void read_strings(const struct reading *r)
{
	read_list(r, r->v, r->field);
}

/* Nothing in the list could mean that nothing is bounded, or everything. */
static void read_patterns(const struct reading *r)
{
	read_list(r, r->v, r->field);
	if (r->v->type == TOML_ARRAY && !r->v->array.n)
		load_error(r->l, r->v,
			   "\"%s\" is empty; name a tool, or write deny_tools "
			   "= [\"*\"] to refuse all",
			   r->k->name);
}

/* Other keys of the table are those of modulex. */
static void read_mcp(const struct reading *r)
{
	for (size_t i = 0; is_table(r, r->v) && i < r->v->table.n; i++) {
		const struct toml_member *m = &r->v->table.member[i];

		if (strcmp(m->key, "enabled") != 0)
			continue;
		if (m->value.type == TOML_BOOLEAN)
			*(bool *)r->field = !m->value.boolean;
		else
			load_error(
				r->l, &m->value,
				"\"enabled\" of [mcp] must be true or false");
	}
}

/* One string, or a list of them. */
static void read_words(const struct reading *r)
{
	struct strlist *list = r->field;

	if (r->v->type != TOML_STRING)
		read_list(r, r->v, list);
	else if (is_filled(r, r->v))
		list_add(list, r->l->arena, copy(r->l, r->v));
}

/* Read later: one table may be laid over another. */
static void read_notify(const struct reading *r)
{
	struct notify_rules *n = r->field;

	if (is_table(r, r->v))
		n->written = r->v;
	n->line = r->m->line;
	n->col = r->m->col;
}

static void read_rules(const struct reading *r)
{
	const struct toml_value **field = r->field;
	struct strlist paths;

	if (r->k->type != KEY_RULES_OR_BOOL || r->v->type != TOML_BOOLEAN)
		read_list(r, r->v, &paths);
	if (r->v->type == TOML_ARRAY || r->v->type == TOML_BOOLEAN)
		*field = r->v;
}

/* Only the program is expanded; arguments stay as written. */
static void read_command(const struct reading *r)
{
	struct strlist *list = r->field;
	const struct toml_value *v = r->v, *first = v->array.item;

	read_list(r, v, list);
	if (v->type != TOML_ARRAY)
		return;
	if (!v->array.n)
		load_error(r->l, v, "\"%s\" needs a program", r->k->name);
	/* one that is no string has its error */
	else if (first->type == TOML_STRING && list->n && is_filled(r, first))
		expand_later(r, EXPAND_PROGRAM, first->line, first->col,
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
	load_error(l, v, "%s", err.msg);
	return false;
}

static bool check_net_row(struct loader *l, const struct toml_value *v)
{
	const char *row = copy(l, v);

	if (!gate_net_is_word(row))
		return check_net(l, v, &(struct strlist){&row, 1});
	load_error(l, v,
		   "\"%s\" is not an endpoint; write net = \"%s\" without "
		   "brackets",
		   row, row);
	return false;
}

static void read_net(const struct reading *r)
{
	const struct toml_value *v = r->v;
	struct strlist *list = r->field;
	struct strlist one = {ARENA_ARRAY(r->l->arena, const char *, 1), 1};
	bool is_right = true;

	if (v->type == TOML_ARRAY) {
		read_list(r, v, list);
		for (size_t i = 0; i < v->array.n; i++)
			if (v->array.item[i].type == TOML_STRING &&
			    v->array.item[i].string.n)
				is_right &=
					check_net_row(r->l, &v->array.item[i]);
		if (is_right)
			(void)check_net(r->l, v, list);
		return;
	}
	if (!is_filled(r, v))
		return;
	one.item[0] = copy(r->l, v);
	if (!check_net(r->l, v, &one))
		return;
	/* "none" is the empty list */
	one.n = strcmp(one.item[0], "none") != 0;
	if (gate_net_is_word(one.item[0]))
		*list = one;
	else
		load_error(r->l, v,
			   "\"net\" must be a list of hosts; write net = "
			   "[\"%s\"]",
			   one.item[0]);
}

static void read_unix(const struct reading *r)
{
	struct strlist *list = r->field;

	if (r->v->type == TOML_ARRAY) {
		read_list(r, r->v, list);
		return;
	}
	if (!is_filled(r, r->v))
		return;
	list->item = ARENA_ARRAY(r->l->arena, const char *, 1);
	list->item[0] = copy(r->l, r->v);
	/* "private" is the default, and an empty list says it */
	list->n = strcmp(list->item[0], "private") != 0;
	if (!gate_unix_is_word(list->item[0]))
		load_error(r->l, r->v,
			   "\"unix\" must be a list of sockets; write unix = "
			   "[\"%s\"]",
			   list->item[0]);
}

/* ---- the leash ---- */

/* The one member of { only = … } or { at_most = … }; NULL after an error. */
static const struct toml_value *only_member(const struct reading *r,
					    const char *name)
{
	const struct toml_value *member = toml_get(r->v, name);

	if (member && r->v->table.n == 1)
		return member;
	wrong_type(r, r->v);
	return NULL;
}

static void read_axis(const struct reading *r)
{
	struct gate_axis *axis = r->field;
	const struct toml_value *list;

	axis->all = r->v->type == TOML_STRING && str_is(r->v->string, "all");
	list = axis->all ? NULL : only_member(r, "only");
	if (!list)
		return;
	if (r->k->type != KEY_AXIS_NUMBERS) {
		read_list(r, list, &axis->only);
		return;
	}
	if (list->type != TOML_ARRAY) {
		wrong_type(r, list);
		return;
	}
	for (size_t i = 0; i < list->array.n; i++) {
		const struct toml_value *item = &list->array.item[i];

		if (item->type != TOML_INTEGER || item->integer < 0)
			wrong_type(r, item);
		else
			list_addf(&axis->only, r->l->arena, "%lld",
				  (long long)item->integer);
	}
}

static void read_calls(const struct reading *r)
{
	struct gate_leash *caveats = r->object;
	const struct toml_value *v = r->v;

	caveats->calls_unlimited =
		v->type == TOML_STRING && str_is(v->string, "unlimited");
	v = caveats->calls_unlimited ? NULL : only_member(r, "at_most");
	if (v && (v->type != TOML_INTEGER || v->integer < 0))
		wrong_type(r, v);
	else if (v)
		caveats->max_calls = (uint64_t)v->integer;
}

/* ---- headers and credentials: tables whose keys are free ---- */

/* A variable within the value: its name says nothing of the rest. */
static void check_header(struct loader *l, const struct toml_member *m,
			 bool is_reference)
{
	struct str ignored;
	const char *like =
		is_reference ? literal_find(m->value.string, &ignored)
			     : literal_looks_like(m->key, m->value.string);

	if (like)
		load_unknown(
			l, &m->value,
			"header %s looks like %s; credentials do not "
			"stand in the file: write \"${NAME}\" in its place "
			"and set that variable, or headers.%s = { file = "
			"\"~/path\" }, or token = { env = \"NAME\" } (a "
			"bearer token) beside the url%s",
			m->key, like, m->key,
			l->lax ? "" : " (--lax takes it as it is)");
}

static bool is_variable(const char *s)
{
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == '=' || *p == 0x7f)
			return false;
	return *s;
}

#define THREE_WAYS                                                 \
	"write %s = { env = \"NAME\" }, { file = \"~/path\" } or " \
	"{ cmd = \"line\" }"

/* Read exactly one of the three keys; .from is NULL after an error. */
static void load_reference(struct loader *l, const struct toml_member *m,
			   struct env_ref *ref)
{
	ref->name = m->key;
	ref->line = m->line;
	ref->col = m->col;
	if (m->value.type != TOML_TABLE) {
		load_error(l, &m->value,
			   "credentials do not stand in the file; " THREE_WAYS,
			   m->key);
		return;
	}
	load_table(l, &m->value, SECTION_reference, SECTION_reference, ref);
	if (m->value.table.n == 1)
		return;
	load_error(l, &m->value,
		   "%s takes exactly one of \"env\", \"file\" and \"cmd\"",
		   m->key);
	ref->from = NULL;
}

static void read_reference(const struct reading *r)
{
	load_reference(r->l, r->m, r->field);
}

/* Values of headers are never shown: they may be credentials. */
static void read_headers(const struct reading *r)
{
	struct headers *headers = r->field;

	if (!is_table(r, r->v))
		return;
	headers->item = ARENA_ARRAY(r->l->arena, struct header, r->v->table.n);
	headers->ref = ARENA_ARRAY(r->l->arena, struct env_ref, r->v->table.n);
	for (size_t i = 0; i < r->v->table.n; i++) {
		const struct toml_member *m = &r->v->table.member[i];
		const struct toml_value *v = &m->value;
		struct header *h = &headers->item[headers->n];

		if (!http_is_token(str_of(m->key))) {
			load_error(r->l, m,
				   "a key of \"headers\" is not a name of an "
				   "HTTP header");
		} else if (v->type == TOML_TABLE) {
			load_reference(r->l, m,
				       &headers->ref[headers->n_refs++]);
		} else if (v->type != TOML_STRING ||
			   str_find(v->string, '\0') < v->string.n) {
			load_error(r->l, v,
				   "header %s takes a string without NUL, in "
				   "which \"${NAME}\" is a variable, or a "
				   "reference such as { file = \"~/path\" }",
				   m->key);
		} else {
			h->name = m->key;
			h->value = copy(r->l, v);
			h->is_reference = strstr(h->value, "${") != NULL;
			check_header(r->l, m, h->is_reference);
			expand_later(r, r->as, v->line, v->col, &h->value);
			headers->n++;
		}
	}
}

/* The text of a value that a variable can have; NULL: of no such type. */
static const char *plain_text(struct loader *l, const struct toml_value *v)
{
	if (v->type == TOML_INTEGER)
		return arena_printf(l->arena, "%lld", (long long)v->integer);
	if (v->type == TOML_BOOLEAN)
		return v->boolean ? "true" : "false";
	return v->type == TOML_STRING &&
			       str_find(v->string, '\0') == v->string.n
		       ? copy(l, v)
		       : NULL;
}

/* A plain value; one that looks like a credential is refused (lax: kept). */
static bool load_plain(struct loader *l, const struct toml_member *m,
		       struct env_plain *plain)
{
	const char *value = plain_text(l, &m->value), *like;

	if (!value) {
		load_error(l, &m->value,
			   "%s takes a string without NUL, %s = \"…\", or a "
			   "reference: { env = \"NAME\" }, { file = "
			   "\"~/path\" } or { cmd = \"line\" }",
			   m->key, m->key);
		return false;
	}
	like = literal_looks_like(m->key, str_of(value));
	if (like)
		load_unknown(l, &m->value,
			     "%s looks like %s; credentials do not stand in "
			     "the file: " THREE_WAYS "%s",
			     m->key, like, m->key,
			     l->lax ? "" : " (--lax takes it as it is)");
	*plain = (struct env_plain){m->key, value, like != NULL};
	return !like || l->lax;
}

static void read_env(const struct reading *r)
{
	struct env_refs *refs = r->field;

	if (r->v->type != TOML_TABLE) {
		load_error(r->l, r->v, "\"env\" must be %s",
			   key_type_text(r->k->type));
		return;
	}
	refs->item = ARENA_ARRAY(r->l->arena, struct env_ref, r->v->table.n);
	refs->plain = ARENA_ARRAY(r->l->arena, struct env_plain, r->v->table.n);
	for (size_t i = 0; i < r->v->table.n; i++) {
		const struct toml_member *m = &r->v->table.member[i];

		if (!is_variable(m->key)) {
			load_error(r->l, m,
				   "a key of \"env\" is not a name of a "
				   "variable");
		} else if (m->value.type == TOML_TABLE) {
			load_reference(r->l, m, &refs->item[refs->n]);
			refs->n += refs->item[refs->n].from != NULL;
		} else {
			refs->n_plain += load_plain(
				r->l, m, &refs->plain[refs->n_plain]);
		}
	}
}

/* One of the three sources of a credential. */
static void read_source(const struct reading *r)
{
	struct env_ref *ref = r->object;

	if (!is_filled(r, r->v))
		return;
	ref->source = (enum secret_source)r->as;
	ref->from = copy(r->l, r->v);
	if (ref->source == SECRET_FILE)
		expand_later(r, EXPAND_PATH, r->v->line, r->v->col, &ref->from);
	if (ref->source != SECRET_ENV || is_variable(ref->from))
		return;
	load_error(r->l, r->v, "\"env\" must be a name of a variable");
	ref->from = NULL;
}

/* ---- tables with rows of their own: sandbox, auth, golden, caveats ---- */

static void read_table(const struct reading *r)
{
	enum key_section section = (enum key_section)r->as;

	if (is_table(r, r->v))
		load_table(r->l, r->v, section, section, r->field);
}

/* Have the gate check the value of one key, all others being unset. */
static void check_value(const struct reading *r)
{
	bool is_list = r->k->type == KEY_STRINGS || r->k->type == KEY_WORDS;
	size_t bytes = is_list			  ? sizeof(struct strlist)
		       : r->k->type == KEY_STRING ? sizeof(const char *)
						  : 0;
	struct gate_policy one = {0};
	struct err err = ERR_INIT;

	memcpy((char *)&one + r->k->offset, r->field, bytes);
	if (gate_policy_check(&one, &err) < 0)
		load_error(r->l, r->v, "%s", err.msg);
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
		load_error(l, rule, "%s", err.msg);
}

static void read_program_rules(const struct reading *r)
{
	struct gate_program_rules *rules = r->field;
	struct gate_program_rule *rule;

	if (!is_table(r, r->v))
		return;
	rule = ARENA_ARRAY(r->l->arena, struct gate_program_rule,
			   r->v->table.n);
	rules->item = rule;
	for (size_t i = 0; i < r->v->table.n; i++) {
		const struct toml_member *m = &r->v->table.member[i];

		if (!is_table(r, &m->value))
			continue;
		if (!*m->key) {
			load_error(r->l, m, "a program without a name");
			continue;
		}
		rule->name = m->key;
		rule->line = m->line;
		rule->col = m->col;
		load_table(r->l, &m->value, SECTION_sandbox_program,
			   SECTION_sandbox_program, rule);
		rule->has_args = toml_get(&m->value, "args");
		check_rule(r->l, rule);
		expand_later(r, r->as, m->line, m->col, &rule->name);
		rule++;
		rules->n++;
	}
}

static void read_auth(const struct reading *r)
{
	struct server_auth *auth = r->field;

	auth->line = r->m->line;
	auth->col = r->m->col;
	read_table(r);
}

static void read_caveats(const struct reading *r)
{
	struct gate_leash *caveats = r->field;

	read_table(r);
	if (r->v->type != TOML_TABLE)
		return;
	caveats->source = "[caveats]";
	for (const struct key *k = NULL; (k = key_next(SECTION_caveats, k));)
		if (!toml_get(r->v, k->name))
			load_error(r->l, r->m,
				   "[caveats] lacks \"%s\" (%s); all six must "
				   "be there",
				   k->name, k->help);
}

/* ---- servers ---- */

/* Keys that hold for a url, or for a program, by their rows. */
static void check_belonging(struct loader *l, const struct toml_value *from,
			    const struct server *s)
{
	bool has_url = toml_get(from, "url");

	for (const struct key *k = NULL; (k = key_next(SECTION_server, k));) {
		if (!k->of || !toml_get(from, k->name))
			continue;
		if (!has_url && strcmp(k->of, "url") == 0)
			load_error(l, s,
				   "server \"%s\": \"%s\" is for a \"url\"",
				   s->name, k->name);
		else if (s->url && strcmp(k->of, "command") == 0)
			load_warning(l, s,
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
		load_error(l, s,
			   "server \"%s\" has %s; it takes exactly one of the "
			   "two",
			   s->name,
			   has_url ? "both \"command\" and \"url\""
				   : "neither \"command\" nor \"url\"");
	check_belonging(l, from, s);
	if (toml_get(from, "token") && toml_get(from, "api_key"))
		load_error(l, s,
			   "server \"%s\" has both \"token\" and \"api_key\"; "
			   "keep one",
			   s->name);
	if (s->args.n && !has_command)
		load_error(l, s,
			   "server \"%s\": \"args\" are for a \"command\"",
			   s->name);
}

/* A table under a header begins before its key, one in braces behind it. */
static enum sandbox_form form_of(const struct toml_value *owner)
{
	for (size_t i = 0; i < owner->table.n; i++) {
		const struct toml_member *m = &owner->table.member[i];

		if (strcmp(m->key, "sandbox") != 0)
			continue;
		return m->value.line == m->line && m->value.col == m->col
			       ? SANDBOX_DOTTED
		       : m->value.line == m->line && m->value.col > m->col
			       ? SANDBOX_INLINE
			       : SANDBOX_TABLE;
	}
	return SANDBOX_ABSENT;
}

static void load_server(const struct reading *r, const struct toml_member *m)
{
	struct loader *l = r->l;
	struct server *s = &l->config->servers[l->config->n_servers];
	const char *host;

	check_name(l, "server", m->key, m->line, m->col);
	if (!is_table(r, &m->value))
		return;
	if (config_server(l->config, m->key)) {
		load_error(l, m,
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
	s->sandbox_form = form_of(&m->value);
	l->server = NULL;
	l->unset = NULL;
	/* before it is expanded */
	host = s->url ? strstr(s->url, "://") : NULL;
	s->url_has_reference =
		host && strstr(host + 3 + strcspn(host + 3, "/?"), "${");
	check_server(l, &m->value, s);
}

static void read_servers(const struct reading *r)
{
	if (!is_table(r, r->v))
		return;
	for (size_t i = 0; i < r->v->table.n; i++)
		load_server(r, &r->v->table.member[i]);
}

/* ---- routines and their steps ---- */

/* Is a member with another name meant as that key? */
static bool is_misspelt(struct loader *l, const struct toml_value *from,
			enum key_section section, const char *key)
{
	for (size_t i = 0; i < from->table.n; i++) {
		const char *name = from->table.member[i].key, *near;

		if (key_find(SECTION_step, section, name))
			continue;
		near = nearest_key(l->arena, SECTION_step, section, name);
		if (near && strcmp(near, key) == 0)
			return true;
	}
	return false;
}

/* A key is missing, unless the error is the one about its spelling. */
static void load_lack(struct loader *l, const struct toml_value *from,
		      const struct step *s, const struct step_kind *kind,
		      const char *key)
{
	bool or_server = strcmp(key, "command") == 0 &&
			 key_find(kind->section, kind->section, "server");

	if (l->lax || !is_misspelt(l, from, kind->section, key))
		load_error(l, s, "the step lacks \"%s\"%s", key,
			   or_server ? " or \"server\"" : "");
}

/* Keys that a step with another key of its own lacks. */
static const struct {
	enum key_section section;
	const char *needed;
	const char *without[6];
	const char *instead;
} special_steps[] = {
	{SECTION_step_python,
	 "script",
	 {"command"},
	 "the program is \"interpreter\""},
	{SECTION_step_routine,
	 "routine",
	 {"command", "args", "cwd", "env", "sandbox"},
	 "the steps of its routine have their own"},
	{SECTION_step_action,
	 "action",
	 {"command", "args", "cwd", "env", "sandbox"},
	 "the server of its tool has its own"},
	{SECTION_step_approve,
	 "message",
	 {"command", "args", "cwd", "env", "sandbox"},
	 "what runs after the answer is a step of its own with `needs`"},
	{SECTION_step_sync,
	 NULL,
	 {"command", "args", "cwd", "env", "sandbox"},
	 "its servers have their own"},
};

/* Check the keys of a step whose type is no program or server; false: it is. */
static bool check_special(struct loader *l, const struct toml_value *from,
			  const struct step *s, const struct step_kind *kind)
{
	size_t i = 0;

	while (i < ARRAY_LEN(special_steps) &&
	       special_steps[i].section != kind->section)
		i++;
	if (i == ARRAY_LEN(special_steps))
		return false;
	for (const char *const *key = special_steps[i].without; *key; key++)
		if (toml_get(from, *key))
			load_error(l, s, "a step of type %s has no \"%s\"; %s",
				   s->type, *key, special_steps[i].instead);
	if (special_steps[i].needed && !toml_get(from, special_steps[i].needed))
		load_lack(l, from, s, kind, special_steps[i].needed);
	return true;
}

static void check_command(struct loader *l, const struct toml_value *from,
			  const struct step *s, const struct step_kind *kind)
{
	bool may_have_server = key_find(kind->section, kind->section, "server");
	bool has_command = toml_get(from, "command");
	bool has_server = may_have_server && toml_get(from, "server");

	/* modulex: the server counts, the command only joins the leash */
	if (has_command && has_server && kind->section == SECTION_step_query)
		load_warning(l, s,
			     "both \"command\" and \"server\": the server is "
			     "called, and \"command\" only counts for what may "
			     "be started");
	else if (has_command && has_server)
		load_error(l, s, "both \"command\" and \"server\"; keep one");
	else if (!has_command && !has_server)
		load_lack(l, from, s, kind, "command");
	if (s->args.n && !has_command && s->server_name)
		load_error(l, s,
			   "\"args\" are for a \"command\"; server \"%s\" has "
			   "its own",
			   s->server_name);
	if (s->tool && !*s->tool)
		load_error(l, s, "\"tool\" is empty");
	if (s->strict && !s->tool)
		load_error(l, s,
			   "\"strict\" needs a \"tool\": stdout has no "
			   "schema");
	if (s->pin && (!s->tool || !s->server_name))
		load_error(l, s,
			   "\"pin\" needs a \"tool\" of a \"server\", under "
			   "whose name its tools are kept");
	if (s->params && !s->tool && s->command)
		load_warning(l, s,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

/* ---- foreach ---- */

/* One table over another, key by key, in the order of the keys. */
static const struct toml_value *laid_over(const struct toml_value *under,
					  const struct toml_value *over,
					  struct arena *arena)
{
	size_t n = under ? under->table.n : 0;
	struct toml_value *both = ARENA_NEW(arena, struct toml_value);

	*both = *over;
	both->table.member =
		ARENA_ARRAY(arena, struct toml_member, n + over->table.n);
	both->table.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct toml_member *m = &under->table.member[i];

		if (!toml_get(over, m->key))
			both->table.member[both->table.n++] = *m;
	}
	for (size_t i = 0; i < over->table.n; i++)
		both->table.member[both->table.n++] = over->table.member[i];
	return both;
}

static void load_foreach(struct loader *l, const struct toml_value *from,
			 struct step *s, const struct step_kind *kind)
{
	static const char *const keys[] = {"with", "max_parallel"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!s->foreach && toml_get(from, keys[i]))
			load_error(l, s,
				   "\"%s\" is a key of a step with "
				   "\"foreach\"",
				   keys[i]);
	if (!s->with)
		return;
	if (!key_find(kind->section, kind->section, "params"))
		load_error(l, s,
			   "\"with\" is laid over \"params\", which a step of "
			   "type %s lacks; its \"args\" can hold \"$item\"",
			   s->type);
	s->params = laid_over(s->params, s->with, l->arena);
}

static void check_duplicate(struct loader *l, const struct routine *r,
			    const struct step *s)
{
	for (const struct step *other = r->steps; other < s; other++)
		if (s->name && other->name && !strcmp(s->name, other->name)) {
			load_error(l, s,
				   "duplicate step \"%s\"; first defined in "
				   "line %u",
				   s->name, other->line);
			return;
		}
}

/* NULL: another type; *ret_instead says why the step is skipped then. */
static const struct step_kind *kind_of(struct loader *l,
				       const struct toml_value *table,
				       const char **ret_instead)
{
	const struct toml_value *type = toml_get(table, "type");
	const struct step_kind *kind;
	const char *name;

	if (!type || type->type != TOML_STRING)
		return NULL;
	name = copy(l, type);
	kind = find_kind(name);
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

static void load_step(const struct reading *r, const struct toml_value *from,
		      struct step *s)
{
	struct loader *l = r->l;
	const struct step_kind *kind;
	struct toml_value own;

	s->line = from->line;
	s->col = from->col;
	s->written = from;
	if (!is_table(r, from))
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
	s->sandbox_form = form_of(from);
	s->is_sync = kind && kind->section == SECTION_step_sync;
	l->unset = NULL;
	s->server_at = toml_get(from, "server");
	if (!toml_get(from, "name"))
		load_error(l, s, "the step lacks \"name\"");
	if (!toml_get(from, "type"))
		load_error(l, s, "the step lacks \"type\"; %s",
			   toml_get(from, "tool") || toml_get(from, "server")
				   ? "write type = \"mcp-client\" for a tool"
			   : toml_get(from, "command")
				   ? "write type = \"script\" for a program"
				   : "`matins steps` lists the types");
	if (kind && !check_special(l, from, s, kind))
		check_command(l, from, s, kind);
	if (kind)
		load_foreach(l, from, s, kind);
	check_duplicate(l, r->object, s);
}

static void read_steps(const struct reading *r)
{
	struct routine *routine = r->object;
	const struct toml_value *v = r->v;

	if (v->type != TOML_ARRAY) {
		wrong_type(r, v);
		return;
	}
	if (v->array.n > LIMIT_STEPS) {
		load_error(r->l, r->m, "more than %d steps", LIMIT_STEPS);
		return;
	}
	routine->steps = ARENA_ARRAY(r->l->arena, struct step, v->array.n);
	routine->n_steps = v->array.n;
	for (size_t i = 0; i < v->array.n; i++)
		load_step(r, &v->array.item[i], &routine->steps[i]);
}

static void read_actions(const struct reading *r)
{
	struct loader *l = r->l;
	struct config *c = l->config;

	if (!is_table(r, r->v))
		return;
	c->actions = ARENA_ARRAY(l->arena, struct action, r->v->table.n);
	for (size_t i = 0; i < r->v->table.n; i++) {
		const struct toml_member *m = &r->v->table.member[i];
		struct action *action = &c->actions[c->n_actions];

		check_name(l, "action", m->key, m->line, m->col);
		if (!is_table(r, &m->value))
			continue;
		c->n_actions++;
		action->name = m->key;
		action->line = m->line;
		action->col = m->col;
		load_table(l, &m->value, SECTION_action, SECTION_action,
			   action);
		if (!action->server_name || !action->tool)
			load_error(l, action, "the action lacks \"%s\"",
				   action->tool ? "server" : "tool");
	}
}

static void read_routines(const struct reading *r)
{
	struct loader *l = r->l;
	struct config *c = l->config;

	if (!is_table(r, r->v))
		return;
	c->routines = ARENA_ARRAY(l->arena, struct routine, r->v->table.n);
	for (size_t i = 0; i < r->v->table.n; i++) {
		const struct toml_member *m = &r->v->table.member[i];
		struct routine *routine = &c->routines[c->n_routines];

		check_name(l, "routine", m->key, m->line, m->col);
		if (!is_table(r, &m->value))
			continue;
		c->n_routines++;
		routine->name = m->key;
		routine->line = m->line;
		routine->col = m->col;
		l->routine = m->key;
		load_table(l, &m->value, SECTION_routine, SECTION_routine,
			   routine);
		l->routine = NULL;
		if (!routine->n_steps && !toml_get(&m->value, "steps"))
			load_warning(l, routine, "routine \"%s\" has no steps",
				     m->key);
	}
}

/* ---- a table by the rows of its section ---- */

static const struct {
	void (*read)(const struct reading *r);
	int as;
} readers[] = {
#define KEY_TYPE(name, reader, as, text, schema) {read_##reader, as},
#include "core/config/key_types.def"
#undef KEY_TYPE
};

/* The texts in the table are ours: they read as what they say. */
static void set_default(const struct key *k, void *field)
{
	struct str def = str_of(k->def);
	bool ok = true;

	switch (k->type) {
	case KEY_BOOL:
		*(bool *)field = str_is(def, "true");
		break;
	case KEY_DURATION_MS:
		ok = str_duration_ms(def, field);
		break;
	case KEY_COUNT:
	case KEY_SIZE_BYTES:
		ok = str_size_bytes(def, field);
		break;
	case KEY_STRING:
	case KEY_PROGRAM:
	case KEY_WORD:
	case KEY_AUDIT:
		*(const char **)field = k->def;
		break;
	default: /* "auto" and the like: nothing is pinned */
		break;
	}
	assert(ok);
	(void)ok;
}

static void set_defaults(enum key_section section, enum key_section more,
			 void *object)
{
	size_t n;
	const struct key *k = keys_all(&n);

	/* unset until all policies are merged; the gate fills them in */
	if (section == SECTION_sandbox)
		return;
	for (const struct key *end = k + n; k < end; k++)
		if (k->def && (k->section == section || k->section == more))
			set_default(k, (char *)object + k->offset);
}

/* Step types that know the key; NULL when none does. */
static const char *types_with_key(struct loader *l, const char *name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);
	const char *text = NULL;

	for (size_t i = 0; i < n; i++)
		if (key_find(kinds[i].section, kinds[i].section, name))
			text = text ? arena_printf(l->arena, "%s or %s", text,
						   kinds[i].name)
				    : kinds[i].name;
	return text;
}

static void unknown_key(struct loader *l, const struct toml_member *m,
			enum key_section section, enum key_section more)
{
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	bool is_step = section == SECTION_step;
	const char *types = is_step ? types_with_key(l, m->key) : NULL;
	const char *near = nearest_key(l->arena, section, more, m->key);
	const struct spelling *other =
		section == SECTION_top ? spelling_find(SECTION_routine, m->key)
				       : NULL;

	log_visible(&key, str_of(m->key), false);
	if (types)
		load_unknown(l, m,
			     "key \"%s\" does not fit this step; it is for "
			     "type %s",
			     buf_cstr(&key), types);
	else if (is_step && !strcmp(m->key, "url"))
		load_unknown(l, m,
			     "a step has no \"url\"; write it in "
			     "[servers.NAME], and server = \"NAME\" here");
	else if (other)
		load_unknown(l, m, "\"%s\" (%s) is not understood here: %s",
			     m->key, other->whose, other->says);
	else if (section == SECTION_top &&
		 key_find(SECTION_routine, SECTION_routine, m->key))
		load_unknown(l, m,
			     "\"%s\" is a key of a routine: write it in "
			     "[routines.NAME]",
			     m->key);
	else if (near)
		load_unknown(l, m, "unknown key \"%s\"; did you mean \"%s\"?",
			     buf_cstr(&key), near);
	else
		load_unknown(l, m,
			     "unknown key \"%s\" in %s; `matins steps --md` "
			     "lists the keys",
			     buf_cstr(&key), key_sections[section].title);
}

/* Note a key of modulex or of another MCP client. */
static bool is_foreign(struct loader *l, const struct toml_member *m,
		       enum key_section section)
{
	const struct foreign_key *k = key_foreign(section, m->key);
	struct err err;

	if (!k)
		return false;
	if (k->instead)
		err_at(&err, ERR_CONFIG, m->line, m->col,
		       "\"%s\" is a key of other MCP clients; it is ignored: "
		       "%s",
		       m->key, k->instead);
	else
		err_at(&err, ERR_CONFIG, m->line, m->col,
		       "[%s] is a table of modulex; only steps of its types "
		       "read it",
		       m->key);
	findings_add_note(l->findings, &err);
	return true;
}

static void load_table(struct loader *l, const struct toml_value *table,
		       enum key_section section, enum key_section more,
		       void *object)
{
	set_defaults(section, more, object);
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = key_find(section, more, m->key);
		struct reading r = {l, k, m, &m->value, object, NULL, 0};

		if (!k) {
			if (!is_foreign(l, m, section))
				unknown_key(l, m, section, more);
			continue;
		}
		r.field = (char *)object + k->offset;
		r.as = readers[k->type].as;
		readers[k->type].read(&r);
		if (section == SECTION_sandbox)
			check_value(&r);
	}
}

/* ---- notices ---- */

static void check_notify(struct loader *l, const struct notify_rules *n)
{
	const struct key *on = key_find(SECTION_notify, SECTION_notify, "on");
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);

	key_add_words(on, "\"", &words);
	for (size_t i = 0; i < n->on.n; i++)
		if (key_word(on, str_of(n->on.item[i])) < 0)
			load_error(l, n,
				   "\"on\" of [notify] takes %s, not \"%s\"",
				   buf_cstr(&words), n->on.item[i]);
	for (size_t i = 0; i < n->command.n + n->headers.n; i++) {
		const char *word = notify_unknown(
			i < n->command.n
				? n->command.item[i]
				: n->headers.item[i - n->command.n].value,
			l->arena);

		if (word)
			load_error(l, n,
				   "[notify]: {{%s}} stands for nothing; there "
				   "are title, notice, routine, run, state and "
				   "host",
				   word);
	}
	if (!l->findings->has_error && !n->command.n && !n->url && !n->ping)
		load_error(l, n,
			   "[notify] tells nobody: it lacks \"command\", "
			   "\"url\" and \"ping\"");
	if (n->headers.n_refs)
		load_error(l, n,
			   "[notify]: a header is a text here; a credential "
			   "is the \"token\"");
	if (!n->url && (n->token.from || n->headers.n))
		load_error(l, n,
			   "[notify]: \"token\" and \"headers\" are for a "
			   "\"url\"");
}

/* under  table of the file, for one of a routine; or NULL */
static void load_notify(struct loader *l, struct notify_rules *n,
			const struct toml_value *under)
{
	const struct toml_value *table = n->written;

	if (!table)
		return;
	if (under)
		table = laid_over(under, table, l->arena);
	l->unset = &n->unset;
	load_table(l, table, SECTION_notify, SECTION_notify, n);
	l->unset = NULL;
	check_notify(l, n);
}

static void load_notices(struct loader *l)
{
	struct config *c = l->config;

	load_notify(l, &c->notify, NULL);
	/* mistakes in [notify] are told once */
	for (size_t i = 0; i < c->n_routines && !l->findings->has_error; i++) {
		l->routine = c->routines[i].name;
		load_notify(l, &c->routines[i].notify, c->notify.written);
	}
	l->routine = NULL;
}

/* ---- the whole ---- */

/* Name the nearest of n names, or say how the one that is missing is defined.

   names  the first member of each of n structs of `size` bytes */
static void unknown_name(struct loader *l, const struct toml_value *at,
			 const char *what, const char *name, const void *names,
			 size_t n, size_t size)
{
	const char **all = ARENA_ARRAY(l->arena, const char *, n);
	const char *near;

	for (size_t i = 0; i < n; i++)
		all[i] = *(const char *const *)((const char *)names + i * size);
	near = str_nearest(str_of(name), all, n);
	if (near)
		load_error(l, at, "there is no %s \"%s\"; did you mean \"%s\"?",
			   what, name, near);
	else
		load_error(l, at,
			   "there is no %s \"%s\"; define it as [%ss.%s]", what,
			   name, what, name);
}

static void unknown_server(struct loader *l, const struct toml_value *at,
			   const char *name)
{
	const struct config *c = l->config;

	unknown_name(l, at, "server", name, c->servers, c->n_servers,
		     sizeof(*c->servers));
}

static void link_action_server(struct loader *l, const struct action *a)
{
	const struct toml_value at = {.line = a->line, .col = a->col};

	if (a->server_name && !config_server(l->config, a->server_name))
		unknown_server(l, &at, a->server_name);
}

/* Add the defaults of an action for parameters that a step does not give. */
static void add_defaults(struct loader *l, struct step *s)
{
	const struct toml_value *declared = s->action->params, *given;
	struct toml_value *all = ARENA_NEW(l->arena, struct toml_value);
	size_t n;

	if (!declared)
		return;
	given = s->params ? s->params : s->written;
	n = s->params ? given->table.n : 0;
	*all = *given;
	all->type = TOML_TABLE;
	all->table.member = ARENA_ARRAY(l->arena, struct toml_member,
					n + declared->table.n);
	for (size_t i = 0; i < n; i++)
		all->table.member[i] = given->table.member[i];
	for (size_t i = 0; i < declared->table.n; i++) {
		const struct toml_member *m = &declared->table.member[i];
		const struct toml_value *v =
			m->value.type == TOML_TABLE
				? toml_get(&m->value, "default")
				: NULL;

		if (!v || (s->params && toml_get(s->params, m->key)))
			continue;
		all->table.member[n] = *m;
		all->table.member[n++].value = *v;
	}
	all->table.n = n;
	s->params = n ? all : NULL;
}

/* Let the action of a step say what is called. */
static void link_action(struct loader *l, struct step *s)
{
	const struct config *c = l->config;

	s->action = config_action(c, s->action_name);
	if (!s->action) {
		unknown_name(l, toml_get(s->written, "action"), "action",
			     s->action_name, c->actions, c->n_actions,
			     sizeof(*c->actions));
		return;
	}
	s->server_name = s->action->server_name;
	s->server_at = toml_get(s->written, "action");
	s->tool = s->action->tool;
	add_defaults(l, s);
}

static void link_step(struct loader *l, struct step *s)
{
	if (s->action_name)
		link_action(l, s);
	for (size_t i = 0; i < s->servers.n; i++)
		if (!config_server(l->config, s->servers.item[i]))
			unknown_server(l, toml_get(s->written, "servers"),
				       s->servers.item[i]);
	if (!s->server_name)
		return;
	s->server = config_server(l->config, s->server_name);
	if (!s->server)
		unknown_server(l, s->server_at, s->server_name);
	else if (s->server->url && !s->tool)
		load_error(l, s,
			   "\"tool\" is missing: server \"%s\" has a url, "
			   "there is no stdout to read",
			   s->server_name);
	else if (s->params && !s->tool)
		load_warning(l, s,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

static size_t members(const struct toml_value *root, const char *name)
{
	const struct toml_value *v = toml_get(root, name);

	return v && v->type == TOML_TABLE ? v->table.n : 0;
}

int routine_load(const struct toml_value *root, bool lax, bool policy_only,
		 struct arena *arena, struct config *ret,
		 struct findings *findings)
{
	struct loader l = {
		.arena = arena,
		.config = ret,
		.findings = findings,
		.lax = lax,
		.tail = &ret->expansions,
	};

	*ret = (struct config){0};
	spellings_apply(root, lax, arena, findings);
	if (policy_only && !toml_get(root, "sandbox")) {
		load_table(&l, root, SECTION_sandbox, SECTION_sandbox,
			   &ret->sandbox);
	} else {
		/* both spellings share one array, whose items must not move */
		ret->servers =
			ARENA_ARRAY(arena, struct server,
				    members(root, "servers") +
					    members(root, "mcp_servers"));
		load_table(&l, root, SECTION_top, SECTION_top, ret);
		load_notices(&l);
		ret->shared = toml_get(root, "shared");
		ret->identity = toml_get(root, "identity");
	}
	for (size_t i = 0; i < ret->n_actions; i++)
		link_action_server(&l, &ret->actions[i]);
	for (size_t i = 0; i < ret->n_routines; i++)
		for (size_t k = 0; k < ret->routines[i].n_steps; k++)
			link_step(&l, &ret->routines[i].steps[k]);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

/* ---- looking things up ---- */

static void set_notify_part(struct config_part *p, const struct notify_rules *n)
{
	p->notify = n;
	p->token = &n->token;
	p->sandbox = &n->sandbox;
	p->command = n->command.n ? n->command.item[0] : NULL;
	if (n->command.n)
		p->own_args =
			(struct strlist){n->command.item + 1, n->command.n - 1};
	p->args = &p->own_args;
}

bool config_next(const struct config *c, struct config_part *p)
{
	static const struct strlist no_args;
	static const struct env_refs no_env;
	size_t i = p->next;

	*p = (struct config_part){.sandbox = &c->sandbox,
				  .args = &no_args,
				  .env = &no_env,
				  .next = i + 1};
	if (i-- == 0) {
		p->token = &c->serve.token;
		return true;
	}
	if (i < c->n_servers) {
		p->server = &c->servers[i];
		p->sandbox = &p->server->sandbox;
		p->command = p->server->command;
		p->args = &p->server->args;
		p->env = &p->server->env;
		return true;
	}
	i -= c->n_servers;
	for (size_t k = 0; k < c->n_routines; k++) {
		if (i < c->routines[k].n_steps) {
			p->step = &c->routines[k].steps[i];
			p->sandbox = &p->step->sandbox;
			p->command = p->step->command;
			p->args = &p->step->args;
			p->env = &p->step->env;
			return true;
		}
		i -= c->routines[k].n_steps;
	}
	if (i > c->n_routines)
		return false;
	set_notify_part(p, i ? &c->routines[i - 1].notify : &c->notify);
	return true;
}

const struct env_ref *config_next_ref(struct config_part *p)
{
	size_t n = p->env->n + (p->server ? server_references(p->server) : 0) +
		   (p->token ? 1 : 0);

	while (p->next_ref < n) {
		size_t i = p->next_ref++;
		const struct env_ref *ref =
			i < p->env->n ? &p->env->item[i]
			: p->token    ? p->token
				   : server_reference(p->server, i - p->env->n);

		if (ref->from)
			return ref;
	}
	return NULL;
}

const struct routine *config_routine(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_routines; i++)
		if (!strcmp(c->routines[i].name, name))
			return &c->routines[i];
	return NULL;
}

const struct notify_rules *config_notify(const struct config *c,
					 const struct routine *r)
{
	const struct notify_rules *n =
		r && r->notify.written ? &r->notify : &c->notify;

	return n->written ? n : NULL;
}

const struct action *config_action(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_actions; i++)
		if (strcmp(c->actions[i].name, name) == 0)
			return &c->actions[i];
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

	set_defaults(SECTION_server, SECTION_server, &s);
	return s;
}

size_t server_references(const struct server *s)
{
	return SERVER_KEY_REFERENCES + s->headers.n_refs;
}

const struct env_ref *server_reference(const struct server *s, size_t nth)
{
	const struct env_ref *const all[SERVER_KEY_REFERENCES] = {
		&s->token,
		&s->api_key,
#define AUTH_SECRET(key, ...) &s->auth.key,
#include "core/auth/auth.def"
	};

	return nth < ARRAY_LEN(all) ? all[nth]
				    : &s->headers.ref[nth - ARRAY_LEN(all)];
}
