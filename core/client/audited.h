/*
 * One call of a tool in the audit (core/report/audit.h): what is known of its
 * arguments, and how it ended.
 */
#ifndef CORE_CLIENT_AUDITED_H
#define CORE_CLIENT_AUDITED_H

#include "core/client/client.h"
#include "core/report/audit.h"

/* A call that has its first line. */
struct audited {
	struct audit_entry entry;
	char *tool, *origin; /* owned */
	struct buf args;
	uint64_t begin_ns;
};

/*
 * Write the line before the call, which must not be made without it.
 *
 * a       opened where it is NULL
 * is_full with values, without secrets
 * ret     to be ended by audited_end()
 * errors  ERR_PROTECTION
 */
int audited_begin(struct audit **a, const struct client_call *call,
		  const char *server, const struct scrub *scrub, bool is_full,
		  struct clock *clock, struct audited **ret, struct err *err)
	MUST_USE;
/*
 * Write the line behind it, and free. Harmless with NULL.
 *
 * e  the last event; NULL: nobody waits for it
 */
void audited_end(struct audit *a, struct audited *call,
		 const struct client_event *e, struct clock *clock);

/*
 * Write both lines of a call that was denied, with the names of its arguments
 * only: credentials of the server may not be known. A file that cannot be
 * written is an error on stderr, and changes nothing.
 *
 * audit  key of the server; NULL or "off": nothing is written
 */
void audited_denied(const char *audit, const struct client_call *call,
		    const char *server, struct clock *clock);

#endif
