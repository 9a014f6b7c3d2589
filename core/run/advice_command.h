/*
 * Commands that advice names, to paste into a shell.
 */
#ifndef CORE_RUN_ADVICE_COMMAND_H
#define CORE_RUN_ADVICE_COMMAND_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/config/routine.h"
#include "gate/gate.h"

/* Write "matins trace -- " and the words of a command, as far as a line
   goes. */
const char *advice_command(const struct gate_request *request,
			   struct arena *arena) MUST_USE;

/* " -c ~/x.toml" for commands about a configuration; "" of one that matins
   finds by itself, and without any. */
const char *advice_config(const struct config *config, struct arena *arena)
	MUST_USE;

/* Write the names of a routine and of a step as words of a command, in quotes
   where a shell would read them otherwise. step  NULL: the routine alone */
const char *advice_words(const char *routine, const char *step,
			 struct arena *arena) MUST_USE;

/*
 * Write a command about a configuration, for any folder: "matins trace -c
 * ~/x.toml r s". A file that matins finds by itself is not named.
 *
 * verb, words  "trace", "r s" of advice_words()
 */
const char *advice_about(const struct config *config, const char *verb,
			 const char *words, struct arena *arena) MUST_USE;

/*
 * Write the command that lists the tools of a server.
 *
 * option   " -v", or ""
 * server   its name; NULL: that of the request
 */
const char *advice_tools(const struct config *config, const char *option,
			 const char *server, const struct gate_request *request,
			 struct arena *arena) MUST_USE;

/* The sentence that leads to a trace, which this command starts. */
const char *advice_trace(const char *command, struct arena *arena) MUST_USE;

/* Help for npm without a network that lacks a package. */
extern const char advice_download[];

#endif
