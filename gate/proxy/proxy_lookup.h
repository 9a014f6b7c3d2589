/*
 * Names to addresses, beside the caller: a dead name server stops no other
 * connection.
 */
#ifndef GATE_PROXY_PROXY_LOOKUP_H
#define GATE_PROXY_PROXY_LOOKUP_H

#include <signal.h>
#include <stddef.h>

#include "core/base/address.h"
#include "core/base/attr.h"

/* Addresses of one name that are tried. */
#define LOOKUP_ADDRESSES 16
/* Sent to the process when some lookup has ended; blocked, for a signalfd. */
#define LOOKUP_SIGNAL SIGUSR1

struct lookup;

/*
 * Start to look a name up. It goes on beside the caller.
 * returns  NULL when it cannot be started
 */
struct lookup *lookup_start(const char *name) MUST_USE;

enum lookup_state { LOOKUP_PENDING, LOOKUP_FOUND, LOOKUP_NOTHING };

/* ret  room for LOOKUP_ADDRESSES; written when found */
enum lookup_state lookup_state(const struct lookup *l, struct address *ret,
			       size_t *ret_n) MUST_USE;
/* Give up on a result, or give it back. Takes NULL. */
void lookup_end(struct lookup *l);
/* Free look-ups that have ended after lookup_end(). */
void lookup_sweep(void);

#endif
