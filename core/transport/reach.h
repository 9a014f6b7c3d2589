/*
 * Which addresses may be connected to: the guard against a server that sends
 * us to places only we can reach (server-side request forgery).
 *
 * What a user names may lie anywhere. What a server names (metadata, token
 * endpoints, redirects) may lie on the public internet only, or in the range
 * that the user's own server lies in. It is the address that is judged, not
 * the name, at each connection. Pure.
 *
 * source  MCP 2026-07-28, security best practices; IANA special-purpose
 *	   address registries; RFC 6890
 */
#ifndef CORE_TRANSPORT_REACH_H
#define CORE_TRANSPORT_REACH_H

#include <stdbool.h>
#include <sys/socket.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

#define REACH_RANGES(X)                                                \
	X(REACH_PUBLIC, "public")                                      \
	X(REACH_LOOPBACK, "loopback")                                  \
	X(REACH_PRIVATE, "private") /* RFC 1918, 6598, unique local */ \
	X(REACH_LINK, "link-local") /* metadata services live here */  \
	X(REACH_NEVER, "unusable")  /* unspecified, multicast, reserved */

enum reach_range {
#define REACH_RANGE(name, word) name,
	REACH_RANGES(REACH_RANGE)
#undef REACH_RANGE
};

/* What an address is; IPv4 within IPv6 (mapped, 6to4, NAT64) as IPv4. */
enum reach_range reach_range_of(const struct sockaddr *address) MUST_USE;
const char *reach_range_word(enum reach_range range) MUST_USE;

struct reach {
	bool loopback, private, link; /* beside public addresses */
	bool is_loopback_only;	      /* plain http: nothing else */
	/*
	 * May this address and port be used at all, NULL: yes. For the `net` of
	 * a leash. false with err set.
	 */
	bool (*allows)(void *arg, struct str host,
		       const struct sockaddr *address, struct err *err);
	void *arg;
};

/* Anything but REACH_NEVER: for what the user named. */
struct reach reach_of_user(void) MUST_USE;
/* Public, and the range that the user's server was connected to. */
struct reach reach_of_server(enum reach_range of_server) MUST_USE;

/*
 * May it be connected to?
 *
 * host    the name that was resolved, for the sentence and for `allows`
 * errors  ERR_PEER  what the address is, and why not
 */
bool reach_judge(const struct reach *r, struct str host,
		 const struct sockaddr *address, struct err *err) MUST_USE;

#endif
