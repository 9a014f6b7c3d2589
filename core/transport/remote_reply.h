/*
 * Verdicts on replies: what the end of an exchange means for its post, by
 * status, body and how it ended, and what a message of the server means. Pure:
 * core/transport/remote.c acts on them.
 *
 *	reply_judge(p, REPLY_ENDED, end, &v);
 *	switch (v.what) ...
 *
 * Sentences of verdicts never hold a session id, the id of an event, or the
 * query of a URL.
 *
 * source  MCP 2026-07-28 and 2025-11-25, basic/transports; 2024-11-05
 */
#ifndef CORE_TRANSPORT_REMOTE_REPLY_H
#define CORE_TRANSPORT_REMOTE_REPLY_H

#include "core/mcp/wire/rpc.h"
#include "core/transport/post.h"

/* Cases that are judged. */
enum reply_case {
	REPLY_ENDED,	  /* the exchange has ended */
	REPLY_UNANSWERED, /* after REPLY_TAKE: no message in it answers `p` */
	REPLY_LONG_EVENT, /* an event on the stream is over message_max */
	REPLY_CUT_OFF,	  /* the stream that would bring the answer ended */
	REPLY_REFUSED,	  /* initialize, and there is no HTTP+SSE either */
};

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
	struct transport_refusal refusal;
	struct err err;
	struct url *url;
	/* Of REPLY_LATER: a random share of the jitter is added. */
	uint64_t delay_ms, jitter_ms;
	bool is_repeat;	   /* never a second time */
	bool is_reconnect; /* counted for reports */
	bool is_attempt;   /* one of few in a row; delay_ms grows */
	bool is_resuming;  /* by GET, from the last event on */
};

/* end  how the exchange ended; of REPLY_REFUSED its err says both refusals */
void reply_judge(const struct post *p, enum reply_case of,
		 const struct http_end *end, struct reply_verdict *ret);

/*
 * Does this error say that the session is gone, and may the request be sent in
 * another one?
 *
 * m  NULL: the whole reply says it. Of an error of JSON-RPC the message counts.
 *    A tool's own error may speak of a session as well, of a browser or an
 *    account, after the tool has done something: a request that must not be
 *    done twice counts as refused only where the whole error is about our
 *    session.
 */
bool reply_lost_session(const struct post *p, const struct rpc_message *m)
	MUST_USE;

enum taken_what {
	TAKEN_ANSWER,  /* to `post` */
	TAKEN_MESSAGE, /* for the session */
	TAKEN_CHANGED, /* for the session; the list of tools has changed */
	TAKEN_NOTHING, /* neither: counted as odd */
};

struct taken {
	enum taken_what what;
	struct post *post;    /* of TAKEN_ANSWER */
	bool is_renamed;      /* the answer names another id than `post` */
	struct rpc_message m; /* slices of the text */
};

/* Judge a message of the server. via  in whose reply it came */
void reply_read_message(struct post *via, struct str object, struct taken *ret);

#endif
