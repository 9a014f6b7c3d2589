/*
 * What the files of the client share. Who uses a client sees client.h.
 *
 *	client.c	 life of a client, bytes, the end
 *	client_call.c	 what is asked, and the events of it
 *	client_say.c	 what is known of the server: sentences, facts
 */
#ifndef CORE_RUN_CLIENT_INNER_H
#define CORE_RUN_CLIENT_INNER_H

#include "core/run/child.h"
#include "core/run/client.h"
#include "core/run/eras.h"
#include "core/transport/transport.h"

/* Something that was asked and has no answer. */
struct call {
	uint64_t ticket;	 /* of the caller */
	uint64_t session_ticket; /* 0: not sent yet */
	char *tool;		 /* owned; or NULL, and */
	const char *method;	 /* static */
	struct buf params;	 /* owned; until it is sent */
	bool has_params, as_task;
	uint64_t timeout_ms, total_ms;
	client_event_fn *on_event;
	void *arg;
};

/* How the next start is made, and why another one may be due. */
struct client_begin {
	enum session_era era;
	const char *protocol; /* static or borrowed; NULL: by the era */
	bool tried_era, tried_protocol; /* each of the two once */
	bool is_due;			/* when this process has ended */
	uint32_t restarts;
	struct era_key key;
	bool has_key;
	bool is_remembered; /* `era` is from memory */
};

struct client {
	struct client_context ctx;
	struct client_options o;
	struct child child;
	struct transport *transport; /* owned; NULL where nothing runs */
	struct session *session;     /* owned; NULL before the start */
	struct loop_watch in, out;
	struct loop_timer own; /* the session's deadline */
	bool is_open;	       /* calls may be made */
	bool is_over;
	bool is_pump_due;
	bool is_pumping; /* events are told */
	bool is_telling; /* the failure is */
	bool is_ending;	 /* what is left is only to say so */
	uint64_t bytes_in;

	struct call *calls; /* owned, in the order of asking */
	size_t n_calls, cap_calls;
	uint64_t next_ticket;

	struct client_begin begin;

	enum step_reason failure;
	bool is_failure_told;
	bool is_cut; /* its output ended within a message */
	struct buf sentence, details;
};

/* client.c */
/* Something to write, or another deadline: look again. */
void client_update(struct client *c);
/* The session is over, as the event says. */
void client_on_failed(struct client *c, const struct session_event *e);
/* The server has left, and nobody waits for anything. */
void client_on_left(struct client *c);
void client_on_ready(struct client *c);

/* client_call.c */
void client_on_event(struct client *c, const struct session_event *e);
/* READY: what was asked before is sent. */
void client_send_waiting(struct client *c);
void client_tell(struct client *c, const struct client_event *e);
/* All open calls end. sentence: NULL makes one for each. */
void client_fail_calls(struct client *c, enum step_reason reason,
		       const char *sentence);
void client_release_calls(struct client *c);

/* client_say.c */
enum step_reason client_failure_reason(const struct session_event *e,
				       const struct call *call);
/* Fill c->details. */
void client_note_details(struct client *c);
/*
 * "the server exited with status 3 before the answer to tools/call": how a
 * process ended that was to answer. call: NULL where none was sent.
 */
void client_say_end(const struct client *c, const struct call *call,
		    struct buf *out);

#endif
