/*
 * Memory and descriptors that the gate and the proxy's process share: a sealed
 * memory file, written by the gate before the start, and by the proxy where
 * denials are.
 *
 * The proxy is `matins-proxy`, this program executed once more by proxy_start()
 * (gate/proxy/proxy.h), with nothing but the descriptors below. Bytes of
 * hostile programs are parsed there and not in the runner, which holds secrets.
 */
#ifndef GATE_PROXY_PROXY_SHARE_H
#define GATE_PROXY_PROXY_SHARE_H

#include <stdint.h>

#include "gate/policy/endpoint.h"
#include "gate/policy/policy.h"
#include "gate/proxy/proxy_names.h"
#include "gate/proxy/proxy_request.h"

/* Descriptors of the process beside 0 to 2, which are /dev/null. */
enum {
	PROXY_FD_GATE = 3, /* a socket to the gate; its end is our end */
	PROXY_FD_SHARE,	   /* struct proxy_share */
	PROXY_FD_FREE,	   /* descriptors that it opens itself begin here */
};

/* Rows of refused endpoints; further ones are counted. */
#define PROXY_DENIALS_MAX 64
/* Rows among them of endpoints that were not reached; further ones are left
   out. */
#define PROXY_UNREACHED_MAX 16

struct proxy_share {
	uint32_t n_rows;
	struct endpoint rows[POLICY_ENDPOINTS_MAX];
	/* the names of the rows and of /etc/hosts; the proxy adds others */
	struct proxy_names names;
	/* written by the proxy; a reader trusts nothing of it */
	uint32_t n_denials;
	uint64_t denials_dropped;
	struct proxy_denial denials[PROXY_DENIALS_MAX];
};

/*
 * One message of the gate: a byte, and the sockets of the child's network as
 * proxy_plan() lists them. One message to the gate: PROXY_READY, or the text
 * of an error.
 */
#define PROXY_READY '\1'

#endif
