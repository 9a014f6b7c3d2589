/*
 * Answers to refused system calls.
 *
 * A filter built with SECCOMP_DENY_NOTIFY stops the calling task and tells a
 * listener, a descriptor that the child sent to the gate. notify_serve()
 * answers each with EPERM: the listener names what was refused and never
 * decides. The child sees what it would see without a listener. Only calls that
 * the filter has allowed and that come because they are watched
 * (gate/watch/watch.h) are told to go on.
 *
 *	struct denials log = DENIALS_INIT;
 *	... when the listener is readable:
 *	if (notify_serve(fd, &log, NULL) != NOTIFY_OK)
 *		close it, no task uses the filter any more
 *	rows = log.row, log.n
 *	denials_release(&log);
 */
#ifndef GATE_WATCH_NOTIFY_H
#define GATE_WATCH_NOTIFY_H

#include <stddef.h>
#include <stdint.h>
#include <linux/seccomp.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/gate.h"
#include "gate/watch/watch.h"

/* Rows of one child; a refused call of a new program or number is one. */
#define DENIALS_MAX 64
/* Rows of a child in all, endpoints that the proxy refused among them. */
#define DENIALS_ROWS (2 * DENIALS_MAX)
/* Calls of one row whose arguments are looked at; then they are counted. */
#define DENIALS_DETAILED 20
/* Text of the arguments in one row, bytes. */
#define DENIALS_DETAIL_BYTES 512

struct denials {
	struct gate_denial row[DENIALS_ROWS]; /* strings in the arena */
	int nr[DENIALS_ROWS];		      /* call number of each row */
	size_t n;
	uint64_t dropped; /* refused calls beyond the rows */
	struct arena arena;
};

#define DENIALS_INIT   \
	{              \
		.n = 0 \
	}

enum { NOTIFY_OK = 0, NOTIFY_ENDED = 1, NOTIFY_BROKEN = 2 };

/*
 * Answer what waits, at most DENIALS_MAX calls, and record it. Never waits.
 *
 * fd       the listener, borrowed
 * watch    what is watched: such calls go on once they are written down.
 *	    NULL: every call is refused
 * returns  NOTIFY_OK; NOTIFY_ENDED when no task has the filter any more;
 *	    NOTIFY_BROKEN when it cannot be served: close it, so that no task
 *	    waits for ever
 */
int notify_serve(int fd, struct denials *log, struct watch *watch) MUST_USE;

/*
 * Record one refused call.
 * comm  the name of the task; "?" when it is gone
 */
void denials_add(struct denials *log, const struct seccomp_data *data,
		 const char *comm);
/*
 * Record something else that was refused, once: an endpoint of the proxy, an
 * exec. `row` is copied; .kind and .allow.key are static.
 */
void denials_add_row(struct denials *log, const struct gate_denial *row);
void denials_release(struct denials *log);

#endif
