#include "core/report/golden.h"

#include <string.h>

#include "core/base/jw.h"
#include "core/report/canon.h"
#include "core/report/path.h"
#include "core/report/report.h"

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
	struct path *path;

	if (golden_has_rule(g, text))
		return 0;
	if (g->n_rules == GOLDEN_RULES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d ignore rules",
			       GOLDEN_RULES_MAX);
	if (path_parse(text, arena, &path, err) < 0)
		return err_wrap(err, "ignore rule");
	g->rule[g->n_rules++] =
		(struct golden_rule){.text = arena_strdup(arena, text)};
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

/* The rules have been parsed before, so that cannot fail again. */
static int apply_rules(struct golden *g, struct jdoc *report,
		       struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < g->n_rules; i++) {
		struct path *path;

		if (path_parse(g->rule[i].text, arena, &path, err) < 0)
			return -1;
		g->rule[i].hits += path_mark(path, report);
	}
	return 0;
}

static int load_rules(const struct jdoc *ignore, struct arena *arena,
		      struct golden *g, struct err *err)
{
	for (const struct jdoc *j = ignore ? ignore->first : NULL; j;
	     j = j->next) {
		const char *text = jdoc_text(j, arena);

		if (!text)
			return err_set(err, ERR_COMPARE,
				       "rules.ignore holds something that is "
				       "no string");
		if (add_rule(g, text, arena, err) < 0)
			return -1;
	}
	return 0;
}

int golden_load(struct str text, struct arena *arena, struct golden *ret,
		struct err *err)
{
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
	if (load_rules(jdoc_get(jdoc_get(doc, "rules"), "ignore"), arena, &g,
		       err) < 0)
		return -1;
	canon_golden_view(g.report);
	*ret = g;
	return 0;
}

static int check_report(const struct jdoc *doc, struct err *err)
{
	const struct jdoc *steps = jdoc_get(doc, "step_results");

	if (!jdoc_is(jdoc_get(doc, "schema"), REPORT_SCHEMA))
		return err_set(err, ERR_COMPARE,
			       "not a document of schema " REPORT_SCHEMA);
	if (!steps || steps->type != SCAN_ARRAY)
		return err_set(err, ERR_COMPARE,
			       "the report has no step_results");
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
	struct golden g = {0};

	if (jdoc_parse(report_json, arena, &g.report, err) < 0 ||
	    check_report(g.report, err) < 0)
		return -1;
	g.routine = jdoc_text(jdoc_get(g.report, "routine"), arena);
	if (!g.routine)
		return err_set(err, ERR_COMPARE, "the report names no routine");
	g.rule = ARENA_ARRAY(arena, struct golden_rule, GOLDEN_RULES_MAX);
	if (golden_add_rules(&g, ignore, arena, err) < 0)
		return -1;
	has_secrets = has_secrets || says_scrubbed(g.report);
	canon_golden_view(g.report);
	if (apply_rules(&g, g.report, arena, err) < 0)
		return -1;
	if (has_secrets && check_secrets(g.report, arena, err) < 0)
		return -1;
	*ret = g;
	return 0;
}

static void print_string(const char *text, struct buf *out)
{
	struct buf json = BUF_INIT(BUF_UNBOUNDED);

	jw_quote(&json, str_of(text));
	canon_string(buf_str(&json), out);
	buf_release(&json);
}

static void print_rules(const struct golden *g, struct buf *out)
{
	buf_adds(out, "  \"rules\": {\n    \"ignore\": [");
	for (size_t i = 0; i < g->n_rules; i++) {
		buf_adds(out, i ? ",\n      " : "\n      ");
		print_string(g->rule[i].text, out);
	}
	buf_adds(out, g->n_rules ? "\n    ]\n  },\n" : "]\n  },\n");
}

/* The keys stand in canonical order, so the whole file is canonical. */
void golden_print(const struct golden *g, struct buf *out)
{
	buf_adds(out, "{\n");
	if (g->file) {
		buf_adds(out, "  \"file\": ");
		print_string(g->file, out);
		buf_adds(out, ",\n");
	}
	buf_adds(out, "  \"report\": ");
	canon_print(g->report, 1, out);
	buf_adds(out, ",\n  \"routine\": ");
	print_string(g->routine, out);
	buf_adds(out, ",\n");
	print_rules(g, out);
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
	if (apply_rules(candidate, candidate->report, arena, err) < 0 ||
	    apply_rules(candidate, accepted->report, arena, err) < 0)
		return -1;
	diff_reports(accepted->report, candidate->report, arena, ret);
	return 0;
}

const char *golden_file_name(const char *routine, struct arena *arena)
{
	struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const char *copy;

	for (const char *p = routine; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool leading_dot = c == '.' && p == routine;

		if (c <= ' ' || c == 0x7f || strchr("/\\%", c) || leading_dot)
			buf_addf(&name, "%%%02X", c);
		else
			buf_addc(&name, *p);
	}
	buf_adds(&name, ".json");
	copy = arena_strdup(arena, buf_cstr(&name));
	buf_release(&name);
	return copy;
}
