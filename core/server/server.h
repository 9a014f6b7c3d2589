/*
 * The server's side of an MCP session: bytes of the client in, messages for it
 * out. Framing, envelopes and revisions are those of the client's side in
 * core/mcp; a session holds no descriptor, no process and no clock of its own.
 *
 *	struct server_session s;
 *	server_init(&s, &info, &tools, server_send_to_buf, &out);
 *	for each portion that was read:
 *		server_feed(&s, bytes);
 *		... write `out`, clear it ...
 *	server_end(&s);
 *	server_release(&s);
 *
 * A request becomes a struct server_call, which the method of its name answers
 * at once or later; other requests go on meanwhile, in any order:
 *
 *	static void on_call(struct server_call *c)
 *	{
 *		struct jw *w = server_begin(c);
 *		... members of the result ...
 *		server_finish(c, false);	c is freed; or server_refuse()
 *	}
 *
 * A method that answers later sets c->gone, which is called where the client
 * cancels or goes; `c` is freed then.
 *
 * Both eras are spoken: a request whose `_meta` names a protocol version
 * stands alone (2026-07-28), whatever came before; the others need initialize
 * first. A client that has begun with the one may go on with the other.
 */
#ifndef CORE_SERVER_SERVER_H
#define CORE_SERVER_SERVER_H

#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/mcp/wire/frame.h"
#include "core/mcp/wire/mcp.h"
#include "core/mcp/wire/rpc.h"

enum server_state {
#define STATE(name, meaning) SERVER_##name,
#include "core/server/states.def"
#undef STATE
};

/* Time for which a client may keep a list, milliseconds, where it is the same
 * for the life of the program. */
#define SERVER_TTL_MS 3600000

struct server_call;
struct server_batch;

/* Era in which a method is served. */
enum server_era {
	SERVER_NEVER_ALONE, /* in the older era */
	SERVER_ONLY_ALONE,  /* in the newer era */
	SERVER_ALWAYS,	    /* behind initialize, or alone */
};

struct server_method {
	const char *name;
	enum server_era when;
	void (*run)(struct server_call *c);
};

/* Description of the server for clients; all borrowed. */
struct server_info {
	const char *name, *version, *instructions;
	const char *capabilities;	     /* JSON object */
	const struct server_method *methods; /* beside those of a session; ends
						with name NULL */
};

/*
 * Where messages for the client go, each with its newline.
 *
 * c        request that it belongs to, which its answer is the last of; NULL:
 *	    to none
 * is_last  no other message of the request follows
 */
typedef void server_send_fn(void *arg, const struct server_call *c,
			    struct str message, bool is_last);

struct server_session {
	const struct server_info *info; /* borrowed */
	void *arg;			/* of the methods; borrowed */
	server_send_fn *send;
	void *send_arg;
	const struct mcp_revision *revision; /* of initialize; NULL before */
	enum server_state state;
	char client[64]; /* name of the client, cut; "" before */
	struct frame in;
	struct buf out;		   /* the message being written */
	struct server_call *calls; /* open, the newest first; owned */
	size_t n_calls;
};

/* A request of the client, until it is answered. */
struct server_call {
	struct server_session *s;
	const struct mcp_revision *revision; /* NULL before initialize */
	struct str method; /* JSON string; with `params` for the method only */
	struct str params; /* JSON object */
	void *to;	   /* as given to server_message() */
	/* The method's: what it does for the call, and how that is stopped
	   because nobody waits for it any more. */
	void *work;
	void (*gone)(struct server_call *c);
	/* from here on: the session's */
	struct rpc_id id; /* .raw owned, with the token */
	struct str token; /* of progress, JSON; {NULL, 0}: none wanted */
	struct rpc_writer w;
	struct server_batch *batch; /* NULL: it came alone */
	struct server_call *next;
};

/* arg  c->s->arg of the methods */
void server_init(struct server_session *s, const struct server_info *info,
		 void *arg, server_send_fn *send, void *send_arg);
/* Open calls are gone. */
void server_release(struct server_session *s);

/* A server_send_fn that appends to a struct buf. */
void server_send_to_buf(void *buf, const struct server_call *c,
			struct str message, bool is_last);

/*
 * Take bytes of the client.
 *
 * No input ends the session: text that is not a message is
 * answered with an error of JSON-RPC (id null where it cannot be read), and
 * notifications and responses are never answered. Where the input is cut
 * makes no difference.
 *
 * in      borrowed for the call
 * source  MCP 2025-11-25, basic/lifecycle, server/tools; JSON-RPC 2.0;
 *	   batches: MCP 2025-03-26, basic, "Batching"; requests that stand
 *	   alone: MCP 2026-07-28, basic, server/discover
 */
void server_feed(struct server_session *s, struct str in);
/* The stream ended: take what stood behind the last newline. */
void server_end(struct server_session *s);

/* ---- for methods ---- */

/* Has the request a version of its own? */
bool server_is_alone(const struct server_call *c) MUST_USE;
/* Is the revision of the request this one or later? date  ISO */
bool server_is_since(const struct server_call *c, const char *date) MUST_USE;

/* Begin the result; the caller writes members. Borrowed until the end. */
struct jw *server_begin(struct server_call *c) MUST_USE;
/*
 * End the result, send it and free the call.
 *
 * is_list  the same for every client, as long as the program runs
 */
void server_finish(struct server_call *c, bool is_list);
/* Answer with an error; the call is freed. */
void server_refuse(struct server_call *c, int64_t code, const char *why);
/*
 * Tell how far a call is, where the client wants to know.
 *
 * members  JSON object: progress, total, message
 */
void server_progress(struct server_call *c, struct str members);
/* Read params.name and params.arguments of tools/call. False: an error was
   answered. */
bool server_read_tool(struct server_call *c, struct str *ret_name,
		      struct str *ret_args) MUST_USE;
/* Refuse a cursor: the list has one page. False: the client gave one. */
bool server_read_page(struct server_call *c) MUST_USE;

#endif
