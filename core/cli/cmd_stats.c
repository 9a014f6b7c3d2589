/* `matins stats`: how the runs of a routine went over time. */
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/cli/browse.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/report/stats.h"

const struct option options_stats[] = {
	{"last", 'n', "N", "only the last N runs; 100 without --since"},
	PAST_OPTIONS,
	{"json", 0, NULL, "print one JSON document"},
	{"html", 0, NULL, "print one HTML page"},
	{"output", 'o', "FILE", "write to a file"},
	BROWSE_OPTIONS,
	{0},
};

/* Runs that are looked at where nothing bounds them. */
#define RUNS 100
#define RUNS_MAX 100000
/* Larger reports are not looked into: a page of a routine is soon there. */
#define REPORT_BYTES (4 * 1024 * 1024)

/* ---- which runs ---- */

/* A name that is neither in the configuration nor in the ledger is an error. */
static int check_name(const struct args *args, const char *routine,
		      struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	const struct routine *known;

	if (open_config(args, options, &file, ERR_IGNORED) < 0)
		return 0;
	return find_routine(&file.config, routine, &known, err);
}

/* Runs of two files are of two routines. */
static int check_file(const struct ledger_run *const *run, size_t n,
		      struct past_filter *f, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!*run[i]->file)
			continue;
		if (f->file && strcmp(f->file, run[i]->file) != 0)
			return err_set(err, ERR_USAGE,
				       "%s has runs of %s and of %s; name one "
				       "of them by --file",
				       f->routine, f->file, run[i]->file);
		f->file = run[i]->file;
	}
	return 0;
}

static void say_left_out(const struct ledger_run *run, const char *why)
{
	log_warning("the report of run %llu is left out: %s",
		    (unsigned long long)run->generation, why);
}

static void look_into_reports(struct ledger *l,
			      const struct ledger_run *const *run, size_t n,
			      struct arena *arena, struct stats *s)
{
	for (size_t i = 0; i < n && i < STATS_REPORTS; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(REPORT_BYTES);
		AUTO(arena_release) struct arena scratch = ARENA_INIT;
		struct err err = ERR_INIT;
		struct report report;
		int r;

		if (!run[i]->whole || !*run[i]->sha256)
			continue;
		r = ledger_run_report(l, run[i], &text, &err);
		if (r == 0)
			say_left_out(run[i], "it was changed after the run");
		else if (r < 0 && err.kind == ERR_LIMIT)
			say_left_out(run[i], "it is over 4 MiB");
		else if (r > 0 && report_load(buf_str(&text), &scratch, &report,
					      ERR_IGNORED) == 0)
			stats_add_report(s, &report, arena);
	}
	stats_end(s, arena);
}

static int collect(const struct args *args, struct arena *arena,
		   struct stats *ret, struct stats_view *ret_view,
		   struct err *err)
{
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	struct past_filter f = {.counts_whole = true};
	const struct ledger_run *const *run;
	unsigned last = args_get(args, "since") ? RUNS_MAX : RUNS;
	bool has_more;
	size_t n;

	if (args_count(args, "last", RUNS_MAX, &last, err) < 0 ||
	    past_filter_read(args, args->positional[0], arena, &f, err) < 0 ||
	    ledger_open_read(NULL, &ledger, err) < 0)
		return -1;
	f.max = last;
	if (past_list(ledger, &f, arena, &run, &n, &has_more, err) < 0 ||
	    (!n && check_name(args, f.routine, err) < 0) ||
	    check_file(run, n, &f, err) < 0)
		return -1;
	if (!n)
		log_note("no runs of %s%s%s%s in %s", f.routine,
			 f.file ? " of " : "", f.file ? f.file : "",
			 f.since_ns ? " since then" : "", ledger_dir(ledger));
	stats_of(run, n, arena, ret);
	ret->has_more = has_more;
	look_into_reports(ledger, run, n, arena, ret);
	*ret_view = (struct stats_view){
		.routine = f.routine,
		.file = f.file,
		.columns = put_columns(STDOUT_FILENO),
		.has_utf8 = put_has_utf8(),
		.has_colour = put_has_colour(STDOUT_FILENO),
	};
	return 0;
}

/* ---- the command ---- */

static int print(const struct stats *s, const struct stats_view *v,
		 struct print_options *o, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	enum put_form form = PUT_TEXT;
	struct jw w;

	if (!strcmp(o->form, "json")) {
		form = PUT_JSON;
		w = jw_begin(&out);
		stats_json(s, v, &w);
		jw_end(&w);
		buf_addc(&out, '\n');
	} else if (!strcmp(o->form, "html")) {
		stats_html(s, v, &out);
	} else if (s->n || s->n_parts) {
		form = PUT_COLOURED;
		stats_text(s, v, &out);
	}
	if (o->output.path)
		return outfile_write_str(&o->output, buf_str(&out), err);
	return put(buf_str(&out), form, err);
}

int cmd_stats(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct print_options options;
	struct stats_view view;
	struct stats stats;
	int r;

	if (print_options_read(args, &options, err) < 0)
		return -1;
	r = browse_check(args, &options, err);
	if (r == 0)
		r = collect(args, &arena, &stats, &view, err);
	if (r == 0)
		r = past_check_output(&options.output, view.file, err);
	if (r == 0)
		r = browse_begin(args, "stats.html", &options, &arena, err);
	if (r == 0) {
		view.has_colour = view.has_colour && !options.output.path;
		view.columns = options.output.path ? 0 : view.columns;
		r = print(&stats, &view, &options, err);
	}
	if (r == 0)
		r = browse_end(args, &options, err);
	outfile_release(&options.output);
	return r;
}
