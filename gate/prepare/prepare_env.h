/*
 * Environment of a child, which begins empty; its working directory, limits
 * and arguments.
 */
#ifndef GATE_PREPARE_PREPARE_ENV_H
#define GATE_PREPARE_PREPARE_ENV_H

#include "gate/prepare/prepared.h"

/*
 * Fill .env, .bounds, .clone_flags and the fields of .launch for the program.
 *
 * errors  ERR_POLICY  the required folder to start in is not shown
 */
int prepare_env(struct prepared *p, struct err *err) MUST_USE;

#endif
