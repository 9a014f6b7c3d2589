/*
 * What holds for the edit script between any two documents, under any rules.
 */
#ifndef TESTS_UNIT_REPORT_DIFF_PROPERTIES_H
#define TESTS_UNIT_REPORT_DIFF_PROPERTIES_H

#include <stdlib.h>

#include "core/base/limits.h"
#include "core/report/canon.h"
#include "core/report/diff_print.h"
#include "core/report/path.h"

/* Documents and rules as they are written. */
struct documents {
	struct str old, new, rules;
	struct arena *arena;
};

struct comparing {
	struct rules rules;
	struct jdoc *old, *new;
	struct diff diff;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static struct str canonical(const struct jdoc *doc, struct arena *arena)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str copy;

	canon_print(doc, 0, &out);
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

/* False: a text is no JSON, or no rules. */
static bool compare_texts(const struct documents *d, struct str old,
			  struct comparing *ret)
{
	struct jdoc *rules = NULL;

	*ret = (struct comparing){0};
	if (jdoc_parse(old, d->arena, &ret->old, ERR_IGNORED) < 0 ||
	    jdoc_parse(d->new, d->arena, &ret->new, ERR_IGNORED) < 0 ||
	    (d->rules.n &&
	     (jdoc_parse(d->rules, d->arena, &rules, ERR_IGNORED) < 0 ||
	      rules_load(&ret->rules, rules, d->arena, ERR_IGNORED) < 0)))
		return false;
	rules_apply(&ret->rules, ret->old, d->arena);
	rules_apply(&ret->rules, ret->new, d->arena);
	diff_reports(ret->old, ret->new, &ret->rules, d->arena, &ret->diff);
	return true;
}

/* With all differences the old document is the new one, with none itself. */
static void merging_leads_there(const struct documents *d, struct comparing *c)
{
	struct comparing again;
	struct jdoc *merged = diff_merge(&c->diff, d->arena);

	must(str_eq(canonical(merged, d->arena), canonical(c->old, d->arena)));
	for (size_t i = 0; i < c->diff.n; i++)
		c->diff.shown[i]->is_taken = true;
	merged = diff_merge(&c->diff, d->arena);
	must(compare_texts(d, canonical(merged, d->arena), &again));
	must(!again.diff.root);
}

/* Paths of differences lead to something; but names in them have no NUL. */
static void ignore(void *arg, struct jdoc *j)
{
	(void)arg;
	(void)j;
}

static void paths_select(const struct documents *d, const struct comparing *c)
{
	for (size_t i = 0; i < c->diff.n; i++) {
		const struct edit *e = c->diff.shown[i];
		struct buf path = BUF_INIT(BUF_UNBOUNDED);
		struct path *p;

		diff_path(e, NULL, &path);
		if (path.n > 1 && !strstr(path.p, "\\u0000") &&
		    path_parse(buf_cstr(&path), d->arena, &p, ERR_IGNORED) == 0)
			must(path_select(p, e->old ? c->old : c->new, ignore,
					 NULL) > 0);
		buf_release(&path);
	}
}

/* is_deep  values within another document are too deep to be read */
static void forms_are_whole(const struct comparing *c, bool is_deep)
{
	static const char *const forms[] = {"text",  "unified", "json",
					    "patch", "md",	"html"};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str value;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct diff_format *f = diff_format_find(forms[i]);

		buf_clear(&out);
		diff_print(&c->diff, f, &out);
		must(str_is_utf8(buf_str(&out)));
		must(!f->json || is_deep ||
		     scan_document(buf_str(&out), NULL, &value, ERR_IGNORED) ==
			     0);
	}
	buf_release(&out);
}

/* False: a text is no JSON, or no rules. */
static bool diff_properties(const struct documents *d)
{
	static const struct scan_limits flat = {LIMIT_JSON_DEPTH - 10,
						LIMIT_JSON_MEMBERS};
	struct comparing c, self;
	struct str value;

	if (!compare_texts(d, d->old, &c))
		return false;
	must((c.diff.n == 0) == !c.diff.root);
	must(compare_texts(
		&(struct documents){d->old, d->old, d->rules, d->arena}, d->old,
		&self));
	must(!self.diff.root);
	forms_are_whole(
		&c,
		scan_document(d->old, &flat, &value, ERR_IGNORED) < 0 ||
			scan_document(d->new, &flat, &value, ERR_IGNORED) < 0);
	paths_select(d, &c);
	merging_leads_there(d, &c);
	return true;
}

#endif
