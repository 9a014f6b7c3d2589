/*
 * What the files of the proxy's process share, and what it shares with the
 * gate: a sealed memory file, written by the gate before the start, and by
 * the proxy where denials are.
 *
 * The proxy is `matins-proxy`, this program executed anew by proxy_start()
 * (gate/proxy/proxy.h), with nothing but the descriptors below. Bytes of
 * hostile programs are parsed there and not in the runner, which holds secrets.
 */
#ifndef GATE_PROXY_PROXY_INNER_H
#define GATE_PROXY_PROXY_INNER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/child/pass.h"
#include "gate/policy/endpoint.h"
#include "gate/policy/policy.h"
#include "gate/proxy/proxy_request.h"

/* Descriptors of the process beside 0 to 2, which are /dev/null. */
enum {
	PROXY_FD_GATE = 3, /* a socket to the gate; its end is our end */
	PROXY_FD_SHARE,	   /* struct proxy_share */
	PROXY_FD_FREE,	   /* what it opens itself begins here */
};

/* Rows of refused endpoints; further ones are counted. */
#define PROXY_DENIALS_MAX 64

struct proxy_denial {
	uint64_t count;
	uint32_t outcome;
	char name[ENDPOINT_TEXT_BYTES]; /* "api.example.com:443", or "?" */
};

struct proxy_share {
	uint32_t n_rows;
	struct endpoint rows[POLICY_ENDPOINTS_MAX];
	/* by the proxy; whoever reads this trusts nothing of it */
	bool is_asked; /* something connected to it */
	uint32_t n_denials;
	uint64_t denials_dropped;
	struct proxy_denial denials[PROXY_DENIALS_MAX];
};

/*
 * One message of the gate: a byte, and the listening sockets in the order of
 * the proxy's own and then each FORWARD of the rows. One message to the gate:
 * PROXY_READY, or the text of an error.
 */
#define PROXY_READY '\1'

/* ---- names to addresses ---- */

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
/* Its result is not wanted (any more). Takes NULL. */
void lookup_end(struct lookup *l);
/* Give back what ended after lookup_end(). */
void lookup_sweep(void);

/* ---- confinement ---- */

/*
 * Give everything up that a proxy does not need: identity, privileges, files,
 * system calls. Signals are blocked, sockets still to be received.
 */
int proxy_confine(struct err *err) MUST_USE;

/* ---- the loop ---- */

/*
 * Serve until the gate's end of the socket is closed.
 *
 * sockets  listening; the first one is the proxy's own
 * own    addresses of this machine, as private as a private network
 * share  rows are read from `rows`, a copy; denials are written
 */
void proxy_serve(const struct passed *sockets, const struct endpoint *rows,
		 size_t n_rows, const struct address *own, size_t n_own,
		 struct proxy_share *share);

#endif
