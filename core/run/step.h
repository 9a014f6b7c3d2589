/*
 * The life of one step: begun, bounded in time, ended with a result.
 *
 * Between begin and end a program is run to its end, or a tool is called in a
 * session.
 *
 *	step_init(&s, &ctx, &plan_step);	all of them first
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
#include "core/base/sha256.h"
#include "core/client/facts.h"
#include "core/report/report.h"
#include "core/base/loop.h"
#include "core/run/credentials.h"
#include "core/run/judge.h"
#include "core/run/plan.h"
#include "core/run/pool.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

struct step_run;

/*
 * Work of a step: a program, a call, steps that it is made of, or a person's
 * answer. It ends by step_close().
 */
struct step_doer {
	/* Start the work; a call, when its server can be asked. */
	void (*begin)(struct step_run *s);
	/* End it early, as s->hurry says: the second time at once. */
	void (*stop)(struct step_run *s, const char *why);
	/* Free s->work. */
	void (*release)(struct step_run *s);
	/* The others are executions of the step itself, which are judged. */
	bool repeats;
	bool is_job; /* a program or a call: one of struct jobs */
	/* Write members of the facts; or NULL. */
	void (*add_facts)(const struct step_run *s, struct cleaner *c,
			  struct jw *w);
	/* Name the phase that used up the time, and set a remark that follows
	   the sentence about it; NULL: the call. */
	enum step_reason (*late)(struct step_run *s, const char **remark);
};

/* In step_program.c, step_call.c, foreach.c, attempts.c and nested.c. */
extern const struct step_doer program_doer, call_doer, foreach_doer,
	attempts_doer, nested_doer;

/* Server that a step calls, or its executions do. */
struct step_session {
	struct pool_user user;
	bool waits;	  /* for the end of the server */
	struct str tool;  /* object of tools/list; in an arena, or n = 0 */
	uint32_t repairs; /* of the result */
	const char *near; /* nearest tool to one that is not there, or NULL */
	bool has_tool;	  /* the server listed the tool */
	struct buf facts; /* "{" and members, of the process, until they are
			     written; n = 0: not known, or another's */
	size_t facts_scrubbed;
};

/* Things that the steps of a run share; borrowed by all of them. */
struct step_context {
	const char *routine; /* name of the routine, for commands in advice */
	const struct config *config; /* configuration of the routine */
	bool shows_advice; /* the report shows it: no notes on stderr */
	struct loop *loop;
	struct gate *gate;
	struct scrub *scrub;	  /* values that must not appear anywhere */
	struct pool *pool;	  /* servers; NULL where there are none */
	struct jobs *jobs;	  /* steps that run */
	struct walk_world *world; /* of walks; opaque */
	struct approvals *approvals;
	/* Names of the steps around its routine, each with a slash; "". */
	const char *path;
	const struct values *values; /* at the time of a step's turn */
	struct tape *tape;   /* of the run; NULL: none is kept or replayed */
	struct saver *saver; /* of the files that steps save */
	/* Choose who does a step, or one of the executions of `whole`. */
	const struct step_doer *(*doer)(const struct step_run *s);
	struct step_run *whole; /* step whose executions these are; or NULL */
	/* Servers of a routine that runs again: of this step, or of the routine
	   that it stands in; or NULL (hold.h). */
	struct hold *hold;
	void *input;	   /* id of struct many_input that it is for; or NULL */
	uint64_t grace_ms; /* between the steps of an orderly end */
	void (*step_ended)(void *ended_arg, struct step_run *s);
	void *ended_arg;
	/* Verdict on a program that was started, before it is freed; or NULL */
	void (*verdict)(void *arg, const struct step_run *s,
			const struct gate_verdict *v);
	/* A tool reports its progress, in words without secrets; or NULL */
	void (*progress)(void *arg, const struct step_run *s, const char *note);
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

struct step_run {
	const struct plan_step *plan;
	struct step_context *ctx;
	struct scrub
		*scrub; /* scrubber of ctx, or of the server that is called */
	bool is_call;	/* in a session, by itself or by its executions */
	const struct step_doer *doer;
	void *work;	      /* of the doer; owned */
	enum judge_mode mode; /* of stdout */
	struct arena arena;   /* of the result */
	enum step_phase phase;
	struct loop_timer budget;
	struct buf out;	    /* collected stdout, up to stdout_max */
	struct str printed; /* stdout of a script, whole; in .out, or that of
			       the last attempt */
	uint64_t begin_ns, end_ns;
	int64_t begin_wall_ns;
	bool is_cancelled;
	enum pool_end hurry; /* of its end */
	bool has_result;
	bool gave_up;		       /* to scrub the result */
	char inputs[SHA256_HEX_BYTES]; /* step_digest(); "": none was made */
	struct report_step result;
	struct report_step *raw; /* result with secrets; NULL: it has none */
	struct str saved;	 /* files: saver_write(); n = 0: none */
	struct retry_case cause; /* of a failure; .reason is not set */
	struct env env;		 /* declared variables; owned */
	size_t scrubbed; /* hits; those of its facts stand beside them */
	struct step_session *session; /* owned; NULL: no call, or none to do */
};

/*
 * Make a step of a run, and prepare what it shares with others where the plan
 * says that it runs: all of them, before the first begins.
 *
 * s  zeroed but for `env`
 */
void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan);
/*
 * Start it, or end it at once when the plan says so or the gate refuses.
 * Ending calls ctx->step_ended.
 */
void step_begin(struct step_run *s);
/* "routine ROUTINE/STEP", for the audit; lives as long as the step. */
const char *step_origin(struct step_run *s) MUST_USE;
/* Put a call that was denied before it was made into the audit. */
void step_note_denied(struct step_run *s);
/*
 * End a step whose work is done.
 *
 * j  its result, which is nothing after an earlier one; NULL: the earlier one
 */
void step_close(struct step_run *s, const struct judgement *j);
/* Hand what an execution that has ended tells to the whole; it may be released.
 */
void step_take_over(struct step_run *s, const struct step_run *part);
/* End it at once by its result in an earlier run, which `kept` borrows from.
   is_cached  its facts say so, and not `taken_from` */
void step_use(struct step_run *s, const struct report_step *kept,
	      uint64_t generation, bool is_cached);
/* The user wants to stop: ends as `cancelled`. Twice: at once. */
void step_cancel(struct step_run *s, const char *why);
/* Free everything; the result dies with it. */
void step_release(struct step_run *s);

#endif
