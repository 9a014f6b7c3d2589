/*
 * Starts of servers that `matins wrap` wrote into a client's file, kept by
 * their digests in the state directory, where no confined program can write:
 * a start of that form that stands in a file of others proves nothing.
 */
#ifndef CORE_CLI_WRAPPED_H
#define CORE_CLI_WRAPPED_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/import/server.h"

/* path  of the list of the client's file; it may be missing */
bool wrapped_has(const char *path, const struct strlist *words) MUST_USE;
/* Add one start to a list that wrapped_write() writes. */
void wrapped_add(struct buf *list, const struct strlist *words);
/* Append a list to those that are there. errors  ERR_SYS, ERR_LIMIT */
int wrapped_write(const char *path, const struct buf *list, struct err *err)
	MUST_USE;

/*
 * Options of a `matins exec` that grant something, for people.
 *
 * words  program and arguments of the server
 * of	  the server: variables that it sets itself are no grant
 * ret	  appended; credentials are hidden; stays empty without any
 */
void wrapped_policy(const struct strlist *words, const struct import_server *of,
		    struct buf *ret);

#endif
