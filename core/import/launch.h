/*
 * How a client starts a server, freed of what only other systems or clients
 * need: `cmd /c`, npx.cmd, and mcp-remote in front of a URL. Pure.
 */
#ifndef CORE_IMPORT_LAUNCH_H
#define CORE_IMPORT_LAUNCH_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"

struct launch {
	const char *program; /* NULL without */
	struct strlist args;
	struct strlist headers; /* names and values by turns; of a bridge */
	struct strlist left;	/* its words without a counterpart */
};

/* Replace `cmd /c PROGRAM` and PROGRAM.cmd by the program, and note it. */
void launch_unwrap(struct launch *l, struct arena *arena,
		   struct strlist *notes);
/* URL of an mcp-remote; its headers are in the launch. NULL: it is none. */
const char *launch_bridge(struct launch *l, struct arena *arena) MUST_USE;
bool launch_is_container(const struct launch *l) MUST_USE;
bool launch_is_url(const char *text) MUST_USE;
/* Put values of these variables into ${NAME} of a text. */
const char *launch_fill(const char *text, const struct strlist *names,
			const struct strlist *values, struct arena *arena)
	MUST_USE;

#endif
