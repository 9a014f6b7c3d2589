#include "core/report/golden.h"

#include "core/report/canon.h"
#include "core/report/path.h"
#include "core/report/report.h"

#define STEPS "step_results"

static struct jdoc *first_step(const struct jdoc *report)
{
	const struct jdoc *steps = jdoc_get(report, STEPS);

	return steps ? steps->first : NULL;
}

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
	if (!jdoc_is(jdoc_get(report, "schema"), REPORT_SCHEMA))
		return;
	drop_volatile(report, LEVEL_REPORT);
	for (struct jdoc *s = first_step(report); s; s = s->next)
		drop_volatile(s, LEVEL_STEP);
}

/* ---- rules ---- */

static bool has_rule(const struct jdoc *j)
{
	bool has = j && (j->ignored || j->rule);

	for (const struct jdoc *c = j ? j->first : NULL; c && !has; c = c->next)
		has = has_rule(c);
	return has;
}

static void forget_rules(struct jdoc *j)
{
	j->rule = 0;
	for (struct jdoc *c = j->first; c; c = c->next)
		forget_rules(c);
}

/*
 * The output of a step is made of its data for people: where a part of that
 * may differ, it goes with it. That of a script is its own.
 */
static void apply_rules(struct rules *rules, struct jdoc *report,
			struct arena *arena)
{
	struct jdoc *success = jdoc_get(report, "success"), verdict;

	if (rules->n)
		forget_rules(report);
	if (success)
		verdict = *success;
	rules_apply(rules, report, arena);
	/* no rule makes a run that fails look like one that does not */
	if (success)
		*success = verdict;
	for (struct jdoc *s = rules->n ? first_step(report) : NULL; s;
	     s = s->next) {
		struct jdoc *output = jdoc_get(s, "output");

		if (output && has_rule(jdoc_get(s, "data")) &&
		    !jdoc_is(jdoc_get(s, "step_type"), "script"))
			output->ignored = true;
	}
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
	if (rules_load(&g.rules, jdoc_get(doc, "rules"), arena, err) < 0)
		return -1;
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
	if (j->type == SCAN_STRING && !j->first &&
	    memmem(j->raw.p, j->raw.n, "***", 3))
		return j;
	for (const struct jdoc *c = j->first; c; c = c->next)
		if (find_secret(c))
			return c;
	return NULL;
}

int golden_check_secrets(const struct golden *g, bool is_scrubbed,
			 struct arena *arena, struct err *err)
{
	const struct jdoc *step = find_secret(jdoc_get(g->report, STEPS));
	const char *name = jdoc_text(jdoc_get(step, "step_name"), arena);

	if (!(is_scrubbed || g->is_scrubbed) ||
	    (!step && !find_secret(g->report)))
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
	for (struct jdoc *s = first_step(report); s; s = s->next) {
		const struct jdoc *n = jdoc_get(jdoc_get(s, "run"), "scrubbed");

		if (n && !str_is(n->raw, "0"))
			return true;
	}
	return false;
}

int golden_make(struct str report_json, const struct rules *rules,
		struct arena *arena, struct golden *ret, struct err *err)
{
	const struct jdoc *steps;
	struct golden g = {0};

	if (jdoc_parse(report_json, arena, &g.report, err) < 0)
		return -1;
	steps = jdoc_get(g.report, STEPS);
	g.routine = jdoc_text(jdoc_get(g.report, "routine"), arena);
	if (!jdoc_is(jdoc_get(g.report, "schema"), REPORT_SCHEMA))
		return err_set(err, ERR_COMPARE,
			       "not a document of schema " REPORT_SCHEMA);
	if (!steps || steps->type != SCAN_ARRAY)
		return err_set(err, ERR_COMPARE,
			       "the report has no step_results");
	if (!g.routine)
		return err_set(err, ERR_COMPARE, "the report names no routine");
	if (rules && rules_join(&g.rules, rules, arena, err) < 0)
		return -1;
	g.is_scrubbed = says_scrubbed(g.report);
	take_golden_view(g.report);
	if (rules)
		apply_rules(&g.rules, g.report, arena);
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
	buf_adds(out, ",\n  \"rules\": ");
	rules_print(&g->rules, out);
	buf_adds(out, ",\n  \"schema\": \"" GOLDEN_SCHEMA "\"\n}\n");
}

int golden_compare(struct golden *accepted, struct golden *candidate,
		   struct arena *arena, struct diff *ret, struct err *err)
{
	if (strcmp(accepted->routine, candidate->routine))
		return err_set(err, ERR_COMPARE,
			       "the golden file is of routine \"%s\", the "
			       "report of \"%s\"",
			       accepted->routine, candidate->routine);
	if (rules_join(&candidate->rules, &accepted->rules, arena, err) < 0)
		return -1;
	for (size_t i = 0; i < candidate->rules.n; i++)
		candidate->rules.item[i].hits = 0;
	apply_rules(&candidate->rules, candidate->report, arena);
	apply_rules(&candidate->rules, accepted->report, arena);
	diff_reports(accepted->report, candidate->report, &candidate->rules,
		     arena, ret);
	return 0;
}

/* ---- accepted in part ---- */

static void choose(UNUSED void *arg, struct jdoc *j)
{
	j->chosen = true;
}

static bool is_chosen(const struct edit *e)
{
	for (; e; e = e->up)
		if ((e->old && e->old->chosen) || (e->new && e->new->chosen))
			return true;
	return false;
}

int golden_choose(const struct diff *d, const char *path, bool takes,
		  struct arena *arena, struct err *err)
{
	struct path *p;
	size_t n = 0;

	if (path_parse(path, arena, &p, err) < 0)
		return -1;
	(void)!path_select(p, d->old, choose, NULL);
	(void)!path_select(p, d->new, choose, NULL);
	for (size_t i = 0; i < d->n; i++) {
		bool is = is_chosen(d->shown[i]);

		d->shown[i]->is_taken = is == takes;
		n += is;
	}
	return n ? 0
		 : err_set(err, ERR_UNKNOWN,
			   "no difference is at %s; `matins golden check` "
			   "prints their paths",
			   path);
}

struct golden golden_merge(const struct golden *candidate, const struct diff *d,
			   struct arena *arena)
{
	struct golden merged = *candidate;

	merged.report = diff_merge(d, arena);
	return merged;
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
