/*
 * A program that is run to its end: its stdin is written, its stdout collected
 * up to a ceiling. A program that prints more is killed.
 *
 *	program_init(&p, &options);
 *	program_start(&p, gate, &request, err);
 *	... options.ended(arg): p.out, p.is_over, p.child.verdict
 *	program_release(&p);
 */
#ifndef CORE_CLIENT_PROGRAM_H
#define CORE_CLIENT_PROGRAM_H

#include "core/client/child.h"
#include "core/client/tape.h"

struct program_options {
	struct loop *loop;	   /* borrowed, as are the next two */
	const struct scrub *scrub; /* of stderr; may be NULL */
	const char *name;	   /* for lines about it */
	uint64_t grace_ms;
	size_t stderr_max; /* bytes kept of its end */
	size_t stdout_max; /* ceiling of stdout */
	struct tape *tape; /* recorded, or replayed from it; NULL: neither */
	struct str input;  /* for stdin, which is closed then; borrowed */
	/* The ceiling was reached, and the program is killed. May be NULL. */
	void (*over)(void *arg);
	/* The whole tree has ended, and stdout was read to its end. */
	void (*ended)(void *arg);
	void *arg;
};

struct program {
	struct program_options o;
	struct child child;
	struct loop_watch in, out_watch;
	size_t written;	    /* of the input */
	struct buf out;	    /* collected stdout */
	uint64_t out_bytes; /* seen on stdout */
	bool out_ended;
	struct recording *taped;    /* NULL: it is on no tape */
	struct loop_timer replayed; /* timer of its end */
	bool is_over;		    /* there was more than stdout_max */
};

void program_init(struct program *p, const struct program_options *options);
/* errors  those of gate_spawn(); the program then does not run */
int program_start(struct program *p, struct gate *gate,
		  const struct gate_request *request, struct err *err) MUST_USE;
/* End it as child_end() does, also one that is replayed. */
void program_end(struct program *p, enum child_phase how);
/* End the program at once, and wipe its output. */
void program_release(struct program *p);

#endif
