/* Tools of all servers of a configuration, out of the catalogue. */
#ifndef CORE_CLI_MERGED_TOOLS_H
#define CORE_CLI_MERGED_TOOLS_H

#include "core/cli/args.h"
#include "core/client/catalogue.h"
#include "core/config/config.h"
#include "core/mcp/wire/merged_name.h"

struct merged_tool {
	const struct server *server;
	const struct catalogue_entry *entry; /* of the catalogue below */
	char name[MERGED_NAME_BYTES + 1];
	unsigned score;	    /* of a search; else 1 */
	const char *denied; /* sentence by which a call is denied; or NULL */
};

struct merged_tools {
	struct arena arena;
	struct catalogue *of; /* one of each server, in its order */
	size_t n_of;
	struct merged_tool *tool; /* owned by the arena */
	size_t n;
	struct strlist unlisted; /* servers of which nothing is known */
};

/*
 * Read what is known of the tools of all servers that are not switched off,
 * and sort it: the best of a search first, else as the servers have them.
 *
 * config    borrowed until merged_tools_release()
 * patterns  only tools whose merged name, SERVER.TOOL or name fits one of
 *	     these; n = 0: all
 * words     only tools that catalogue_score() these; NULL: all
 */
void merged_tools_read(const struct config *config,
		       const struct strlist *patterns, const char *words,
		       struct merged_tools *ret);
void merged_tools_release(struct merged_tools *m);

/* `tools` without a target. */
int merged_tools_list(const struct args *args, struct err *err) MUST_USE;

#endif
