/*
 * What the files of a batch share. Who runs one sees call_batch.h.
 *
 *	call_batch.c	     its life, and the loop
 *	call_batch_input.c   the file: lines become calls while there is room
 *	call_batch_line.c    one line: tools, members, checking and sending it
 *	call_batch_answer.c  answers, in the order of the lines
 */
#ifndef CORE_CLI_CALL_BATCH_INNER_H
#define CORE_CLI_CALL_BATCH_INNER_H

#include "core/cli/call_batch.h"
#include "core/cli/tool_set.h"

/* Read, or printed, at once. */
#define PORTION_BYTES 65536
/* One line of the file. */
#define LINE_BYTES (16 * 1024 * 1024)

/* One line, from when it is read to when its answer is printed. */
struct slot {
	struct batch *batch;
	struct slot *next;
	uint64_t number;	  /* of the line */
	struct tool_set *set;	  /* NULL with: */
	struct tool_check *check; /* NULL: the tool is not known */
	bool done;
	struct buf out; /* the answer, while it is not its turn; owned */
};

struct batch {
	struct target *t;
	const struct batch_options *o;
	struct batch_counts counts;
	int fd;
	bool is_file;  /* reading it never waits */
	bool ended;    /* all of it was read */
	bool too_long; /* the line is over LINE_BYTES: skip to its end */
	struct loop_watch in;
	struct buf text; /* read and not yet used */
	size_t at;	 /* of it, where the next line begins */
	uint64_t number;
	struct slot *first, **last; /* in order; owned */
	struct slot *spare;	    /* one to use again, or NULL; owned */
	struct buf tool;	    /* the name in the line; owned */
	struct buf out;		    /* answers that are due; owned */
	size_t n_slots, n_open;
	unsigned looks;	      /* that may be made before the next wait */
	unsigned waits;	      /* that are made before the next look */
	struct tool_set *set; /* owned; NULL: tools are not known */
	bool is_list_lost;    /* it could not be asked for again */
};

/* call_batch_input.c */
/* errors ERR_USAGE it cannot be opened, or is a folder */
int batch_open_input(struct batch *b, struct err *err) MUST_USE;
/* Lines become calls while there is room. errors ERR_SYS */
int batch_fill(struct batch *b, struct err *err) MUST_USE;
/* All was read and answered, or a signal came and all that ran has ended. */
bool batch_is_over(const struct batch *b) MUST_USE;
/* There is something to do that needs no event. */
bool batch_can_go_on(const struct batch *b) MUST_USE;

/* call_batch_line.c */
/* It becomes a call, or an answer that says what is wrong with it. */
void batch_take_line(struct batch *b, struct str line);
/* List them again where they have changed. errors ERR_SYS stdout */
int batch_refresh_tools(struct batch *b, struct err *err) MUST_USE;
/* The line needs it no more. */
void batch_leave_set(struct slot *s);

/* call_batch_answer.c */
/* The last in order, for the line b->number; the batch's. */
struct slot *batch_new_slot(struct batch *b) MUST_USE;
/* Not before its calls have ended, or can call back no more. */
void batch_drop_first(struct batch *b);
/* For client_call.on_event; arg is the slot. */
void batch_on_answer(void *arg, const struct client_event *e);
/* Instead of an answer; batch_finish() is next. */
void batch_write_error(struct slot *s, const char *kind, const char *message);
/* Its answer is written: nothing of it is open any more. */
void batch_finish(struct slot *s);
/* What is due is gathered for printing, and forgotten. errors ERR_SYS */
int batch_take_due(struct batch *b, struct err *err) MUST_USE;
/* Print what is gathered; when one can only wait. errors ERR_SYS */
int batch_flush(struct batch *b, struct err *err) MUST_USE;

#endif
