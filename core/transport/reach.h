/*
 * Which addresses may be connected to: the guard against a server that sends
 * us to places only we can reach (server-side request forgery).
 *
 * A URL of the user may lie anywhere. A URL that a server names (metadata,
 * token endpoints, redirects) may lie on the public internet only, or in the
 * range that the user's own server lies in. The address is judged, not the
 * name, at each connection. Pure.
 *
 * source  MCP 2026-07-28, security best practices
 */
#ifndef CORE_TRANSPORT_REACH_H
#define CORE_TRANSPORT_REACH_H

#include <stdbool.h>
#include <sys/socket.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Class of an address; ADDRESS_NEVER outside of the internet families. */
enum address_class reach_class_of(const struct sockaddr *address) MUST_USE;

struct reach {
	bool loopback, private, link; /* beside public addresses */
	bool metadata;		      /* by the address itself, no name */
	bool is_loopback_only;	      /* plain http: nothing else */
	/*
	 * May this address and port be used at all, NULL: yes. For the `net` of
	 * a leash. false with err set.
	 */
	bool (*allows)(void *arg, struct str host,
		       const struct sockaddr *address, struct err *err);
	void *arg;
};

/*
 * For what the user named: anything that a peer can have; a metadata service,
 * which hands out a machine's credentials, only as the address itself.
 */
struct reach reach_of_user(void) MUST_USE;
/* Public, and the range that the user's server was connected to. */
struct reach reach_of_server(enum address_class of_server) MUST_USE;

/*
 * May it be connected to?
 *
 * host    the name that was resolved, for the sentence and for `allows`
 * errors  ERR_PEER  what the address is, and why not
 */
bool reach_judge(const struct reach *r, struct str host,
		 const struct sockaddr *address, struct err *err) MUST_USE;

#endif
