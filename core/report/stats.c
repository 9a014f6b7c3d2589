#include "core/report/stats.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/scan.h"

/* Runs before the last ones that make a trend. */
#define BEFORE_MIN 5
/* Turns of a step that make it flaky: broken and mended is one of each. */
#define FLAKY_TURNS 3

const char *stats_outcome_name(enum stats_outcome o)
{
	static const char *const name[] = {"ok", "failed", "lost", "running"};

	return name[o];
}

/* ---- durations ---- */

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct stats_times times_of(const uint64_t *us, size_t n,
				   struct arena *arena)
{
	uint64_t *sorted = ARENA_ARRAY(arena, uint64_t, n + 1);

	if (!n)
		return (struct stats_times){0};
	memcpy(sorted, us, n * sizeof(*us));
	qsort(sorted, n, sizeof(*sorted), by_size);
	return (struct stats_times){
		.n = n,
		.median = sorted[n / 2] / 2 + sorted[(n - 1) / 2] / 2 +
			  (sorted[n / 2] & sorted[(n - 1) / 2] & 1),
		.p90 = sorted[(n * 9 + 9) / 10 - 1],
		.min = sorted[0],
		.max = sorted[n - 1],
	};
}

/* ---- runs ---- */

/* A run that could not begin failed, though no step of it counts. */
static bool could_not_begin(const struct ledger_run *run)
{
	return run->state == RUN_FINISHED && !run->success && !*run->sha256;
}

static struct stats_run read_run(const struct ledger_run *run)
{
	const int64_t ns = run->finished_ns - run->started_ns;

	return (struct stats_run){
		.generation = run->generation,
		/* no other text than a time is shown */
		.started = run->started_ns ? run->started : "",
		.outcome = run->state == RUN_RUNNING ? STATS_RUNNING
			   : run->state == RUN_LOST  ? STATS_LOST
			   : run->success	     ? STATS_OK
						     : STATS_FAILED,
		/* a clock that was set back has no duration */
		.is_timed = run->state == RUN_FINISHED && run->started_ns &&
			    ns >= 0,
		.us = ns > 0 ? (uint64_t)ns / 1000 : 0,
	};
}

static void find_streak(struct stats *s)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct stats_run *run = &s->run[i];
		const bool is_ok = run->outcome == STATS_OK;

		if (run->outcome == STATS_RUNNING)
			continue;
		if (s->streak && is_ok != s->is_ok_streak)
			return;
		s->is_ok_streak = is_ok;
		s->streak_first = run;
		s->streak++;
	}
}

void stats_of(const struct ledger_run *const *run, size_t n,
	      struct arena *arena, struct stats *ret)
{
	uint64_t *us = ARENA_ARRAY(arena, uint64_t, n + 1);
	size_t n_us = 0;

	*ret = (struct stats){.run = ARENA_ARRAY(arena, struct stats_run, n)};
	while (n-- > 0) {
		struct stats_run *to = &ret->run[ret->n];

		if (!run[n]->whole && !could_not_begin(run[n])) {
			ret->n_parts++;
			continue;
		}
		*to = read_run(run[n]);
		ret->count[to->outcome]++;
		if (to->outcome == STATS_OK && to->is_timed)
			us[n_us++] = to->us;
		ret->n++;
	}
	find_streak(ret);
	ret->took = times_of(us, n_us, arena);
	if (n_us < STATS_LAST + BEFORE_MIN)
		return;
	ret->before = times_of(us, n_us - STATS_LAST, arena);
	ret->last = times_of(us + n_us - STATS_LAST, STATS_LAST, arena);
}

unsigned stats_ok_percent(const struct stats *s)
{
	const size_t ended = s->n - s->count[STATS_RUNNING];

	return ended ? (unsigned)(s->count[STATS_OK] * 100 / ended) : 0;
}

/* ---- steps ---- */

static struct stats_step *step_of(struct stats *s, const char *name,
				  struct arena *arena)
{
	for (size_t i = 0; i < s->n_steps; i++)
		if (!strcmp(s->step[i].name, name))
			return &s->step[i];
	s->step = arena_grow(arena, s->step, s->n_steps, sizeof(*s->step));
	s->step[s->n_steps] = (struct stats_step){
		.name = arena_strdup(arena, name),
	};
	return &s->step[s->n_steps++];
}

/* Report whether the result is of this run, not of an earlier one. */
static bool is_own(const struct report_step *s)
{
	struct str from;

	return s->run.n && !scan_get(s->run, "taken_from", &from) &&
	       !scan_get(s->run, "cached", &from);
}

static void add_step(struct stats_step *to, const struct report_step *from)
{
	const bool is_ok = from->state == STATE_OK;
	struct str value;

	if (from->state == STATE_SKIPPED) {
		to->skipped++;
		return;
	}
	if (to->has_ended && to->was_ok != is_ok)
		to->turns++;
	to->has_ended = true;
	to->was_ok = is_ok;
	*(is_ok ? &to->ok : &to->failed) += 1;
	if (is_ok && is_own(from) && to->n_us < STATS_REPORTS &&
	    scan_get(from->run, "duration_us", &value) &&
	    str_uint64(value, &to->us[to->n_us]))
		to->n_us++;
}

void stats_add_report(struct stats *s, const struct report *r,
		      struct arena *arena)
{
	if (s->n_reports >= STATS_REPORTS)
		return;
	s->n_reports++;
	for (size_t i = 0; i < r->n_steps; i++)
		if (!r->steps[i].not_begun)
			add_step(step_of(s, r->steps[i].name, arena),
				 &r->steps[i]);
}

bool stats_is_flaky(const struct stats_step *step)
{
	return step->turns >= FLAKY_TURNS;
}

/* Order: failures, then durations, then names. */
static int by_weight(const void *a, const void *b)
{
	const struct stats_step *x = a, *y = b;

	if (x->failed != y->failed)
		return x->failed < y->failed ? 1 : -1;
	if (x->took.median != y->took.median)
		return x->took.median < y->took.median ? 1 : -1;
	return strcmp(x->name, y->name);
}

void stats_end(struct stats *s, struct arena *arena)
{
	for (size_t i = 0; i < s->n_steps; i++)
		s->step[i].took =
			times_of(s->step[i].us, s->step[i].n_us, arena);
	if (s->n_steps)
		qsort(s->step, s->n_steps, sizeof(*s->step), by_weight);
}
