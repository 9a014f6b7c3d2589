/*
 * A folder in which the sessions and programs of a run are kept, or from which
 * they are replayed: then no program starts, and no host is asked.
 *
 *	tape_record(&options, &run, &t, err)	or tape_replay(&options, …)
 *	s = tape_server(t, name, argv)		for each server
 *	client_options.tape = s;		recording
 *	client_options.open = tape_open;	replay
 *	tape_end(t, err);			recording: write all
 *	tape_free(t);
 *
 * NAME.session.jsonl is a session (core/client/recording.h), NAME-2.2… the
 * second server of that name and its second start; programs.jsonl has the
 * run, the programs without a session and the refused steps. Sessions of a run
 * count with its programs alone: new ones wait beside the old as
 * NAME.session.jsonl.new until programs.jsonl is replaced.
 *
 * Arguments are kept as far as another machine has the same: paths in the
 * folder of the configuration begin with "./", those in HOME with "~/".
 */
#ifndef CORE_CLIENT_TAPE_H
#define CORE_CLIENT_TAPE_H

#include "core/client/recording.h"
#include "core/config/routine.h"
#include "core/secret/scrub.h"

struct tape;

/* Things of a run that messages may say. */
struct tape_run {
	uint64_t generation;
	int64_t begin_wall_ns;
};

struct tape_options {
	const char *dir; /* borrowed, as is all */
	const struct config *config;
	const struct scrub *scrub;
};

/* A server of the run; the tape's. */
struct tape_server {
	struct tape *tape;
	const char *name;
	struct str args; /* JSON array */
	uint64_t nth;	 /* of that name */
	uint64_t starts;
	/* Of its values, too, where the server has some; borrowed until
	   tape_end(). */
	const struct scrub *scrub;
	struct tape_server *next;
};

/*
 * Open the folder, which is made, and removed again by tape_free() where the
 * recording does not come to its end. It may have an earlier recording, which
 * stays until tape_end().
 * errors  ERR_SYS, ERR_OUTPUT (a program may write there, or a file of its
 *	   names is of something else)
 */
int tape_record(const struct tape_options *o, const struct tape_run *run,
		struct tape **ret, struct err *err) MUST_USE;
/*
 * Read all of it; links, FIFOs and what is over RECORDING_BYTES are refused.
 * errors  ERR_SYS, ERR_SYNTAX, ERR_REPLAY, ERR_LIMIT: the file and its line
 */
int tape_replay(const struct tape_options *o, struct tape_run *ret_run,
		struct tape **ret, struct err *err) MUST_USE;
/*
 * Put the recording in the place of an earlier one: after an error of the
 * disk, and after a kill at any time, one of the two is there whole.
 *
 * errors  ERR_SYS, ERR_OUTPUT
 */
int tape_end(struct tape *t, struct err *err) MUST_USE;
/* Takes NULL. */
void tape_free(struct tape *t);

/* false: it records; t may be NULL */
bool tape_is_replay(const struct tape *t) MUST_USE;
/* Is there a recording of a server or program of that name? */
bool tape_has(const struct tape *t, const char *name) MUST_USE;

/* argv  of its program, ends in NULL; NULL: a remote one */
struct tape_server *tape_server(struct tape *t, const char *name,
				const char *const *argv) MUST_USE;
/* Begin to record a start of it. */
struct recording *tape_begin(struct tape_server *s, enum recording_kind kind)
	MUST_USE;
/*
 * For client_options.open; arg is the server.
 * errors  ERR_REPLAY, ERR_SYS, that of the recorded start
 */
int tape_open(void *arg, struct transport **ret, struct err *err) MUST_USE;
/* Recording of its last start; NULL: there is none. */
struct recording *tape_last(const struct tape_server *s) MUST_USE;

/*
 * Begin a program without a session. In a replay its end is there.
 * errors  ERR_REPLAY  none like it was recorded, with the difference; that of
 *		       the recorded start
 */
int tape_program(struct tape *t, const char *name, const char *const *argv,
		 struct str input, struct recording **ret, struct err *err)
	MUST_USE;

/* Record that a step was refused before anything of it began. t may be NULL */
void tape_refuse(struct tape *t, const char *step, const struct err *why);
/* Why it was, in a replay; NULL: it was not. */
const struct err *tape_refused(struct tape *t, const char *step) MUST_USE;

#endif
