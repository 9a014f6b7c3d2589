/*
 * One MCP server, live: started through the gate, spoken to, ended in order.
 *
 * The session (core/mcp) decides what bytes mean, a transport carries them,
 * a child (core/client/child.h) owns the process. A client joins the three to a
 * loop, starts the server once more where its era demands it, remembers that
 * era, and says why something failed.
 *
 *	struct client *c = client_new(&context, &options);
 *	if (client_start(c, err) < 0) ...	 nothing runs
 *	client_call(c, &call, &ticket, err);	 also before it is ready
 *	... loop_turn() until the events of the calls came
 *	client_close(c);
 *	... loop_turn() until client_is_over(c)
 *	client_free(c);
 *
 * Or, where nothing else is in the loop: client_wait_ready(), client_wait(),
 * client_finish(). On Ctrl-C: client_stop(), and once more client_kill().
 *
 * Calls made before READY are kept here and sent then. A call that was sent is
 * never sent again: when the server ends, its outcome is unknown (TC-7).
 *
 * Callbacks may use every function here but client_free(). Texts of a server
 * in events are as they came: to show them, take secrets out (scrub) and make
 * control characters visible. Sentences of ours that quote a server have that
 * done already.
 */
#ifndef CORE_CLIENT_CLIENT_H
#define CORE_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/mcp/wire/listing.h"
#include "core/mcp/session/session.h"
#include "core/report/report.h"
#include "core/base/loop.h"
#include "core/secret/scrub.h"
#include "core/transport/transport.h"
#include "gate/gate.h"

struct client;
struct eras;
struct transport;

/* Waits of the orderly end: stdin closed, SIGTERM, SIGKILL (STD-41). */
#define CLIENT_GRACE_MS 2000
/* Waits of the orderly end after Ctrl-C (CAN-9). */
#define CLIENT_GRACE_STOPPED_MS 500

/* Things that clients share; all of it is borrowed and outlives them. */
struct client_context {
	struct loop *loop;
	struct gate *gate;
	const struct scrub *scrub; /* NULL: there are no secrets */
	struct eras *eras; /* core/client/eras.h; NULL: none remembered */
};

#define CLIENT_EVENTS(X)                                                  \
	X(CLIENT_STARTED, "started")   /* client_is_starting() no more */ \
	X(CLIENT_READY, "ready")       /* the handshake is done */        \
	X(CLIENT_RESULT, "result")     /* of a call: of->result */        \
	X(CLIENT_ERROR, "error")       /* of->code, message, data */      \
	X(CLIENT_FAILED, "failed")     /* reason, sentence */             \
	X(CLIENT_PROGRESS, "progress") /* of->progress, total, message */ \
	X(CLIENT_LOG, "log")	       /* of->level, message, params */   \
	X(CLIENT_ASKED, "asked")       /* of->ask, method, params */      \
	X(CLIENT_ASK_GONE, "ask_gone") /* of->ask */                      \
	X(CLIENT_CHANGED, "changed")   /* of->method, message: the URI */ \
	X(CLIENT_TASK, "task")	       /* of->params: the task */         \
	X(CLIENT_ENDED, "ended")       /* no process is left; facts are in */

enum client_event_type { CLIENT_EVENTS(ROW_NAME) };

/* Lives for the callback; so does what it points to. */
struct client_event {
	enum client_event_type type;
	uint64_t ticket;		/* the call; 0: the server itself */
	const struct session_event *of; /* NULL with FAILED and ENDED, see
					   client_failure() */
	/*
	 * FAILED: why no answer came, in a sentence that is the same whenever
	 * the same goes wrong, with the phase and the exit status or signal.
	 */
	enum step_reason reason;
	const char *sentence;
	/* And of a call: the server has nothing of it; the status of HTTP. */
	bool is_unsent;
	struct transport_refusal refusal;
	/* Words of the server, for people: the first line on stdout that is
	   no message, the last lines of stderr; "" without either. */
	const char *details;
};

struct tape_server;

typedef void client_event_fn(void *arg, const struct client_event *e);

struct client_options {
	const char *name; /* for sentences; borrowed */
	/*
	 * How it is opened: a program under the gate. Strings, environment and
	 * policy are borrowed for the life of the client (it may be started
	 * again); stdio must be GATE_PIPE three times.
	 */
	const struct gate_request *request;
	/*
	 * Or, where request is NULL, a transport that this opens: a remote
	 * server; once more where another beginning is right. Its errors end
	 * client_start(). `url` is its URL, borrowed: its era is remembered by
	 * that.
	 */
	int (*open)(void *arg, struct transport **ret, struct err *err);
	void *open_arg;
	/* Members that stand beside those of the transport; may be NULL. */
	void (*open_facts)(void *open_arg, struct jw *w);
	const char *url;
	/* Files of a server that is installed need not be as they were. */
	bool is_edited;
	/* Record what is said (core/client/tape.h); NULL: do not. */
	struct tape_server *tape;
	/*
	 * Protocol, declared features, log level, ceiling of a message, times.
	 * `era` is filled in from memory; strings are borrowed.
	 */
	struct session_options session;
	uint64_t stderr_max; /* bytes kept of its end; 0: 64 KiB */
	bool show_stderr;    /* every line goes to our stderr at once */
	/* "on", "full": calls of tools stand in the audit
	   (core/report/audit.h), and are not made without it; "off", NULL: they
	   do not. Static. */
	const char *audit;
	const char *audited_as; /* name of the server there; borrowed */
	/* Bounds of calls of tools (core/client/throttle.h): a call that has to
	   wait does so within its time. NULL, and 0: none. Borrowed. */
	const char *rate;
	uint64_t max_concurrent;
	const char *throttle_key;
	/*
	 * Where the server has to be asked for notices of change (2026-07-28),
	 * it is, as soon as there is a list of tools. For sessions of more
	 * than one call: for one alone it would cost more than it gives.
	 */
	bool watches_lists;
	/*
	 * READY, LOG, ASKED, ASK_GONE, CHANGED, ENDED, and FAILED with
	 * ticket 0: the server itself failed; the calls are told first.
	 * ASKED carries the ticket of the call it belongs to, where known.
	 * May be NULL: questions are then refused (-32603).
	 */
	client_event_fn *on_event;
	void *arg;
};

/* Options are copied, but for members that are said to be borrowed. */
struct client *client_new(const struct client_context *context,
			  const struct client_options *options) MUST_USE;
/*
 * Make a client over a transport that is open already: a door of the tests, for
 * transcripts. There is no process then, and options->request and ->open are
 * NULL. transport  taken
 */
struct client *client_new_over(const struct client_context *context,
			       const struct client_options *options,
			       struct transport *transport) MUST_USE;
/* Free it; whatever runs ends at once. Takes NULL. */
void client_free(struct client *c);

/*
 * Start the server and the handshake.
 *
 * errors  those of gate_spawn(); failure_of_spawn() names them for a
 *	   report. Nothing runs then, and no event comes.
 */
int client_start(struct client *c, struct err *err) MUST_USE;
/*
 * With gate_request.may_follow: is it not known yet whether the program was
 * executed? STARTED or ENDED tells; calls may be made.
 */
bool client_is_starting(const struct client *c) MUST_USE;
/* In ENDED: why the program was not executed; NULL: it was. */
const struct err *client_start_error(const struct client *c) MUST_USE;

/* ---- requests ---- */

struct client_call {
	const char *tool;   /* tools/call of it; copied. Or: */
	const char *origin; /* for the audit; NULL: the command line; copied */
	const char *method; /* static: "tools/list", "subscriptions/listen" */
	/* Arguments of the tool, or params; of subscriptions/listen the
	   filter. JSON object, n = 0: none. Copied. */
	struct str params;
	/* Made for a client of 2026-07-28, to a server of that era: members of
	   its params beside those of the method (inputResponses, requestState,
	   _meta), and a result that requires input is handed to it. JSON
	   object, n = 0: not so. Copied. */
	struct str beside;
	bool as_task;	    /* of a tool that demands it (2025-11-25) */
	bool is_background; /* client_wait() does not wait for its end */
	/* Time for the answer, restarted by progress, and in all, from when it
	   is sent; 0: those of options->session. */
	uint64_t timeout_ms, total_ms;
	/* RESULT, ERROR or FAILED, one of them, and it is the last; before it
	   PROGRESS and TASK. Not after client_cancel(). */
	client_event_fn *on_event;
	void *arg;
};

/*
 * Make a call; several at once are fine. Kept until READY, sent at once after
 * it.
 *
 * ret_ticket  never 0; MAY be NULL
 * errors      ERR_SYNTAX, ERR_LIMIT  params
 *	       ERR_PEER               the server is over, or ending
 *	       ERR_PROTECTION         it cannot be audited
 */
int client_call(struct client *c, const struct client_call *call,
		uint64_t *ret_ticket, struct err *err) MUST_USE;
/*
 * Cancel a call: the server is told, and no event comes. Other calls go on.
 * Unknown tickets are ignored.
 *
 * why     for the audit: the time was over, or nobody waits
 * reason  for the server, NULL for none
 */
void client_cancel(struct client *c, uint64_t ticket, enum step_reason why,
		   const char *reason);

/*
 * Ask for messages of this level and of more weight, now or as soon as the
 * server is ready: options->session.log_level of a client that is made.
 *
 * level  of mcp_log_level()
 */
void client_set_log_level(struct client *c, const char *level);

/*
 * Append the bound by which a call waits for its turn, `rate` or
 * `max_concurrent`, with its value, and in how many seconds the next turn is.
 *
 * returns  false: the call does not wait for a turn
 */
bool client_say_turn(const struct client *c, uint64_t ticket, struct buf *out)
	MUST_USE;

/* Answer an ASKED event; as session_answer(). */
void client_answer(struct client *c, uint64_t ask, struct str result);
void client_answer_error(struct client *c, uint64_t ask, int64_t code,
			 const char *message);

/*
 * Within RESULT: take the memory that of->result lies in, so that it need not
 * be copied. of->result and its slices then live as long as the arena.
 * returns  false: the result is too small for that to pay; copy it
 */
bool client_keep(struct client *c, const struct client_event *e,
		 struct arena *arena) MUST_USE;

/* ---- lists ---- */

/* Lives for the callback; so does what it points to. */
struct client_listed {
	enum client_event_type type; /* RESULT, ERROR or FAILED */
	const struct listing *list;  /* RESULT: all pages */
	/* The list was there already: list again before refusing something
	   because of it, as it may have changed meanwhile (CH-7). */
	bool is_known;
	const struct client_event *event; /* ERROR, FAILED: as of a call */
};

typedef void client_listed_fn(void *arg, const struct client_listed *l);

struct client_list {
	enum listing_kind kind;
	bool anew; /* nothing that is known counts */
	client_listed_fn *done;
	void *arg;
};

/*
 * List tools, resources, templates or prompts, over all pages. The server is
 * asked once for all callers that wait, and again only when the time of the
 * list (`ttlMs`) is over, the server says that it has changed, or it proved
 * wrong. `done` is called once, perhaps before this returns.
 *
 * ret_ticket  for client_unlist(); written before `done` is called
 * errors      ERR_PEER  the server is over, or ending
 */
int client_list(struct client *c, const struct client_list *list,
		uint64_t *ret_ticket, struct err *err) MUST_USE;
/* Wait for a list no longer. Unknown tickets are ignored. */
void client_unlist(struct client *c, uint64_t ticket);
/*
 * Within `done`, where no other caller lists: take the list, to be released by
 * listing_release(). The time that it is good stays known.
 */
void client_take_list(struct client *c, enum listing_kind kind,
		      struct listing *ret);
/* Must the list be asked for: for the first time, or because it has changed,
   proved wrong, or its time is over? */
bool client_list_is_stale(const struct client *c, enum listing_kind kind)
	MUST_USE;

/* ---- the end ---- */

/*
 * Orderly: open calls are failed as cancelled, stdin is closed when its queue
 * is written, then waits of `grace_ms` (CLIENT_GRACE_MS) before SIGTERM and
 * before SIGKILL. ENDED comes when the whole tree has ended; of a remote
 * server when it was told, or grace_ms later.
 */
void client_close(struct client *c, uint64_t grace_ms);
/*
 * The user wants to stop (CAN-9): as client_close(), in haste.
 *
 * why       "SIGINT"
 * grace_ms  CLIENT_GRACE_STOPPED_MS
 */
void client_stop(struct client *c, const char *why, uint64_t grace_ms);
/* client_close(), and SIGTERM now. */
void client_terminate(struct client *c);
/* Kill the whole tree at once. */
void client_kill(struct client *c);

/*
 * Read what the server sent meanwhile, so that client_is_open() is up to date:
 * call this before a server is used that was idle for a while.
 */
void client_look(struct client *c);
/*
 * Look for the answer to what was just asked, before the loop turns: on one
 * processor a server has often answered when the request is written. Looks in
 * vain are rare, and after many others all else in the loop has its turn.
 *
 * returns  true: something came; false: let the loop turn
 */
bool client_look_ahead(struct client *c) MUST_USE;

/* ---- in a loop of its own ---- */

/*
 * Turn the loop until READY.
 *
 * errors  ERR_PEER  it failed; client_failure() is its reason, the text the
 *		     sentence
 *	   ERR_SYS   of the loop
 */
int client_wait_ready(struct client *c, struct err *err) MUST_USE;
/* Turn the loop until no call is open. Calls that fail are no error here. */
int client_wait(struct client *c, struct err *err) MUST_USE;
/* client_close(), and turn the loop until it is over. */
int client_finish(struct client *c, struct err *err) MUST_USE;

/* ---- state and facts ---- */

bool client_is_ready(const struct client *c) MUST_USE;
/* Append a CLIENT_PROGRESS in words, without secrets: "3/10  reading". */
void client_say_progress(const struct client *c, const struct client_event *e,
			 struct buf *out);
/* May calls be made: is the server neither over nor ending? */
bool client_is_open(const struct client *c) MUST_USE;
/* Is nothing left that runs: never started, or ENDED? */
bool client_is_over(const struct client *c) MUST_USE;
/* Calls without answer, those that wait for READY included. */
size_t client_open_calls(const struct client *c) MUST_USE;

/* Reason of a failure of the server itself; REASON_NONE: none. */
enum step_reason client_failure(const struct client *c) MUST_USE;
/* The sentence and the details of it; "" when it did not. Borrowed. */
const char *client_failure_sentence(const struct client *c) MUST_USE;
const char *client_failure_details(const struct client *c) MUST_USE;

/* Name and abilities of the server; .revision NULL before READY. Borrowed. */
const struct mcp_peer *client_server(const struct client *c) MUST_USE;
/* As session_offers(): "tools", "resources.subscribe". */
bool client_offers(const struct client *c, const char *capability) MUST_USE;
const struct session_stats *client_stats(const struct client *c) MUST_USE;
/* Did it answer a call of a tool? */
bool client_has_answered(const struct client *c) MUST_USE;
/*
 * Did the program print a CallToolResult without being asked, and never answer
 * initialize? Then it is no server; append MCP_IS_PRINTED to a sentence.
 */
bool client_prints_result(const struct client *c) MUST_USE;
/*
 * Append the first line on its stdout that was no message, visible, without
 * secrets and of LIMIT_NOISE_LINE bytes of it; nothing when there was none.
 */
void client_say_noise(const struct client *c, struct buf *out);
/* Verdict on its process; NULL before ENDED. Borrowed. */
const struct gate_verdict *client_verdict(const struct client *c) MUST_USE;
/* The last of its stderr, without secrets. Borrowed. */
struct str client_stderr(const struct client *c) MUST_USE;

/*
 * Members of an open JSON object: program, pid, exit, killed, cpu_us,
 * max_rss_bytes, stdout, stderr, limits, denials, execs, enforced, and mcp
 * {protocol, server, version, counts, restarts, noise}. Of a remote server:
 * url, http and mcp. Members are written as far as they are known, all of them
 * after ENDED. Without secrets.
 *
 * ret_scrubbed  added to: how many secrets were taken out; MAY be NULL
 */
void client_facts(struct client *c, struct jw *w, size_t *ret_scrubbed);

#endif
