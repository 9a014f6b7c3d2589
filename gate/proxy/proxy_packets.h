/*
 * Single packets in the network of a child: questions to its resolver, and the
 * first packets of connections, which name what no socket listens for.
 *
 * The kernel hands a raw socket a copy of each packet before it answers it, so
 * a refused connection is known by the time that the child learns of it.
 */
#ifndef GATE_PROXY_PROXY_PACKETS_H
#define GATE_PROXY_PROXY_PACKETS_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/proxy/proxy_resolve.h"

/*
 * Have a socket tell where its packets went, and a raw one show the first
 * packets of connections only.
 *
 * type    SOCK_DGRAM or SOCK_RAW
 * errors  ERR_SYS
 */
int packets_prepare(int fd, int type, bool is_v6, struct err *err) MUST_USE;
/*
 * Answer the questions that wait, or name the refused ones of the connections
 * that were tried; some hundred at most, and never waits. Types as above.
 */
void packets_serve(int fd, int type, struct proxy_known *known);

#endif
