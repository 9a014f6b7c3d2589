#include "core/report/golden.h"

#include <string.h>

#include "core/report/canon.h"
#include "core/report/path.h"
#include "core/report/report.h"

/* ---- the golden view ---- */

enum level { LEVEL_REPORT, LEVEL_STEP };

static void drop_volatile(struct jdoc *object, enum level level)
{
	static const struct {
		enum level level;
		const char *name;
	} rows[] = {
#define VOLATILE(where, name) {LEVEL_##where, name},
#include "core/report/volatile.def"
#undef VOLATILE
	};
	struct jdoc **link = &object->first;

	while (object->type == SCAN_OBJECT && *link) {
		bool is_volatile = false;

		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			is_volatile |= rows[i].level == level &&
				       str_is((*link)->key, rows[i].name);
		object->n -= is_volatile;
		if (is_volatile)
			*link = (*link)->next;
		else
			link = &(*link)->next;
	}
}

/* Take the volatile members out of a report, so that it is what
   `--view golden` shows. Any other document stays as it is. */
static void take_golden_view(struct jdoc *report)
{
	struct jdoc *steps = jdoc_get(report, "step_results");

	if (!jdoc_is(jdoc_get(report, "schema"), "matins-report/1"))
		return;
	drop_volatile(report, LEVEL_REPORT);
	for (struct jdoc *s = steps ? steps->first : NULL; s; s = s->next)
		drop_volatile(s, LEVEL_STEP);
}

/* ---- rules ---- */

bool golden_has_rule(const struct golden *g, const char *text)
{
	for (size_t i = 0; i < g->n_rules; i++)
		if (!strcmp(g->rule[i].text, text))
			return true;
	return false;
}

/* The array has room for GOLDEN_RULES_MAX. */
static int add_rule(struct golden *g, const char *text, struct arena *arena,
		    struct err *err)
{
	struct golden_rule rule = {0};

	if (golden_has_rule(g, text))
		return 0;
	if (g->n_rules == GOLDEN_RULES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d ignore rules",
			       GOLDEN_RULES_MAX);
	if (path_parse(text, arena, &rule.path, err) < 0)
		return err_wrap(err, "ignore rule");
	rule.text = arena_strdup(arena, text);
	g->rule[g->n_rules++] = rule;
	return 0;
}

int golden_add_rules(struct golden *g, struct strlist ignore,
		     struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < ignore.n; i++)
		if (add_rule(g, ignore.item[i], arena, err) < 0)
			return -1;
	return 0;
}

static void apply_rules(struct golden *g, struct jdoc *report)
{
	for (size_t i = 0; i < g->n_rules; i++)
		g->rule[i].hits += path_mark(g->rule[i].path, report);
}

int golden_load(struct str text, struct arena *arena, struct golden *ret,
		struct err *err)
{
	const struct jdoc *rule;
	struct golden g = {0};
	struct jdoc *doc;

	if (jdoc_parse(text, arena, &doc, err) < 0)
		return -1;
	g.routine = jdoc_text(jdoc_get(doc, "routine"), arena);
	g.file = jdoc_text(jdoc_get(doc, "file"), arena);
	g.report = jdoc_get(doc, "report");
	if (!jdoc_is(jdoc_get(doc, "schema"), GOLDEN_SCHEMA) || !g.routine ||
	    !g.report || g.report->type != SCAN_OBJECT)
		return err_set(err, ERR_COMPARE,
			       "not a document of schema " GOLDEN_SCHEMA);
	g.rule = ARENA_ARRAY(arena, struct golden_rule, GOLDEN_RULES_MAX);
	rule = jdoc_get(jdoc_get(doc, "rules"), "ignore");
	for (rule = rule ? rule->first : NULL; rule; rule = rule->next) {
		const char *ignore = jdoc_text(rule, arena);

		if (!ignore)
			return err_set(err, ERR_COMPARE,
				       "rules.ignore holds something that is "
				       "no string");
		if (add_rule(&g, ignore, arena, err) < 0)
			return -1;
	}
	take_golden_view(g.report);
	*ret = g;
	return 0;
}

/* The step or member in which a scrubbed secret stands, or NULL. */
static const struct jdoc *find_secret(const struct jdoc *j)
{
	/* the key of an ignored value is kept */
	if (j->key.n && memmem(j->key.p, j->key.n, "***", 3))
		return j;
	if (j->ignored)
		return NULL;
	if (j->type == SCAN_STRING && memmem(j->raw.p, j->raw.n, "***", 3))
		return j;
	for (const struct jdoc *c = j->first; c; c = c->next)
		if (find_secret(c))
			return c;
	return NULL;
}

static int check_secrets(const struct jdoc *report, struct arena *arena,
			 struct err *err)
{
	const struct jdoc *steps = jdoc_get(report, "step_results");
	const struct jdoc *step = find_secret(steps);
	const char *name = jdoc_text(jdoc_get(step, "step_name"), arena);

	if (!step && !find_secret(report))
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "a secret was scrubbed (***) from %s%s; a golden file "
		       "does not keep even that: ignore the value, or keep "
		       "the server from printing it",
		       name ? "step " : "the report", name ? name : "");
}

/* Does the report itself say that something was scrubbed? */
static bool says_scrubbed(const struct jdoc *report)
{
	const struct jdoc *steps = jdoc_get(report, "step_results");

	for (const struct jdoc *s = steps->first; s; s = s->next) {
		const struct jdoc *n = jdoc_get(jdoc_get(s, "run"), "scrubbed");

		if (n && !str_is(n->raw, "0"))
			return true;
	}
	return false;
}

int golden_make(struct str report_json, struct strlist ignore, bool has_secrets,
		struct arena *arena, struct golden *ret, struct err *err)
{
	const struct jdoc *steps;
	struct golden g = {0};

	if (jdoc_parse(report_json, arena, &g.report, err) < 0)
		return -1;
	if (!jdoc_is(jdoc_get(g.report, "schema"), REPORT_SCHEMA))
		return err_set(err, ERR_COMPARE,
			       "not a document of schema " REPORT_SCHEMA);
	steps = jdoc_get(g.report, "step_results");
	if (!steps || steps->type != SCAN_ARRAY)
		return err_set(err, ERR_COMPARE,
			       "the report has no step_results");
	g.routine = jdoc_text(jdoc_get(g.report, "routine"), arena);
	if (!g.routine)
		return err_set(err, ERR_COMPARE, "the report names no routine");
	g.rule = ARENA_ARRAY(arena, struct golden_rule, GOLDEN_RULES_MAX);
	if (golden_add_rules(&g, ignore, arena, err) < 0)
		return -1;
	has_secrets = has_secrets || says_scrubbed(g.report);
	take_golden_view(g.report);
	apply_rules(&g, g.report);
	if (has_secrets && check_secrets(g.report, arena, err) < 0)
		return -1;
	*ret = g;
	return 0;
}

/* The keys stand in canonical order, so the whole file is canonical. */
void golden_print(const struct golden *g, struct buf *out)
{
	buf_adds(out, "{\n");
	if (g->file) {
		buf_adds(out, "  \"file\": ");
		canon_quote(str_of(g->file), out);
		buf_adds(out, ",\n");
	}
	buf_adds(out, "  \"report\": ");
	canon_print(g->report, 1, out);
	buf_adds(out, ",\n  \"routine\": ");
	canon_quote(str_of(g->routine), out);
	buf_adds(out, ",\n  \"rules\": {\n    \"ignore\": [");
	for (size_t i = 0; i < g->n_rules; i++) {
		buf_adds(out, i ? ",\n      " : "\n      ");
		canon_quote(str_of(g->rule[i].text), out);
	}
	buf_adds(out, g->n_rules ? "\n    ]\n  },\n" : "]\n  },\n");
	buf_adds(out, "  \"schema\": \"" GOLDEN_SCHEMA "\"\n}\n");
}

int golden_compare(struct golden *accepted, struct golden *candidate,
		   struct arena *arena, struct diff *ret, struct err *err)
{
	if (strcmp(accepted->routine, candidate->routine))
		return err_set(err, ERR_COMPARE,
			       "the golden file is of routine \"%s\", the "
			       "report of \"%s\"",
			       accepted->routine, candidate->routine);
	for (size_t i = 0; i < accepted->n_rules; i++)
		if (add_rule(candidate, accepted->rule[i].text, arena, err) < 0)
			return -1;
	for (size_t i = 0; i < candidate->n_rules; i++)
		candidate->rule[i].hits = 0;
	apply_rules(candidate, candidate->report);
	apply_rules(candidate, accepted->report);
	diff_reports(accepted->report, candidate->report, arena, ret);
	return 0;
}

const char *golden_file_name(const char *routine, struct arena *arena)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	for (const char *p = routine; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool leading_dot = c == '.' && p == routine;

		if (c <= ' ' || c == 0x7f || strchr("/\\%", c) || leading_dot)
			buf_addf(&name, "%%%02X", c);
		else
			buf_addc(&name, *p);
	}
	buf_adds(&name, ".json");
	return arena_strdup(arena, buf_cstr(&name));
}
