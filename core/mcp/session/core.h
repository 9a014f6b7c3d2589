/*
 * Core of a session: its data, its state machine and its clocks. Users of a
 * session include session.h only.
 *
 *	session.c   on top: reads events one after the other, ends requests,
 *		    begins and ends the session
 *	era.c	    judges the answers of the handshake (pure)
 *	notice.c    progress, log messages, changes
 *	later.c	    answers that are not the result yet: input_required, tasks
 *	questions.c	    requests of the server that wait for the caller
 *	send.c	    requests and notifications of the client
 *	core.c	    this header
 *	requests.c  table of the client's requests
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
#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/mcp/session/requests.h"
#include "core/mcp/session/session.h"
#include "core/mcp/wire/inbox.h"
#include "core/mcp/wire/rpc.h"

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
	struct buf id;	    /* of a request of the server: JSON; owned */
	struct buf key;	    /* of `inputRequests`: decoded; owned */
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
	struct session_options opt; /* defaults filled in */
	const char *date;	    /* revision asked for; static or borrowed */
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
/* Make a move and trace it. False: not allowed now; nothing has changed. */
bool session_move(struct session *s, enum session_move move);

/* The session has ended, well or badly. */
bool session_is_over(const struct session *s) MUST_USE;
/* Nothing more is written: the end was begun, or stdin broke. */
bool session_is_mute(const struct session *s) MUST_USE;
/* Speak the revision of this date from here on; kept, not copied. */
void session_set_date(struct session *s, const char *date);

/* ---- clocks ---- */

/* Take the caller's time, unless it runs backwards. */
void session_hear_time(struct session *s, uint64_t now_ns);
/* Time in so many milliseconds from now. */
uint64_t session_after_ms(const struct session *s, uint64_t ms) MUST_USE;
/* Deadline of a request in so many ms; pauses move it (EL-17). */
uint64_t session_ends_ms(const struct session *s, uint64_t ms) MUST_USE;
/* Times of a request: to an answer or progress, and in all. */
uint64_t session_timeout_ms(const struct session *s, const struct request *r)
	MUST_USE;
uint64_t session_total_ms(const struct session *s, const struct request *r)
	MUST_USE;
/* Nested pauses of all request clocks, while a person is asked (EL-17). */
void session_stop_clocks(struct session *s);
void session_start_clocks(struct session *s);

/* ---- texts ---- */

/* Server text for display, decoded and cut; in `into`. */
struct str session_shown(struct str v, size_t max, struct buf *into);
/* Fill code, message and data of an event from an error response (RW-56). */
void session_read_error(struct session *s, const struct rpc_message *m,
			struct session_event *ev);
/* Copy members of a JSON object but for those named; NULL ends the names. */
void copy_members(struct jw *w, struct str object, const char *const *except);

#endif
