/*
 * The remote transport acts here: on verdicts, on messages of the server, and
 * on events. Its layer below is made of the files that return verdicts; above
 * it core/transport/remote.c decides what may be sent, and ends.
 */
#ifndef CORE_TRANSPORT_REMOTE_ACT_H
#define CORE_TRANSPORT_REMOTE_ACT_H

#include <stdint.h>

#include "core/transport/items.h"
#include "core/transport/post.h"
#include "core/transport/remote.h"
#include "core/transport/remote_era.h"
#include "core/transport/remote_headers.h"
#include "core/transport/remote_reply.h"

/* For the first event of HTTP+SSE. */
#define REMOTE_ENDPOINT_MS 10000
/* The rest of a stream whose answer came is read for so long. */
#define REMOTE_LINGER_MS 200

/* An answer code and how often it came. */
struct status_count {
	int status;
	uint64_t n;
};

struct remote {
	struct transport base; /* first */
	struct remote_options o;
	struct route route;
	struct items items;
	struct posts posts;
	struct era era;
	struct tools tools;
	struct buf line; /* a message of ours, not whole yet */
	unsigned next_own;
	char told[16]; /* the revision that the authorizer knows of */

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

MUST_USE static inline struct remote *remote_of(const struct post *p)
{
	return p->all->flow.arg;
}

/* Nothing more comes of it; harmless twice. */
void remote_drop(struct post *p);
void remote_drop_all(struct remote *r);
/* No answer to this post will come: loss, is_unknown and err of the verdict. */
void remote_lose(struct post *p, const struct reply_verdict *v);
/* Answer it with an error of our own. */
void remote_give_error(struct post *p, int64_t code, struct str message);
/* Ask for a page of tools, with the _meta of `like`. */
void remote_ask_tools(struct remote *r, const struct post *like,
		      struct str cursor);
/* Go on by HTTP+SSE. p: the initialize that was refused, or NULL; err: how */
void remote_begin_sse(struct remote *r, struct post *p, const struct err *err);
/* Tell the authorizer which revision is spoken, once for each. */
void remote_tell_protocol(struct remote *r, const char *protocol);
/* Until the authorizer calls; clocks stand still while it asks a person. */
void remote_wait_for_authorizer(struct post *p);
/* GET, POST or DELETE. */
const char *remote_verb_of(const struct post *p) MUST_USE;
/* Begin its exchange; what comes of it is acted on here. */
void remote_open(struct post *p, const struct http_headers *h);

#endif
