/*
 * How the tokens of remote servers lie in a folder, for doctor: one row.
 */
#ifndef CORE_DOCTOR_TOKENS_LOOK_H
#define CORE_DOCTOR_TOKENS_LOOK_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/doctor/doctor.h"

/*
 * dir      of the tokens; nothing is created there, and no key is asked for
 * ret      texts are in `arena`
 * returns  false: there is nothing to say, for there is no such folder
 */
bool tokens_look(const char *dir, struct arena *arena, struct check *ret)
	MUST_USE;

#endif
