/*
 * Verdicts on replies: what the end of an exchange means for its post, by
 * status, body and how it ended. Pure: core/transport/remote.c acts on them.
 *
 *	reply_judge(p, end, &around, &v);
 *	switch (v.what) ...
 *
 * Sentences of verdicts never hold a session id, the id of an event, or the
 * query of a URL.
 *
 * source  MCP 2026-07-28 and 2025-11-25, basic/transports; 2024-11-05
 */
#ifndef CORE_TRANSPORT_REMOTE_REPLY_H
#define CORE_TRANSPORT_REMOTE_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/transport/post.h"
#include "core/transport/remote_era.h"
#include "core/transport/transport.h"

enum reply_what {
	REPLY_DONE,	   /* nothing more comes of the post */
	REPLY_LOST,	   /* no answer will come: loss, is_unknown, err */
	REPLY_TAKE,	   /* the body holds messages */
	REPLY_LATER,	   /* send it once more: delay_ms, jitter_ms */
	REPLY_ELSEWHERE,   /* the answer comes on another stream */
	REPLY_MOVED,	   /* send it once more, to url */
	REPLY_DENIED,	   /* 401 or 403; err is for nobody to ask */
	REPLY_NO_SESSION,  /* begin another session, then send it once more */
	REPLY_NO_PROBE,	   /* server/discover is refused: err, to the session */
	REPLY_TRY_SSE,	   /* initialize is refused: try HTTP+SSE; err */
	REPLY_NO_LISTENER, /* the server has no stream of its own */
	REPLY_OVER,	   /* the session ends with this stream: err */
};

struct reply_verdict {
	enum reply_what what;
	enum transport_loss loss;
	bool is_unknown;
	struct err err;
	struct url *url;
	/* Of REPLY_LATER: a random share of the jitter is added. */
	uint64_t delay_ms, jitter_ms;
	bool is_repeat;	   /* never a second time */
	bool is_reconnect; /* counted for reports */
	bool is_attempt;   /* one of few in a row; delay_ms grows */
	bool is_resuming;  /* by GET, from the last event on */
};

/* State around the post that a verdict depends on; borrowed. */
struct reply_around {
	const struct era *era;
	struct route *route; /* the URL of a redirect goes into the arena */
	uint64_t message_max;
	uint64_t request_ms; /* budget of a request */
	bool may_try_sse;
	bool has_listener;
	bool is_ending;
};

void reply_judge(const struct post *p, const struct http_end *end,
		 const struct reply_around *a, struct reply_verdict *ret);
/* After REPLY_TAKE, where no message in the body answered the post. */
void reply_judge_unanswered(const struct post *p, const struct reply_around *a,
			    struct reply_verdict *ret);
/* An event on the stream of `p` is longer than message_max. */
void reply_judge_long_event(const struct post *p, const struct reply_around *a,
			    struct reply_verdict *ret);
/* The stream that would have brought the answer ended; end: how. */
void reply_judge_stream(const struct post *p, const struct http_end *end,
			const struct reply_around *a,
			struct reply_verdict *ret);
/* initialize is refused, and HTTP+SSE is not there either: err says both. */
void reply_judge_refused(const struct post *p, const struct err *err,
			 struct reply_verdict *ret);
/* A session that is gone can be begun again, once for each request. */
bool reply_may_restore(const struct post *p, const struct reply_around *a)
	MUST_USE;

#endif
