/*
 * Files of the user that a program may look for and that its view hides: what
 * only looks ends well, and finds nothing.
 */
#ifndef GATE_PREPARE_PREPARE_UNSEEN_H
#define GATE_PREPARE_PREPARE_UNSEEN_H

#include "gate/prepare/prepared.h"

/*
 * Note the files to watch for (.unseen), those that arguments, variables or a
 * script name, and whether a listing of a private folder tells of a program
 * that looks into it (.launch.marks_counted). Needs the folder of the start.
 * returns  0: nothing in there fails
 */
int prepare_unseen(struct prepared *p, struct err *err) MUST_USE;

#endif
