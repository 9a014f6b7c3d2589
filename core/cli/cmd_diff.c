/* `matins diff`: two reports or golden files, compared. */
#include <string.h>

#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/compare.h"
#include "core/cli/past.h"
#include "core/config/config.h"
#include "core/config/golden_rules.h"

const struct option options_diff[] = {
	COMPARE_OPTIONS,
	{"ignore", 0, "PATH", "skip the values that this path selects"},
	{"strict", 0, NULL, "fail if a path selects nothing"},
	{0},
};

/* One of the two: either kind of document, told apart by its schema. */
struct side {
	struct golden golden;
	const struct ledger_run *run; /* NULL: a file */
};

static int load_side(struct side *s, const char *name, struct arena *arena,
		     struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	const struct past_query q = {.which = name};
	struct str bytes, doc, schema;
	int r;

	if (past_read(&q, arena, &text, &s->run, err) < 0)
		return -1;
	bytes = arena_buf(arena, &text);
	r = scan_document(bytes, NULL, &doc, err);
	if (r == 0 && scan_get(doc, "schema", &schema) &&
	    scan_is(schema, GOLDEN_SCHEMA))
		r = golden_load(bytes, arena, &s->golden, err);
	else if (r == 0)
		r = golden_make(bytes, NULL, arena, &s->golden, err);
	return r < 0 ? err_wrap(err, "%s", name) : 0;
}

/* Routines of one name in two files are two routines. */
static int check_file(const struct ledger_run *a, const struct ledger_run *b,
		      struct err *err)
{
	if (!a || !b || !*a->file || !*b->file || !strcmp(a->file, b->file))
		return 0;
	return err_set(err, ERR_COMPARE,
		       "run %llu is of %s, run %llu of %s; to compare them "
		       "anyway, write both with `matins show RUN --json -o "
		       "FILE`",
		       (unsigned long long)a->generation, a->file,
		       (unsigned long long)b->generation, b->file);
}

/* Add the rules of the routine, in the file that --config names, or of the run,
   or that is found; where there is none, nothing. */
static int add_rules(const struct args *args, const struct ledger_run *run,
		     struct golden *g, struct arena *arena, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const char *named = args_get(args, "config");
	const struct config_options options = {
		.path = named		    ? named
			: run && *run->file ? run->file
					    : NULL,
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	struct rules rules = {NULL, 0};
	const struct routine *routine;

	if (config_open(&options, &file, named ? err : ERR_IGNORED) < 0)
		return named ? -1 : 0;
	routine = config_routine(&file.config, g->routine);
	if (routine)
		golden_rules_of(&file.config, routine, &rules, arena);
	return rules_join(&g->rules, &rules, arena, err);
}

static int diff_sides(const struct args *args, struct arena *arena,
		      struct err *err)
{
	const struct strlist ignore = args_all(args, "ignore", arena);
	struct side old = {.run = NULL}, new = {.run = NULL};
	const struct diff_format *format;
	struct diff d;

	if (compare_format(args, &format, err) < 0 ||
	    load_side(&old, args->positional[0], arena, err) < 0 ||
	    load_side(&new, args->positional[1], arena, err) < 0 ||
	    rules_ignore(&new.golden.rules, &ignore, arena, err) < 0 ||
	    check_file(old.run, new.run, err) < 0 ||
	    add_rules(args, new.run ? new.run : old.run, &new.golden, arena,
		      err) < 0 ||
	    golden_compare(&old.golden, &new.golden, arena, &d, err) < 0 ||
	    compare_warn_unused(&new.golden, args, err) < 0 ||
	    compare_put(&d, format, "", err) < 0)
		return -1;
	return d.n ? 1 : 0;
}

int cmd_diff(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return compare_status(diff_sides(args, &arena, err), err);
}
