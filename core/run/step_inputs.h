/*
 * Digest of all that a step is made of, to tell whether an earlier result is
 * that of the same work.
 */
#ifndef CORE_RUN_STEP_INPUTS_H
#define CORE_RUN_STEP_INPUTS_H

#include "core/base/sha256.h"
#include "core/run/turn.h"
#include "gate/gate.h"

/*
 * Sum up the inputs of a step whose turn has come: type, program, server, tool,
 * arguments and params with their values, standard input, what it may do, plain
 * headers, and the names of its variables. Of `foreach` and a step that is a
 * routine: also the results that it waits for, and the parameters. Pure.
 *
 * ret  hexadecimal
 */
void step_inputs_digest(const struct turn *t, size_t step,
			char ret[SHA256_HEX_BYTES]);

/*
 * Are the files that the step runs, its program and script, the same as then,
 * and those that are arguments by themselves and not writable to it? A file
 * that is not found, or was written, moved or led to by a new link since, is
 * not. Of a routine: those of its steps.
 *
 * run  facts of the step then: `started`, `program`
 */
bool step_inputs_are_older(struct gate *gate, const struct plan_step *p,
			   struct str run) MUST_USE;

#endif
