/*
 * Private places of this machine (/tmp, /var/tmp, /dev/shm, HOME), the homes
 * of the user, and the keys that lie in them.
 */
#ifndef GATE_PREPARE_PLACES_H
#define GATE_PREPARE_PLACES_H

#include "gate/policy/closed.h"
#include "gate/prepare/state.h"

/* Fill .place, .home, .home_path and .homes; needs the base grants. */
void places_find(struct gate *gate);

/* Compare a path with the private places that a view may have. */
bool places_has(const struct gate *gate, const char *path) MUST_USE;

/* Rows of closed.def for this machine: its homes, our state directory. */
struct closed places_closed(const struct gate *gate) MUST_USE;

#endif
