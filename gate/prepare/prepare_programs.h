/*
 * Rules of [sandbox.programs]: held for the program that is started, known for
 * the programs that its first line starts, and pins of all files that are
 * named.
 */
#ifndef GATE_PREPARE_PREPARE_PROGRAMS_H
#define GATE_PREPARE_PREPARE_PROGRAMS_H

#include "gate/prepare/prepared.h"

/*
 * Fill .programs; needs .program, .execs and .exec_folder.
 *
 * errors  ERR_POLICY  an argument that a rule forbids
 *	   ERR_PIN     not the file that a rule pins, or not for long
 */
int prepare_programs(struct prepared *p, struct err *err) MUST_USE;

#endif
