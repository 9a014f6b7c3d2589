/*
 * A step of type `sync`: the lists of servers into the catalogue, by the
 * command of that name in a process of its own. Its JSON is the data, but for
 * times; the changes are the body.
 */
#ifndef CORE_RUN_STEP_SYNC_H
#define CORE_RUN_STEP_SYNC_H

#include "core/base/str.h"
#include "core/run/step.h"

extern const struct step_doer sync_doer;

/*
 * Judge the end of the command. Texts in the arena.
 *
 * said    its standard output
 * status  as a shell has it
 */
struct judgement sync_judge(struct str said, int status, struct arena *arena)
	MUST_USE;

#endif
