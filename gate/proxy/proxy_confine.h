/*
 * Confinement of the proxy's process: what a flaw could reach is the granted
 * network anyway.
 */
#ifndef GATE_PROXY_PROXY_CONFINE_H
#define GATE_PROXY_PROXY_CONFINE_H

#include "core/base/attr.h"
#include "core/base/err.h"

/*
 * Keep what connecting and the resolver of the C library need, for good: no
 * identity, no capability, no file but those that a resolver reads, no exec,
 * no signal, nothing served.
 *
 * files   descriptors that it may have; less where the limit is lower
 * errors  ERR_SYS
 */
int proxy_confine(unsigned files, struct err *err) MUST_USE;

#endif
