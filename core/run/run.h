/*
 * Runs a routine: takes a generation, walks over the plan in one loop, fills
 * the report and the ledger.
 *
 *	struct run_options o = {.file = &file, .routine = routine};
 *	struct run_result result;
 *	if (run_routine(&o, &result, err) < 0)
 *		return -1;		nothing was started
 *	... result.report, result.exit_status ...
 *	run_result_release(&result);
 *
 * A step that fails is a result, not an error.
 */
#ifndef CORE_RUN_RUN_H
#define CORE_RUN_RUN_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/report/report.h"
#include "core/config/config.h"
#include "core/run/walk.h"

/* Callbacks for live lines on a terminal. All may be NULL. */
struct run_observer {
	/* step: "outer/inner" of a routine within; only for the call */
	void (*begun)(void *arg, const char *step);
	void (*ended)(void *arg, const char *step,
		      const struct report_step *result);
	/* a tool reports its progress: "3/10  reading", without secrets */
	void (*progress)(void *arg, const char *step, const char *note);
	/* every `tick_ms` while something runs */
	void (*tick)(void *arg);
	uint64_t tick_ms;
	/* a person is asked: nothing is drawn */
	void (*hold)(void *arg, bool is_held);
	void *arg;
};

struct events;
struct run_many;
struct scrub;

/* A trace changes the policy of steps, and looks at their verdicts. */
struct run_tracer {
	int (*begin)(void *arg, struct gate *gate, struct plan_step *step,
		     struct err *err);
	/* went_well: the step is ok, exit status included; the values of
	   `scrub` must not be shown; it ends with the run */
	void (*ended)(void *arg, struct gate *gate,
		      const struct plan_step *step,
		      const struct gate_verdict *v, bool went_well,
		      const struct scrub *scrub);
	void *arg;
};

struct run_options {
	const struct config_file *file;
	const struct routine *routine;
	const char *only_step; /* `step`: this one alone; NULL = all */
	struct strlist only, skip;
	struct inputs_given given;
	const char *from;      /* steps before it are taken from the last run */
	struct events *events; /* borrowed; NULL: none are told */
	const char *resume;    /* a generation, or "last"; NULL: none */
	const char *record, *replay; /* folders of a tape; NULL: none */
	bool dry_run;
	bool no_cache; /* `cache` of steps does not count */
	bool allow_empty;
	struct strlist approved; /* names of --approve */
	bool confirmed;		 /* to call tools of `confirm` */
	bool require_ledger;
	const char *slot;      /* run once for it, see schedule.h; NULL */
	int64_t slot_since_ns; /* of schedule_slot() */
	bool shows_advice;     /* the caller prints it and stderr: no notes */
	unsigned jobs; /* side by side; 0 = as many as descriptors allow */
	const struct run_many *many; /* see many.h; NULL: one run */
	struct run_observer observer;
	const struct run_tracer *tracer; /* NULL = none; of `trace` */
	/* Of a trace: results for references to other steps, beside those of
	   the last run; NULL: none. */
	const struct report *earlier;
};

struct run_result {
	struct arena arena; /* of the report */
	struct report report;
	int exit_status;
	bool busy_skipped; /* on_busy = "skip": another process runs it; or: */
	uint64_t slot_ran; /* run that was for this slot already; 0: none */
	uint64_t scrubbed; /* secrets that were taken out */
	struct walk walk;  /* the report borrows from its steps */
};

/*
 * errors  ERR_USAGE, ERR_CONFIG, ERR_UNKNOWN, ERR_BUSY, ERR_PROTECTION (this
 *	   kernel is below the gate's floor), ERR_SYS
 */
int run_routine(const struct run_options *o, struct run_result *ret,
		struct err *err) MUST_USE;
/* SIGINT and SIGTERM have their default effect again from here on. */
void run_result_release(struct run_result *r);

#endif
