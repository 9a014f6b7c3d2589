/*
 * Names by which a command line finds one tool among those of all servers:
 *
 *	mcp__SERVER__TOOL	core/mcp/wire/merged_name.h
 *	SERVER.TOOL
 */
#ifndef CORE_CLI_ROUTE_H
#define CORE_CLI_ROUTE_H

#include "core/cli/args.h"
#include "core/config/config.h"

/*
 * Find the server and the tool that a word names.
 *
 * ret_tool  in the arena, or a part of the word
 * returns   false: it names no server of this configuration, and *ret_tool is
 *	     NULL; or tools of two servers, and *ret_tool tells which
 */
bool route_find(const struct config *config, const char *word,
		struct arena *arena, const struct server **ret_server,
		const char **ret_tool) MUST_USE;

/*
 * route_find() in the configuration of a command line that names no target.
 *
 * ret_server  in the arena
 * errors      ERR_UNKNOWN_SERVER  the word names one that is not there
 *	       ERR_USAGE	   it names two tools; or none, with the servers
 *				   that have such a tool
 *	       of config_open()
 */
int route_word(const struct args *args, const char *word, struct arena *arena,
	       const char **ret_server, const char **ret_tool, struct err *err)
	MUST_USE;

#endif
