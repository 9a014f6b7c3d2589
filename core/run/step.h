/*
 * The life of one step: spawned through the gate, fed and read, ended with
 * its whole tree, judged.
 *
 * A step type says how its bytes are understood (struct step_type); what
 * every step has in common, pipes, deadlines, the orderly end, is here.
 *
 *	step_init(&s, &ctx, &plan_step);
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
#include "core/run/loop.h"
#include "core/run/plan.h"
#include "core/run/tail.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

struct step_run;

/* What the steps of a run share; borrowed by all of them. */
struct step_context {
	struct loop *loop;
	struct gate *gate;
	struct scrub *scrub; /* values that must not appear anywhere */
	uint64_t grace_ms;   /* between the steps of an orderly end */
	void (*step_ended)(void *arg, struct step_run *s);
	void *arg;
};

/* Waits of the orderly end: stdin closed, SIGTERM, SIGKILL (STD-41). */
#define STEP_GRACE_MS 2000
/* The same after Ctrl-C (CAN-9). */
#define STEP_GRACE_CANCELLED_MS 500

#define STEP_PHASES(X)                                          \
	X(WAITING)     /* not begun */                          \
	X(RUNNING)     /* the program works */                  \
	X(CLOSING)     /* its stdin is closed, it should end */ \
	X(TERMINATING) /* SIGTERM was sent */                   \
	X(KILLING)     /* SIGKILL was sent to the whole tree */ \
	X(ENDED)       /* nothing of it runs any more; result is set */

enum step_phase {
#define X(name) STEP_##name,
	STEP_PHASES(X)
#undef X
};

/*
 * How the bytes of a step are understood. `start`, `output` and `tick` may
 * end the step with step_fail() or step_finish().
 */
struct step_type {
	const char *name;
	/* The child runs; stdin is open. */
	void (*start)(struct step_run *s);
	/* Some of stdout; NULL: it is collected in s->out. */
	void (*output)(struct step_run *s, struct str bytes);
	/* stdout has ended. May be NULL. */
	void (*eof)(struct step_run *s);
	/* Bytes that stdin should get; NULL: none ever. Borrowed. */
	struct str (*input)(struct step_run *s);
	void (*wrote)(struct step_run *s, size_t n);
	/* stdin broke: nothing more can be written. May be NULL. */
	void (*input_broke)(struct step_run *s);
	/* A deadline of its own is due; NULL: none. */
	uint64_t (*deadline)(struct step_run *s);
	void (*tick)(struct step_run *s);
	/* The step's budget is used up, or the user cancels. */
	enum step_reason (*timeout_reason)(struct step_run *s);
	void (*cancel)(struct step_run *s);
	/* The whole tree has ended: set the result if there is none yet. */
	void (*finish)(struct step_run *s, const struct gate_verdict *v);
	/* Members of the step's `run` object. May be NULL. */
	void (*facts)(struct step_run *s, struct jw *w);
	void (*release)(struct step_run *s);
};

/* Found by the name of the plan's step; core/routine/step_types.def. */
extern const struct step_type step_type_script, step_type_harness,
	step_type_subprocess, step_type_mcp;

struct step_run {
	const struct plan_step *plan;
	struct step_context *ctx;
	const struct step_type *type;
	struct arena arena; /* what the result points to */
	enum step_phase phase;
	struct gate_child *child; /* NULL before and after */
	struct loop_watch in, out_watch, err_watch, pid, notify;
	struct loop_timer budget, grace, own;
	struct buf out;	      /* collected stdout, up to stdout_max */
	uint64_t out_bytes;   /* seen on stdout */
	struct tail err_tail; /* stderr, already scrubbed */
	struct scrub_stream err_scrub;
	bool out_ended, killed_late;
	bool is_secret; /* what it prints must not be logged */
	uint64_t begin_ns, end_ns;
	int64_t begin_wall_ns;
	bool has_result;
	struct report_step result;
	char **env; /* "NAME=VALUE"; owned, wiped */
	size_t n_env;
	size_t scrubbed;     /* hits */
	const char *program; /* path that ran; lives in arena */
	pid_t child_pid;
	void *state; /* of the type; owned by it */
};

void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan);
/*
 * Give a declared variable: copied, wiped at release. Before step_begin().
 */
void step_add_env(struct step_run *s, const char *name, struct str value);
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
/* Orderly end: stdin is closed when its queue is written, then waits. */
void step_close(struct step_run *s);
/* Something to write, or another deadline: look again. */
void step_update(struct step_run *s);

const char *step_phase_name(enum step_phase p) MUST_USE;

#endif
