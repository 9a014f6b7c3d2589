/*
 * Services of this machine: whether somebody listens where a connection would
 * come to, by the table of its kernel (/proc/net/tcp). Nobody is connected to
 * for that: a service would see it.
 */
#ifndef GATE_WATCH_SERVICES_H
#define GATE_WATCH_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "core/base/str.h"

enum services_answer { SERVICE_UNKNOWN, SERVICE_IS_DOWN, SERVICE_IS_UP };

/*
 * Look a row of the table up.
 * row      "0: 0100007F:1F90 00000000:0000 0A …", of IPv6 with longer addresses
 * returns  SERVICE_IS_UP where connections to the address and port come to
 *	    it; SERVICE_IS_DOWN where it listens elsewhere; else
 *	    SERVICE_UNKNOWN: the rows behind it listen nowhere
 */
enum services_answer services_row(struct str row, const struct address *a,
				  uint16_t port) MUST_USE;

/*
 * Look into the table, or into its rows as they were read a moment ago.
 * now_ns   monotonic
 * returns  SERVICE_UNKNOWN: the table cannot be read
 */
enum services_answer services_find(const struct address *a, uint16_t port,
				   uint64_t now_ns) MUST_USE;

#endif
