/* `matins history`: the runs of the ledger, the newest first. */
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/doctor/installed.h"

const struct option options_history[] = {
	{"json", 0, NULL, "print one JSON document"},
	{"lines", 'n', "N", "only the last N runs; 100 without --since"},
	{"failed", 0, NULL, "only runs that failed or were lost"},
	PAST_OPTIONS,
	{0},
};

/* Lines of runs: those of several files name theirs, and on a terminal what was
   not ok is red. */
struct lines {
	bool has_files, has_colour;
	struct buf *out;
};

static void print_line(const struct lines *l, const struct ledger_run *run)
{
	const double s = (double)(run->finished_ns - run->started_ns) / 1e9;
	const char *outcome = ledger_run_outcome(run);
	const bool is_bad = run->state == RUN_LOST ||
			    (run->state == RUN_FINISHED && !run->success);
	const bool is_red = is_bad && l->has_colour;
	char took[32] = "-";

	if (run->state == RUN_FINISHED && run->started_ns && s >= 0)
		snprintf(took, sizeof(took), s < 100 ? "%.1fs" : "%.0fs", s);
	buf_addf(l->out, "%6llu  ", (unsigned long long)run->generation);
	log_visible(l->out,
		    str_of(*run->started ? run->started : run->finished),
		    false);
	buf_addf(l->out, "  %8s  %s%-7s%s  ", took, is_red ? "\033[31m" : "",
		 outcome, is_red ? "\033[0m" : "");
	log_visible(l->out, str_of(*run->summary ? run->summary : run->routine),
		    false);
	if (l->has_files) {
		buf_adds(l->out, "  ");
		log_visible(l->out,
			    str_of(*run->file ? run->file : "(no file)"),
			    false);
	}
	buf_addc(l->out, '\n');
}

static void print_text(const struct ledger_run *const *run, size_t n,
		       struct page *page)
{
	struct lines lines = {
		.has_colour = put_has_colour(STDOUT_FILENO),
		.out = &page->out,
	};

	for (size_t i = 1; i < n; i++)
		lines.has_files |= strcmp(run[0]->file, run[i]->file) != 0;
	if (n)
		buf_addf(&page->out, "%6s  %-24s  %8s  %-7s  %s\n", "gen",
			 "started", "took", "state",
			 lines.has_files ? "summary, file" : "summary");
	for (size_t i = 0; i < n; i++)
		print_line(&lines, run[i]);
	page->form = PUT_COLOURED;
}

static void print_json(const struct ledger_run *run, struct jw *w)
{
	const bool is_done = run->state == RUN_FINISHED;

	jw_object(w);
	jw_kv_uint(w, "generation", run->generation);
	jw_kv_cstr(w, "routine", run->routine);
	if (*run->file) {
		jw_kv_cstr(w, "file", run->file);
		jw_kv_bool(w, "whole", run->whole);
	}
	if (*run->slot)
		jw_kv_cstr(w, "slot", run->slot);
	jw_kv_cstr(w, "state", run_state_name(run->state));
	if (is_done)
		jw_kv_cstr(w, "summary", run->summary);
	if (*run->started)
		jw_kv_cstr(w, "started", run->started);
	if (is_done)
		jw_kv_cstr(w, "finished", run->finished);
	if (is_done && log_level() >= LOG_DEBUG) {
		jw_kv_bool(w, "success", run->success);
		jw_kv_int(w, "exit", run->exit_status);
		if (*run->sha256)
			jw_kv_cstr(w, "sha256", run->sha256);
	}
	jw_end(w);
}

/* Next times stand above the runs: a line each, or a list. */
static void print_next(struct page *page, const char *state_dir,
		       const char *routine, const char *file,
		       struct arena *arena)
{
	struct installed in = {.arena = arena};
	struct schedule *s;
	size_t n;

	schedule_read(state_dir, arena, &s, &n);
	if (page->is_json && n)
		jw_kv_array(&page->w, "next");
	for (size_t i = 0; i < n; i++) {
		struct schedule_times t;
		char when[CLOCK_TEXT_BYTES];
		const char *next;

		if ((routine && strcmp(routine, s[i].routine) != 0) ||
		    (file && strcmp(file, s[i].file) != 0))
			continue;
		next = installed_times(&in, &s[i], &t);
		clock_format(t.next_ns, when); /* as runs have it */
		if (page->is_json && *t.next) {
			jw_object(&page->w);
			jw_kv_cstr(&page->w, "routine", s[i].routine);
			jw_kv_cstr(&page->w, "file", s[i].file);
			jw_kv_cstr(&page->w, "at", t.next);
			jw_end(&page->w);
		} else if (!page->is_json) {
			buf_addf(&page->out, "%6s  %-24s  %8s  %-7s  ", "next",
				 *t.next ? when : next, "", "");
			log_visible(&page->out, str_of(s[i].routine), false);
			buf_adds(&page->out, " (");
			log_visible(&page->out, str_of(s[i].at), false);
			buf_adds(&page->out, ")\n");
		}
	}
	if (page->is_json && n)
		jw_end(&page->w);
}

/* Runs that are listed where nothing bounds them. */
#define LINES 100

int cmd_history(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	AUTO(page_release) struct page page;
	struct past_filter f = {.max = SIZE_MAX};
	const char *lines = args_get(args, "lines");
	const struct ledger_run *const *run;
	bool has_more;
	size_t n;

	page_open(&page, args);
	if (lines && !str_uint64(str_of(lines), &f.max))
		return args_bad("lines", lines, "a number", err);
	if (past_filter_read(args, args->positional[0], &arena, &f, err) < 0 ||
	    ledger_open_read(NULL, &ledger, err) < 0)
		return -1;
	if (!lines && !f.since_ns)
		f.max = LINES;
	if (past_list(ledger, &f, &arena, &run, &n, &has_more, err) < 0)
		return -1;
	if (page.is_json || !f.is_failed)
		print_next(&page, ledger_dir(ledger), f.routine, f.file,
			   &arena);
	if (page.is_json) {
		jw_kv_array(&page.w, "runs");
		for (size_t i = 0; i < n; i++)
			print_json(run[i], &page.w);
		jw_end(&page.w);
		jw_kv_bool(&page.w, "more", has_more);
	} else {
		print_text(run, n, &page);
	}
	if (!n)
		log_note("no %sruns%s%s%s%s in %s",
			 f.is_failed ? "failed " : "", f.routine ? " of " : "",
			 f.routine ? f.routine : "", f.file ? " of " : "",
			 f.file ? f.file : "", ledger_dir(ledger));
	else if (has_more && !lines)
		log_note("there are older runs; -n N or --since lists them");
	return page_put(&page, err);
}
