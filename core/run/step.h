/*
 * The life of one step: begun, bounded in time, ended with a result.
 *
 * What it does in between is its type's: a program that is run to its end
 * (step_exec.c), or a call in a session (step_mcp.c).
 *
 *	step_init(&s, &ctx, &plan_step);
 *	step_expect(&s);	all steps, before the first begins
 *	step_begin(&s);		from here on it lives in ctx->loop
 *	... loop_turn() until s.phase == STEP_ENDED (ctx->step_ended is called)
 *	step_release(&s);	after the report was printed: it borrows
 */
#ifndef CORE_RUN_STEP_H
#define CORE_RUN_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/report/report.h"
#include "core/base/loop.h"
#include "core/run/env.h"
#include "core/run/plan.h"
#include "core/run/pool.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

struct step_run;

enum step_haste {
	HASTE_TIMEOUT, /* the time is over, or the user cancels */
	HASTE_KILL,    /* the user cancels once more */
};

/* Things that the steps of a run share; borrowed by all of them. */
struct step_context {
	struct loop *loop;
	struct gate *gate;
	struct scrub *scrub; /* values that must not appear anywhere */
	struct pool *pool;   /* servers; NULL where there are none */
	uint64_t grace_ms;   /* between the steps of an orderly end */
	void (*step_ended)(void *arg, struct step_run *s);
	/* Verdict on a program that was started, before it is freed; or NULL */
	void (*verdict)(void *arg, const struct step_run *s,
			const struct gate_verdict *v);
	void *arg;
};

#define STEP_PHASES(X)                                           \
	X(WAITING) /* not begun */                               \
	X(RUNNING) /* at work */                                 \
	X(CLOSING) /* there is a result, and a program to end */ \
	X(ENDED)   /* nothing of it runs any more */

enum step_phase {
#define X(name) STEP_##name,
	STEP_PHASES(X)
#undef X
};

/* The work of a step. */
struct step_type {
	const char *name;
	bool data_is_status; /* the data is an exit status, no output */
	/* Prepare: the step will run, with these variables. May be NULL. */
	void (*expect)(struct step_run *s);
	/* Start; a failure ends the step at once by step_skip(). */
	void (*begin)(struct step_run *s);
	/* End it, since no result is wanted any more. */
	void (*stop)(struct step_run *s, enum step_haste haste);
	/* Remark that follows the sentence about its time-out; or "". */
	const char *(*remark)(const struct step_run *s);
	/* Reason of a time-out: the phase that used up the time. */
	enum step_reason (*timeout_reason)(struct step_run *s);
	/* Let go: the step ends, perhaps without having begun. May be NULL. */
	void (*leave)(struct step_run *s);
	/* Members of the step's `run` object. */
	void (*facts)(struct step_run *s, struct jw *w);
	void (*release)(struct step_run *s);
};

struct step_run {
	const struct plan_step *plan;
	struct step_context *ctx;
	struct scrub
		*scrub; /* scrubber of ctx, or of the server that is called */
	const struct step_type *type;
	struct arena arena; /* of the result */
	enum step_phase phase;
	struct loop_timer budget;
	struct buf out; /* collected stdout, up to stdout_max */
	uint64_t begin_ns, end_ns;
	int64_t begin_wall_ns;
	bool is_cancelled;
	bool has_result;
	bool gave_up; /* to scrub the result */
	struct report_step result;
	struct env env;	 /* declared variables; set before step_begin() */
	size_t scrubbed; /* hits; those of its facts stand beside them */
	size_t facts_scrubbed;
	void *state; /* of the type; owned by it */
};

void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan, const struct step_type *type);
/* Prepare what the step shares with others: the plan says that it runs. */
void step_expect(struct step_run *s);
/*
 * Start it, or end it at once when the plan says so or the gate refuses.
 * Ending calls ctx->step_ended.
 */
void step_begin(struct step_run *s);
/* End it with a reason before it begins; for missing credentials. */
void step_skip(struct step_run *s, enum step_reason reason,
	       const char *sentence);
/* The user wants to stop: ends as `cancelled`. Twice: at once. */
void step_cancel(struct step_run *s, const char *why);
/* Free everything; the result dies with it. */
void step_release(struct step_run *s);

/* ---- for step types ---- */

/* The first result counts; later ones are ignored. */
void step_fail(struct step_run *s, enum step_reason reason, const char *fmt,
	       ...) PRINTF(3, 4);
struct judgement;
void step_finish(struct step_run *s, const struct judgement *j);
/* There is a result, and something that has to end yet. */
void step_close(struct step_run *s);
/* All is done: the result counts. */
void step_end(struct step_run *s);
/* Write the facts again: more is known than when the step ended. */
void step_refresh_facts(struct step_run *s);
/* Did it fail, by itself, in a way that a person is told of? */
bool step_has_failed(const struct step_run *s) MUST_USE;
/* Why, by the words of its program: the last of its stderr. */
void step_log_words(struct step_run *s, struct str err_tail);
/* Refusals that are worth a line, each with the setting that allows it. */
void step_log_denials(const struct step_run *s, const struct gate_verdict *v);

#endif
