/*
 * The client's side of a conversation with one MCP server: bytes in, events
 * and bytes out. A session opens nothing, waits for nothing and reads no clock.
 *
 *	struct session *s = session_new(&options);
 *	session_start(s, now);
 *	session_call_tool(s, "search", arguments, now, &ticket, err);
 *	in the loop, after each of feed, eof, tick, start, call:
 *		while (session_next(s, &event))
 *			...
 *		write session_output(s), tell session_wrote(s, n)
 *		wait for bytes, for room to write, or until session_deadline(s)
 *		-> session_feed(), session_eof(), session_tick()
 *	session_free(s);
 *
 * Messages are read inside session_next(), straight from the buffer of
 * received bytes: call it until it returns false, then look at output, state
 * and deadline. Pings and other requests of the server are answered on the
 * way. For a result of 100 MiB this costs 100 MiB, whatever the portions.
 *
 * Marks such as RW-12 in comments name one requirement, or one kind of
 * misbehaviour of servers; the tests carry the same names.
 */
#ifndef CORE_MCP_SESSION_SESSION_H
#define CORE_MCP_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/mcp/wire/mcp.h"

struct session;

/* SESSION_STATE(name, word) */
#define SESSION_STATES(X)                                                \
	X(NEW, "new")			/* nothing was sent */           \
	X(PROBING, "probing")		/* no answer to discover */      \
	X(INITIALIZING, "initializing") /* no answer to initialize */    \
	X(READY, "ready")		/* requests may be sent */       \
	X(CLOSING, "closing")		/* session_close() was called */ \
	X(CLOSED, "closed")		/* ended, nothing was lost */    \
	X(FAILED, "failed")		/* ended, with a FAILED event */

enum session_state {
#define SESSION_STATE(name, word) SESSION_##name,
	SESSION_STATES(SESSION_STATE)
#undef SESSION_STATE
};

/* Static word of a state. */
const char *session_state_word(enum session_state state) MUST_USE;

/* Knowledge of a server before its first message. */
enum session_era {
	SESSION_ERA_INITIALIZE,	 /* begin with initialize */
	SESSION_ERA_PROBE,	 /* unknown: ask by server/discover (PRB-1) */
	SESSION_ERA_PER_REQUEST, /* every request stands alone */
};

/* All times are milliseconds, and 0 means the default in brackets. */
struct session_options {
	const char *client_name;    /* borrowed; NULL is "matins" */
	const char *client_version; /* borrowed; NULL is "0" */
	/*
	 * Date to ask for, borrowed; it decides the era. NULL is the newest
	 * of the era below. A text that is not a known date ends in FAILED at
	 * once.
	 */
	const char *protocol;
	enum session_era era;
	struct mcp_declared
		declared; /* requests of the server that become ASKED events */
	/* Messages of this level are asked for, where the era lets it be
	   asked with each request; borrowed, NULL is none. */
	const char *log_level;
	/* Go on as the nearest older revision when the answer names none. */
	bool accept_unknown_protocol;
	uint64_t asks_from;   /* the first ASKED has the number behind it */
	bool is_remote;	      /* over HTTP: messages do not speak of stdout */
	uint64_t message_max; /* bytes of a line [64 MiB] */
	uint64_t probe_timeout_ms;	/* then initialize as well [10 s] */
	uint64_t initialize_timeout_ms; /* from start to answer [120 s] */
	uint64_t request_timeout_ms;	/* restarted by progress [60 s] */
	uint64_t total_timeout_ms;	/* progress or not [15 min] */
};

/* Events; struct session_event says which members count. */
#define SESSION_EVENTS(X)                                               \
	X(EVENT_READY, "ready")	      /* initialize was answered */     \
	X(EVENT_RESULT, "result")     /* a request has its result */    \
	X(EVENT_ERROR, "error")	      /* a request has an error */      \
	X(EVENT_FAILED, "failed")     /* no answer will come */         \
	X(EVENT_PROGRESS, "progress") /* five at once, five a second */ \
	X(EVENT_LOG, "log")	      /* at most a hundred a second */  \
	X(EVENT_ASKED, "asked")	      /* the server wants an answer */  \
	X(EVENT_ASK_GONE, "ask_gone") /* the question ended */          \
	X(EVENT_CHANGED, "changed")   /* a list or a resource */        \
	X(EVENT_TASK, "task")	      /* the result comes later */      \
	X(EVENT_CLOSED, "closed")     /* stdout ended, none pending */

enum session_event_type {
#define SESSION_EVENT(name, word) SESSION_##name,
	SESSION_EVENTS(SESSION_EVENT)
#undef SESSION_EVENT
};

/* Why no answer will come. */
#define SESSION_FAILURES(X)                                             \
	X(FAIL_BAD_MESSAGE, "bad_message") /* broken message (RW-15) */ \
	X(FAIL_FRAMING, "framing")	   /* not one message a line */ \
	X(FAIL_BAD_RESULT, "bad_result")   /* breaks a rule */          \
	X(FAIL_HANDSHAKE, "handshake")	   /* initialize was refused */ \
	X(FAIL_LIMIT, "output_limit")	   /* line over message_max */  \
	X(FAIL_TIMEOUT, "timeout")	   /* phase says of what */     \
	X(FAIL_EOF, "eof")		   /* stdout ended first */     \
	X(FAIL_QUEUE, "queue")		   /* stdin is not read */      \
	X(FAIL_TRANSPORT, "transport")	   /* session_lost(), and */    \
	X(FAIL_AUTH, "auth")		   /* other reasons */          \
	X(FAIL_LEASH, "leash")                                          \
	X(FAIL_REPLAY, "replay")

enum session_failure {
#define SESSION_FAILURE(name, word) SESSION_##name,
	SESSION_FAILURES(SESSION_FAILURE)
#undef SESSION_FAILURE
};

enum session_phase { SESSION_PHASE_INITIALIZE, SESSION_PHASE_CALL };

/* Slices live until the next session_next(), session_feed() or _free(). */
struct session_event {
	enum session_event_type type;
	/* The request; 0: the session, and with FAILED all its requests. */
	uint64_t ticket;

	/* RESULT: any JSON; that of tools/call is for mcp_read_tool_result() */
	struct str result;

	/* ERROR: */
	int64_t code;
	struct str message; /* decoded; PROGRESS: decoded, may be empty;
			     * LOG: decoded string or JSON, at most 16 KiB */
	struct str data;    /* ERROR: JSON, or {NULL, 0} */

	/* FAILED: */
	enum session_failure failure;
	enum session_phase phase; /* the phase that ended */
	/*
	 * A date that both sides know, from data.supported of a refused
	 * initialize: try it once in a fresh process. Static, else NULL.
	 */
	const char *retry_protocol;
	/*
	 * The server ended on the probe, or is not of the era that was
	 * believed: start the server once more, in that era (PRB-6, RW-22).
	 */
	bool retry_era;
	enum session_era era;
	bool is_cut; /* the output ended within a message */

	/* PROGRESS: numbers as they came; total {NULL, 0} when absent. */
	struct str progress, total;

	/* ASKED: answer by session_answer(); ASK_GONE: its number. */
	uint64_t ask;
	const char *method; /* static; of CHANGED: the notification's */
	struct str params;  /* JSON object; TASK, LOG: as it came */

	/* CHANGED: `message` is the URI of a resource, decoded, or "" */

	/* LOG: */
	const char *level; /* static; "info" for unknown levels */
	struct str logger; /* decoded, may be empty */

	/* FAILED: ERR_PEER or ERR_LIMIT, a sentence. The last: it is long. */
	struct err err;
};

/* Counts for diagnostics; SESSION_STAT(name). */
#define SESSION_STATS(X)                                                   \
	X(skipped_lines)	 /* lines that were no message */          \
	X(skipped_bytes)	 /* their bytes, and those before one */   \
	X(prefixed_messages)	 /* with other text before them */         \
	X(repairs)		 /* lines with bad UTF-8 made readable */  \
	X(oddities)		 /* read although not as it should be */   \
	X(broken_messages)	 /* RW-15, and lines over the ceiling */   \
	X(dropped_responses)	 /* to no request of ours, or too late */  \
	X(server_requests)	 /* ping included */                       \
	X(refused_requests)	 /* of them: answered by an error */       \
	X(ignored_requests)	 /* of them: not to be answered (RW-64) */ \
	X(rounds)		 /* requests sent again with answers */    \
	X(notifications)	 /* all that arrived */                    \
	X(dropped_notifications) /* progress and log over the bounds */    \
	X(messages)		 /* all that were understood */            \
	X(bytes_in)                                                        \
	X(bytes_out)

struct session_stats {
#define SESSION_STAT(name) uint64_t name;
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
};

/*
 * Does the server declare this capability: "tools", "resources.subscribe"?
 * False before READY.
 */
bool session_offers(const struct session *s, const char *capability) MUST_USE;

/* Options are read here; strings in them must outlive the session. */
struct session *session_new(const struct session_options *options) MUST_USE;
void session_free(struct session *s);

/* Set options->log_level for requests to come. */
void session_set_log_level(struct session *s, const char *level);

/* Queue the first message; the time for its answer starts now. Once. */
void session_start(struct session *s, uint64_t now_ns);

/*
 * Queue tools/call; before READY it is kept and sent when READY is reached.
 * The call carries a progress token. Its time starts when it is sent.
 *
 * tool        copied
 * arguments   JSON object, or {NULL, 0} for none; copied without white space
 * as_task     as a task of 2025-11-25: for tools that demand it, on servers
 *	       that declare tasks.requests.tools.call; TASK is an event then
 * ret_ticket  names the request in events; never 0, never used twice
 * errors      ERR_SYNTAX, ERR_LIMIT  arguments are not a JSON object, or longer
 *                                    than LIMIT_ARGUMENTS_BYTES
 *             ERR_PEER               the session is over
 */
int session_call_tool(struct session *s, const char *tool, struct str arguments,
		      bool as_task, uint64_t now_ns, uint64_t *ret_ticket,
		      struct err *err) MUST_USE;

/*
 * Queue any other request; the revision's members are added to its `_meta`.
 *
 * method        static
 * params        JSON object, or {NULL, 0} for none
 * is_handed_on  for a client of 2026-07-28: answers to questions, their state,
 *		 abilities and log level in params are its own, and a result
 *		 that requires input is one
 */
int session_request(struct session *s, const char *method, struct str params,
		    bool is_handed_on, uint64_t now_ns, uint64_t *ret_ticket,
		    struct err *err) MUST_USE;

/*
 * Give a request times of its own; 0: those of the options. They run from
 * when it is sent, or from now when that has been.
 */
void session_set_times(struct session *s, uint64_t ticket, uint64_t timeout_ms,
		       uint64_t total_ms);

/*
 * Ask for changes (subscriptions/listen, 2026-07-28); they come as CHANGED.
 * The subscription ends by session_cancel(), or by the server with a RESULT.
 *
 * filter   JSON object: the member `notifications`; copied
 * errors   as above
 */
int session_listen(struct session *s, struct str filter, uint64_t now_ns,
		   uint64_t *ret_ticket, struct err *err) MUST_USE;

/*
 * Answer an ASKED event. The clocks of all requests stand still from ASKED
 * to the answer. A number that is not open (any more) is ignored.
 *
 * result   JSON object: the result of the question's method
 */
void session_answer(struct session *s, uint64_t ask, struct str result,
		    uint64_t now_ns);
/* Answer with an error; in the modern era that ends the request itself. */
void session_answer_error(struct session *s, uint64_t ask, int64_t code,
			  const char *message, uint64_t now_ns);

/*
 * Feed bytes that arrived from the server.
 *
 * Takes all of `in`; lines over message_max are thrown away in constant
 * memory. Never waits, never fails: an error in the bytes becomes an event
 * of session_next().
 *
 * in       borrowed for the call
 * now_ns   monotonic, nanoseconds; here and everywhere
 * returns  false when the session is over and the bytes were ignored
 */
bool session_feed(struct session *s, struct str in, uint64_t now_ns);

/*
 * Feed one whole message, whatever its lines (HTTP). Read session_next() to
 * its end before the next one. As session_feed() otherwise.
 */
bool session_message(struct session *s, struct str message, uint64_t now_ns);

/*
 * The transport knows that a request will not be answered.
 *
 * id       JSON text of its id; {NULL, 0}: of none, the session is over
 * failure  SESSION_FAIL_TRANSPORT, _AUTH, _LEASH, _LIMIT
 * err      copied into the FAILED event
 */
void session_lost(struct session *s, struct str id,
		  enum session_failure failure, const struct err *err,
		  uint64_t now_ns);

/*
 * Stop the clocks of all requests until the second call, while a person logs
 * in outside of the session.
 */
void session_hold(struct session *s, bool is_held, uint64_t now_ns);

/* The server's stdout ended; a rest without newline is a last line. */
void session_eof(struct session *s, uint64_t now_ns);

/* Time has passed; what is due becomes events of session_next(). */
void session_tick(struct session *s, uint64_t now_ns);

/* When session_tick() has something to do; UINT64_MAX is never. */
uint64_t session_deadline(const struct session *s) MUST_USE;

/*
 * The next event. False: there is none, feed or tick first.
 * All state changes happen here.
 */
bool session_next(struct session *s, struct session_event *ret) MUST_USE;

/*
 * Take the memory that a slice of the current event lies in, so that a large
 * result need not be copied. All slices of the event then live as long.
 *
 * returns  what the caller frees, or NULL: copying costs less
 */
char *session_take(struct session *s, struct str slice) MUST_USE;

/* Bytes for the server's stdin; borrowed until any other call. */
struct str session_output(const struct session *s) MUST_USE;
/* The first n of them were written. */
void session_wrote(struct session *s, size_t n);
/* stdin broke (EPIPE): drop the queue and all later messages. */
void session_output_broke(struct session *s);

/*
 * Give a request up: no event for it will come; a notification is queued
 * when it was sent. A ticket that is not pending is ignored, initialize is
 * never cancelled (close instead).
 *
 * reason   for the server, NULL for none
 */
void session_cancel(struct session *s, uint64_t ticket, const char *reason);

/*
 * The caller will close stdin when the output is written: no new requests,
 * no answers to the server from here on, so its questions are forgotten
 * without a word. Answers that still arrive count.
 */
void session_close(struct session *s);

enum session_state session_state(const struct session *s) MUST_USE;
const struct session_stats *session_stats(const struct session *s) MUST_USE;
const struct mcp_peer *session_server(const struct session *s) MUST_USE;
/*
 * The first LIMIT_NOISE_BYTES of the lines that were no messages, each with
 * a newline; raw bytes of the server. Borrowed until session_next().
 */
struct str session_noise(const struct session *s) MUST_USE;

#endif
