/*
 * Names of a server's tools as they were listed last, for completion, which
 * starts no server: one file for each server of a configuration, in the
 * folder `tools` of the state directory. A memory, not a truth
 * (core/config/state_file.h): calls never look at it.
 */
#ifndef CORE_CLIENT_KNOWN_TOOLS_H
#define CORE_CLIENT_KNOWN_TOOLS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/mcp/wire/listing.h"
#include "core/secret/scrub.h"

/* Can a command line, or advice, hold the name as it is: letters, digits and
   "_-./:"? */
bool known_tools_takes(struct str name) MUST_USE;
/*
 * Keep the names that known_tools_takes(); none in which a secret is found.
 * Nothing is written where they are known already.
 *
 * state_dir  NULL: nothing is kept
 * config     real path of the file
 */
void known_tools_keep(const char *state_dir, const char *config,
		      const char *server, const struct listing *tools,
		      const struct scrub *scrub);
/* In `arena`; none where nothing is known. state_dir as above. */
struct strlist known_tools(const char *state_dir, const char *config,
			   const char *server, struct arena *arena) MUST_USE;

#endif
