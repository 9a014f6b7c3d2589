/* Confinement of the proxy's process, by itself. */
#ifndef GATE_PROXY_PROXY_CONFINE_H
#define GATE_PROXY_PROXY_CONFINE_H

#include "core/base/attr.h"
#include "core/base/err.h"

/*
 * Give everything up that a proxy does not need: identity, privileges, files,
 * system calls. Signals are blocked, sockets still to be received.
 */
int proxy_confine(struct err *err) MUST_USE;

#endif
