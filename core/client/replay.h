/*
 * A transport that no server is behind: it says what a recording has.
 */
#ifndef CORE_CLIENT_REPLAY_H
#define CORE_CLIENT_REPLAY_H

#include "core/client/recording.h"

/* r  borrowed. errors  ERR_SYS */
int replay_new(struct recording *r, struct transport **ret, struct err *err)
	MUST_USE;

#endif
