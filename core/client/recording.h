/*
 * Words of a server or program in one run, as text and as those that may come
 * next. Pure.
 *
 *	{"schema":"matins-tape/1","name":"notes","nth":1,"start":1,
 *	 "kind":"lines","run":1795435200…,"args":["--db","x"]}
 *	{"to":{"jsonrpc":"2.0","id":1,…}}
 *	{"from":{"jsonrpc":"2.0","id":1,…}}
 *	{"from":"a line that is no message"}	or {"from64":…}, if not UTF-8
 *	{"lost":{"id":2,"loss":0,"status":503,"error":"…"}}
 *	{"end":{"exit":0,"signal":0,"stderr":"",…}}
 *
 * A program without a session is a recording of kind "program": its stdin is
 * the one request, its stdout the one answer. Where nothing started, the end
 * says why: {"end":{"error":"…","kind":"policy"}}. A text holds any number of
 * recordings.
 *
 * Requests are found again by all that they say but what is the client's own:
 * ids and tokens, which go on in the answers, and its name and version. So
 * calls side by side may come in another order than they came then.
 *
 *	recording_note(&r, RECORDED_TO, text);	and recording_end(): record
 *	recording_write(&r, &out);
 *
 *	recording_read(text, &arena, &list, err);		replay
 *	recording_take(r, message, &why)	for each message of ours
 *	while (recording_next(r, &item, &out))
 *		... the server said this next
 */
#ifndef CORE_CLIENT_RECORDING_H
#define CORE_CLIENT_RECORDING_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/secret/scrub.h"
#include "core/transport/transport.h"

#define RECORDING_SCHEMA "matins-tape/1"

#define RECORDING_KINDS(X)                                                \
	X(LINES, "lines")	/* session with a program */              \
	X(MESSAGES, "messages") /* with a remote server */                \
	X(PROGRAM, "program")	/* without a session */                   \
	X(STEP, "step")		/* refused before anything of it began */ \
	X(RUN, "run")		/* number and begin of the run itself */

enum recording_kind {
#define X(name, word) RECORDING_##name,
	RECORDING_KINDS(X)
#undef X
};

/* To the server, from it, and a request without answer. */
enum recorded_kind { RECORDED_TO, RECORDED_FROM, RECORDED_LOST };

struct recorded;

/* A request and its place in the recording. */
struct recorded_request {
	struct str id; /* JSON */
	size_t at;
};

/* Strings lie in the arena, but for texts that were read. */
struct recording {
	struct arena *arena; /* borrowed */
	struct recording *next;
	enum recording_kind kind;
	const char *name;
	struct str args;	   /* JSON array, without secrets */
	uint64_t nth;		   /* of those of that name; number of a run */
	uint64_t start;		   /* of its starts; of a run the time, ns */
	uint64_t run;		   /* `start` of its run; 0: not known */
	const struct scrub *scrub; /* borrowed; of what is written, and of
				      messages before they are compared */
	struct recorded *item;	   /* arena */
	size_t n, first;	   /* all before `first` are done */
	size_t at; /* nothing before it may be said before a request comes */
	struct recorded_requests { /* ours and theirs, by id; arena */
		struct recorded_request *item;
		size_t n;
	} requests[2];
	struct buf held[2];	   /* owned; TO and FROM: lines to be */
	struct transport_exit end; /* is_known: it was told */
	const struct err *why;	   /* the start failed; or NULL */
	bool is_taken;		   /* for its owner */
};

/* ---- recording ---- */

void recording_note(struct recording *r, enum recorded_kind kind,
		    struct str text);
/* Note the lines in bytes that come in pieces; TO or FROM. */
void recording_feed(struct recording *r, enum recorded_kind kind,
		    struct str bytes);
void recording_note_lost(struct recording *r,
			 const struct transport_item *item);
/* Note the end, once; a failure that was noted stays. Texts are copied. */
void recording_end(struct recording *r, const struct transport_exit *end);
/* Note that nothing started. */
void recording_fail(struct recording *r, const struct err *why);
/* Append all its lines, without secrets. */
void recording_write(const struct recording *r, struct buf *out);

/* ---- replay ---- */

/*
 * Add the recordings of a text to the end of a list.
 *
 * text    lives as long as the arena
 * stops   asked now and then: is there no time for the rest?
 * errors  ERR_SYNTAX, ERR_LIMIT, ERR_REPLAY, with the line
 */
int recording_read(struct str text, struct arena *arena, bool (*stops)(void),
		   struct recording **list, struct err *err) MUST_USE;

/*
 * Match a message of ours.
 *
 * why      appended where none is like it: the first difference
 * returns  false: it was not recorded
 */
bool recording_take(struct recording *r, struct str message, struct buf *why)
	MUST_USE;

/*
 * Next word of the server, if any: TRANSPORT_MESSAGE, whose text is put
 * into `out`, or TRANSPORT_LOST, whose id is there.
 */
bool recording_next(struct recording *r, struct transport_item *ret,
		    struct buf *out) MUST_USE;
/* Has everything been said, and ended by itself? */
bool recording_is_over(struct recording *r) MUST_USE;

/* Append what differs, by member where both are JSON, and what to do. */
void recording_say(struct str then, struct str now, struct buf *out);

#endif
