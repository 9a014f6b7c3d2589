/*
 * tools/list and tools/call of a table of tools, answered at once: methods of a
 * server, whose `arg` is a struct server_tools.
 */
#ifndef CORE_SERVER_TOOLS_H
#define CORE_SERVER_TOOLS_H

#include "core/server/brief.h"
#include "core/server/server.h"

struct server_tools {
	const struct tool *tools; /* ends with name NULL; borrowed */
	const struct tool_env *env;
};

#define SERVER_TOOLS_CAPABILITIES "{\"tools\":{}}"
extern const struct server_method server_tools_methods[];

/* Write the annotations of a tool that only reads. */
void server_write_annotations(struct server_call *c, struct jw *w,
			      const char *title, bool is_read_only);

#endif
