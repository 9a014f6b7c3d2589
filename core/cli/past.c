#include "core/cli/past.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/calendar.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/paths.h"
#include "core/report/store.h"

/* The path that a run has kept of a file that may be gone. */
static const char *real_or_gone(const char *path, struct arena *arena)
{
	AUTO(mem_freep) char *real = realpath(path, NULL);

	return real ? arena_strdup(arena, real)
		    : path_resolve(path, NULL, arena);
}

int past_file(const struct args *args, const char *routine, struct arena *arena,
	      const char **ret, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const char *named = args_get(args, "config");
	const struct config_options options = {
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};

	*ret = NULL;
	if (args_get(args, "file")) {
		*ret = real_or_gone(args_get(args, "file"), arena);
	} else if (named) {
		AUTO(mem_freep) char *real = realpath(named, NULL);

		if (!real)
			return err_sys(err, errno, "%s", named);
		*ret = arena_strdup(arena, real);
	} else if (routine && config_open(&options, &file, ERR_IGNORED) == 0 &&
		   config_routine(&file.config, routine)) {
		*ret = arena_strdup(arena, file.config.path);
	}
	return 0;
}

/* ---- lists ---- */

/* "7d" ago, or a time in UTC as lists print it: "2026-11-01", or with minutes.
   false: neither */
bool past_since(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	char time[CALENDAR_TIME_BYTES];
	uint64_t ago_ms;
	int64_t s;

	if (str_duration_ms(str_of(text), &ago_ms)) {
		*ret_ns = now_ns - (int64_t)(ago_ms * NS_PER_MS);
		return true;
	}
	snprintf(time, sizeof(time), "%s%s", text,
		 strlen(text) == strlen("2026-11-01") ? "T00:00" : "");
	return calendar_time_parse(str_of(time), &s) &&
	       !__builtin_mul_overflow(s, (int64_t)NS_PER_S, ret_ns);
}

int past_filter_read(const struct args *args, const char *routine,
		     struct arena *arena, struct past_filter *ret,
		     struct err *err)
{
	const int64_t now_ns = clock_system()->wall_ns(clock_system());
	const char *since = args_get(args, "since");

	ret->routine = routine;
	ret->is_failed = args_has(args, "failed");
	if (since && !past_since(since, now_ns, &ret->since_ns))
		return args_bad("since", since,
				"a time; use for example 7d, 12h or 2026-11-01",
				err);
	return past_file(args, routine, arena, &ret->file, err);
}

static bool is_wanted(const struct past_filter *f, const struct ledger_run *run)
{
	return ledger_run_is(run, f->routine, f->file) &&
	       (!f->since_ns || run->started_ns >= f->since_ns) &&
	       (!f->is_failed || run->state == RUN_LOST ||
		(run->state == RUN_FINISHED && !run->success));
}

int past_list(struct ledger *l, const struct past_filter *filter,
	      struct arena *arena, const struct ledger_run *const **ret,
	      size_t *ret_n, bool *ret_more, struct err *err)
{
	AUTO(ledger_walk_release) struct ledger_walk walk;
	const struct ledger_run **list = NULL, *run;
	size_t n = 0, counted = 0;
	int r;

	*ret_more = false;
	ledger_walk_init(&walk, l, arena);
	walk.since_ns = filter->since_ns;
	if (filter->routine && !filter->since_ns)
		ledger_lines_only(&walk.lines, filter->routine, arena);
	while ((r = ledger_walk_next(&walk, &run, err)) > 0) {
		if (!is_wanted(filter, run))
			continue;
		*ret_more = counted >= filter->max;
		if (*ret_more)
			break;
		counted += run->whole || !filter->counts_whole;
		list = arena_grow(arena, list, n, sizeof(struct ledger_run *));
		list[n++] = run;
	}
	*ret = list;
	*ret_n = n;
	return r < 0 ? -1 : 0;
}

/* ---- one run ---- */

/* Can it go on where it was? A step alone, or a shard, is "morning/host". */
static bool can_resume(const struct ledger_run *run)
{
	return *run->file && !strchr(run->routine, '/');
}

/* "last" is the last that has a report: say which newer one has none. */
static void say_passed_over(const struct ledger_run *run)
{
	const unsigned long long generation = run->generation;

	if (run->state == RUN_LOST && can_resume(run))
		log_note("run %llu of %s, newer than the one shown, was lost; "
			 "`matins show %llu` says how it is resumed",
			 generation, run->routine, generation);
	else if (run->state == RUN_LOST)
		log_note("run %llu of %s, newer than the one shown, was lost",
			 generation, run->routine);
	else
		log_note("run %llu of %s is running; the one shown is older",
			 generation, run->routine);
}

/* Compare with the run of a generation; 0: the last one that finished. */
static bool is_asked(const struct past_query *q, uint64_t generation,
		     const struct ledger_run *run)
{
	if (generation)
		return run->generation == generation;
	return run->state == RUN_FINISHED &&
	       (!q->whole || !*run->file || run->whole) &&
	       ledger_run_is(run, q->routine, q->file);
}

/*
 * Walk back to the run; generations stand in order.
 *
 * returns  1, 0: there is none, -1
 */
static int walk_back(struct ledger *l, const struct past_query *q,
		     uint64_t generation, struct arena *arena,
		     const struct ledger_run **ret, struct err *err)
{
	AUTO(ledger_walk_release) struct ledger_walk walk;
	const struct ledger_run *run;
	bool is_first = !generation && !q->whole;
	uint64_t oldest = generation;
	int r;

	if (q->whole && !generation)
		oldest = store_oldest(ledger_dir(l), q->file);
	ledger_walk_init(&walk, l, arena);
	while ((r = ledger_walk_next(&walk, &run, err)) > 0) {
		if (run->generation < oldest)
			return 0;
		if (is_asked(q, generation, run)) {
			*ret = run;
			return 1;
		}
		if (is_first && run->state != RUN_FINISHED &&
		    ledger_run_is(run, q->routine, q->file)) {
			say_passed_over(run);
			is_first = false;
		}
	}
	return r;
}

static int find_run(struct ledger *l, const struct past_query *q,
		    struct arena *arena, const struct ledger_run **ret,
		    struct err *err)
{
	uint64_t generation = 0;
	bool last = !strcmp(q->which, "last");
	int r;

	if (!last && !str_uint64(str_of(q->which), &generation))
		return err_set(err, ERR_USAGE,
			       "%s is not a generation; use a number of "
			       "`matins history`, or last",
			       q->which);
	r = last || generation ? walk_back(l, q, generation, arena, ret, err)
			       : 0;
	if (r > 0 && q->is_bound && !ledger_run_is(*ret, NULL, q->file))
		return err_set(err, ERR_UNKNOWN_RUN,
			       "run %s is none of %s; `matins history` lists "
			       "them",
			       q->which, q->file);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (!last)
		return err_set(err, ERR_UNKNOWN_RUN,
			       "%s has no generation %s; `matins history` "
			       "lists them",
			       ledger_dir(l), q->which);
	return err_set(err, ERR_UNKNOWN_RUN,
		       q->whole ? "no finished run%s%s%s%s is kept in %s"
				: "no run%s%s%s%s has finished yet in %s",
		       q->routine ? " of " : "", q->routine ? q->routine : "",
		       q->file ? " of " : "", q->file ? q->file : "",
		       ledger_dir(l));
}

/* A lost run has no report; one of a whole routine can be resumed. */
static int refuse_lost(const struct ledger_run *run, struct err *err)
{
	AUTO(buf_release) struct buf resume = BUF_INIT(BUF_UNBOUNDED);
	const unsigned long long generation = run->generation;

	/* a step alone is soon run again, and the results of a shard stay */
	if (!can_resume(run))
		return err_set(err, ERR_UNKNOWN,
			       "run %llu of %s, begun at %s, was lost: it has "
			       "no report; %s",
			       generation, run->routine, run->started,
			       strstr(run->routine, "/shard-")
				       ? "`matins fan retry DIR` runs the "
					 "inputs that lack a result"
				       : "run it again");
	buf_adds(&resume, "matins run -c ");
	text_add_word(&resume, run->file);
	buf_addc(&resume, ' ');
	text_add_word(&resume, run->routine);
	return err_set(err, ERR_UNKNOWN,
		       "run %llu of %s, begun at %s, was lost: it has no "
		       "report; steps that had ended are kept, and the others "
		       "run by `%s --resume %llu`",
		       generation, run->routine, run->started,
		       buf_cstr(&resume), generation);
}

/* A report that is not what the ledger recorded is a warning. */
static int read_kept(const struct past_query *q, struct arena *arena,
		     struct buf *out, const struct ledger_run **ret_run,
		     struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct ledger_run *run = NULL;
	int r;

	if (ledger_open_read(NULL, &l, err) < 0 ||
	    find_run(l, q, arena, &run, err) < 0)
		return -1;
	if (run->state == RUN_LOST)
		return refuse_lost(run, err);
	if (run->state != RUN_FINISHED)
		return err_set(err, ERR_UNKNOWN,
			       "generation %llu of %s is %s: it has no report",
			       (unsigned long long)run->generation,
			       run->routine, run_state_name(run->state));
	/* refused before its first step */
	if (!*run->sha256 && !run->success && *run->summary)
		return err_set(err, ERR_UNKNOWN, "run %llu has no report: %s",
			       (unsigned long long)run->generation,
			       run->summary);
	r = ledger_run_report(l, run, out, err);
	if (r < 0)
		return -1;
	if (!r && *run->sha256)
		log_warning("the report of generation %llu was changed after "
			    "the run",
			    (unsigned long long)run->generation);
	*ret_run = run;
	return 0;
}

int past_read(const struct past_query *q, struct arena *arena, struct buf *out,
	      const struct ledger_run **ret_run, struct err *err)
{
	const char *name = q->which;
	uint64_t generation;

	*ret_run = NULL;
	if (q->is_run)
		return read_kept(q, arena, out, ret_run, err);
	if (!strcmp(name, "-"))
		return fd_read_all(STDIN_FILENO, out, err);
	if (access(name, F_OK) < 0 &&
	    (!strcmp(name, "last") || str_uint64(str_of(name), &generation)))
		return read_kept(q, arena, out, ret_run, err);
	return fd_read_file(name, out, err);
}

int past_check_output(const struct outfile *f, const char *config,
		      struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {
		.path = config, .lax = true, .quiet = true, .passive = true};

	if (!f->path || !config || !*config ||
	    config_open(&options, &file, ERR_IGNORED) < 0)
		return 0;
	return path_check_links_of(f->path, &f->folder, &file.config, err);
}

/* ---- last runs ---- */

void past_runs_open(struct past_runs *r, struct arena *arena)
{
	*r = (struct past_runs){.l = NULL};
	if (ledger_open_read(NULL, &r->l, ERR_IGNORED) == 0)
		ledger_walk_init(&r->walk, r->l, arena);
}

void past_runs_release(struct past_runs *r)
{
	ledger_walk_release(&r->walk);
	ledger_freep(&r->l);
}

const struct ledger_run *past_last_run(struct past_runs *r, const char *routine,
				       const char *file)
{
	const struct ledger_run *run;

	for (size_t i = 0; r->l && i < PAST_RUNS; i++) {
		run = ledger_walk_at(&r->walk, i);
		if (!run)
			return NULL;
		if (run->whole && *run->file &&
		    ledger_run_is(run, routine, file))
			return run;
	}
	return NULL;
}

void past_last_json(struct past_runs *r, const char *routine, const char *file,
		    struct jw *w)
{
	const struct ledger_run *run = past_last_run(r, routine, file);

	if (!run)
		return;
	jw_kv_object(w, "last");
	jw_kv_uint(w, "generation", run->generation);
	jw_kv_cstr(w, "outcome", ledger_run_outcome(run));
	jw_kv_cstr(w, "started", run->started);
	jw_end(w);
}

const char *past_overdue(struct past_runs *r, const struct schedule *s,
			 struct arena *arena)
{
	const struct ledger_run *run;
	const char *last = "";
	char first[SLOT_BYTES];
	struct schedule_times t;
	int64_t at, last_ns = 0;

	schedule_times(s, clock_system()->wall_ns(clock_system()), &t);
	for (size_t i = 0; *t.due && r->l && i < PAST_RUNS; i++) {
		run = ledger_walk_at(&r->walk, i);
		if (!run)
			break;
		if (run->state == RUN_LOST ||
		    !ledger_run_is(run, s->routine, s->file))
			continue;
		at = schedule_slot_ns(s, run->slot);
		if (at >= t.due_ns)
			return "";
		if (at <= last_ns)
			continue;
		last_ns = at;
		last = run->slot;
	}
	if (*t.due)
		schedule_first(s, last, first);
	return *t.due ? arena_strdup(arena, first) : "";
}

const char *past_say(const struct ledger_run *run, struct arena *arena)
{
	char when[SLOT_BYTES];

	if (!run)
		return "not run yet";
	schedule_clock(run->started_ns, when);
	return arena_printf(arena, "last run %llu %s, of %s",
			    (unsigned long long)run->generation,
			    ledger_run_outcome(run), when);
}

const char *past_last(struct past_runs *r, const struct schedule *s,
		      struct arena *arena)
{
	const char *overdue = past_overdue(r, s, arena);
	const char *why =
		access(s->file, F_OK) < 0 ? "; its file is gone"
		: *overdue ? arena_printf(arena, "; overdue since %s", overdue)
			   : "";

	return arena_printf(
		arena, "%s%s",
		past_say(past_last_run(r, s->routine, s->file), arena), why);
}
