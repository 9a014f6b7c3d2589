/*
 * `matins serve`: routines, and the servers of a configuration, offered to
 * clients as one MCP server.
 *
 *	bytes of a client		core/serve/pipe.c, core/serve/web.c
 *	  -> one session a client	core/server/server.c: framing, eras,
 *					open requests, cancellation
 *	  -> table of methods		core/serve/serve.c
 *	  -> handlers			core/serve/routines.c: commands of
 *					matins as processes,
 *core/serve/worker.c; core/serve/gateway.c: servers, by the pool of core/run
 *and core/client
 *	  -> messages of the session	core/serve/pipe.c, core/serve/web.c
 *
 * All of it turns in one loop; nothing waits for one client, or for one
 * handler, alone. A handler keeps a struct server_call until it answers, and is
 * told when nobody waits for it any more.
 */
#ifndef CORE_SERVE_SERVE_H
#define CORE_SERVE_SERVE_H

#include "core/config/config.h"

struct serve_options {
	const struct config_file *file;
	struct gate *gate;	/* for servers; NULL without */
	struct strlist servers; /* names; they exist */
	bool confirmed;		/* a person agrees to tools of `confirm` */
	struct strlist words;	/* options that choose the configuration, for
				   commands that are started */
	bool routines;
	const char
		*http; /* address and port; NULL: standard input and output */
	struct strlist tokens;	/* with .http: one of them each client has */
	const char *token_file; /* whence they are, for people */
};

/*
 * Serve until standard input ends (without .http) or a signal comes, and end
 * all that was started.
 *
 * returns  0, or 128 and the number of the signal
 * errors   ERR_SYS, ERR_CONFIG
 */
int serve(const struct serve_options *o, struct err *err) MUST_USE;

#endif
