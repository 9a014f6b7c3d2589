/*
 * Programs of a request: its own, the rows of `exec`, and those of recipes;
 * each found, opened and judged, by the leash, too.
 */
#ifndef GATE_PREPARE_PREPARE_EXECS_H
#define GATE_PREPARE_PREPARE_EXECS_H

#include "gate/prepare/prepared.h"

/*
 * Fill .program; needs .direct.
 * errors  ERR_NOT_FOUND, ERR_LEASH, ERR_POLICY
 */
int prepare_program(struct prepared *p, struct err *err) MUST_USE;

/* Close what programs of the run were found to be. */
void programs_release(struct gate *gate);

/*
 * Fill .execs and .exec_folder; needs .recipes. What the leash refuses, and
 * what a recipe brings and this machine has not, is left out.
 *
 * errors  ERR_NOT_FOUND, ERR_POLICY  of a row of `exec`
 */
int prepare_execs(struct prepared *p, struct err *err) MUST_USE;

#endif
