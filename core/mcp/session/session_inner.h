/*
 * What the files of the session share. Who uses a session sees session.h.
 *
 *	session.c	   life of a session, bytes in and out, what it is like
 *	session_next.c	   the next event
 *	session_times.c	   deadlines, and what has missed its own
 *	session_write.c	   requests and notifications of ours
 *	session_answer.c   responses of the server, and what ends a request
 *	session_era.c	   which era the server is of: probe and handshake
 *	session_ask.c	   questions of the server, until the caller answers
 *	session_request.c  how they come and are answered in the older era
 *	session_input.c	   the same in the newer era
 *	session_notice.c   progress, log messages, changes
 *	session_task.c	   results that come later
 *	session_whole.c	   what transports of whole messages say beside bytes
 */
#ifndef CORE_MCP_SESSION_SESSION_INNER_H
#define CORE_MCP_SESSION_SESSION_INNER_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/mcp/wire/inbox.h"
#include "core/mcp/session/requests.h"
#include "core/mcp/wire/rpc.h"
#include "core/mcp/session/session.h"

/* Texts of a server that are only shown, bytes of JSON text (LOG-5). */
#define TEXT_BYTES (16 * 1024)
/* The same inside of a sentence, and of a protocol version. */
#define SENTENCE_BYTES 512
#define VERSION_BYTES 64
/* Questions of the server that are open at once (SEC-9). */
#define ASKS_MAX 64

/* A question of the server that the caller has to answer. */
struct ask {
	uint64_t number;    /* for the caller */
	uint64_t ticket;    /* the request that waits for it, or 0 */
	const char *method; /* static */
	struct buf id;	    /* of a request of the server: JSON; owned */
	struct buf key;	    /* of `inputRequests`: decoded; owned */
	struct buf params;  /* JSON; owned */
	struct buf answer;  /* JSON; kept until all are there; owned */
	bool is_key;	    /* else a request with an id */
	bool told, answered;
	bool gone; /* nobody waits for it any more; to be told */
};

struct asks {
	struct ask *item; /* owned */
	size_t n, cap;
	uint64_t next;	   /* number */
	uint64_t since_ns; /* since when somebody is asked; for EL-17 */
	size_t open;	   /* told and not answered; one more while held */
};

/* What a transport has said will not be answered. */
struct loss {
	uint64_t ticket; /* 0: nothing will */
	enum session_failure failure;
	struct err err;
};

struct session {
	struct session_options opt; /* defaults filled in */
	const char *date;	    /* that is asked for; static or borrowed */
	bool is_modern;		    /* by that date */
	enum session_state state;
	uint64_t now_ns; /* the latest that was heard */
	uint64_t start_ns;
	bool refused;	  /* opt.protocol is not ours to speak */
	bool eof;	  /* stdout ended; what came before is still read */
	bool cut;	  /* within a message */
	bool heard;	  /* at least one message was understood */
	bool deaf;	  /* the server's stdin is gone */
	bool probed;	  /* server/discover was sent first */
	bool tried_again; /* the same, with what it named (PRB-9) */

	struct inbox in;
	struct buf out; /* bytes for stdin */
	size_t written; /* of them */
	size_t answers; /* at most so many of the rest are answers of ours */

	struct requests requests;
	uint64_t next_id, next_ticket;
	struct asks asks;
	bool is_held;	     /* session_hold() */
	struct loss *losses; /* owned; not yet told */
	size_t n_losses, cap_losses;
	/* lists that have changed and were not asked for since; a bit each */
	uint32_t changed;

	/* texts of the current event */
	struct buf text, logger, shown, given;
	struct request_progress progress;

	uint64_t log_second_ns; /* start of the current second of logs */
	uint32_t logs;		/* passed on in it */

	struct arena arena; /* of `server` */
	struct session_server server;
	struct session_stats stats;
};

/* What looking at one object came to. */
enum outcome {
	NO_MESSAGE, /* skip it */
	DONE,	    /* understood, nothing to tell */
	EVENT,	    /* *ev is filled */
};

/* session.c */
void session_set_state(struct session *s, enum session_state state);
bool session_is_over(const struct session *s) MUST_USE;
/* Nothing more is written: the end was begun, or nobody reads. */
bool session_is_mute(const struct session *s) MUST_USE;
/* Every request stands alone (2026-07-28). */
bool session_is_modern(const struct session *s) MUST_USE;
/* Speak the revision of this date from here on; kept, not copied. */
void session_set_date(struct session *s, const char *date);
/* A text of the server as it may be shown, cut; in `into`. */
struct str session_shown(struct str v, size_t max, struct buf *into);

/* session_times.c */
/* Time does not run backwards. */
void session_hear_time(struct session *s, uint64_t now_ns);
uint64_t session_after_ms(const struct session *s, uint64_t ms) MUST_USE;
/* The same for the end of a request: that clock may stand still (EL-17). */
uint64_t session_ends_ms(const struct session *s, uint64_t ms) MUST_USE;
/* The times of a request: to an answer or progress, and in all. */
uint64_t session_timeout_ms(const struct session *s, const struct request *r)
	MUST_USE;
uint64_t session_total_ms(const struct session *s, const struct request *r)
	MUST_USE;
/* Its time is over. */
enum outcome session_expire(struct session *s, struct request *r,
			    struct session_event *ev);

/* session_whole.c */
/* The oldest of what the transport has lost. */
enum outcome session_on_lost(struct session *s, struct session_event *ev);

/* session_write.c */
void session_send(struct session *s, struct request *r);
/* A request of the session itself, sent at once; NULL when mute. */
struct request *session_send_own(struct session *s, const char *method,
				 uint64_t parent, struct str params);
void session_send_pending(struct session *s);
/* The members of a JSON object but for those of these names; NULL ends. */
void session_copy_members(struct jw *w, struct str object,
			  const char *const *except);
void session_send_initialized(struct session *s);
void session_send_cancelled(struct session *s, const struct request *r,
			    const char *reason);

/* session_answer.c */
enum outcome session_fail(struct session *s, enum session_failure failure,
			  struct session_event *ev);
enum outcome session_fail_request(struct session *s, struct request *r,
				  enum session_failure failure,
				  struct session_event *ev);
/* Forget a request with what belongs to it. */
void session_drop_request(struct session *s, struct request *r);
enum outcome session_on_response(struct session *s, const struct rpc_message *m,
				 struct session_event *ev);
/* A whole result for the request of the caller. */
enum outcome session_give_result(struct session *s, struct request *r,
				 struct str result, struct session_event *ev);
/* The text of an error, also of one that is none (RW-56). */
struct str session_error_text(struct session *s, const struct rpc_message *m);
enum outcome session_give_error(struct session *s, struct request *r,
				const struct rpc_message *m,
				struct session_event *ev);
/* The server broke a rule in its answer to this request. */
enum outcome session_bad_result(struct session *s, struct request *r,
				struct session_event *ev, const char *fmt, ...)
	PRINTF(4, 5);

/* session_era.c */
void session_begin(struct session *s);
enum outcome session_refuse_to_start(struct session *s,
				     struct session_event *ev);
enum outcome session_on_handshake(struct session *s, struct request *r,
				  const struct rpc_message *m,
				  struct session_event *ev);
/*
 * The probe was not answered in its time: initialize as well (PRB-7). False:
 * the time for the start is over, too.
 */
bool session_probe_silent(struct session *s, struct request *probe) MUST_USE;
/*
 * Its answer cannot be read: what cannot be understood is of the older era,
 * too. False: it is no probe, or nothing else may be tried.
 */
bool session_probe_lost(struct session *s, struct request *r) MUST_USE;

/* session_request.c */
enum outcome session_on_request(struct session *s, const struct rpc_message *m,
				struct session_event *ev);
/* The server takes its own request back (CAN-7). */
enum outcome session_ask_gone(struct session *s, const struct rpc_id *id,
			      struct session_event *ev);
/* The answer to it, as the caller gave it. */
void session_write_answer(struct session *s, const struct ask *a,
			  struct str result);
/* What was written since there were so many bytes is an answer of ours. */
void session_count_answer(struct session *s, size_t before);

/* session_input.c */
enum outcome session_on_input_required(struct session *s, struct request *r,
				       struct str result,
				       struct session_event *ev);
/* Questions in a task's status (TX-5). */
enum outcome session_on_task_input(struct session *s, struct request *r,
				   struct str requests,
				   struct session_event *ev);
/* One more is answered: when it was the last, on with the request. */
void session_go_on(struct session *s, uint64_t ticket);

/* session_ask.c */
/* Have we said that we answer this? */
enum ask_verdict {
	ASK_ANSWERABLE,
	ASK_UNKNOWN_METHOD,
	ASK_UNDECLARED,
	ASK_UNDECLARED_MODE,
	ASK_BAD_PARAMS,
};
/*
 * method      JSON, as params
 * ret_method  its name, static; with ASK_UNKNOWN_METHOD nothing is written
 */
enum ask_verdict session_judge_ask(const struct session *s, struct str method,
				   struct str params, const char **ret_method)
	MUST_USE;
/* One more question; whom it belongs to is for the caller to say. */
struct ask *session_add_ask(struct session *s, const char *method,
			    struct str params) MUST_USE;
void session_remove_ask(struct session *s, struct ask *a);
/* The next question that nobody has been told of; false: none. */
bool session_tell_ask(struct session *s, struct session_event *ev) MUST_USE;
/* Nobody waits for them any more; who was asked is told so. */
void session_drop_asks(struct session *s, uint64_t ticket);
/* The caller ends all: nobody is told. */
void session_forget_asks(struct session *s);
void asks_release(struct asks *a);
/* One more, or one less, for whom the clocks stand still. */
void session_stop_clocks(struct session *s);
void session_start_clocks(struct session *s);

/* session_notice.c */
enum outcome session_on_notification(struct session *s,
				     const struct rpc_message *m,
				     struct session_event *ev);
enum outcome session_tell_progress(struct session *s, struct request *r,
				   struct session_event *ev);
/* The caller asks for a list: it wants to hear of the next change. */
void session_list_asked(struct session *s, const char *method);

/* session_task.c */
/* Is this the answer to a request of ours that gave a task? */
bool session_is_task(const struct session *s, const struct request *r,
		     struct str result) MUST_USE;
enum outcome session_on_task(struct session *s, struct request *r,
			     struct str result, struct session_event *ev);
/* The answer to one of the requests that follow a task. */
enum outcome session_on_task_response(struct session *s, struct request *own,
				      const struct rpc_message *m,
				      struct session_event *ev);
/* It is time to ask for the task, or to send a request again. */
void session_do_due(struct session *s, struct request *r);
void session_cancel_task(struct session *s, struct request *r);

#endif
