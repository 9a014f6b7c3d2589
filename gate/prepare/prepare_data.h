/*
 * Arguments that a server or a program has made: they are passed on, and say
 * nothing of what is granted or runs.
 */
#ifndef GATE_PREPARE_PREPARE_DATA_H
#define GATE_PREPARE_PREPARE_DATA_H

#include "gate/prepare/prepared.h"

/* Is it such an argument? */
bool data_is(const struct gate_request *request, size_t at) MUST_USE;

/*
 * Programs that the arguments of .program name, read as the words of a command
 * line of env, find, timeout and the like; in the arena of `p`. DATA_WORD among
 * them: such an argument names one.
 */
struct strlist data_started(struct prepared *p) MUST_USE;

/* Stands for an argument from data: a path where nothing can lie. */
#define DATA_WORD "/dev/null/data"

/*
 * Refuse such arguments where they would say what a launcher of packages, or
 * the program, runs. The first goes before prepare_direct(), the other needs
 * .program.
 *
 * errors  ERR_POLICY
 */
int prepare_data_package(struct prepared *p, struct err *err) MUST_USE;
int prepare_data(struct prepared *p, struct err *err) MUST_USE;

#endif
