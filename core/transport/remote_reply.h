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

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"
#include "core/transport/post.h"
#include "core/transport/transport.h"

/*
 * The session at a remote server: its era and revision, its id, and the
 * messages that begin another one in its place. Reads posts and messages,
 * changes none.
 */
struct era {
	bool is_modern;	       /* requests stand alone (2026-07-28) */
	bool is_sse;	       /* HTTP+SSE (2024-11-05) */
	char protocol[16];     /* negotiated by initialize; "" before */
	struct buf session_id; /* a secret; empty: none */
	uint32_t session;      /* generation, from 1; 0: none */
	bool has_worked;       /* a request of this session was answered */
	struct buf initialize; /* our messages, to begin another session */
	struct buf initialized;
	bool is_restoring; /* another session begins */
};

#define ERA_INIT                                       \
	{                                              \
		.session_id = BUF_INIT(BUF_UNBOUNDED), \
		.initialize = BUF_INIT(BUF_UNBOUNDED), \
		.initialized = BUF_INIT(BUF_UNBOUNDED) \
	}

void era_release(struct era *e);

/* Learn from a message of ours: the first ones tell which era is spoken. */
void era_note_ours(struct era *e, const struct post *p);

enum era_head {
	ERA_HEAD_PLAIN,
	ERA_HEAD_SESSION, /* a session began: e->session_id */
	ERA_HEAD_BAD,	  /* an id with other characters, or too long */
	ERA_HEAD_ODD,	  /* another id in the middle of a session */
};

/* The session id counts in the answer to initialize only. */
enum era_head era_note_head(struct era *e, const struct post *p,
			    const struct http_head *head) MUST_USE;

/* Learn from the answer to `p`; true: the revision was agreed on. */
bool era_note_answer(struct era *e, const struct post *p,
		     const struct rpc_message *m) MUST_USE;

/*
 * Does a refusal say that the session is gone?
 *
 * Of an error of JSON-RPC (m) the message counts, else the whole reply. A
 * tool's own error may speak of a session as well, of a browser or an account,
 * after the tool has done something: a request that must not be done twice
 * counts as refused only where the whole error is about our session.
 */
bool era_is_lost(const struct era *e, const struct post *p,
		 const struct rpc_message *m) MUST_USE;

/* `initialize` again with another id (a JSON string without quotes). */
void era_write_initialize(const struct era *e, const char *id, struct buf *out);

/*
 * Messages of a remote server: which request each one answers.
 *
 *	if (!taker_open(&t, via, text))		no JSON
 *		...
 *	while (taker_next(&t, &found))
 *		act on found
 *	taker_release(&t);
 */
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

struct taker {
	struct post *via; /* in whose reply the text came */
	struct buf repaired;
	struct str one; /* {NULL, 0}: given, or none */
	struct scan_iter more;
	bool is_array;
};

/* false: not JSON, even with invalid UTF-8 replaced. */
bool taker_open(struct taker *t, struct post *via, struct str text) MUST_USE;
/* A single message is one, an array as many; false: no more. */
bool taker_next(struct taker *t, struct taken *ret) MUST_USE;
void taker_release(struct taker *t);

/* An answer with the id of the request it belongs to. */
void taken_write_renamed(const struct taken *t, struct buf *out);
/* An error in place of an answer. */
void taken_write_error(const struct post *p, int64_t code, struct str message,
		       struct buf *out);

/* ---- verdicts ---- */

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
