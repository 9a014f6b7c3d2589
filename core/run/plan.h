/*
 * Routine and arguments to ordered steps with everything that can be decided
 * without starting anything: which are skipped and why, which run side by
 * side, the policy of each, and the arguments of its call.
 *
 * Pure. Whether the gate agrees is asked by core/run/run.c, before the first
 * step starts.
 */
#ifndef CORE_RUN_PLAN_H
#define CORE_RUN_PLAN_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/flow.h"
#include "core/config/routine.h"
#include "core/report/report.h"
#include "core/run/fill.h"
#include "core/run/inputs.h"
#include "core/run/values.h"
#include "gate/gate.h"

struct plan_options {
	const struct config *config;
	const struct routine *routine;
	const char *only_step; /* the only step to run, for `step`; or NULL */
	struct strlist only, skip; /* names of steps; n = 0 means no filter */
	const char *from; /* steps before it take earlier results; or NULL */
	struct inputs_given given; /* parameters */
	bool dry_run;
	bool confirmed; /* a person agrees to tools of `confirm` */
};

struct plan_step {
	const struct step *step;
	bool with_previous; /* runs beside the step before it */
	bool is_taken;	    /* an earlier result stands for its own */
	bool would_not_run; /* a dry run found why; `error` says it */
	/* REASON_NONE: the step runs. Else `error` says why it does not. */
	enum step_reason reason;
	struct str error;
	struct gate_policy policy;
	struct gate_request request; /* argv complete; env still empty */
	struct fill_params inputs;   /* .json: arguments of tools/call */
	struct str items;	     /* of `foreach`: a JSON array */
	struct str input;	     /* text for a program; may be empty */
	struct str message;	     /* to be approved */
	const struct config *config;
	const struct flow_step *flow; /* steps to wait for */
	const char *protocol;	      /* pinned revision, or NULL */
	bool strict;		      /* set by the step, or its server */
	bool is_pinned;		      /* the tool must be as it was accepted */
	bool owns_items;	      /* given by the person */
	struct env_refs server_env;   /* of its server; n = 0 without */
};

struct plan {
	const struct routine *routine;
	struct plan_step *steps; /* file order, one per step of the routine */
	size_t n_steps;
	bool by_needs;		 /* not in file order */
	struct values inputs;	 /* inputs of -p alone */
	struct strlist warnings; /* about -p that no step uses */
};

/*
 * Everything in *ret_plan lives in `arena` or is borrowed from the options.
 *
 * errors  ERR_UNKNOWN_STEP  the routine has no step only_step
 *	   ERR_USAGE   --only or --skip names no step; an "$input.K" without
 *		       -p K=V; inputs_read()
 */
int plan_make(const struct plan_options *o, struct arena *arena,
	      struct plan *ret_plan, struct err *err) MUST_USE;

/*
 * Where a program of a configuration starts: in the folder that its step or
 * server names, which must be granted; else in that of the file where the
 * policy shows it, or in its private HOME.
 */
void plan_cwd(struct gate_request *request, const char *cwd,
	      const struct config *config);

/* A step that stands in no file: it has a server, and calls nothing. */
struct step plan_server_step(const struct server *s) MUST_USE;
/*
 * Put the values of references into the arguments of a step whose turn it is.
 *
 * errors  ERR_USAGE, ERR_UNKNOWN  as values_find(); also for a value that
 *	   cannot be an argument of a program
 */
int plan_fill(struct plan_step *p, const struct values *v, struct arena *arena,
	      struct err *err) MUST_USE;

#endif
