/*
 * Event streams (text/event-stream): bytes in any portions in, events out.
 *
 *	sse_init(&p, message_max);
 *	for each portion:
 *		while ((got = sse_next(&p, &bytes, &event)) != SSE_NONE)
 *			...
 *	at the end of the stream what is not complete is dropped:
 *	sse_release(&p);
 *
 * The events do not depend on the portions. Comments, unknown fields and
 * a byte order mark are passed over; lines end in LF, CR or both. Pure.
 *
 * source  WHATWG HTML, 9.2.6 "Interpreting an event stream"
 */
#ifndef CORE_MCP_WIRE_SSE_H
#define CORE_MCP_WIRE_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* Bytes of the last id; a longer one is ignored as if it were not there. */
#define SSE_ID_BYTES 4096
/* Ceiling of an event's name; longer ones are unknown. */
#define SSE_NAME_BYTES 64

enum sse_result {
	SSE_NONE,  /* all bytes were taken: add more */
	SSE_EVENT, /* one event with data */
	SSE_OVER,  /* one with more data than the ceiling; it is gone */
};

/* Slices live until the next sse_next(). */
struct sse_event {
	struct str name; /* "message" where it has none */
	struct str data; /* lines joined by LF */
};

struct sse {
	size_t data_max;
	struct buf data; /* owned; each line with its LF, then the line that is
			    being read */
	size_t line;	 /* where that line begins */
	bool is_first;	 /* first line: maybe with a byte order mark */
	bool is_cut;	 /* rest of the line is thrown away */
	bool after_cr;	 /* a LF now belongs to the CR */
	bool has_data;	 /* a line of data was there */
	bool is_over;	 /* and all of them were too much */
	bool is_given;	 /* `data` and `event` were handed out */
	struct buf event;
	struct buf id; /* of the event that is being read */

	/* For a reconnect: the last id that an event ended with, or ""; the
	   wait that the server asked for. */
	struct buf last_id;
	uint64_t ids; /* how many were told, the same one again too */
	bool has_retry;
	uint64_t retry_ms;
};

void sse_init(struct sse *p, size_t data_max);
void sse_release(struct sse *p);
/* A new stream of the same: what was half read is dropped, the id stays. */
void sse_again(struct sse *p);

/*
 * Take bytes up to the end of the next event.
 *
 * in   moved on by what was taken; empty with SSE_NONE
 * ret  set for SSE_EVENT only
 */
enum sse_result sse_next(struct sse *p, struct str *in, struct sse_event *ret)
	MUST_USE;

#endif
