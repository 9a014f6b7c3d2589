/*
 * What the files of the remote transport share. Who uses it sees remote.h.
 *
 *	remote.c	 life, and the end
 *	remote_items.c	 what the caller is told
 *	remote_send.c	 messages of ours: read, put in order, sent
 *	remote_reply.c	 what comes back of a POST, by its status
 *	remote_refused.c and what is no answer
 *	remote_take.c	 messages of the server: whose they are
 *	remote_stream.c	 event streams: read, resumed, the standalone one
 *	remote_era.c	 sessions lost and begun anew, refused beginnings
 *	remote_list.c	 schemas of tools, for headers made of arguments
 *	remote_sse.c	 HTTP+SSE of 2024-11-05
 *	remote_say.c	 sentences and facts
 *
 * Each message of ours is a post from when it was given until nothing more
 * comes of it. remote_flow() sends those that may go; it is never called from
 * callbacks of HTTP but by a timer that is due at once (remote_wake), so that
 * nothing is freed or sent within them.
 */
#ifndef CORE_TRANSPORT_REMOTE_INNER_H
#define CORE_TRANSPORT_REMOTE_INNER_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/url.h"
#include "core/mcp/wire/http_fields.h"
#include "core/mcp/wire/rpc.h"
#include "core/mcp/wire/sse.h"
#include "core/transport/remote.h"

/* The rest of a stream whose answer came is read for so long (SSE-8). */
#define REMOTE_LINGER_MS 200
/* What follows `initialized` waits for its acceptance, but not longer. */
#define REMOTE_OPENING_MS 2000
/* For the first event of HTTP+SSE (HS-2). */
#define REMOTE_ENDPOINT_MS 10000
/* A notification that nobody accepts. */
#define REMOTE_NOTICE_MS 60000
/* For a list of tools that the transport itself asks for. */
#define REMOTE_LIST_MS 10000
/* Of the answer to an error: what is looked at, bytes. */
#define REMOTE_REFUSAL_BYTES (1024 * 1024)

/* Its id is a string: none of the session's. */
#define REMOTE_OWN_ID "matins-%u"

enum post_kind {
	POST_REQUEST,
	POST_NOTICE,   /* a notification, or a response of ours */
	POST_LISTENER, /* GET: messages that belong to no request */
	POST_EVENTS,   /* GET: the stream of HTTP+SSE */
	POST_DELETE,
};

enum post_state {
	POST_QUEUED,	/* goes when it may */
	POST_WAITS,	/* for the authorizer */
	POST_OPEN,	/* its exchange is under way */
	POST_PAUSED,	/* its timer sends it again */
	POST_ELSEWHERE, /* answered on another stream */
	POST_LINGERS,	/* answered; the stream may end */
};

struct remote;
struct post;

/* An answer to a request of the transport itself, or why there is none. */
typedef void post_answer_fn(struct remote *r, struct post *p,
			    const struct rpc_message *m,
			    const struct transport_item *lost);

/* What came of the current exchange. */
struct reply {
	int status;		      /* 0: nothing yet */
	struct buf media_type, lines; /* of the head */
	struct buf body;	      /* of what is no event stream */
	bool is_stream;
	bool is_too_long;
	bool is_bad_session; /* the id in it is not to be used */
};

struct post {
	struct remote *remote;
	struct post *next, *prev; /* in the order of sending */
	enum post_kind kind;
	enum post_state state;
	struct buf body; /* the message; slices below lie in it */
	/* decoded; "" of a response, NULL of GET and DELETE; owned */
	char *method;
	struct str id;	   /* JSON; {NULL, 0} without */
	struct str params; /* JSON */
	char *protocol;	   /* of its _meta: it stands alone; or NULL; owned */
	post_answer_fn *answer; /* of the transport's own; else NULL */

	struct url *url; /* after a redirect; NULL: the endpoint */
	unsigned redirects;
	struct authorizer_try tries;
	uint32_t session;    /* generation that it was sent in; 0: none */
	bool was_mismatched; /* XH-9 */
	bool was_resent;     /* in a new session (HL-3) */
	bool was_repeated;   /* HM-6, HT-8 */
	bool is_answered;
	bool is_gone; /* to be freed */

	struct http_exchange *x; /* NULL: none */
	struct reply reply;
	struct sse sse;
	bool is_resuming;  /* by GET, with the last id */
	uint64_t seen_ids; /* of sse.ids */
	unsigned attempts; /* without an event in between */
	uint64_t delay_ms;
	struct loop_timer timer;
};

/* An item for the caller, with what it points to. */
struct item {
	struct transport_item item;
	struct buf memory; /* owned: message or id */
};

/* A tool whose schema was seen. */
struct remote_tool {
	struct str name;
	struct http_params params;
	size_t age; /* within a page; 0 of those of earlier ones */
};

struct remote_list {
	struct arena arena;	  /* owns all below */
	struct remote_tool *tool; /* by name */
	size_t n, cap;		  /* array owned */
	bool is_complete;	  /* all pages were seen */
	bool is_followed;	  /* from the first one on */
	bool is_asked;		  /* by us, under way */
	unsigned pages;
};

/* An answer code and how often it came. */
struct remote_status {
	int status;
	uint64_t n;
};

struct remote {
	struct transport base; /* first */
	struct remote_options o;
	struct arena arena; /* of url */
	struct url url;
	struct url *moved; /* where redirects led to; in `arena`, or NULL */
	struct buf where;  /* the URL without its query, for people */
	int event;	   /* eventfd: readable while items wait */
	bool is_readable;

	struct item *item;		    /* owned */
	size_t n_items, cap_items, n_given; /* of them */
	struct item given;		    /* lives until the next one */
	struct buf line;		    /* of ours, not whole yet */

	struct post *first, *last;
	struct post *gone;	/* freed by the next remote_flow() */
	struct loop_timer flow; /* remote_wake() */
	unsigned next_own;

	/* the older era */
	bool is_modern;	       /* what was sent last as a beginning */
	char protocol[16];     /* negotiated; "" before */
	char told[16];	       /* what the authorizer knows of that */
	struct buf session_id; /* a secret; empty: none */
	uint32_t session;      /* its generation, from 1; 0: none */
	bool has_worked;       /* a request of this session was answered */
	struct buf initialize; /* our messages, to begin anew */
	struct buf initialized;
	struct post *opening; /* `initialized`, not accepted yet */
	bool is_restoring;    /* the session is begun anew */
	struct post *listener;

	struct remote_list list;

	/* HTTP+SSE */
	bool is_sse;
	struct post *events;
	struct url *endpoint; /* in `arena`; NULL: not told yet */
	struct post *refused; /* the initialize that led here, or NULL */
	struct err refusal;

	bool is_held; /* a person is waited for */
	bool is_ending, is_over;
	bool is_deleted; /* DELETE was sent, or need not be */
	struct loop_timer end;

	/* for reports; of more kinds of answers than these nothing is said */
	struct remote_status status[32];
	size_t n_status;
	uint64_t reconnects, restored, oddities;
	uint32_t jitter;
};

/* ---- remote.c ---- */

/* Look soon at what may be sent. */
void remote_wake(struct remote *r);
/* A post at the end of the line; body is copied. */
struct post *remote_post(struct remote *r, enum post_kind kind,
			 struct str body);
/* Before all that waits to be sent. */
void post_first(struct post *p);
/* Nothing more comes of it; freed soon. */
void remote_drop(struct post *p);
/* Close what is under way, and forget what came. */
void post_close(struct post *p);
/* Once more from the beginning. */
void post_again(struct post *p);
/* Its timer fires in so many ms. */
void post_after(struct post *p, uint64_t ms);
/* Between 0 and max. */
uint64_t remote_jitter(struct remote *r, uint64_t max);

/* An id that no request of the session has. */
void remote_write_own_id(struct remote *r, struct jw *w);

/* ---- remote_items.c ---- */

void remote_next(struct transport *t, struct transport_item *ret);
void remote_items_release(struct remote *r);
/* memory  taken where message lies in it, else NULL and copied */
void remote_give(struct remote *r, struct str message, struct buf *memory);
void remote_give_item(struct remote *r, const struct transport_item *item);
/* A person is waited for, or no longer. */
void remote_hold(struct remote *r, bool is_held);
/* No answer to this one will come; it is dropped. */
void remote_lose(struct post *p, enum transport_loss loss, bool is_unknown,
		 const struct err *err);
/* None to any, and that is the end of the session. */
void remote_lose_all(struct remote *r, enum transport_loss loss,
		     const struct err *err);

/* ---- remote_send.c ---- */

ssize_t remote_send(struct transport *t, struct str bytes);
/* A request of ours, read. */
struct post *remote_request(struct remote *r, struct str body);
/* Send what may go. */
void remote_flow(struct remote *r);
/* Until the authorizer calls; clocks stand still while it asks a person. */
void post_wait(struct post *p);
const struct url *post_url(const struct post *p) MUST_USE;
/* The authorizer hears which revision is spoken, once for each. */
void remote_tell_protocol(struct remote *r, const char *protocol);
const char *post_verb(const struct post *p) MUST_USE;

/* ---- remote_reply.c ---- */

void remote_on_head(void *arg, const struct http_head *head);
bool remote_on_body(void *arg, struct str bytes);
void remote_on_end(void *arg, const struct http_end *end);
/* Lists and reads: what may be asked twice. */
bool post_is_safe(const struct post *p) MUST_USE;

/* ---- remote_refused.c ---- */

/* 3xx, 4xx and 5xx to a request. */
void post_redirected(struct post *p);
void post_refused(struct post *p);
/* 3xx: true when it goes on elsewhere; else err says why not. */
bool post_redirect(struct post *p, struct err *err) MUST_USE;
/* 401 and 403. */
void post_denied(struct post *p);
/* The beginning was refused, and there is no other: what the server said of
   it, or err. */
void remote_refuse(struct post *p, const struct err *err);

/* ---- remote_take.c ---- */

/*
 * A message of the server.
 *
 * via     whose reply it came in
 * memory  where text lies, to be taken; or NULL
 * returns false: it is no JSON
 */
bool remote_take(struct post *via, struct str text, struct buf *memory);
/* An error in place of an answer that is none. */
void remote_answer_error(struct post *p, int64_t code, struct str message);

/* ---- remote_stream.c ---- */

/* Bytes of an event stream. */
void remote_on_events(struct post *p, struct str bytes);
/* It ended before the answer. end: NULL or why */
void remote_stream_broke(struct post *p, const struct http_end *end);
/* The end of an exchange of a listener, or of one that is being resumed. */
void remote_listener_ended(struct post *p, const struct http_end *end);
void remote_resumed_ended(struct post *p, const struct http_end *end);
void remote_listen(struct remote *r);

/* ---- remote_era.c ---- */

/* The answer to an initialize, ours or the session's. */
void remote_initialized(struct remote *r, const struct post *p,
			const struct rpc_message *m);
/* The session of this request is over: begin anew. False: not once more. */
bool remote_session_lost(struct post *p) MUST_USE;
/* Does this refusal say that the session is gone (HL-6)? */
bool remote_says_session(const struct post *p, struct str text) MUST_USE;
/*
 * Does this error of JSON-RPC say so? A tool's own error may speak of a session
 * as well, of a browser or an account, after it has done something: what must
 * not be done twice goes once more only where the whole error is of ours.
 */
bool remote_is_of_session(const struct post *p, const struct rpc_message *m)
	MUST_USE;
/* A 4xx to what may be a beginning; false: it is none. */
bool remote_beginning_refused(struct post *p) MUST_USE;

/* ---- remote_list.c ---- */

/* May this tools/call go? Else its schema is being asked for. */
bool remote_list_ready(struct post *p) MUST_USE;
/* The fields made of its arguments. */
int remote_list_headers(struct post *p, struct http_headers *h, struct err *err)
	MUST_USE;
/* -32020: ask anew, then once more. False: that was done. */
bool remote_list_mismatch(struct post *p) MUST_USE;
void remote_list_learn(struct remote *r, const struct post *p,
		       struct str result);
/* The server says that it has changed. */
void remote_list_forget(struct remote *r);

/* ---- remote_sse.c ---- */

/* Go on by HTTP+SSE. p: the initialize that was refused, or NULL */
void remote_sse_begin(struct remote *r, struct post *p, const struct err *err);
void remote_sse_event(struct post *p, const struct sse_event *e);
void remote_sse_ended(struct post *p, const struct http_end *end);
/* It was silent for too long. */
void remote_sse_late(struct post *p);

/* ---- remote_say.c ---- */

/* What it is called in sentences. */
const char *post_name(const struct post *p) MUST_USE;
/* "the server answered tools/call with HTTP status 500 (text/html): …" */
void post_say_status(const struct post *p, struct err *err);
void post_say_end(const struct post *p, const struct http_end *end,
		  struct err *err);
/* Of a redirect; its query is not shown. where: borrowed */
void post_say_redirect(const struct post *p, struct str where, struct err *err);
/* "; the outcome is unknown, and it was not repeated" where it is so. */
void post_say_unknown(const struct post *p, struct err *err);
void remote_facts(const struct transport *t, struct jw *w);
void remote_count_status(struct remote *r, int status);

#endif
