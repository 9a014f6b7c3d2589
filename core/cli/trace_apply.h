/*
 * `matins trace --apply`: needs of a step put into the configuration.
 *
 *	struct trace_apply a = TRACE_APPLY_INIT;
 *
 *	if (trace_apply_open(&a, &file, err) < 0)	before anything starts
 *		...
 *	trace_apply_rows(&a, ...);			while the gate lives
 *	if (trace_apply_write(&a, routine, step, err) < 0)
 *		...
 *	trace_apply_release(&a);
 */
#ifndef CORE_CLI_TRACE_APPLY_H
#define CORE_CLI_TRACE_APPLY_H

#include "core/base/arena.h"
#include "core/base/outfile.h"
#include "core/config/config.h"
#include "core/config/edit.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

#define TRACE_APPLY_KEYS 8

struct trace_apply {
	struct arena arena;
	const struct config_file *file; /* borrowed; NULL: not opened */
	struct outfile out;
	struct edit_row row[TRACE_APPLY_KEYS];
	size_t n;
};

#define TRACE_APPLY_INIT                                  \
	{                                                 \
		.arena = ARENA_INIT, .out = OUTFILE_INIT, \
	}

/*
 * Look up the file, so that nothing that is traced can put another there.
 * errors  ERR_SYS, ERR_CONFIG
 */
int trace_apply_open(struct trace_apply *a, const struct config_file *file,
		     struct err *err) MUST_USE;
/*
 * Take over the needs that the step's policy does not grant yet. Keys, tokens
 * and rows with a credential in them are named in a warning and left out.
 *
 * has  the step's whole policy, as it was before the trace
 */
void trace_apply_rows(struct trace_apply *a, const struct gate *gate,
		      const struct gate_needs *needs,
		      const struct gate_policy *has, const struct scrub *scrub);
/*
 * Write the file, keep its allowance where it had one, and print the lines
 * that changed.
 * errors  ERR_CONFIG  it changed meanwhile, or cannot be edited; ERR_SYS,
 *	   ERR_OUTPUT
 */
int trace_apply_write(struct trace_apply *a, const char *routine,
		      const char *step, struct err *err) MUST_USE;
void trace_apply_release(struct trace_apply *a);

#endif
