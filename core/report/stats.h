/*
 * Statistics of a routine over time: rows of the ledger, and the reports
 * that are kept of some, become numbers, and these a text, a page, or JSON.
 *
 *	stats_of(runs, n, &arena, &stats);
 *	for each report that is kept, the newest first
 *		stats_add_report(&stats, &report, &arena);
 *	stats_end(&stats, &arena);
 *	stats_text(&stats, &view, &out);
 *
 * Runs of all steps count; those of some steps are only numbered, since their
 * durations say nothing of the routine. A chart has a bar for each run, or for
 * several where there is no room, as high as the slowest of these took.
 */
#ifndef CORE_REPORT_STATS_H
#define CORE_REPORT_STATS_H

#include "core/report/ledger_runs.h"
#include "core/report/report.h"

/* Reports that are looked into for steps. */
#define STATS_REPORTS 32

/* The worst last. */
enum stats_outcome {
	STATS_OK,
	STATS_RUNNING, /* neither good nor bad yet */
	STATS_FAILED,
	STATS_LOST,
	STATS_OUTCOMES
};

struct stats_run {
	uint64_t generation;
	const char *started; /* RFC 3339; "" when unknown */
	int64_t started_ns;  /* since 1970; 0 when unknown */
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

struct stats_view {
	const char *routine, *file; /* file: NULL when runs are of several */
	size_t columns;		    /* of the terminal; 0: 80 */
	bool has_utf8, has_colour;
};

void stats_text(const struct stats *s, const struct stats_view *v,
		struct buf *out);
void stats_html(const struct stats *s, const struct stats_view *v,
		struct buf *out);
/* w  inside of an object */
void stats_json(const struct stats *s, const struct stats_view *v,
		struct jw *w);

#endif
