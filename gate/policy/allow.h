/*
 * The leash, asked: may this program run, may this path be granted, is there
 * a call left?
 *
 * The leash is the upper bound of a whole run (struct gate_leash, read with
 * gate_leash_parse() in gate/gate.h). Default is no: what matches no row is
 * refused, with the nearest row in the message.
 *
 *	allow_exec(&leash, "git", NULL, err);          name, before resolving
 *	allow_exec(&leash, "git", "/usr/bin/git", err);  and after
 *
 * Pure: texts are compared, nothing is opened.
 */
#ifndef GATE_POLICY_ALLOW_H
#define GATE_POLICY_ALLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/gate.h"

/*
 * May this program be started?
 *
 * A row that is a bare name ("git") matches only when exactly that name was
 * asked for, never the last part of a path. A row that is a path matches what
 * was asked for, or the resolved path, as a whole.
 *
 * asked     the program as the request wrote it: bare name or path
 * resolved  the absolute path that it came to; NULL when not yet known
 * errors    ERR_LEASH with the nearest row
 */
int allow_exec(const struct gate_leash *leash, const char *asked,
	       const char *resolved, struct err *err) MUST_USE;

/* errors  ERR_LEASH  the leash is for other generations */
int allow_generation(const struct gate_leash *leash, uint64_t generation,
		     struct err *err) MUST_USE;

/*
 * used    programs that this run has started so far
 * errors  ERR_LEASH  that was the last one
 */
int allow_calls(const struct gate_leash *leash, uint64_t used, struct err *err)
	MUST_USE;

/* Some row of the axis covers the path, or the axis is "all". */
bool allow_axis_covers(const struct gate_axis *axis, const char *path) MUST_USE;

#endif
