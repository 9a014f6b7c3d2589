/*
 * Calls of tools that the table of a server forbids: `enabled`, `tools`,
 * `deny_tools`, `read_only`, `confirm`. Each function returns a sentence that
 * refuses the call, ending in what to do; NULL: nothing stands against it.
 * Asked by plans, before a call, and by `tools`.
 *
 * Pure, but for $MATINS_MCP.
 */
#ifndef CORE_RUN_TOOL_POLICY_H
#define CORE_RUN_TOOL_POLICY_H

#include "core/base/arena.h"
#include "core/config/routine.h"

/*
 * Are calls switched off: MATINS_MCP=off, [mcp] enabled = false, or
 * enabled = false of the server?
 *
 * config, server  may be NULL
 */
const char *tool_policy_off(const struct config *config,
			    const struct server *server, struct arena *arena)
	MUST_USE;

/* Paths that a program of the step may write; n = 0: none, as of a URL. */
const struct strlist *tool_policy_write(const struct config *config,
					const struct step *step) MUST_USE;

/*
 * Judge by the name of a tool, and with `read_only` by what the server may
 * write.
 *
 * write         paths that the sandbox of the server grants; n = 0: none
 * is_confirmed  a person agrees to tools of `confirm`
 */
const char *tool_policy_names(const struct server *server, const char *tool,
			      const struct strlist *write, bool is_confirmed,
			      struct arena *arena) MUST_USE;

/*
 * Judge by what the server says of the tool.
 *
 * item  object of tools/list
 */
const char *tool_policy_hints(const struct server *server, struct str item,
			      struct arena *arena) MUST_USE;

/*
 * Judge a listed tool by all of the above, for those who only show it.
 *
 * item      object of tools/list
 * ret_asks  set with a sentence: a person may agree to the call
 */
const char *tool_policy_listed(const struct server *server, struct str item,
			       const struct strlist *write, bool *ret_asks,
			       struct arena *arena) MUST_USE;

/*
 * Key of the server by which its tools are bounded, NULL: none. Such a server
 * must list a tool that is called: it may take other spellings of a name for
 * it, which no pattern fits.
 */
const char *tool_policy_bound(const struct server *server) MUST_USE;

/* Does `confirm` name the tool, and nothing else stand against it? */
bool tool_policy_asks(const struct server *server, const char *tool,
		      const struct strlist *write) MUST_USE;

#endif
