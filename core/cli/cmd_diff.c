/*
 * Differences between two reports or golden files.
 */

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/golden_print.h"
#include "core/cli/put.h"

const struct option options_diff[] = {
	{"json", 0, NULL, "print differences as JSON, like --format json"},
	{"format", 0, "text|json", "print differences in this form"},
	{"ignore", 0, "PATH", "skip the values that this path selects"},
	{"strict", 0, NULL, "fail if a path selects nothing"},
	{0},
};

/* Either kind of document, told apart by its schema. */
static int load(const char *name, struct strlist ignore, struct buf *text,
		struct arena *arena, struct golden *ret,
		const struct ledger_run **ret_run, struct err *err)
{
	const struct kept_query q = {.which = name};
	struct str doc, schema;

	if (golden_read_report(&q, arena, text, ret_run, err) < 0)
		return -1;
	if (scan_document(buf_str(text), NULL, &doc, err) < 0)
		return err_wrap(err, "%s", name);
	if (scan_get(doc, "schema", &schema) &&
	    scan_is(schema, GOLDEN_SCHEMA)) {
		if (golden_load(buf_str(text), arena, ret, err) < 0)
			return err_wrap(err, "%s", name);
		return golden_add_rules(ret, ignore, arena, err);
	}
	if (golden_make(buf_str(text), ignore, false, arena, ret, err) < 0)
		return err_wrap(err, "%s", name);
	return 0;
}

/* Routines of one name in two files are two routines. */
static int same_file(const struct ledger_run *a, const struct ledger_run *b,
		     struct err *err)
{
	if (!a || !b || !*a->file || !*b->file || !strcmp(a->file, b->file))
		return 0;
	return err_set(
		err, ERR_COMPARE,
		"run %llu is of %s, run %llu of %s; to compare them anyway, "
		"write both with `matins show RUN --json -o FILE`",
		(unsigned long long)a->generation, a->file,
		(unsigned long long)b->generation, b->file);
}

static int diff(const struct args *args, struct arena *arena, struct err *err)
{
	AUTO(buf_release) struct buf a = BUF_INIT(LIMIT_REPORT_BYTES);
	AUTO(buf_release) struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct strlist ignore = args_all(args, "ignore", arena);
	const struct ledger_run *old_run, *new_run;
	struct golden old, new;
	enum diff_format format;
	struct diff d;

	if (golden_format(args, &format, err) < 0 ||
	    load(args->positional[0], ignore, &a, arena, &old, &old_run, err) <
		    0 ||
	    load(args->positional[1], ignore, &b, arena, &new, &new_run, err) <
		    0 ||
	    same_file(old_run, new_run, err) < 0 ||
	    golden_compare(&old, &new, arena, &d, err) < 0 ||
	    golden_warn_unused(&new, args_has(args, "strict"), err) < 0)
		return -1;
	diff_print(&d, format, &out);
	if (put(buf_str(&out), format == DIFF_TEXT ? PUT_TEXT : PUT_JSON, err) <
	    0)
		return -1;
	return d.n ? 1 : 0;
}

int cmd_diff(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return golden_cannot_compare(diff(args, &arena, err), err);
}
