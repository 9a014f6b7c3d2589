/*
 * Core of a session: its data, its state machine and its clocks. Users of a
 * session include session.h only.
 *
 *	session.c   on top: reads events one after the other, ends requests,
 *		    begins and ends the session, judges the answers of the
 *		    handshake
 *	talk.c	    requests of the caller, answers that are not the result
 *		    yet, questions and notices of the server
 *	core.c	    this header: the table of requests, state, clocks, sending
 *
 * Files call downwards only. A file below session.c that has judged a message
 * returns a verdict, and session.c acts on it.
 */
#ifndef CORE_MCP_SESSION_CORE_H
#define CORE_MCP_SESSION_CORE_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/jw.h"
#include "core/mcp/session/session.h"
#include "core/mcp/wire/inbox.h"
#include "core/mcp/wire/rpc.h"

/* ---- the table of requests ---- */

/* Ceiling of a number in a progress notification, bytes. */
#define REQUEST_NUMBER_BYTES 63
/* Ceiling of its message, bytes of JSON text. */
#define REQUEST_TEXT_BYTES 1024

/* Progress as it last came. */
struct request_progress {
	char progress[REQUEST_NUMBER_BYTES + 1];
	char total[REQUEST_NUMBER_BYTES + 1]; /* "" when absent */
	struct buf message;		      /* owned; decoded */
};

/* Task of a request whose result comes later. */
struct request_task {
	struct buf id;	      /* JSON string; owned */
	uint64_t interval_ms; /* between two looks */
	uint32_t rounds;      /* questions that were answered */
	bool is_waiting;      /* tasks/result was sent: it comes by itself */
	bool is_refused;      /* the server refused tasks/update */
	struct buf answered;  /* keys, each with a newline; owned (TX-5) */
};

enum requests_key { BY_ID, BY_TICKET, N_REQUESTS_KEYS };

struct request {
	uint64_t id;	    /* on the wire; never used twice */
	uint64_t ticket;    /* for the caller; outlives a retry with a new id */
	uint64_t parent;    /* the ticket that a request of the session itself
			       is made for; 0: the caller's own */
	const char *method; /* static */
	bool is_handshake;  /* server/discover or initialize */
	bool is_probe;	    /* server/discover */
	bool has_token;	    /* a progress token, which is the id */
	bool as_task;	    /* asked to be one (2025-11-25) */
	bool as_task_dropped; /* but the server has no tasks (TK-1) */
	bool is_listen;	      /* ends when somebody ends it */
	bool is_acked;	      /* the subscription was acknowledged */
	bool sent;	      /* else it waits for READY */
	bool parked;	      /* was answered, and goes on: due_ns, a task */
	bool is_handed_on;    /* the caller follows its questions */
	bool is_given_up;     /* `responses` says why; told when it is due */
	struct buf params;    /* owned; JSON object, or empty */
	struct buf state;     /* requestState as it came; owned (MR-5) */
	struct buf responses; /* inputResponses; owned */
	uint32_t rounds;      /* of questions */
	uint64_t timeout_ms;  /* to an answer or progress */
	uint64_t total_ms;    /* in all */
	uint64_t deadline_ns; /* restarted by progress */
	uint64_t total_deadline_ns; /* never moved */
	uint64_t due_ns;	    /* of a parked one: when it goes on */
	struct request_task task;   /* id.n = 0: none */

	struct request_progress progress;
	double last_progress; /* for comparing only */
	bool any_progress;
	bool progress_held;	   /* not yet passed on */
	uint64_t next_progress_ns; /* not before, for a bounded rate */
	uint64_t progress_paid_ns; /* the rate allows what came until then */

	struct request *next, *prev;		    /* in order; of the table */
	struct request *same_slot[N_REQUESTS_KEYS]; /* of the table */
};

struct requests {
	struct request *first, *last; /* owned */
	struct request *spare;	      /* memory to use again, or NULL; owned */
	size_t n;
	struct request **slots[N_REQUESTS_KEYS]; /* n_slots of each; owned */
	size_t n_slots;
	uint64_t soonest_ns; /* no time of any request lies before it */
};

void requests_release(struct requests *t);

/* A new request, zeroed but for its fields; times are UINT64_MAX. */
struct request *requests_add(struct requests *t, uint64_t id, uint64_t ticket,
			     const char *method);
/* Forget and free one of the table. */
void requests_remove(struct requests *t, struct request *r);
/* Note that a time of a request may be earlier, or its progress is held. */
void requests_timed(struct requests *t, const struct request *r);

/*
 * Find the sent request that a response with this id answers, or that has it as
 * its progress token: by type and value first, then a string of the same digits
 * (ID-4). NULL: none.
 *
 * id             JSON, as it came
 * parked_counts  also one that was answered already, and goes on
 */
struct request *requests_find(struct requests *t, struct str id,
			      bool parked_counts) MUST_USE;
struct request *requests_find_ticket(struct requests *t, uint64_t ticket)
	MUST_USE;
/* Find the sent request without answer next to `after`; NULL: the oldest. */
struct request *requests_pending(struct requests *t,
				 const struct request *after) MUST_USE;

enum request_time {
	REQUEST_EXPIRED,  /* deadline_ns or total_deadline_ns */
	REQUEST_DUE,	  /* due_ns */
	REQUEST_PROGRESS, /* next_progress_ns, with progress held */
};
/* Find the first request whose time of that kind has come, or NULL. */
struct request *requests_find_time(struct requests *t, enum request_time time,
				   uint64_t now_ns) MUST_USE;
/*
 * Time when one of these three comes; UINT64_MAX is never. With many open
 * requests it may be too early: look again then.
 *
 * is_paused  the clocks of all requests stand still
 */
uint64_t requests_deadline(const struct requests *t, bool is_paused) MUST_USE;

/* Ceiling of server texts in events, bytes of JSON text (LOG-5). */
#define TEXT_BYTES (16 * 1024)
/* Ceilings of server texts in a sentence, and of a protocol version. */
#define SENTENCE_BYTES 512
#define VERSION_BYTES 64

/* Question of the server that the caller has to answer. */
struct question {
	uint64_t number;    /* for the caller */
	uint64_t ticket;    /* the request that waits for it, or 0 */
	const char *method; /* static */
	struct buf id;	    /* JSON, or the key in `inputRequests`; owned */
	struct buf params;  /* JSON; owned */
	struct buf answer;  /* JSON; kept until all are there; owned */
	bool is_key;	    /* else a request with an id */
	bool told, answered;
	bool gone; /* withdrawn after the caller was told; ASK_GONE is due */
};

struct questions {
	struct question *item; /* owned */
	size_t n, cap;
	uint64_t next;	   /* number */
	uint64_t since_ns; /* start of the pause while `open` is over 0 */
	size_t open;	   /* told and not answered; one more while held */
};

/* Report of the transport that an answer will not come. */
struct loss {
	uint64_t ticket; /* 0: no answer at all will come */
	enum session_failure failure;
	struct err err;
};

struct session {
	struct session_options opt;	   /* defaults filled in */
	const struct mcp_revision *spoken; /* or asked for; static */
	bool is_modern;		  /* by that date: each request stands alone */
	enum session_state state; /* changed by session_move() only */
	uint64_t now_ns;	  /* latest time given by the caller */
	uint64_t start_ns;
	bool refused;	  /* opt.protocol is not a known revision */
	bool eof;	  /* stdout ended; bytes before that are still read */
	bool cut;	  /* stdout ended within a message */
	bool heard;	  /* at least one message was understood */
	bool deaf;	  /* the server's stdin is gone */
	bool probed;	  /* server/discover was sent first */
	bool tried_again; /* and again, with a date of the server (PRB-9) */

	struct inbox in;
	struct buf out; /* bytes for stdin */
	size_t written; /* of them */
	size_t answers; /* at most so many of the rest are answers of ours */

	struct requests requests;
	uint64_t next_id, next_ticket;
	struct questions questions;
	bool is_held;	     /* session_hold() */
	struct loss *losses; /* owned; not yet told */
	size_t n_losses, cap_losses;
	/* lists that have changed and were not asked for since; a bit each */
	uint32_t changed;

	/* texts of the current event */
	struct buf text, logger, shown;
	struct request_progress progress;

	uint64_t log_second_ns; /* start of the current second of logs */
	uint32_t logs;		/* passed on in it */

	struct arena arena; /* of `server` */
	struct mcp_peer server;
	struct session_stats stats;
};

/*
 * Judgement of one message, or of a time that has come. From ENDS_RESULT on
 * the request named by ev->ticket ends, in the way that *ev describes.
 */
enum verdict {
	NO_MESSAGE,   /* not a message; skip it */
	DONE,	      /* understood, nothing to tell */
	EVENT,	      /* *ev is filled */
	ENDS_RESULT,  /* with ev->result */
	ENDS_ERROR,   /* with the error of session_read_error() */
	ENDS_BROKEN,  /* a rule was broken: ev->err says which */
	ENDS_FAILED,  /* without answer: ev->failure, ev->err */
	ENDS_SESSION, /* with all requests: ev->failure, ev->err */
};

/* ---- state ---- */

/* SESSION_MOVE(name): reasons for a change of state. */
#define SESSION_MOVES(X)                                               \
	X(PROBE)      /* server/discover is about to be sent */        \
	X(INITIALIZE) /* initialize is about to be sent, or refused */ \
	X(GREET)      /* the handshake was answered well */            \
	X(CLOSE)      /* the caller wants no more */                   \
	X(END)	      /* stdout ended, and no request was open */      \
	X(FAIL)	      /* the session cannot go on */

enum session_move {
#define SESSION_MOVE(name) MOVE_##name,
	SESSION_MOVES(SESSION_MOVE)
#undef SESSION_MOVE
		N_MOVES
};

/* State that a move leads to, or SESSION_NEW where the move is not allowed. */
enum session_state session_state_after(enum session_state state,
				       enum session_move move) MUST_USE;
/* The session has ended, well or badly. */
bool session_is_over(const struct session *s) MUST_USE;
/* Nothing more is written: the end was begun, or stdin broke. */
bool session_is_mute(const struct session *s) MUST_USE;

/* ---- clocks ---- */

/* Time in so many milliseconds, at most UINT64_MAX. */
uint64_t session_after_ms(uint64_t from_ns, uint64_t ms) MUST_USE;
/* Deadline of a request in so many ms; pauses move it (EL-17). */
uint64_t session_ends_ms(const struct session *s, uint64_t ms) MUST_USE;
/* ---- texts ---- */

/* Server text for display, decoded and cut; in `into`. */
struct str session_shown(struct str v, size_t max, struct buf *into);
/* Fill code, message and data of an event from an error response (RW-56). */
void session_read_error(struct session *s, const struct rpc_message *m,
			struct session_event *ev);
/* Copy members of a JSON object but for those named; NULL ends the names. */
void copy_members(struct jw *w, struct str object, const char *const *except);

/* ---- sending ---- */

/* Add a request with the times of the options; it is not sent yet. */
struct request *session_add_request(struct session *s, const char *method);
/* Start the clocks of a request; the total spans all rounds (MR-9). */
void session_mark_sent(struct session *s, struct request *r);
/*
 * Send a request of the table, or send it once more with a new id. Written when
 * it is sent: its members depend on the revision that is spoken by then.
 */
void session_send(struct session *s, struct request *r);
/* Send a notification; params: a JSON object, or {NULL, 0}. */
void session_notify(struct session *s, const char *method, struct str params);

#endif
