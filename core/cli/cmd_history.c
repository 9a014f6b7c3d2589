/*
 * The runs of the ledger, the newest first.
 */

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/kept_report.h"
#include "core/cli/put.h"

const struct option options_history[] = {
	{"json", 0, NULL, "print one JSON document"},
	{"lines", 'n', "N", "only the last N runs"},
	{0},
};

static const char *status_word(const struct ledger_run *run)
{
	if (run->state != RUN_FINISHED)
		return run_state_name(run->state);
	return run->success ? "ok" : "failed";
}

static void print_duration(const struct ledger_run *run, struct buf *out)
{
	double s = (double)(run->finished_ns - run->started_ns) / 1e9;
	char text[32] = "-";

	if (run->state == RUN_FINISHED && run->started_ns && s >= 0)
		snprintf(text, sizeof(text), s < 100 ? "%.1fs" : "%.0fs", s);
	buf_addf(out, "%8s", text);
}

/* with_file: there are runs of several */
static void print_line(const struct ledger_run *run, bool with_file,
		       struct buf *out)
{
	buf_addf(out, "%6llu  %-24s  ", (unsigned long long)run->generation,
		 *run->started ? run->started : run->finished);
	print_duration(run, out);
	buf_addf(out, "  %-7s  ", status_word(run));
	log_visible(out, str_of(*run->summary ? run->summary : run->routine),
		    false);
	if (with_file) {
		buf_adds(out, "  ");
		log_visible(out, str_of(*run->file ? run->file : "(no file)"),
			    false);
	}
	buf_addc(out, '\n');
}

static void print_run(struct jw *w, const struct ledger_run *run)
{
	jw_object(w);
	jw_key(w, "generation");
	jw_uint(w, run->generation);
	jw_kv_cstr(w, "routine", run->routine);
	if (*run->file) {
		jw_kv_cstr(w, "file", run->file);
		jw_kv_bool(w, "whole", run->whole);
	}
	jw_kv_cstr(w, "state", run_state_name(run->state));
	if (run->state == RUN_FINISHED)
		jw_kv_cstr(w, "summary", run->summary);
	if (*run->started)
		jw_kv_cstr(w, "started", run->started);
	if (run->state == RUN_FINISHED) {
		jw_kv_cstr(w, "finished", run->finished);
		jw_kv_bool(w, "success", run->success);
		jw_kv_int(w, "exit", run->exit_status);
		if (*run->sha256)
			jw_kv_cstr(w, "sha256", run->sha256);
	}
	jw_end(w);
}

/* Pick the runs of a routine, newest first, at most `max`; returns how many. */
static size_t pick(struct ledger_run *run, size_t n, const char *routine,
		   const char *file, uint64_t max,
		   const struct ledger_run **ret)
{
	size_t picked = 0;

	while (n-- > 0 && picked < max)
		if (ledger_run_is(&run[n], routine, file))
			ret[picked++] = &run[n];
	return picked;
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

static void print_json(const struct ledger_run **run, size_t n, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_array(&w, "runs");
	for (size_t i = 0; i < n; i++)
		print_run(&w, run[i]);
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}

static int history(const struct args *args, struct arena *arena,
		   struct err *err)
{
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *lines = args_get(args, "lines");
	const char *routine = args->positional[0], *file;
	const struct ledger_run **picked;
	struct ledger_run *run;
	uint64_t max = UINT64_MAX;
	size_t n;

	if (lines && !str_uint64(str_of(lines), &max))
		return args_bad("lines", lines, "a number", err);
	if (kept_file(args, routine, arena, &file, err) < 0 ||
	    ledger_open_read(NULL, &ledger, err) < 0 ||
	    ledger_read(ledger, arena, &run, &n, err) < 0)
		return -1;
	picked = ARENA_ARRAY(arena, const struct ledger_run *, n);
	n = pick(run, n, routine, file, max, picked);
	if (args_has(args, "json"))
		print_json(picked, n, &out);
	else
		print_text(picked, n, &out);
	if (!n)
		log_note("no runs%s%s%s%s in %s", routine ? " of " : "",
			 routine ? routine : "", file ? " of " : "",
			 file ? file : "", ledger_dir(ledger));
	return put(buf_str(&out), args_has(args, "json") ? PUT_JSON : PUT_TEXT,
		   err);
}

int cmd_history(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return history(args, &arena, err);
}
