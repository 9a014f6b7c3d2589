/*
 * The working directory of a child, and what goes with its private places.
 */
#ifndef GATE_PREPARE_PREPARE_CWD_H
#define GATE_PREPARE_PREPARE_CWD_H

#include "gate/prepare/prepared.h"

/*
 * Choose where the child starts: .launch.cwd. Note a folder that it does not
 * see there (.hidden_cwd), and files of private places that its arguments name
 * (.named). Needs the view.
 *
 * errors  ERR_POLICY  the folder is required, and not granted
 */
int prepare_cwd(struct prepared *p, struct err *err) MUST_USE;

#endif
