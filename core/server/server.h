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
 * cancels or goes; `c` is freed then. Meanwhile it may ask the client
 * (server_ask()): by a request in the older era, in the newer one by an answer
 * that requires input (server_put()), whose call waits for the request that
 * brings it.
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

/* Calls of a session that wait for input of the newer era; of more the oldest
   is given up of the client, by its name, that has the most. */
#define SERVER_PARKED_MAX 64
/* Bytes of a state that brings it back, with the NUL. */
#define SERVER_STATE_BYTES 33

struct server_call;
struct server_batch;
struct server_watch;

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
	const char *capabilities; /* JSON object */
	/* Time for which a client may keep a list, and whether it may share it:
	   "public", "private". */
	int64_t list_ttl_ms;
	const char *list_scope;
	/* A method takes answers to questions that are not of server_ask(). */
	bool hands_on;
	const struct server_method *methods; /* beside those of a session; ends
						with name NULL */
};

enum server_kind {
	SERVER_ANSWER,	 /* no other message of the request follows; empty
			    where it was cancelled */
	SERVER_PROGRESS, /* may be left out where the client does not read */
	SERVER_MESSAGE,
};

/*
 * Where messages for the client go, each with its newline.
 *
 * c  request that it belongs to; NULL: to none
 */
typedef void server_send_fn(void *arg, const struct server_call *c,
			    struct str message, enum server_kind kind);

/* Questions that a client can be asked. */
struct server_can {
	bool form, url, sampling, roots;
};

struct server_session {
	const struct server_info *info; /* borrowed */
	void *arg;			/* of the methods; borrowed */
	server_send_fn *send;
	void *send_arg;
	const struct mcp_revision *revision; /* of initialize; NULL before */
	enum server_state state;
	/* Set by the owner: only compared, equal in all sessions of a client
	   that has proved who it is. */
	const void *client_key;
	/* Likewise: many requests of the newer era share it. It bounds how many
	   of them there are; one that cancels drops its stream. */
	bool is_shared;
	/* Likewise: a field of the head of a request, c->to; NULL: it has none.
	   NULL: requests have no heads. */
	const char *(*field)(const void *to, const char *name);
	char client[64];	/* name of the client, cut; "" before */
	struct server_can can;	/* of initialize */
	unsigned log_rank;	/* of logging/setLevel; 0: none */
	uint64_t last_question; /* number of it */
	struct frame in;
	struct buf out;		   /* the message being written */
	struct server_call *calls; /* open, the newest first; owned */
	struct server_watch *watches;
	size_t n_calls;
};

/* A request of the client, until it is answered. */
struct server_call {
	struct server_session *s;
	const struct mcp_revision *revision; /* NULL before initialize */
	struct str method; /* JSON string; with `params` for the method only */
	struct str params; /* JSON object */
	struct server_can can;
	unsigned log_rank; /* of one that stands alone; 0: none */
	char client[64]; /* as of the session; what a request that stands alone
			    says of its own */
	void *to;	 /* as given to server_message() */
	/* The method's: what it does for the call, and how that is stopped
	   because nobody waits for it any more. */
	void *work;
	void (*gone)(struct server_call *c);
	/* from here on: the session's */
	struct rpc_id id; /* .raw owned, with the token; NULL: it is parked */
	struct str token; /* of progress, JSON; {NULL, 0}: none wanted */
	struct rpc_writer w;
	struct server_batch *batch; /* NULL: it came alone */
	struct server_question *questions;
	unsigned listens; /* bits of the changes that it is told of */
	char state[SERVER_STATE_BYTES];
	uint64_t
		parked_ns; /* server_forget() found it parked first; 0: never */
	struct server_call *next;
};

/* Answer to a question; texts live for the callback. */
struct server_reply {
	struct str result; /* JSON; {NULL, 0}: an error */
	int64_t code;
	struct str message; /* JSON string, or {NULL, 0} */
};

/* arg  c->s->arg of the methods */
void server_init(struct server_session *s, const struct server_info *info,
		 void *arg, server_send_fn *send, void *send_arg);
/* Open calls are gone. */
void server_release(struct server_session *s);

/* A server_send_fn that appends to a struct buf. */
void server_send_to_buf(void *buf, const struct server_call *c,
			struct str message, enum server_kind kind);

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
/* The stream ended: take what stood behind the last newline. Calls that wait
   for more of it, as subscriptions do, are gone. */
void server_end(struct server_session *s);
/*
 * Take one whole message, whatever its lines (HTTP).
 *
 * to  for c->to of its requests
 */
void server_message(struct server_session *s, struct str message, void *to);
/* The client reads there no more: calls of the newer era are gone, others go on
   without a reader. to  NULL: those, too, are gone now */
void server_drop(struct server_session *s, const void *to);
/*
 * Give up calls that wait for input which nobody brings: a server of the older
 * era still works on them.
 *
 * now_ns    of a clock that only goes on; called every now and then
 * after_ns  time that a person has to answer
 */
void server_forget(struct server_session *s, uint64_t now_ns,
		   uint64_t after_ns);
/*
 * Tell the client that a list has changed, if it wants to know.
 *
 * notice  "notifications/tools/list_changed"; of prompts, resources
 */
void server_changed(struct server_session *s, const char *notice);
/*
 * Tell the client that a resource has changed, if it watches that.
 *
 * watched  URI that it watches
 * uri      what has changed: that, or a part of it; {NULL, 0}: tell nothing
 * returns  it watches it
 */
bool server_updated(struct server_session *s, struct str watched,
		    struct str uri);

/* ---- for methods ---- */

/* Has the request a version of its own? */
bool server_is_alone(const struct server_call *c) MUST_USE;
/* Is the revision of the request this one or later? date  ISO */
bool server_is_since(const struct server_call *c, const char *date) MUST_USE;

/* Does a request bring answers that no question of server_ask() waits for? */
bool server_brings_answers(const struct server_call *c) MUST_USE;

/* Begin the result; the caller writes members. Borrowed until the end. */
struct jw *server_begin(struct server_call *c) MUST_USE;
/*
 * End the result, send it and free the call.
 *
 * is_list  the same for every client, as long as the program runs
 */
void server_finish(struct server_call *c, bool is_list);
/*
 * Answer with a result of another server, whose members stay as they are, but
 * for those that only one of the eras has. One that requires input which the
 * client does not declare is an error. The call is freed.
 *
 * result   JSON object
 * is_read  of a method whose results say how long they are good, in the newer
 *	    era: one that does not is good once, for that client
 */
void server_pass(struct server_call *c, struct str result, bool is_read);
/* Likewise an error. data  JSON, or {NULL, 0} */
void server_pass_error(struct server_call *c, int64_t code, const char *message,
		       struct str data);
/* Answer with an error; the call is freed. */
void server_refuse(struct server_call *c, int64_t code, const char *why);
/* Capability that a client needs to be asked this, a JSON object; NULL: none is
   known of this name. */
const char *server_needs(struct str method, struct str params) MUST_USE;
/*
 * Answer with an error: the client cannot be asked what a server asks. In the
 * newer era it names what is missing.
 *
 * needs  of server_needs()
 */
void server_refuse_undeclared(struct server_call *c, struct str method,
			      const char *needs);
/* Likewise: answers came to no question that is open. */
void server_refuse_answers(struct server_call *c);
/*
 * Tell how far a call is, where the client wants to know.
 *
 * members  JSON object: progress, total, message
 */
void server_progress(struct server_call *c, struct str members);
/*
 * Hand a log message on to the client of a call that is open, where it wants
 * such.
 *
 * params  JSON object, as it came
 */
void server_log(struct server_call *c, struct str params);
/* Rank of the least messages that the client wants during a call; 0: none. */
unsigned server_log_rank(const struct server_call *c) MUST_USE;
/*
 * Ask the client, within a call that is open. In the newer era the question is
 * kept until server_put(), or until answers to others come.
 *
 * method    static
 * params    JSON object; copied
 * answered  called once, unless the question is withdrawn or the call ends
 * returns   NULL: this client cannot be asked that
 */
struct server_question *server_ask(
	struct server_call *c, const char *method, struct str params,
	void (*answered)(void *arg, const struct server_reply *r), void *arg)
	MUST_USE;
/* Put all questions of a call at once, where they are kept. The call of another
   client may be given up, as there is a bound. */
void server_put(struct server_call *c);
/* Take a question back whose answer is not waited for. */
void server_withdraw(struct server_call *c, struct server_question *q);
/*
 * Watch a resource, from now on: for a request of the older era until the
 * session ends, else until that request does.
 *
 * returns  false: it watches LIMIT_SERVER_WATCHES already
 */
bool server_watch(struct server_call *c, struct str uri) MUST_USE;
/* Watch it no more. */
void server_unwatch(struct server_call *c, struct str uri);
/* subscriptions/listen, for the table of methods of a server whose lists
   change: what is watched was said before by server_watch(). */
void server_on_listen(struct server_call *c);
/* logging/setLevel, for the table of methods of a server that has messages. */
void server_on_set_level(struct server_call *c);
/* Read params.name and params.arguments of tools/call. False: an error was
   answered. */
bool server_read_tool(struct server_call *c, struct str *ret_name,
		      struct str *ret_args) MUST_USE;
/* Refuse a cursor: the list has one page. False: the client gave one. */
bool server_read_page(struct server_call *c) MUST_USE;

#endif
