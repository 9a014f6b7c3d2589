#include "core/report/ledger_runs.h"

#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/scan.h"
#include "core/report/store.h"

static const char *const state_names[] = {"running", "lost", "finished"};

const char *run_state_name(enum run_state s)
{
	return state_names[s];
}

const char *ledger_run_outcome(const struct ledger_run *run)
{
	if (run->state != RUN_FINISHED)
		return run_state_name(run->state);
	return run->success ? "ok" : "failed";
}

bool ledger_run_is(const struct ledger_run *run, const char *routine,
		   const char *file)
{
	return (!routine || !strcmp(run->routine, routine)) &&
	       (!file || !*run->file || !strcmp(run->file, file));
}

bool ledger_run_wrote(const struct ledger_run *run, struct str report)
{
	char sum[SHA256_HEX_BYTES];

	sha256_hex(report, sum);
	return !strcmp(sum, run->sha256) || !strcmp(sum, run->sha256_before);
}

int ledger_run_report(const struct ledger *l, const struct ledger_run *run,
		      struct buf *out, struct err *err)
{
	size_t before = out->n;

	if (store_get(ledger_dir(l), run->file, run->generation, out, err) < 0)
		return -1;
	return ledger_run_wrote(run, str_skip(buf_str(out), before));
}

/* Runs in a row that began too early, after which no other is looked for. */
#define OLDER_MAX 100

/* ---- one run ---- */

static struct ledger_run *new_run(struct ledger_walk *w,
				  const struct ledger_event *e)
{
	struct ledger_run *run = ARENA_NEW(w->arena, struct ledger_run);

	*run = (struct ledger_run){
		.generation = e->generation,
		.routine = ledger_event_text(e, "routine", w->arena),
		.file = ledger_event_text(e, "file", w->arena),
		.whole = scan_true(e->doc, "whole"),
		.slot = ledger_event_text(e, "slot", w->arena),
		.state = RUN_LOST,
		.started = "",
		.finished = "",
		.summary = "",
		.sha256 = "",
		.sha256_before = "",
	};
	return run;
}

static void keep_end(struct ledger_walk *w, struct ledger_run *run)
{
	w->ended = mem_grow(w->ended, w->n_ended + 1, &w->cap_ended,
			    sizeof(struct ledger_run *));
	w->ended[w->n_ended++] = run;
}

static struct ledger_run *take_end(struct ledger_walk *w, size_t i)
{
	struct ledger_run *run = w->ended[i];

	w->ended[i] = w->ended[--w->n_ended];
	return run;
}

static struct ledger_run *end_of(struct ledger_walk *w, uint64_t generation)
{
	for (size_t i = w->n_ended; i-- > 0;)
		if (w->ended[i]->generation == generation)
			return take_end(w, i);
	return NULL;
}

static void add_notified(struct ledger_walk *w, const struct ledger_event *e)
{
	struct ledger_run *run = new_run(w, e);

	run->sha256 = ledger_event_text(e, "sha256", w->arena);
	keep_end(w, run);
}

static void add_end(struct ledger_walk *w, const struct ledger_event *e)
{
	struct ledger_run *notified = end_of(w, e->generation);
	struct ledger_run *run = new_run(w, e);
	struct str value;
	int64_t status;

	run->state = RUN_FINISHED;
	run->finished = ledger_event_text(e, "at", w->arena);
	run->finished_ns = ledger_event_ns(run->finished);
	run->summary = ledger_event_text(e, "summary", w->arena);
	run->sha256 = ledger_event_text(e, "sha256", w->arena);
	run->success = scan_true(e->doc, "success");
	if (scan_get(e->doc, "exit", &value) && scan_int64(value, &status))
		run->exit_status = (int)status;
	if (notified) {
		run->sha256_before = run->sha256;
		run->sha256 = notified->sha256;
	}
	keep_end(w, run);
}

/* The newest run of which the beginning is missing. */
static struct ledger_run *newer_than(struct ledger_walk *w, uint64_t generation)
{
	size_t best = w->n_ended;

	for (size_t i = 0; i < w->n_ended; i++)
		if (w->ended[i]->generation > generation &&
		    (best == w->n_ended ||
		     w->ended[i]->generation > w->ended[best]->generation))
			best = i;
	return best < w->n_ended ? take_end(w, best) : NULL;
}

static struct ledger_run *add_start(struct ledger_walk *w,
				    const struct ledger_event *e)
{
	struct ledger_run *run = end_of(w, e->generation);
	/* a run may have ended before its first step */
	bool whole = !run || run->whole;

	if (!run)
		run = new_run(w, e);
	if (run->state == RUN_LOST && !w->boot.n)
		proc_boot_id(&w->boot);
	if (run->state == RUN_LOST && ledger_is_alive(e, buf_str(&w->boot)))
		run->state = RUN_RUNNING;
	run->whole = whole && scan_true(e->doc, "whole");
	run->started = ledger_event_text(e, "at", w->arena);
	run->started_ns = ledger_event_ns(run->started);
	return run;
}

/* ---- all runs ---- */

void ledger_walk_init(struct ledger_walk *w, struct ledger *l,
		      struct arena *arena)
{
	*w = (struct ledger_walk){.arena = arena};
	w->boot = (struct buf)BUF_INIT(64);
	ledger_lines_init(&w->lines, l);
}

void ledger_walk_release(struct ledger_walk *w)
{
	ledger_lines_release(&w->lines);
	buf_release(&w->boot);
	free(w->ended);
}

/* Meet the beginning of a run, or the first line: next is NULL. */
static int find_start(struct ledger_walk *w, struct err *err)
{
	struct ledger_event e;
	int r;

	while ((r = ledger_lines_next(&w->lines, &e, err)) > 0) {
		if (e.kind == EVENT_FINISHED)
			add_end(w, &e);
		else if (e.kind == EVENT_NOTIFIED)
			add_notified(w, &e);
		if (e.kind != EVENT_STARTED)
			continue;
		w->next = add_start(w, &e);
		return 0;
	}
	return r;
}

int ledger_walk_next(struct ledger_walk *w, const struct ledger_run **ret,
		     struct err *err)
{
	const struct ledger_run *run;

	if (w->n_older >= OLDER_MAX)
		return 0;
	if (!w->next && find_start(w, err) < 0)
		return -1;
	run = newer_than(w, w->next ? w->next->generation : 0);
	if (!run) {
		run = w->next;
		w->next = NULL;
	}
	if (!run)
		return 0;
	w->n_older = run->started_ns < w->since_ns ? w->n_older + 1 : 0;
	w->given = arena_grow(w->arena, w->given, w->n_given, sizeof(void *));
	w->given[w->n_given++] = *ret = run;
	return 1;
}

const struct ledger_run *ledger_walk_at(struct ledger_walk *w, size_t i)
{
	const struct ledger_run *run;

	while (w->n_given <= i)
		if (ledger_walk_next(w, &run, ERR_IGNORED) <= 0)
			return NULL;
	return w->given[i];
}
