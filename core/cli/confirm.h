/*
 * A question to the person on the terminal, answered before anything goes on.
 */
#ifndef CORE_CLI_CONFIRM_H
#define CORE_CLI_CONFIRM_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/loop.h"

/*
 * Ask on stderr, and wait for a line on stdin: "y" or "yes" agrees, all else
 * and the end of input do not. Ask approve_person_is_here() first.
 *
 * question  one line; controls are made visible
 */
bool confirm_ask(const char *question) MUST_USE;
/*
 * Like confirm_ask(), for a program whose loop takes the signals: it goes on
 * turning, and a signal ends the wait.
 *
 * returns  false with l->signal set: it was interrupted
 */
bool confirm_in_loop(struct loop *l, const char *question) MUST_USE;

#endif
