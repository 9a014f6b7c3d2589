/*
 * Whether a tool of a pinned server is still what a person accepted
 * (core/report/pins.h): asked before each call.
 */
#ifndef CORE_RUN_PINNED_H
#define CORE_RUN_PINNED_H

#include "core/config/routine.h"
#include "core/mcp/wire/listing.h"

/*
 * Compare a tool of the server with the file beside the configuration.
 *
 * returns  NULL: it is the same. Else the sentence that refuses the call, with
 *	    the difference and the command that accepts it; in `arena`
 */
const char *pinned_refusal(const struct config *config,
			   const struct server *server,
			   const struct listing_item *tool, struct arena *arena)
	MUST_USE;

/* Compare a tool with the pin of an action; as above. action  NULL: none */
const char *pinned_action_refusal(const struct action *action, struct str tool,
				  struct arena *arena) MUST_USE;

/* Say that the file of a pinned server cannot be read, as a refusal does; NULL:
   it can. In `arena`. */
const char *pinned_missing(const struct config *config,
			   const struct server *server, struct arena *arena)
	MUST_USE;

/*
 * Append the text that would be kept of a list.
 * errors  as pins_print()
 */
int pinned_text(const struct config *config, const struct server *server,
		const struct listing *tools, struct buf *out, struct err *err)
	MUST_USE;

/*
 * Refuse what is kept of a server of the same name in another configuration of
 * that folder: neither speaks for the other.
 * errors  ERR_COMPARE
 */
int pinned_check_owner(const struct config *config, const struct server *server,
		       const char *path, struct str kept, struct err *err)
	MUST_USE;

#endif
