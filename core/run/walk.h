/*
 * The walk over one plan: its steps are judged, get their credentials, and
 * begin when it is their turn.
 *
 *	plan_make(&options, arena, &w.plan, err)
 *	walk_init(&w, &world, arena);
 *	... walk_go() whenever something may begin, until walk_is_over()
 *	walk_report(&w, arena, &report);
 *	walk_clear(&w);	after the report was printed: it borrows
 *
 * A run has one, and one more for each routine that is a step.
 */
#ifndef CORE_RUN_WALK_H
#define CORE_RUN_WALK_H

#include "core/base/arena.h"
#include "core/report/ledger.h"
#include "core/report/report.h"
#include "core/run/jobs.h"
#include "core/run/order.h"
#include "core/run/plan.h"
#include "core/run/save.h"
#include "core/run/step.h"
#include "core/run/turn.h"

/* Things that all walks of a run share; borrowed by them. */
struct walk_world {
	struct step_context ctx; /* of every step, but for what its walk sets */
	struct jobs jobs;
	struct credentials *credentials;
	struct ledger *ledger; /* for $previous; NULL: there is none */
	/* With results of steps that no plan has, the first one first; NULL:
	   none. */
	const struct report *earlier[2];
	struct events *events; /* NULL: none are told */
	/* Of each step, also of routines within; `arg` is that of `ctx`. */
	void (*begun)(void *arg, const struct step_run *s);
	void (*ended)(void *arg, const struct step_run *s);
	const struct run_many *many; /* inputs that run; NULL: none */
	uint64_t generation;
	int64_t begin_wall_ns; /* of the run */
	bool no_cache;	       /* every step runs */
};

/* A step that the plan has not, and its last result; NULL: it has none. */
struct walk_last {
	struct walk_last *next;
	const char *step;
	const struct report_step *result;
};

struct walk {
	struct plan plan; /* set before walk_init() */
	/* Results of an earlier run, for the steps that the plan names, and
	   those that were ok with equal inputs (is_resumed); NULL: none. */
	const struct report *earlier;
	bool is_resumed;
	bool looks_back; /* of one step: others have their last results */
	void *input; /* id of struct many_input that it is for; NULL: none */

	/* from here on: its own */
	struct walk_world *world;
	struct arena *arena;
	struct step_run *runs; /* one per step; owned */
	struct step_context ctx;
	struct saver saver;
	struct order order;
	struct turn turn;
	const struct report *previous; /* for $previous; NULL: none */
	bool has_previous;	       /* `previous` was looked for */
	struct walk_last *last;	       /* results that were looked for */
	struct str facts;	       /* behind $run; n = 0: not yet made */
	const char *cancelled;	       /* why nothing begins any more */
};

/*
 * Judge every step, give it its credentials, and get it ready to begin.
 *
 * arena  that of the plan
 */
void walk_init(struct walk *w, struct walk_world *world, struct arena *arena);
/*
 * Begin the next step where one is due and there is room; for struct
 * jobs_giver.
 *
 * arg      struct walk
 * returns  true: another can begin at once
 */
bool walk_go(void *arg) MUST_USE;
/* End the steps that run, and let none begin; once more: at once. */
void walk_cancel(struct walk *w, const char *why);
bool walk_is_over(const struct walk *w) MUST_USE;
/* The results, in `arena`, which borrow from the walk. */
void walk_report(const struct walk *w, struct arena *arena,
		 struct report *report);
/* Loop, gate and pool end before the results are released. */
void walk_leave_loop(struct walk *w);
void walk_clear(struct walk *w);

#endif
