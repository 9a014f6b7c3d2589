/*
 * The session at a remote server: its era and revision, its id, and the
 * messages that begin another one in its place. Pure: reads posts and
 * messages, changes none.
 */
#ifndef CORE_TRANSPORT_REMOTE_ERA_H
#define CORE_TRANSPORT_REMOTE_ERA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/mcp/wire/rpc.h"
#include "core/transport/post.h"

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

#endif
