#include "core/report/rules.h"

#include <ctype.h>

#include "core/base/jw.h"
#include "core/report/canon.h"
#include "core/report/number.h"
#include "core/report/path.h"
#include "core/schema/format.h"
#include "core/schema/regex.h"

/* Work of all searches of one expression; as in core/schema. */
#define REGEX_STEPS 10000000

static const struct {
	const char *name, *values;
} kinds[] = {
#define RULE(kind, name, values) {name, values},
#include "core/report/rules.def"
#undef RULE
};

const char *rule_name(enum rule_kind kind)
{
	return kinds[kind].name;
}

/* ---- types of `match` ---- */

static bool is_integer(const struct jdoc *j, UNUSED struct str text)
{
	return j->type == SCAN_NUMBER && !memchr(j->raw.p, '.', j->raw.n) &&
	       !memchr(j->raw.p, 'e', j->raw.n) &&
	       !memchr(j->raw.p, 'E', j->raw.n);
}

static bool is_string(const struct jdoc *j, UNUSED struct str text)
{
	return j->type == SCAN_STRING;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isxdigit((unsigned char)s.p[i]))
			return false;
	return true;
}

static bool is_uuid(const struct jdoc *j, struct str text)
{
	static const size_t digits[] = {8, 4, 4, 4, 12};

	for (size_t i = 0; i < ARRAY_LEN(digits); i++) {
		struct str part = str_cut(&text, '-');

		if (part.n != digits[i] || !is_hex(part))
			return false;
	}
	return j->type == SCAN_STRING && !text.p;
}

static bool is_time(const struct jdoc *j, struct str text)
{
	return j->type == SCAN_STRING &&
	       (!format_missed(STR("\"date-time\""), text) ||
		!format_missed(STR("\"date\""), text));
}

/* "sha256:0f3c…": hexadecimal digits, at least the 8 of a short one. */
static bool is_hash(const struct jdoc *j, struct str text)
{
	struct str digits = text, name = str_cut(&digits, ':');

	if (!digits.p)
		digits = name;
	return j->type == SCAN_STRING && digits.n >= 8 && digits.n <= 128 &&
	       is_hex(digits);
}

static const struct {
	const char *name;
	bool (*is)(const struct jdoc *j, struct str text);
} types[] = {
	{"int", is_integer}, {"string", is_string}, {"uuid", is_uuid},
	{"time", is_time},   {"hash", is_hash},
};

/* The expression between the slashes; n = 0: not one. */
static struct str expression(const char *value)
{
	size_t n = strlen(value);

	return n > 2 && value[0] == '/' && value[n - 1] == '/'
		       ? (struct str){value + 1, n - 2}
		       : (struct str){NULL, 0};
}

/* ---- reading ---- */

static int check_type(const char *value, struct err *err)
{
	struct regex *regex = NULL;
	int status;

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(value, types[i].name))
			return 0;
	if (!expression(value).n)
		return 1;
	status = regex_new(expression(value), &regex, err);
	regex_free(regex);
	return status;
}

/* 1: not one of the values */
static int check_value(const struct rule *rule, struct err *err)
{
	const char *value = rule->value;

	switch (rule->kind) {
	case RULE_ARRAYS:
		return strcmp(value, "set") && strcmp(value, "multiset") &&
		       (strncmp(value, "key:", 4) || !value[4]);
	case RULE_MATCH:
		return check_type(value, err);
	case RULE_TOLERANCE:
		return !number_is_tolerance(str_of(value));
	default:
		return 0;
	}
}

const struct rule *rules_find(const struct rules *r, const struct rule *wanted)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->item[i].kind == wanted->kind &&
		    (!r->item[i].path || !wanted->path ||
		     !strcmp(r->item[i].path, wanted->path)))
			return &r->item[i];
	return NULL;
}

/* Strings of the rule are kept. */
static int add(struct rules *r, struct rule rule, struct arena *arena,
	       struct err *err)
{
	int status;

	if (rules_find(r, &rule))
		return 0;
	if (r->n == RULES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d rules", RULES_MAX);
	if (rule.path && path_parse(rule.path, arena, &rule.at, err) < 0)
		return err_wrap(err, "%s rule", rule_name(rule.kind));
	status = check_value(&rule, err);
	if (status > 0)
		return err_set(err, ERR_SYNTAX, "%s of %s: \"%s\" is not %s",
			       rule_name(rule.kind), rule.path, rule.value,
			       kinds[rule.kind].values);
	if (status < 0)
		return err_wrap(err, "match of %s", rule.path);
	rule.hits = 0;
	r->item = arena_grow(arena, r->item, r->n, sizeof(*r->item));
	r->item[r->n++] = rule;
	return 0;
}

static int add_member(struct rules *r, enum rule_kind kind,
		      const struct jdoc *j, struct arena *arena,
		      struct err *err)
{
	struct rule rule = {.kind = kind};
	const bool is_table = kinds[kind].values;

	if (is_table) {
		rule.path = arena_strndup(arena, j->key.p, j->key.n);
		rule.value = j->type == SCAN_NUMBER
				     ? arena_strndup(arena, j->raw.p, j->raw.n)
				     : jdoc_text(j, arena);
	} else {
		rule.path = jdoc_text(j, arena);
	}
	if (!(is_table ? rule.value : rule.path))
		return err_set(err, ERR_COMPARE, "%s must hold %s",
			       rule_name(kind),
			       is_table ? kinds[kind].values : "strings");
	return add(r, rule, arena, err);
}

static int load_kind(struct rules *r, enum rule_kind kind,
		     const struct jdoc *list, struct arena *arena,
		     struct err *err)
{
	const bool is_table = kinds[kind].values;
	const bool is_whole =
		kind == RULE_EMBEDDED &&
		(list->type == SCAN_TRUE || list->type == SCAN_FALSE);

	if (is_whole)
		return add(r,
			   (struct rule){.kind = kind,
					 .value = list->type == SCAN_TRUE
							  ? "true"
							  : "false"},
			   arena, err);
	if (list->type != (is_table ? SCAN_OBJECT : SCAN_ARRAY))
		return err_set(err, ERR_COMPARE, "%s must be %s",
			       rule_name(kind),
			       is_table		       ? "a table"
			       : kind == RULE_EMBEDDED ? "true, false or a list"
						       : "a list");
	for (const struct jdoc *j = list->first; j; j = j->next)
		if (add_member(r, kind, j, arena, err) < 0)
			return -1;
	return 0;
}

int rules_load(struct rules *r, const struct jdoc *object, struct arena *arena,
	       struct err *err)
{
	for (size_t i = 0; i < N_RULE_KINDS; i++) {
		const struct jdoc *list = jdoc_get(object, kinds[i].name);

		if (list &&
		    load_kind(r, (enum rule_kind)i, list, arena, err) < 0)
			return -1;
	}
	return 0;
}

int rules_join(struct rules *r, const struct rules *more, struct arena *arena,
	       struct err *err)
{
	for (size_t i = 0; i < more->n; i++)
		if (add(r, more->item[i], arena, err) < 0)
			return -1;
	return 0;
}

int rules_ignore(struct rules *r, const struct strlist *paths,
		 struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < paths->n; i++)
		if (add(r,
			(struct rule){
				.kind = RULE_IGNORE,
				.path = arena_strdup(arena, paths->item[i])},
			arena, err) < 0)
			return -1;
	return 0;
}

/* ---- marks ---- */

struct marking {
	struct rules *rules;
	size_t rule; /* index of the one that is applied */
	struct regex *regex;
	struct arena *arena;
};

/* A text that is an object or an array gets it as its child. */
static void parse_inside(void *arg, struct jdoc *j)
{
	struct marking *m = arg;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str inside;

	if (j->type != SCAN_STRING || j->first ||
	    !memchr("{[\\ \t", j->raw.p[1], 5) || !scan_string(j->raw, &text))
		return;
	inside = str_trim(buf_str(&text));
	if (!inside.n || !memchr("{[", inside.p[0], 2))
		return;
	if (jdoc_parse(arena_str(m->arena, inside), m->arena, &j->first,
		       ERR_IGNORED) < 0)
		j->first = NULL;
}

static void parse_all(struct marking *m, struct jdoc *j)
{
	parse_inside(m, j);
	for (struct jdoc *c = j->type == SCAN_STRING ? NULL : j->first; c;
	     c = c->next)
		parse_all(m, c);
}

static bool has_type(const struct marking *m, const struct rule *rule,
		     const struct jdoc *j)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	uint64_t steps = REGEX_STEPS;

	if (j->type == SCAN_STRING)
		scan_string(j->raw, &text);
	else
		buf_add_str(&text, j->raw);
	if (m->regex)
		return j->type != SCAN_OBJECT && j->type != SCAN_ARRAY &&
		       regex_search(m->regex, buf_str(&text), &steps) == 1;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(rule->value, types[i].name))
			return types[i].is(j, buf_str(&text));
	return false;
}

static void replace(const struct marking *m, const struct rule *rule,
		    struct jdoc *j)
{
	AUTO(buf_release) struct buf raw = BUF_INIT(BUF_UNBOUNDED);

	canon_quote(str_of(arena_printf(m->arena, "(%s)", rule->value)), &raw);
	j->raw = arena_str(m->arena, buf_str(&raw));
	j->type = SCAN_STRING;
	j->first = NULL;
	j->n = 0;
}

/* The first rule counts; they are in the order of who said them last. */
static void mark(void *arg, struct jdoc *j)
{
	const struct marking *m = arg;
	const struct rule *rule = &m->rules->item[m->rule];

	if (rule->kind == RULE_IGNORE)
		j->ignored = true;
	if (j->rule || rule->kind == RULE_IGNORE)
		return;
	j->rule = (uint16_t)(m->rule + 1);
	if (rule->kind == RULE_MATCH && has_type(m, rule, j))
		replace(m, rule, j);
}

static void apply_embedded(struct marking *m, struct jdoc *report)
{
	bool is_said = false;

	for (size_t i = 0; i < m->rules->n; i++) {
		struct rule *rule = &m->rules->item[i];

		if (rule->kind != RULE_EMBEDDED)
			continue;
		is_said = !rule->value || strcmp(rule->value, "true") != 0;
		if (rule->at)
			rule->hits +=
				path_select(rule->at, report, parse_inside, m);
	}
	if (!is_said)
		parse_all(m, report);
}

void rules_apply(struct rules *r, struct jdoc *report, struct arena *arena)
{
	struct marking m = {.rules = r, .arena = arena};

	apply_embedded(&m, report);
	for (; m.rule < r->n; m.rule++) {
		struct rule *rule = &r->item[m.rule];
		struct str pattern = {NULL, 0};

		if (rule->kind == RULE_EMBEDDED)
			continue;
		if (rule->kind == RULE_MATCH)
			pattern = expression(rule->value);
		/* proved when it was read */
		if (pattern.n && regex_new(pattern, &m.regex, ERR_IGNORED) < 0)
			continue;
		rule->hits += path_select(rule->at, report, mark, &m);
		regex_free(m.regex);
		m.regex = NULL;
	}
}

/* ---- printing ---- */

static void write_kind(const struct rules *r, enum rule_kind kind, struct jw *w)
{
	const bool is_table = kinds[kind].values;

	jw_key(w, rule_name(kind));
	if (is_table)
		jw_object(w);
	else
		jw_array(w);
	for (size_t i = 0; i < r->n; i++) {
		const struct rule *rule = &r->item[i];

		if (rule->kind == kind && is_table)
			jw_kv_cstr(w, rule->path, rule->value);
		else if (rule->kind == kind)
			jw_cstr(w, rule->path);
	}
	jw_end(w);
}

/* Ignored paths are always there, which a reader of the file can rely on. */
void rules_print(const struct rules *r, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&text);
	struct jdoc *object;

	for (size_t i = 0; i < N_RULE_KINDS; i++) {
		const enum rule_kind kind = (enum rule_kind)i;
		const struct rule wanted = {.kind = kind};
		const struct rule *rule = rules_find(r, &wanted);

		if (rule && !rule->path)
			jw_kv_raw(&w, rule_name(kind), str_of(rule->value));
		else if (rule || kind == RULE_IGNORE)
			write_kind(r, kind, &w);
	}
	jw_end(&w);
	if (jdoc_parse(buf_str(&text), &arena, &object, ERR_IGNORED) == 0)
		canon_print(object, 1, out);
}
