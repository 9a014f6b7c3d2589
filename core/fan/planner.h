/*
 * Plans: inputs judged, sorted into shards, and kept with the configuration in
 * a folder that appears whole or not at all. Memory does not grow with the
 * inputs, but for a 256th of their keys.
 */
#ifndef CORE_FAN_PLANNER_H
#define CORE_FAN_PLANNER_H

#include "core/config/config.h"
#include "core/fan/layout.h"

#define FAN_PER_SHARD 100

struct fan_plan {
	const struct config_file *file;
	struct str text; /* of the configuration */
	const struct routine *routine;
	const char *inputs; /* JSONL or CSV; "-": standard input */
	const char *dir;    /* must be missing, or empty */
	uint64_t per_shard;
};

/*
 * Make a plan. Mistakes of inputs are logged, each with its line.
 *
 * ret     numbers of what was made
 * errors  ERR_USAGE   inputs are wrong, or there are none
 *	   ERR_CONFIG  the folder is not empty
 *	   ERR_SYS, ERR_LIMIT
 */
int fan_plan(const struct fan_plan *o, struct manifest *ret, struct err *err)
	MUST_USE;

#endif
