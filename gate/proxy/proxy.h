/*
 * The gate's side of a proxy: its start, its sockets, its denials, its end.
 *
 * Every child with POLICY_NET_PROXY has one of its own, in the network of the
 * host. It serves sockets that the child's init opened inside the child's
 * network namespace, which has nothing but a loopback interface.
 *
 *	struct proxy proxy = PROXY_INIT;
 *	proxy_start(&policy, &arena, &launch, &proxy, err);
 *	... the launch brings the sockets
 *	proxy_hand_over(&proxy, fds, n, err);
 *	... when the tree has ended:
 *	proxy_stop(&proxy);
 *	while (proxy_denial(&proxy, i++, &name, ...)) ...
 *	proxy_release(&proxy);
 *
 * The process ends when told, when the runner ends, and when the socket to the
 * runner is closed, whichever comes first.
 */
#ifndef GATE_PROXY_PROXY_H
#define GATE_PROXY_PROXY_H

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/child/child.h"
#include "gate/child/process.h"
#include "gate/policy/policy.h"
#include "gate/proxy/proxy_request.h"

struct proxy_share;

struct proxy {
	struct process process;	   /* owned */
	int sock;		   /* owned */
	struct proxy_share *share; /* owned; NULL = there never was one */
};

#define PROXY_INIT                                  \
	{                                           \
		.process = PROCESS_NONE, .sock = -1 \
	}

/* Where the proxy listens in the child's network: 127.0.0.1 at this port. */
uint16_t proxy_port(const struct policy *p) MUST_USE;
/*
 * Start the process: this program, executed once more.
 *
 * l       gets the sockets that init opens for it, in the arena
 * errors  ERR_SYS
 */
int proxy_start(const struct policy *p, struct arena *arena, struct launch *l,
		struct proxy *ret, struct err *err) MUST_USE;
/*
 * Give it the sockets and wait until it has confined itself.
 *
 * fds     borrowed
 * errors  ERR_SYS  what failed in there; end the child then
 */
int proxy_hand_over(struct proxy *p, const int *fds, size_t n, struct err *err)
	MUST_USE;
/* End and reap the process; what it wrote stays. Harmless twice. */
void proxy_stop(struct proxy *p);
void proxy_release(struct proxy *p);

/*
 * The i-th endpoint that was refused or not reached; false when there are no
 * more. A name that is none becomes "?": the process talks to hostile programs.
 */
bool proxy_denial(const struct proxy *p, size_t i, struct proxy_denial *ret)
	MUST_USE;
/*
 * The name that a connection meant: "198.18.0.1:443" as "api.example.com:443".
 * false: the address stands for none
 */
bool proxy_name_of(const struct proxy *p, const char *address,
		   char ret[ENDPOINT_TEXT_BYTES]) MUST_USE;
/* Refused requests beyond the rows. */
uint64_t proxy_denials_dropped(const struct proxy *p) MUST_USE;

#endif
