/*
 * One shard at work: each of its inputs that has no valid result is run, and
 * its result kept as soon as it is there.
 */
#ifndef CORE_FAN_SHARD_H
#define CORE_FAN_SHARD_H

#include "core/config/config.h"
#include "core/fan/results.h"

struct fan_exec {
	struct results *results;
	const struct config_file *file; /* of the manifest */
	uint64_t shard;
	unsigned jobs; /* inputs side by side */
	bool confirmed;
	bool until_eof; /* end when standard input does */
};

struct fan_done {
	uint64_t n;	     /* inputs of the shard */
	uint64_t had;	     /* those that had a result, or equal ones */
	uint64_t had_failed; /* of these */
	uint64_t ok, failed;
	uint64_t dropped; /* results that came second */
	uint64_t held;	  /* claimed by a live process */
	uint64_t cut;	  /* ended early, or not begun */
	int exit_status;  /* 0, 1 for a folder that cannot be written, 2, 75 */
};

/*
 * Run a shard.
 *
 * errors  as run_routine(); ERR_USAGE for a shard that the plan has not. No
 *	   room for results is no error: status 75, and the log says why
 */
int fan_exec(const struct fan_exec *o, struct fan_done *ret, struct err *err)
	MUST_USE;

/* Open the configuration of a plan, and set its leash in the environment.
   errors  ERR_CONFIG, also where another leash is set */
int fan_open_config(const struct manifest *m, struct config_file *ret,
		    struct err *err) MUST_USE;
/* 1: a step of the routine, or of one within, must not run twice; 0; -1.
   errors  as above */
int fan_needs_claims(const struct manifest *m, struct err *err) MUST_USE;

#endif
