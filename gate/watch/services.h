/*
 * Services of this machine: whether somebody listens where a connection would
 * come to, by the table of its kernel (/proc/net/tcp). Nobody is connected to
 * for that: a service would see it.
 *
 * A look-up takes milliseconds, and longer or shorter by what is served. So
 * none is made while a program waits for an answer that may not depend on it:
 * services are noted then, and looked up together when the program has ended.
 *
 *	struct services missed = {.n = 0};
 *	services_note(&missed, &arena, &address, port, "curl");
 *	services_find(&missed.row[0].address, missed.row[0].port, now_ns)
 */
#ifndef GATE_WATCH_SERVICES_H
#define GATE_WATCH_SERVICES_H

#include <stdint.h>

#include "core/base/address.h"
#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

enum services_answer { SERVICE_UNKNOWN, SERVICE_IS_DOWN, SERVICE_IS_UP };

/* A place where somebody may listen. */
struct service {
	struct address address;
	uint16_t port;
	const char *program; /* program that was refused there */
	uint64_t count;	     /* connections that were refused */
};

/* Places of one tree; those beyond are not noted. */
#define SERVICES_MAX 64

struct services {
	struct service *row; /* in the arena */
	size_t n;
};

/*
 * Look a row of the table up.
 * row      "0: 0100007F:1F90 00000000:0000 0A …", of IPv6 with longer addresses
 * returns  SERVICE_IS_UP where connections to the address and port come to
 *	    it; SERVICE_IS_DOWN where it listens elsewhere; else
 *	    SERVICE_UNKNOWN: the rows behind it listen nowhere
 */
enum services_answer services_row(struct str row, const struct address *a,
				  uint16_t port) MUST_USE;

/* Note a refused connection: one row for each place and program. Nothing of
   this machine is read. */
void services_note(struct services *s, struct arena *arena,
		   const struct address *a, uint16_t port, const char *program);
/*
 * Look into the table, or into its rows as they were read a moment ago.
 * now_ns   monotonic
 * returns  SERVICE_UNKNOWN: the table cannot be read
 */
enum services_answer services_find(const struct address *a, uint16_t port,
				   uint64_t now_ns) MUST_USE;

#endif
