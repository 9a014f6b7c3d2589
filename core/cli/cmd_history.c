/*
 * Past runs: listed, the newest first, and their reports, printed again.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/cli/command.h"
#include "core/cli/kept_report.h"
#include "core/cli/put.h"
#include "core/config/config.h"
#include "core/report/store.h"

/*
 * The configuration whose runs are meant: that of --config; else the one that
 * is found, where it has the routine.
 *
 * routine  may be NULL: only --config counts
 * ret      real path, in `arena`; NULL: runs of any file
 * errors   ERR_SYS  the file of --config is not there
 */
static int find_file(const struct args *args, const char *routine,
		     struct arena *arena, const char **ret, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const char *named = args_get(args, "config");
	const struct config_options options = {
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	struct err ignored = ERR_INIT;

	*ret = NULL;
	if (named) {
		AUTO(mem_freep) char *real = realpath(named, NULL);

		if (!real)
			return err_sys(err, errno, "%s", named);
		*ret = arena_strdup(arena, real);
	} else if (routine && config_open(&options, &file, &ignored) == 0 &&
		   config_routine(&file.config, routine)) {
		*ret = arena_strdup(arena, file.config.path);
	}
	return 0;
}

/* ---- one report ---- */

/* The run of a generation; 0: the last one that finished. */
static const struct ledger_run *pick_one(const struct ledger_run *run, size_t n,
					 const struct kept_query *q,
					 uint64_t generation)
{
	while (n-- > 0) {
		bool is_part = q->whole && *run[n].file && !run[n].whole;

		if (generation ? run[n].generation == generation
			       : run[n].state == RUN_FINISHED && !is_part &&
					 ledger_run_is(&run[n], q->routine,
						       q->file))
			return &run[n];
	}
	return NULL;
}

static int find_run(struct ledger *l, const struct kept_query *q,
		    struct arena *arena, const struct ledger_run **ret,
		    struct err *err)
{
	struct ledger_run *run;
	uint64_t generation = 0;
	bool last = !strcmp(q->which, "last");
	size_t n;

	if (!last && !str_uint64(str_of(q->which), &generation))
		return err_set(err, ERR_USAGE,
			       "%s is not a generation; use a number of "
			       "`matins history`, or last",
			       q->which);
	if (ledger_read(l, arena, &run, &n, err) < 0)
		return -1;
	*ret = last || generation ? pick_one(run, n, q, generation) : NULL;
	if (*ret)
		return 0;
	if (!last)
		return err_set(err, ERR_UNKNOWN_RUN,
			       "%s has no generation %s; `matins history` "
			       "lists them",
			       ledger_dir(l), q->which);
	return err_set(
		err, ERR_UNKNOWN_RUN, "no run%s%s%s%s has finished yet in %s",
		q->routine ? " of " : "", q->routine ? q->routine : "",
		q->file ? " of " : "", q->file ? q->file : "", ledger_dir(l));
}

int kept_report(const struct kept_query *q, struct arena *arena,
		struct buf *out, const struct ledger_run **ret_run,
		struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct ledger_run *run;
	char sum[SHA256_HEX_BYTES];
	size_t before = out->n;

	if (ledger_open_read(NULL, &l, err) < 0 ||
	    find_run(l, q, arena, &run, err) < 0)
		return -1;
	if (run->state != RUN_FINISHED)
		return err_set(err, ERR_UNKNOWN,
			       "generation %llu of %s is %s: it has no report",
			       (unsigned long long)run->generation,
			       run->routine, run_state_name(run->state));
	if (store_get(ledger_dir(l), run->file, run->generation, out, err) < 0)
		return -1;
	sha256_hex((struct str){out->p + before, out->n - before}, sum);
	if (*run->sha256 && strcmp(sum, run->sha256))
		log_warning("the report of generation %llu was changed after "
			    "the run",
			    (unsigned long long)run->generation);
	if (ret_run)
		*ret_run = run;
	return 0;
}

/* ---- show ---- */

const struct option options_show[] = {
	REPORT_OPTIONS,
	{0},
};

/* The stored bytes are printed as they are, with unknown members. */
static bool is_verbatim(const struct print_options *o)
{
	return !strcmp(o->form, "json") && !o->pretty && !o->output.path &&
	       (!o->view || !strcmp(o->view, "full"));
}

static int show(const struct args *args, struct print_options *print,
		struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct kept_query q = {
		.which = args->positional[0],
		.routine = args->n_positional > 1 ? args->positional[1] : NULL,
	};
	struct report report;

	if (find_file(args, q.routine, &arena, &q.file, err) < 0 ||
	    kept_report(&q, &arena, &text, NULL, err) < 0)
		return -1;
	if (is_verbatim(print))
		return put(buf_str(&text), PUT_JSON, err);
	if (report_load(buf_str(&text), &arena, &report, err) < 0)
		return -1;
	return print_report(&report, print, err);
}

int cmd_show(const struct args *args, struct err *err)
{
	struct print_options print;
	int status;

	if (print_options_read(args, &print, err) < 0)
		return -1;
	status = show(args, &print, err);
	outfile_release(&print.output);
	return status;
}

/* ---- history ---- */

const struct option options_history[] = {
	{"json", 0, NULL, "print one JSON document"},
	{"lines", 'n', "N", "only the last N runs"},
	{0},
};

/* with_file: there are runs of several */
static void print_line(const struct ledger_run *run, bool with_file,
		       struct buf *out)
{
	const bool is_done = run->state == RUN_FINISHED;
	const double s = (double)(run->finished_ns - run->started_ns) / 1e9;
	char took[32] = "-";

	if (is_done && run->started_ns && s >= 0)
		snprintf(took, sizeof(took), s < 100 ? "%.1fs" : "%.0fs", s);
	buf_addf(out, "%6llu  %-24s  %8s  %-7s  ",
		 (unsigned long long)run->generation,
		 *run->started ? run->started : run->finished, took,
		 !is_done	? run_state_name(run->state)
		 : run->success ? "ok"
				: "failed");
	log_visible(out, str_of(*run->summary ? run->summary : run->routine),
		    false);
	if (with_file) {
		buf_adds(out, "  ");
		log_visible(out, str_of(*run->file ? run->file : "(no file)"),
			    false);
	}
	buf_addc(out, '\n');
}

static void print_text(const struct ledger_run **run, size_t n, struct buf *out)
{
	bool with_file = false;

	for (size_t i = 1; i < n; i++)
		with_file |= strcmp(run[0]->file, run[i]->file) != 0;
	if (n)
		buf_addf(out, "%6s  %-24s  %8s  %-7s  %s\n", "gen", "started",
			 "took", "state",
			 with_file ? "summary, file" : "summary");
	for (size_t i = 0; i < n; i++)
		print_line(run[i], with_file, out);
}

static void print_json(const struct ledger_run *run, struct jw *w)
{
	const bool is_done = run->state == RUN_FINISHED;

	jw_object(w);
	jw_key(w, "generation");
	jw_uint(w, run->generation);
	jw_kv_cstr(w, "routine", run->routine);
	if (*run->file) {
		jw_kv_cstr(w, "file", run->file);
		jw_kv_bool(w, "whole", run->whole);
	}
	jw_kv_cstr(w, "state", run_state_name(run->state));
	if (is_done)
		jw_kv_cstr(w, "summary", run->summary);
	if (*run->started)
		jw_kv_cstr(w, "started", run->started);
	if (is_done) {
		jw_kv_cstr(w, "finished", run->finished);
		jw_kv_bool(w, "success", run->success);
		jw_kv_int(w, "exit", run->exit_status);
		if (*run->sha256)
			jw_kv_cstr(w, "sha256", run->sha256);
	}
	jw_end(w);
}

int cmd_history(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	AUTO(page_release) struct page page;
	const char *lines = args_get(args, "lines");
	const char *routine = args->positional[0], *file;
	const struct ledger_run **picked;
	struct ledger_run *run;
	uint64_t max = UINT64_MAX;
	size_t n_runs, n = 0;

	page_open(&page, args);
	if (lines && !str_uint64(str_of(lines), &max))
		return args_bad("lines", lines, "a number", err);
	if (find_file(args, routine, &arena, &file, err) < 0 ||
	    ledger_open_read(NULL, &ledger, err) < 0 ||
	    ledger_read(ledger, &arena, &run, &n_runs, err) < 0)
		return -1;
	picked = ARENA_ARRAY(&arena, const struct ledger_run *, n_runs);
	while (n_runs-- > 0 && n < max)
		if (ledger_run_is(&run[n_runs], routine, file))
			picked[n++] = &run[n_runs];
	if (page.is_json) {
		jw_kv_array(&page.w, "runs");
		for (size_t i = 0; i < n; i++)
			print_json(picked[i], &page.w);
		jw_end(&page.w);
	} else {
		print_text(picked, n, &page.out);
	}
	if (!n)
		log_note("no runs%s%s%s%s in %s", routine ? " of " : "",
			 routine ? routine : "", file ? " of " : "",
			 file ? file : "", ledger_dir(ledger));
	return page_put(&page, err);
}
