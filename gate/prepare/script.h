/*
 * The text of the shell script that a request runs, and the programs that it
 * names.
 */
#ifndef GATE_PREPARE_SCRIPT_H
#define GATE_PREPARE_SCRIPT_H

#include "gate/prepare/prepared.h"

/*
 * Programs that the script of a shell names: of a file that is the program
 * itself or its argument, or of the text behind -c. None where the script is
 * not surely the user's own or root's: where another user, or a program of the
 * configuration, could have written it, or it came with a package.
 *
 * In the arena of `p`; needs .program and .policy.
 */
struct strlist script_commands(struct prepared *p) MUST_USE;

/* Likewise of a program that starts what its arguments name: timeout 5 date. */
struct strlist script_started(struct prepared *p) MUST_USE;

#endif
