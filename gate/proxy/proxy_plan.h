/*
 * Sockets that the proxy serves in the network of a child: its own, the
 * forwards, the resolver's, and where names and addresses of the policy are
 * found directly.
 *
 * Pure.
 */
#ifndef GATE_PROXY_PROXY_PLAN_H
#define GATE_PROXY_PROXY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "gate/child/child.h"
#include "gate/child/pass.h"
#include "gate/policy/endpoint.h"
#include "gate/proxy/proxy_names.h"

/* One message brings them, and one more (launch.asks_sockets). */
#define PROXY_SOCKETS_MAX (PASS_MAX - 1)
/* Where the resolver listens, at every address. */
#define PROXY_PORT_DNS 53

/* Port of the proxy itself, at 127.0.0.1: one that no row has. */
uint16_t proxy_plan_port(const struct endpoint *rows, size_t n_rows) MUST_USE;

/*
 * A row with a single name or address is listened for at its addresses alone,
 * so that the child can serve the same port at 127.0.0.1. Other rows, and
 * single ones that are too many, take the port at every address.
 *
 * names    those of the rows, and of /etc/hosts
 * ret      room for PROXY_SOCKETS_MAX
 * returns  how many; ports beyond these are reached by the proxy only
 */
size_t proxy_plan(const struct endpoint *rows, size_t n_rows,
		  const struct proxy_names *names, struct child_socket *ret)
	MUST_USE;

#endif
