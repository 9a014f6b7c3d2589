/*
 * One message of ours on its way over HTTP: from transport_send() until
 * nothing more comes of it.
 *
 *	p = posts_add(&all, POST_REQUEST, body);	queued
 *	post_to(p, POST_OPEN, REMOTE_OPENING_MS);	its exchange runs
 *	post_to(p, POST_LINGERS, 200);			answered
 *	post_to(p, POST_GONE, POST_NO_TIME);		out of the list
 *	posts_sweep(&all);				freed
 *
 * post_to() is the only setter of the state: it refuses a step that the table
 * POST_STATES does not have, sets the deadline of the new state and traces the
 * change. Nothing is freed or sent within callbacks of HTTP: a post that may
 * be sent, or is gone, arms the timer `flow`, which is due at once.
 */
#ifndef CORE_TRANSPORT_POST_H
#define CORE_TRANSPORT_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/loop.h"
#include "core/base/str.h"
#include "core/base/url.h"
#include "core/mcp/wire/sse.h"
#include "core/transport/authorizer.h"
#include "core/transport/http.h"

enum post_kind {
	POST_REQUEST,
	POST_NOTICE,   /* a notification, or a response of ours */
	POST_LISTENER, /* GET: messages that belong to no request */
	POST_EVENTS,   /* GET: the stream of HTTP+SSE */
	POST_DELETE,   /* the end of a session */
};

/* Requests of the transport itself, whose answers the session never sees. */
enum post_own {
	POST_OWN_NOT,
	POST_OWN_INITIALIZE, /* in place of a session that the server lost */
	POST_OWN_TOOLS,	     /* a page of tools/list */
};

/* state, its word, and the states that may follow */
#define POST_STATES(X)                                                      \
	/* sent when it may; an answer may still come on another stream */  \
	X(POST_QUEUED, "queued",                                            \
	  TO(QUEUED) | TO(WAITS) | TO(OPEN) | TO(LINGERS) | TO(GONE))       \
	/* for the authorizer */                                            \
	X(POST_WAITS, "waits", TO(QUEUED) | TO(LINGERS) | TO(GONE))         \
	/* the exchange is under way, or has just ended */                  \
	X(POST_OPEN, "open",                                                \
	  TO(QUEUED) | TO(PAUSED) | TO(ELSEWHERE) | TO(LINGERS) | TO(GONE)) \
	/* sent again at its deadline */                                    \
	X(POST_PAUSED, "paused", TO(QUEUED) | TO(LINGERS) | TO(GONE))       \
	/* the answer comes on another stream */                            \
	X(POST_ELSEWHERE, "elsewhere", TO(QUEUED) | TO(LINGERS) | TO(GONE)) \
	/* answered; the stream may end until its deadline */               \
	X(POST_LINGERS, "lingers", TO(LINGERS) | TO(GONE))                  \
	/* freed soon */                                                    \
	X(POST_GONE, "gone", 0)

enum post_state {
#define POST_STATE(name, word, next) name,
	POST_STATES(POST_STATE)
#undef POST_STATE
};

#define POST_NO_TIME UINT64_MAX

/* Answer to the current exchange. */
struct reply {
	int status;		      /* 0: nothing yet */
	struct buf media_type, lines; /* of the head */
	struct buf body;	      /* of a reply that is no event stream */
	bool is_stream;
	bool is_too_long;
	bool is_bad_session; /* the session id in it must not be used */
};

struct posts;

struct post {
	struct posts *all;
	struct post *next, *prev; /* in the order of sending */
	enum post_kind kind;
	enum post_state state; /* set by post_to() only */
	enum post_own own;
	struct buf body; /* the message; slices below lie in it */
	/* decoded; "" of a response, NULL of GET and DELETE; owned */
	char *method;
	struct str id;	   /* JSON; {NULL, 0} without */
	struct str params; /* JSON */
	/* Revision in _meta, which makes a request stand alone (2026-07-28);
	   or NULL; owned. */
	char *protocol;

	struct url *url; /* after a redirect; NULL: the endpoint */
	unsigned redirects;
	struct authorizer_try tries;
	uint32_t session;    /* generation that it was sent in; 0: none */
	bool was_mismatched; /* sent again with other header fields */
	bool was_resent;     /* sent again in a new session */
	bool was_repeated;   /* sent again after a refusal or a break */
	bool is_answered;

	struct http_exchange *x; /* NULL: none */
	struct reply reply;
	struct sse sse;
	bool is_resuming;  /* by GET, with the last event id */
	uint64_t seen_ids; /* of sse.ids */
	unsigned attempts; /* reconnects without an event in between */
	uint64_t delay_ms; /* before the last of them */
	struct loop_timer timer;
};

struct posts {
	struct post *first, *last; /* owned */
	struct post *gone;	   /* owned; until posts_sweep() */
	struct loop *loop;
	struct loop_timer flow;	  /* `arg` owns the posts */
	uint64_t message_max;	  /* bytes of one event */
	void (*late)(void *post); /* the deadline of its state has passed */
};

/*
 * At the end of the line; a listener at its head, so that it takes the
 * connection that is free: an event sent before the listener is there is lost.
 * body  copied; read where it is a message
 */
struct post *posts_add(struct posts *all, enum post_kind kind, struct str body)
	MUST_USE;
/* Look soon at what may be sent. */
void posts_wake(struct posts *all);
/* Free the posts that are gone. */
void posts_sweep(struct posts *all);

/* in_ms  deadline of the new state; POST_NO_TIME: it has none */
void post_to(struct post *p, enum post_state state, uint64_t in_ms);
/* Cancel the exchange and forget its reply. */
void post_close(struct post *p);

bool post_is(const struct post *p, const char *method) MUST_USE;
/* Lists and reads: repeating them does no harm. */
bool post_is_safe(const struct post *p) MUST_USE;
bool post_is_get(const struct post *p) MUST_USE;
/* "tools/call", for sentences. */
const char *post_name(const struct post *p) MUST_USE;

/* Where posts of one server go. */
struct route {
	struct arena arena;   /* owns the three */
	struct url url;	      /* as configured */
	struct url *moved;    /* after a redirect; NULL: never */
	struct url *endpoint; /* of HTTP+SSE; NULL: not told yet */
	struct buf shown;     /* the URL without its query */
};

const struct url *route_of(const struct route *r, const struct post *p)
	MUST_USE;

#endif
