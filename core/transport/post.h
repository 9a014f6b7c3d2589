/*
 * A server at a URL, and each message of ours on its way there: from
 * transport_send() until nothing more comes of it.
 *
 *	queued, open: its exchange runs, lingers: answered, gone
 *
 * Only core/transport/remote.c changes them, and its post_to() is the only
 * setter of the state: it refuses a step that the table POST_STATES does not
 * have. Others read.
 */
#ifndef CORE_TRANSPORT_POST_H
#define CORE_TRANSPORT_POST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/loop.h"
#include "core/base/str.h"
#include "core/base/url.h"
#include "core/mcp/wire/sse.h"
#include "core/transport/items.h"
#include "core/transport/remote.h"

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

enum post_state { POST_STATES(ROW_NAME) };

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

struct post {
	struct remote *remote;
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

/* Where posts of one server go. */
struct route {
	struct arena arena;   /* owns the three */
	struct url url;	      /* as configured */
	struct url *moved;    /* after a redirect; NULL: never */
	struct url *endpoint; /* of HTTP+SSE; NULL: not told yet */
	struct buf shown;     /* the URL without its query */
};

/* The session at a server: era, revision, id, and how to begin another. */
struct era {
	bool is_modern;	       /* requests stand alone (2026-07-28) */
	bool is_sse;	       /* HTTP+SSE (2024-11-05) */
	char protocol[16];     /* negotiated by initialize; "" before */
	struct buf session_id; /* a secret; empty: none */
	uint32_t session;      /* generation, from 1; 0: none */
	bool has_worked;       /* a request of this session was answered */
	struct buf initialize; /* params of it, to begin another session */
	struct buf initialized;
	bool is_restoring; /* another session begins */
};

struct tool_schema;

/* Schemas of tools: header fields are made of the arguments of calls. */
struct tools {
	struct arena arena;	  /* owns all below */
	struct tool_schema *tool; /* by name; array owned */
	size_t n, cap;
	bool is_complete; /* all pages were seen */
	bool is_followed; /* from the first page on */
	bool is_asked;	  /* by the transport, under way */
	unsigned pages;	  /* of what it asks */
};

/* An answer code and how often it came. */
struct status_count {
	int status;
	uint64_t n;
};

/* One server, and the posts that are on their way to it. */
struct remote {
	struct transport base; /* first */
	struct remote_options o;
	struct route route;
	struct items items;
	struct era era;
	struct tools tools;
	struct buf line; /* a message of ours, not whole yet */
	unsigned next_own;
	char told[16]; /* the revision that the authorizer knows of */

	struct post *first, *last; /* in the order of sending; owned */
	struct post *gone;	   /* freed by the next turn of `flow` */
	struct loop_timer flow;	   /* due when there may be something to do */

	/* among the posts; NULL: none */
	struct post *opening;  /* `initialized`, not accepted yet */
	struct post *listener; /* the stream of its own */
	struct post *events;   /* the stream of HTTP+SSE */
	struct post *refused;  /* the initialize that led to HTTP+SSE */
	struct err refusal;    /* of that */

	bool is_ending, is_over;
	bool is_deleted; /* DELETE was sent, or need not be */
	struct loop_timer end;

	/* for reports; more kinds of answers than these are not counted */
	struct status_count status[32];
	size_t n_status;
	uint64_t reconnects, restored, oddities;
	uint32_t jitter;
};

MUST_USE static inline bool post_is(const struct post *p, const char *method)
{
	return p->method && strcmp(p->method, method) == 0;
}

MUST_USE static inline bool post_is_get(const struct post *p)
{
	return p->kind == POST_LISTENER || p->kind == POST_EVENTS ||
	       p->is_resuming;
}

/* "tools/call", for sentences. */
MUST_USE static inline const char *post_name(const struct post *p)
{
	if (p->kind == POST_LISTENER || p->kind == POST_EVENTS)
		return "GET";
	if (p->kind == POST_DELETE)
		return "DELETE";
	return p->method && *p->method ? p->method : "an answer of ours";
}

MUST_USE static inline const struct url *route_of(const struct post *p)
{
	const struct route *r = &p->remote->route;

	if (p->url)
		return p->url;
	if (r->endpoint && p->kind != POST_EVENTS)
		return r->endpoint;
	return r->moved ? r->moved : &r->url;
}

/* The head of the reply; lives as long as that. */
MUST_USE static inline struct http_head post_head(const struct post *p)
{
	return (struct http_head){
		.status = p->reply.status,
		.media_type = buf_str(&p->reply.media_type),
		.lines = buf_str(&p->reply.lines),
	};
}

MUST_USE static inline bool http_is_good(int status)
{
	return status >= 200 && status < 300;
}

#endif
