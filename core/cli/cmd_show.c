/* `matins show`: the report of a past run, printed again. */
#include <string.h>

#include "core/base/limits.h"
#include "core/cli/browse.h"
#include "core/cli/command.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/config/config.h"
#include "core/run/changes.h"
#include "core/run/previous.h"

const struct option options_show[] = {
	REPORT_OPTIONS,
	BROWSE_OPTIONS,
	{"file", 0, "FILE", "only a run of this configuration"},
	{0},
};

/* Changes of a whole run since the one before it that was ok, where its
   configuration is still there. */
struct since {
	struct config_file file;
	struct diff diff;
	struct report_changes changes;
};

static void since_release(struct since *s)
{
	config_release(&s->file);
}

static void add_changes(struct since *s, const struct ledger_run *run,
			struct report *r, struct arena *arena)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct config_options options = {
		.path = run->file, .lax = true, .quiet = true, .passive = true};
	const struct ledger_routine which = {
		.name = run->routine, .file = run->file, .whole = true};
	const struct routine *routine;
	const struct report *old;

	if (!run->whole || !*run->file ||
	    ledger_open_read(NULL, &l, ERR_IGNORED) < 0 ||
	    config_open(&options, &s->file, ERR_IGNORED) < 0)
		return;
	routine = config_routine(&s->file.config, run->routine);
	old = previous_find(l, &which, true, run->generation, arena);
	if (!routine || !old ||
	    changes_diff(old, r, &s->file.config, routine, arena, &s->diff,
			 ERR_IGNORED) < 0)
		return;
	s->changes.since = old->generation;
	s->changes.diff = &s->diff;
	r->changes = &s->changes;
}

static int show(const struct args *args, struct print_options *print,
		struct arena *arena, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	struct past_query q = {
		.which = args->positional[0],
		.is_run = true,
		.is_bound = args_has(args, "file"),
		.routine = args->n_positional > 1 ? args->positional[1] : NULL,
	};
	AUTO(since_release) struct since since = {.diff.n = 0};
	const struct ledger_run *run;
	struct report report;
	const char *page;

	if (past_file(args, q.routine, arena, &q.file, err) < 0 ||
	    past_read(&q, arena, &text, &run, err) < 0 ||
	    past_check_output(&print->output, run->file, err) < 0)
		return -1;
	/* the stored bytes as they are, with unknown members */
	if (!strcmp(print->form, "json") && !print->pretty &&
	    !print->output.path &&
	    (!print->view || !strcmp(print->view, "full")))
		return put(buf_str(&text), PUT_JSON, err);
	page = arena_printf(arena, "run-%llu.html",
			    (unsigned long long)run->generation);
	if (report_load(buf_str(&text), arena, &report, err) < 0 ||
	    browse_begin(args, page, print, arena, err) < 0)
		return -1;
	if (!strcmp(print->form, "html"))
		add_changes(&since, run, &report, arena);
	if (print_report(&report, print, err) < 0)
		return -1;
	return browse_end(args, print, err);
}

int cmd_show(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct print_options print;
	int status;

	if (print_options_read(args, &print, err) < 0)
		return -1;
	status = browse_check(args, &print, err);
	if (status == 0)
		status = show(args, &print, &arena, err);
	outfile_release(&print.output);
	return status;
}
