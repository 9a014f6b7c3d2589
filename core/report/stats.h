/*
 * Statistics of a routine over time: rows of the ledger, and the reports
 * that are kept of some, become numbers; core/report/stats_print.h shows them.
 *
 *	stats_of(runs, n, &arena, &stats);
 *	for each report that is kept, the newest first
 *		stats_add_report(&stats, &report, &arena);
 *	stats_end(&stats, &arena);
 *
 * Runs of all steps count; those of some steps are only numbered, since their
 * durations say nothing of the routine.
 */
#ifndef CORE_REPORT_STATS_H
#define CORE_REPORT_STATS_H

#include "core/report/ledger_runs.h"
#include "core/report/report.h"

/* Reports that are looked into for steps. */
#define STATS_REPORTS 32
/* Runs that the last ones are, for the trend. */
#define STATS_LAST 10

enum stats_outcome {
	STATS_OK,
	STATS_FAILED,
	STATS_LOST,
	STATS_RUNNING, /* neither good nor bad yet */
	STATS_OUTCOMES
};

/* "ok", "failed", "lost", "running"; static. */
const char *stats_outcome_name(enum stats_outcome o) MUST_USE;

struct stats_run {
	uint64_t generation;
	const char *started; /* RFC 3339; "" when unknown */
	enum stats_outcome outcome;
	bool is_timed; /* us is known */
	uint64_t us;
};

/* Durations in microseconds; all 0 where n is 0. */
struct stats_times {
	size_t n;
	uint64_t median, p90, min, max;
};

struct stats_step {
	const char *name;
	size_t ok, failed, skipped; /* of the reports */
	size_t turns;	/* from ok to failed or back, between two reports */
	bool has_ended; /* in a newer report, ok or failed: */
	bool was_ok;
	struct stats_times took; /* where ok, and not an earlier result */
	uint64_t us[STATS_REPORTS];
	size_t n_us;
};

struct stats {
	struct stats_run *run; /* the oldest first */
	size_t n;
	bool has_more; /* there are older runs; the caller sets it */
	size_t count[STATS_OUTCOMES];
	size_t n_parts; /* runs of some steps, not in `run` */
	/* Runs at the end that were all ok, or all not; those that are running
	   are passed over. */
	size_t streak;
	bool is_ok_streak;
	const struct stats_run *streak_first; /* NULL: nothing has ended */
	struct stats_times took;	      /* runs that were ok */
	struct stats_times last, before;      /* of these; n = 0: no trend */
	struct stats_step *step; /* failing ones first, then slow */
	size_t n_steps, n_reports;
};

/* run  the newest first, of one routine; borrowed */
void stats_of(const struct ledger_run *const *run, size_t n,
	      struct arena *arena, struct stats *ret);
/* Add what a report says of its steps; the first STATS_REPORTS count. */
void stats_add_report(struct stats *s, const struct report *r,
		      struct arena *arena);
/* Sum the steps up, and order them. */
void stats_end(struct stats *s, struct arena *arena);
/* Report whether a step failed and succeeded by turns. */
bool stats_is_flaky(const struct stats_step *step) MUST_USE;
/* Percent of the runs that ended which were ok, rounded down: 100 is all. */
unsigned stats_ok_percent(const struct stats *s) MUST_USE;

#endif
