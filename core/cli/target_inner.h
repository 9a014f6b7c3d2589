/*
 * What the files of a target share. Who uses one sees target.h.
 *
 *	target.c	  its life: gate, client, events, the end
 *	target_options.c  which server, and what is said of it
 *	target_remote.c	  a server that is reached by a URL
 *	target_ask.c	  requests, errors, listings
 *	target_show.c	  what is printed, values of options
 *	target_hint.c	  what the sandbox may have to do with a failure
 */
#ifndef CORE_CLI_TARGET_INNER_H
#define CORE_CLI_TARGET_INNER_H

#include "core/cli/target.h"

/*
 * Which server is meant, with its configuration.
 *
 * ret_server  its table; NULL: a program or a URL of the command line
 * errors      ERR_USAGE    no target, or two
 *	       ERR_UNKNOWN_SERVER  there is none of that name
 */
int target_find_server(struct target *t, const struct args *args,
		       const struct server **ret_server, struct err *err)
	MUST_USE;
/* Everything that is said of it, server's keys first, into *t. */
int target_read_options(struct target *t, const struct args *args,
			const struct server *s, struct err *err) MUST_USE;
/*
 * Everything about a remote server; t->url, loop and gate are there.
 * s  its table; NULL: --url
 */
int target_open_remote(struct target *t, const struct args *args,
		       const struct server *s, struct err *err) MUST_USE;
/* Before there is a gate: no option of a program is given to it. */
int target_check_remote(const struct target *t, const struct args *args,
			struct err *err) MUST_USE;
/* line  "NAME=VALUE"; taken, wiped in the end */
void target_add_env(struct target *t, char *line);

/* On stderr, and with --json as a document on stdout as well. */
void target_print_error(struct target *t, const struct target_answer *a);
const char *target_signal_name(int signal);

#endif
