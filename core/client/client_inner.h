/*
 * What the files of the client share. Who uses a client sees client.h.
 *
 *	client.c	 life of a client, its begin, bytes
 *	client_end.c	 its end, and whether it is started once more
 *	client_wait.c	 a loop of its own, what is known
 *	client_remote.c	 servers at a URL
 *	client_call.c	 what is asked, and the events of it
 *	client_list.c, client_list_keep.c  lists, and how long they are good
 *	client_say.c	 what is known of the server: sentences, facts
 */
#ifndef CORE_CLIENT_CLIENT_INNER_H
#define CORE_CLIENT_CLIENT_INNER_H

#include "core/client/child.h"
#include "core/client/client.h"
#include "core/client/eras.h"
#include "core/transport/transport.h"

/* Something that was asked and has no answer. */
struct call {
	uint64_t ticket;	 /* of the caller */
	uint64_t session_ticket; /* 0: not sent yet */
	char *tool;		 /* owned; until it is sent; NULL: none */
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
	/* Of a remote server: its restart, or the end of waiting for its end.
	 */
	struct loop_timer last;
	uint64_t grace_ms; /* for that end */
	struct buf remote; /* facts of a transport that is gone; owned */
	bool is_open;	   /* calls may be made */
	bool is_over;
	bool is_pump_due;
	bool is_pumping; /* events are told */
	bool is_telling; /* the failure is */
	bool is_ending;	 /* what is left is only to say so */
	uint64_t bytes_in;

	struct call *calls; /* owned, in the order of asking */
	size_t n_calls, cap_calls;
	uint64_t next_ticket;
	struct client_lists *lists; /* owned; NULL: none was asked for */

	struct client_begin begin;

	enum step_reason failure;
	bool is_failure_told;
	bool is_cut; /* its output ended within a message */
	struct buf sentence, details;
};

/* client.c */
/* Tell what the session has to tell. */
void client_pump(struct client *c);
/* Something to write, or another deadline: look again. */
void client_update(struct client *c);
/* Take all that is there, however much. */
void client_drain(struct client *c);
/* Nothing more comes, and the session hears of it. */
void client_end_input(struct client *c);
/* It no longer reads: its stdout tells the rest (STD-17). */
void client_end_output(struct client *c);
/* Once more, after its end. errors as client_start() */
int client_reopen(struct client *c, struct err *err) MUST_USE;
void client_drop_transport(struct client *c);
void client_on_ready(struct client *c);

/* client_end.c */
/* Of c->child; arg is the client. */
extern const struct child_handler client_child_handler;
/* Of c->last; arg is the client. */
void client_on_last(void *arg);
/* Nothing of it runs any more. */
void client_over(struct client *c);
/* The session is over, as the event says. */
void client_on_failed(struct client *c, const struct session_event *e);
/* The server has left, and nobody waits for anything. */
void client_on_left(struct client *c);

/* client_remote.c: servers that are no process of ours */
bool client_is_remote(const struct client *c) MUST_USE;
int client_open_remote(struct client *c, struct err *err) MUST_USE;
/* Take what has come; false: there will be more. */
bool client_receive_messages(struct client *c, size_t budget);
/* What is known of the transport: members of an open object. */
void client_write_remote(struct client *c, struct jw *w);
/* The same outlives it. */
void client_note_remote(struct client *c);

/* client_call.c */
void client_on_event(struct client *c, const struct session_event *e);
/* READY: what was asked before is sent. */
void client_send_waiting(struct client *c);
void client_tell(struct client *c, const struct client_event *e);
/* All open calls end. sentence: NULL makes one for each. */
void client_fail_calls(struct client *c, enum step_reason reason,
		       const char *sentence);
void client_release_calls(struct client *c);

/* client_list.c */
/* READY: what waits for it is begun. */
void client_lists_begin(struct client *c);
/* What waits for READY ends. */
void client_lists_fail(struct client *c, enum step_reason reason,
		       const char *sentence);
void client_lists_free(struct client *c);

/* client_list_keep.c */
/* uri  as cache_stale() */
void client_lists_changed(struct client *c, const char *notice, struct str uri);
/* A call was refused as if the list of tools were wrong (CH-7). */
void client_lists_doubt(struct client *c);
/* Calls that are open for ourselves. */
size_t client_lists_own_calls(const struct client *c) MUST_USE;

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
/* Of a call that was sent: its outcome is not known. call: NULL for none */
void client_say_unknown(const struct call *call, struct buf *out);

#endif
