/*
 * Routine and arguments to ordered steps with everything that can be decided
 * without starting anything: which are skipped and why, which run side by
 * side, what each may do, and the arguments of its call.
 *
 * Pure. Whether the gate agrees is asked by core/run/run.c, before the first
 * step starts.
 */
#ifndef CORE_RUN_PLAN_H
#define CORE_RUN_PLAN_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/report/report.h"
#include "core/config/routine.h"
#include "core/run/plan_inputs.h"
#include "gate/gate.h"

struct plan_options {
	const struct config *config;
	const struct routine *routine;
	struct strlist only, skip; /* names of steps; n = 0 means no filter */
	struct plan_given given;   /* of -p */
	bool dry_run;
};

struct plan_step {
	const struct step *step;
	bool with_previous; /* runs beside the step before it */
	/* REASON_NONE: it runs. Else it does not, and `error` says why. */
	enum step_reason reason;
	struct str error;
	struct gate_policy policy;
	struct gate_request request; /* argv complete; env still empty */
	struct plan_inputs inputs;   /* .json: arguments of tools/call */
	const char *protocol;	     /* pinned revision, or NULL */
	bool strict;		     /* the step says so, or its server */
	struct env_refs server_env;  /* of its server; n = 0 without */
};

struct plan {
	const struct routine *routine;
	struct plan_step *steps; /* file order, one per step of the routine */
	size_t n_steps;
};

/*
 * Everything in *ret_plan lives in `arena` or is borrowed from the options.
 *
 * errors  ERR_USAGE   --only or --skip names no step; an "$input.K" without
 *		       -p K=V
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

#endif
