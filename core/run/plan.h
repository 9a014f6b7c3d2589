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
#include "core/report/report.h"
#include "core/config/routine.h"
#include "gate/gate.h"

/* Values of the command line. */
struct plan_given {
	struct strlist params; /* "KEY=VALUE" of -p */
	bool is_optional;      /* one that is missing is null: for `doctor` */
};

/* Where a text of the command line stands in the arguments. */
struct plan_input {
	struct str pointer; /* JSON pointer of the value */
	struct str text;    /* as it was given */
	size_t at, n;	    /* place in the JSON, bytes */
};

struct plan_inputs {
	struct str json; /* the arguments: an object, n = 0 without params */
	struct plan_input *item;
	size_t n;
};

struct plan_options {
	const struct config *config;
	const struct routine *routine;
	const char *only_step; /* the only step to run, for `step`; or NULL */
	struct strlist only, skip; /* names of steps; n = 0 means no filter */
	struct plan_given given;   /* of -p */
	bool dry_run;
};

struct plan_step {
	const struct step *step;
	bool with_previous; /* runs beside the step before it */
	/* REASON_NONE: the step runs. Else `error` says why it does not. */
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
	struct strlist warnings; /* about -p that no step uses */
};

/*
 * Everything in *ret_plan lives in `arena` or is borrowed from the options.
 *
 * errors  ERR_UNKNOWN_STEP  the routine has no step only_step
 *	   ERR_USAGE   --only or --skip names no step; an "$input.K" without
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

/*
 * Write arguments again, with the inputs at these places as strings: the schema
 * of the tool refused what -p gave when it was typed as JSON.
 *
 * pointers  JSON pointers; those of no input do not count
 * returns   {NULL, 0}: nothing is another value than before
 */
struct str plan_inputs_as_text(const struct plan_inputs *a,
			       const struct strlist *pointers,
			       struct arena *arena) MUST_USE;

#endif
