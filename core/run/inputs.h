/*
 * Parameters of a run: from the command line, or from the step that runs the
 * routine, to values.
 *
 * Pure.
 */
#ifndef CORE_RUN_INPUTS_H
#define CORE_RUN_INPUTS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/params.h"
#include "core/config/routine.h"
#include "core/run/values.h"

struct inputs_given {
	struct strlist params; /* words of -p: "NAME=TEXT", "NAME:=JSON" */
	struct str object;     /* JSON object; words win over it. n = 0: none */
	bool is_data;	       /* results of steps are in .object */
	bool is_optional;      /* one that is missing is null: for `doctor` */
	bool is_partial;       /* one that no step here uses may be missing */
};

/*
 * Read them. Where the routine declares its parameters, a text is read by their
 * types, every value is judged by their schemas, and defaults fill in: *ret
 * then has them in the order of the table.
 *
 * config  of the routine; for messages
 * r       all of it, or a copy with the steps that are to run
 * ret     its inputs, in `arena` or borrowed from `given`
 * errors  ERR_USAGE   every mistake in one message, a line each
 *	   ERR_CONFIG  params_read()
 */
int inputs_read(const struct config *config, const struct routine *r,
		const struct inputs_given *given, struct arena *arena,
		struct values *ret, struct err *err) MUST_USE;
/*
 * Read them by parameters that params_read() gave, for many inputs of one
 * routine.
 *
 * errors  ERR_USAGE  every mistake, a line each
 */
int inputs_judge(const struct routine *r, const struct params *params,
		 const struct inputs_given *given, struct arena *arena,
		 struct values *ret, struct err *err) MUST_USE;

#endif
