/*
 * What the network of a child knows: its rows, its names, and what of it was
 * refused. A question is answered from here alone; no packet of a child
 * leaves for a name server.
 *
 *	proxy_resolve(&known, packet, &answer);
 *	proxy_deny(&known, &target, PROXY_UNLISTED);
 *
 * Pure: the bytes are those of a hostile program.
 */
#ifndef GATE_PROXY_PROXY_RESOLVE_H
#define GATE_PROXY_PROXY_RESOLVE_H

#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/str.h"
#include "gate/policy/endpoint.h"
#include "gate/proxy/proxy_request.h"
#include "gate/proxy/proxy_share.h"

/* MAXDNSRCH of the C library. */
#define PROXY_SEARCH_MAX 6

struct proxy_known {
	struct proxy_share *share; /* its names and denials */
	struct endpoint rows[POLICY_ENDPOINTS_MAX];
	size_t n_rows;
	/* Domains that resolvers of this machine put behind a name. */
	char search[PROXY_SEARCH_MAX][ENDPOINT_HOST_BYTES];
	size_t n_search;
};

/*
 * Answer a question for a name: its address where some row grants it, "no such
 * name" and a denial where none does. A name with one of the domains of
 * `search` behind it is a resolver's try, and the name itself is named.
 *
 * answer  stays empty when there is nothing to say
 */
void proxy_resolve(struct proxy_known *known, struct str packet,
		   struct buf *answer);

/*
 * Count a refused target, or add it.
 * t  without a port it is a name that was looked up; NULL: no valid name
 */
void proxy_deny(struct proxy_known *known, const struct endpoint_target *t,
		enum proxy_outcome outcome);

#endif
