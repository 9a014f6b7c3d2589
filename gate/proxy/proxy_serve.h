/*
 * Connections of a child, served by turns in the proxy's process. One thread;
 * every number and size is bounded, and a child that is slow, floods or
 * vanishes harms itself only.
 */
#ifndef GATE_PROXY_PROXY_SERVE_H
#define GATE_PROXY_PROXY_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/address.h"
#include "gate/child/pass.h"
#include "gate/proxy/proxy_resolve.h"

/* Served at once; what comes beyond waits in the queue of the kernel. */
#define PROXY_CONNECTIONS 1024
/* Descriptors beside two for each connection: of the start, and of lookups. */
#define PROXY_FILES_MORE 192

struct proxy_served {
	struct proxy_known known;
	struct passed sockets;
	int type[PASS_MAX];  /* of each: SOCK_STREAM listens */
	bool sees_first;     /* first packets, so that refusals are named */
	struct address *own; /* of this machine: as private as a network */
	size_t n_own;
	size_t max_conns;
};

/* Serve until the gate's end of its socket is closed. All signals are blocked
   when it begins. Returns at once when there are no descriptors. */
void proxy_serve(struct proxy_served *served);

#endif
