/*
 * How a client starts a server, freed of what only other systems or clients
 * need: `cmd /c`, npx.cmd, and mcp-remote in front of a URL. Pure.
 */
#ifndef CORE_IMPORT_LAUNCH_H
#define CORE_IMPORT_LAUNCH_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"

/* Names and values, in order, each name once. */
struct pairs {
	struct pair {
		const char *name, *value;
	} * item;
	size_t n;
};

/* replaces  false: a value that is there stays */
void pairs_set(struct pairs *p, struct arena *arena, const char *name,
	       const char *value, bool replaces);

struct launch {
	const char *program; /* NULL without */
	struct strlist args;
};

/* Replace `cmd /c PROGRAM` and PROGRAM.cmd by the program, and note it. */
void launch_unwrap(struct launch *l, struct arena *arena,
		   struct strlist *notes);
/*
 * URL of an mcp-remote; NULL: it is none.
 *
 * env      variables of the program, for its headers
 * headers  those of the arguments are added
 * left     words without a counterpart are added
 */
const char *launch_bridge(const struct launch *l, const struct pairs *env,
			  struct arena *arena, struct pairs *headers,
			  struct strlist *left) MUST_USE;
/* Is it `matins exec …`, as `matins wrap` writes it? */
bool launch_is_wrapped(const struct launch *l) MUST_USE;
bool launch_is_container(const struct launch *l) MUST_USE;
bool launch_is_url(const char *text) MUST_USE;

#endif
