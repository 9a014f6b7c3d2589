/*
 * The results of a plan, on a file system that machines may share. A result is
 * written beside its place, flushed, and linked there: link(2) succeeds once,
 * so the first result counts whoever else runs the input. No lock is relied on.
 *
 *	struct results *s;
 *	if (results_open(dir, &s, err) < 0) ...
 *	... results_look(s, key, …), results_put(s, …), results_commit(s, …) ...
 *	results_close(s);
 */
#ifndef CORE_FAN_RESULTS_H
#define CORE_FAN_RESULTS_H

#include <stdio.h>

#include "core/fan/layout.h"

struct results;

/*
 * Open a plan: its folder and what lies in it belong to the user or root, and
 * nobody else can write them.
 *
 * errors  ERR_SYS, ERR_CONFIG, ERR_SYNTAX
 */
int results_open(const char *dir, struct results **ret, struct err *err)
	MUST_USE;
void results_close(struct results *s);
const struct manifest *results_manifest(const struct results *s) MUST_USE;
const char *results_dir(const struct results *s) MUST_USE; /* absolute */
/* Open a regular file of the plan for reading; -1 and errno, ELOOP where it is
   none. */
int results_file(const struct results *s, const char *name) MUST_USE;

/* ---- inputs ---- */

/* Inputs of a shard, or of all shards, in their order. */
struct results_inputs {
	struct str input; /* borrowed until the next one */
	char key[SHA256_HEX_BYTES];
	uint64_t left; /* that were not read; of a shard */
	/* private */
	const struct results *results;
	FILE *file; /* owned, or NULL */
	char *line; /* owned, or NULL */
	size_t room;
	struct sha256 sum;
	char planned[SHA256_HEX_BYTES]; /* first digits of that sum */
};

#define RESULTS_ALL UINT64_MAX
/*
 * Begin to read inputs; ends with results_close_inputs(), for AUTO().
 *
 * shard   from 0; or RESULTS_ALL
 * errors  ERR_SYS, ERR_SYNTAX; ERR_USAGE  the plan has no such shard
 */
int results_open_inputs(const struct results *s, uint64_t shard,
			struct results_inputs *ret, struct err *err) MUST_USE;
/*
 * Read the next one.
 *
 * returns  1; 0: there are no more, and these are those that were planned
 * errors   ERR_SYS  the file ends before the shard does; ERR_CONFIG  these are
 *	    not those that were planned
 */
int results_next(struct results_inputs *in, struct err *err) MUST_USE;
void results_close_inputs(struct results_inputs *in);

/* ---- results ---- */

/*
 * Read the result of a key.
 *
 * text  the bytes that *ret borrows from; cleared first
 * errors  ERR_SYS  the file system fails; a missing file is none
 */
int results_look(const struct results *s, const char *key, struct buf *text,
		 struct arena *arena, struct fan_result *ret, struct err *err)
	MUST_USE;
/*
 * Write a result beside its place.
 *
 * is_failure  a mark says so for those who only count
 * errors  ERR_SYS  no room, mostly: nothing of it is left
 */
int results_put(struct results *s, const char *key, struct str text,
		bool is_failure, struct err *err) MUST_USE;
/* Results that are flushed together, at most. */
#define RESULTS_WAITING 256
/* Number of results that were put and not yet committed. */
size_t results_waiting(const struct results *s) MUST_USE;
/*
 * Flush what was put, by one call for all of it, and link it in place. Results
 * that came second are dropped.
 *
 * is_end       flush the names, too: a result that is said to be there stays
 * ret_dropped  is raised by their number
 * errors       ERR_SYS  what could not be linked is dropped, and stays missing
 */
int results_commit(struct results *s, bool is_end, uint64_t *ret_dropped,
		   struct err *err) MUST_USE;
/*
 * Put the result of a key that another machine made, if that file is one, to
 * be committed, and remove the file.
 *
 * name    below the folder of the plan; it may be missing
 * errors  as results_look(), results_put(), results_commit()
 */
int results_take_in(struct results *s, const char *name, const char *key,
		    struct err *err) MUST_USE;
/*
 * Take a result out of the way: one that is torn or, for `fan retry`, has
 * failed. One that turns out to be whole, or to have another state, is put
 * back.
 *
 * returns  1: it is gone; 0: it was put back, or there was none
 */
int results_take_away(struct results *s, const char *key, enum fan_state state,
		      struct err *err) MUST_USE;
/* Remove the claim of an input. errors  ERR_SYS */
int results_release(struct results *s, const char *key, struct err *err)
	MUST_USE;

/* ---- processes at work ---- */

/* Say that this process works: how many inputs run, how many have ended. */
int results_begin_work(struct results *s, struct err *err) MUST_USE;
void results_beat(struct results *s, size_t n_running, uint64_t n_done);
void results_end_work(struct results *s);
const char *results_who(const struct results *s) MUST_USE;
/* Remove drafts and marks of processes that are gone. */
void results_sweep(struct results *s);

/*
 * Claim an input, for good, before a step that must not run twice for it.
 *
 * returns  0; 1: a live process has it; 2: such a step has begun, and how it
 *ended is not known; -1
 */
int results_claim(struct results *s, const char *key, struct err *err) MUST_USE;

/* Look for the claim of an input: 0: there is none; else as above. */
int results_holder(struct results *s, const char *key, struct err *err)
	MUST_USE;

/* ---- numbers ---- */

/* Inputs of a plan whose results are opened, and not taken from their names. */
#define RESULTS_LOOKED 50000

struct fan_counts {
	uint64_t total, ok, failed, running, missing;
	uint64_t duplicates;	  /* results that came second */
	uint64_t torn;		  /* of `missing`; files that are no results */
	uint64_t per_second_1000; /* inputs in 1000 seconds */
	bool is_looked;		  /* each result was opened */
};

/*
 * Count results. In a plan above RESULTS_LOOKED names are counted, of results
 * and of marks of failures, unless is_deep.
 */
int results_count(struct results *s, bool is_deep, struct fan_counts *ret,
		  struct err *err) MUST_USE;

#endif
