/*
 * Readers of single values: one function for each row of key_types.def that
 * is not a table of its own section.
 */
#include "core/routine/load.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"

static void *field_of(const struct key *k, void *object)
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

void load_wrong_type(struct loader *l, const struct key *k,
		     const struct toml_value *v)
{
	struct buf what = BUF_INIT(BUF_UNBOUNDED);

	describe(v, &what);
	load_error(l, v->line, v->col, "\"%s\" takes %s; here stands %s",
		   k->name, key_type_text(k->type), buf_cstr(&what));
	buf_release(&what);
}

static const char *cstr(struct loader *l, const struct toml_value *v)
{
	return arena_strndup(l->arena, v->string.p, v->string.n);
}

/* A string that can be a C string and is not empty. */
static bool is_usable(struct loader *l, const struct key *k,
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

static bool is_filled(struct loader *l, const struct key *k,
		      const struct toml_value *v)
{
	if (!is_usable(l, k, v))
		return false;
	if (v->string.n)
		return true;
	load_error(l, v->line, v->col, "\"%s\" is empty; it takes %s", k->name,
		   key_type_text(k->type));
	return false;
}

static void expand_later(struct loader *l, const struct key *k,
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
		.line = v->line,
		.col = v->col,
	};
	*l->tail = e;
	l->tail = &e->next;
}

void read_STRING(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	const char **field = field_of(k, object);

	if (is_usable(l, k, &m->value))
		*field = cstr(l, &m->value);
}

static void read_expandable(struct loader *l, const struct key *k,
			    enum expansion_kind kind,
			    const struct toml_member *m, void *object)
{
	const char **field = field_of(k, object);

	if (!is_filled(l, k, &m->value))
		return;
	*field = cstr(l, &m->value);
	expand_later(l, k, kind, &m->value, field);
}

void read_PATH(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_PATH, m, object);
}

void read_PROGRAM(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_PROGRAM, m, object);
}

void read_URL(struct loader *l, const struct key *k,
	      const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_URL, m, object);
}

void load_check_name(struct loader *l, const char *what, const char *name,
		     uint32_t line, uint32_t col)
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

void read_NAME(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	const char **field = field_of(k, object);

	if (!is_usable(l, k, &m->value))
		return;
	*field = cstr(l, &m->value);
	load_check_name(l, "step", *field, m->value.line, m->value.col);
}

void read_TYPE(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	const char **field = field_of(k, object);
	const struct step_kind *kind;
	const char *near;

	if (!is_usable(l, k, &m->value))
		return;
	kind = step_kind_find(cstr(l, &m->value));
	if (kind) {
		*field = kind->canonical;
		return;
	}
	near = step_kind_nearest(cstr(l, &m->value));
	load_error(l, m->value.line, m->value.col,
		   "unknown step type \"%s\"%s%s%s", cstr(l, &m->value),
		   near ? "; did you mean \"" : "; `matins steps` lists them",
		   near ? near : "", near ? "\"?" : "");
}

/* "a|b|c" as `"a", "b" or "c"` */
static void add_words(struct buf *out, const char *words)
{
	struct str rest = str_of(words);
	bool first = true;

	while (rest.p) {
		struct str word = str_cut(&rest, '|');

		buf_addf(out, "%s\"%.*s\"",
			 first	  ? ""
			 : rest.p ? ", "
				  : " or ",
			 STR_ARG(word));
		first = false;
	}
}

void read_WORD(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	const char **field = field_of(k, object);
	struct buf what = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(k->words);

	while (m->value.type == TOML_STRING && rest.p) {
		if (!str_eq(str_cut(&rest, '|'), m->value.string))
			continue;
		*field = cstr(l, &m->value);
		return;
	}
	add_words(&what, k->words);
	buf_adds(&what, "; here stands ");
	describe(&m->value, &what);
	load_error(l, m->value.line, m->value.col, "\"%s\" takes %s", k->name,
		   buf_cstr(&what));
	buf_release(&what);
}

void read_BOOL(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	bool *field = field_of(k, object);

	if (m->value.type == TOML_BOOLEAN)
		*field = m->value.boolean;
	else
		load_wrong_type(l, k, &m->value);
}

struct scale {
	uint64_t factor;
	const char *suffix;
};

/* A bound in the largest unit that shows it whole. */
static void add_bound(struct buf *out, enum key_type type, uint64_t v)
{
	static const struct scale times[] = {
		{3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}, {0}};
	static const struct scale sizes[] = {{UINT64_C(1) << 30, "GiB"},
					     {UINT64_C(1) << 20, "MiB"},
					     {UINT64_C(1) << 10, "KiB"},
					     {1, "B"},
					     {0}};
	static const struct scale plain[] = {{1, ""}, {0}};
	const struct scale *s = type == KEY_DURATION_MS	 ? times
				: type == KEY_SIZE_BYTES ? sizes
							 : plain;

	while (s[1].factor && (!v || v % s->factor))
		s++;
	buf_addf(out, "%llu%s", (unsigned long long)(v / s->factor), s->suffix);
}

static void set_number(struct loader *l, const struct key *k,
		       const struct toml_value *v, uint64_t number,
		       void *object)
{
	uint64_t *field = field_of(k, object);
	struct buf range = BUF_INIT(BUF_UNBOUNDED);

	if (number >= k->min && number <= k->max) {
		*field = number;
		return;
	}
	add_bound(&range, k->type, k->min);
	if (k->max < INT64_MAX) {
		buf_adds(&range, " and at most ");
		add_bound(&range, k->type, k->max);
	}
	load_error(l, v->line, v->col, "\"%s\" is at least %s", k->name,
		   buf_cstr(&range));
	buf_release(&range);
}

void read_COUNT(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	if (m->value.type != TOML_INTEGER || m->value.integer < 0)
		load_wrong_type(l, k, &m->value);
	else
		set_number(l, k, &m->value, (uint64_t)m->value.integer, object);
}

void read_DURATION_MS(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	const struct toml_value *v = &m->value;
	/* far above every bound, and its milliseconds fit */
	const double most = 1e12;
	uint64_t ms;

	if (v->type == TOML_STRING && str_duration_ms(v->string, &ms))
		set_number(l, k, v, ms, object);
	else if (v->type == TOML_INTEGER && v->integer >= 0)
		set_number(l, k, v,
			   v->integer < (int64_t)most
				   ? (uint64_t)v->integer * 1000
				   : UINT64_MAX,
			   object);
	else if (v->type == TOML_FLOAT && v->real >= 0 && v->real < most)
		set_number(l, k, v, (uint64_t)(v->real * 1000 + 0.5), object);
	else
		load_wrong_type(l, k, v);
}

void read_SIZE_BYTES(struct loader *l, const struct key *k,
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

void read_REVISION(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	const char **field = field_of(k, object);
	const struct toml_value *v = &m->value;

	if (v->type == TOML_STRING && str_is(v->string, "auto"))
		*field = NULL;
	else if ((v->type == TOML_STRING || v->type == TOML_DATETIME) &&
		 is_date(v->string))
		*field = cstr(l, v);
	else
		load_wrong_type(l, k, v);
}

/* The texts of an array of strings; a single string gets a hint. */
static void read_list(struct loader *l, const struct key *k,
		      const struct toml_value *v, bool may_be_empty,
		      struct strlist *ret)
{
	struct strlist list = {NULL, 0};

	if (v->type == TOML_STRING) {
		load_error(l, v->line, v->col,
			   "\"%s\" takes %s; put the string into brackets: "
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

		if (may_be_empty ? is_usable(l, k, item)
				 : is_filled(l, k, item))
			list.item[list.n++] = cstr(l, item);
	}
	*ret = list;
}

void read_STRINGS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	read_list(l, k, &m->value, true, field_of(k, object));
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

		/* those with an error are not in the list */
		if (item->type != TOML_STRING ||
		    !str_is(item->string, list->item[filled]))
			continue;
		expand_later(l, k, kind, item, &list->item[filled++]);
	}
}

void read_READ_PATHS(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_READ, &m->value, field_of(k, object));
}

void read_WRITE_PATHS(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_WRITE, &m->value, field_of(k, object));
}

void read_PROGRAMS(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	read_expandables(l, k, EXPAND_PROGRAM, &m->value, field_of(k, object));
}

void read_NET(struct loader *l, const struct key *k,
	      const struct toml_member *m, void *object)
{
	static const char *const words[] = {"none", "loopback", "all"};
	struct strlist *list = field_of(k, object);
	const struct toml_value *v = &m->value;

	if (v->type == TOML_ARRAY)
		read_list(l, k, v, false, list);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (v->type == TOML_STRING && str_is(v->string, words[i])) {
			/* "none" is the empty list */
			list->item = ARENA_ARRAY(l->arena, const char *, 2);
			list->item[0] = words[i];
			list->n = i > 0;
			return;
		}
		for (size_t j = 0; j < list->n; j++)
			if (!strcmp(list->item[j], words[i]))
				load_error(l, v->line, v->col,
					   "\"%s\" is no endpoint; write "
					   "net = \"%s\" without brackets",
					   words[i], words[i]);
	}
	if (v->type != TOML_ARRAY)
		load_wrong_type(l, k, v);
}

/* RFC 9110, 5.6.2: token */
static bool is_token(const char *s)
{
	const char others[] = "!#$%&'*+-.^_`|~";
	const char *p = s;

	for (; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		      (*p >= '0' && *p <= '9') || strchr(others, *p)))
			return false;
	return p > s;
}

/* Values of headers are never shown: they may be credentials. */
void read_HEADERS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct server *server = object;
	const struct toml_value *v = &m->value;

	if (v->type != TOML_TABLE) {
		load_wrong_type(l, k, v);
		return;
	}
	server->headers = ARENA_ARRAY(l->arena, struct header, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];
		struct header *h = &server->headers[server->n_headers];

		if (!is_token(from->key)) {
			load_error(l, from->line, from->col,
				   "this is no name of an HTTP header");
		} else if (from->value.type != TOML_STRING ||
			   str_find(from->value.string, '\0') <
				   from->value.string.n) {
			load_error(l, from->value.line, from->value.col,
				   "header %s takes a string without NUL",
				   from->key);
		} else {
			h->name = from->key;
			h->value = cstr(l, &from->value);
			expand_later(l, k, EXPAND_HEADER, &from->value,
				     &h->value);
			server->n_headers++;
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

static void read_reference(struct loader *l, const struct toml_member *m,
			   struct env_refs *refs)
{
	struct env_ref *ref = &refs->item[refs->n];

	ref->name = m->key;
	ref->line = m->line;
	ref->col = m->col;
	if (!is_variable(m->key)) {
		load_error(l, m->line, m->col,
			   "this cannot be the name of a variable");
		return;
	}
	if (m->value.type != TOML_TABLE) {
		load_error(l, m->value.line, m->value.col,
			   "credentials do not stand in the file; write "
			   "%s = { env = \"NAME\" }, { file = \"~/path\" } or "
			   "{ cmd = \"line\" }",
			   m->key);
		return;
	}
	load_table(l, &m->value, SECTION_reference, SECTION_reference, ref);
	if (m->value.table.n != 1)
		load_error(l, m->value.line, m->value.col,
			   "%s takes exactly one of \"env\", \"file\" and "
			   "\"cmd\"",
			   m->key);
	else if (ref->from)
		refs->n++;
}

void read_ENV(struct loader *l, const struct key *k,
	      const struct toml_member *m, void *object)
{
	struct env_refs *refs = field_of(k, object);

	if (m->value.type != TOML_TABLE) {
		load_error(l, m->value.line, m->value.col, "\"env\" takes %s",
			   key_type_text(k->type));
		return;
	}
	refs->item = ARENA_ARRAY(l->arena, struct env_ref, m->value.table.n);
	for (size_t i = 0; i < m->value.table.n; i++)
		read_reference(l, &m->value.table.member[i], refs);
}

static void set_reference(struct loader *l, const struct key *k,
			  const struct toml_member *m, struct env_ref *ref,
			  enum env_source source)
{
	if (!is_filled(l, k, &m->value))
		return;
	ref->source = source;
	ref->from = cstr(l, &m->value);
}

void read_REF_ENV(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct env_ref *ref = object;

	set_reference(l, k, m, ref, ENV_FROM_ENV);
	if (ref->from && !is_variable(ref->from)) {
		load_error(l, m->value.line, m->value.col,
			   "this cannot be the name of a variable");
		ref->from = NULL;
	}
}

void read_REF_FILE(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	struct env_ref *ref = object;

	set_reference(l, k, m, ref, ENV_FROM_FILE);
	if (ref->from)
		expand_later(l, k, EXPAND_PATH, &m->value, &ref->from);
}

void read_REF_CMD(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	set_reference(l, k, m, object, ENV_FROM_CMD);
}

void read_PARAMS(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	const struct toml_value **field = field_of(k, object);

	if (m->value.type != TOML_TABLE)
		load_wrong_type(l, k, &m->value);
	else if (*field)
		load_error(l, m->line, m->col,
			   "\"params\" and \"arguments\" are the same; keep "
			   "one");
	else
		*field = &m->value;
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
					  struct caveat_axis *axis)
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
	struct caveat_axis *axis = field_of(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_list(l, k, list, false, &axis->only);
}

void read_AXIS_PATHS(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	struct caveat_axis *axis = field_of(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_expandables(l, k, EXPAND_PATH, list, &axis->only);
}

void read_AXIS_PROGRAMS(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	struct caveat_axis *axis = field_of(k, object);
	const struct toml_value *list = axis_list(l, k, &m->value, axis);

	if (list)
		read_expandables(l, k, EXPAND_PROGRAM, list, &axis->only);
}

void read_AXIS_NUMBERS(struct loader *l, const struct key *k,
		       const struct toml_member *m, void *object)
{
	struct caveat_axis *axis = field_of(k, object);
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
	struct caveats *caveats = object;
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
