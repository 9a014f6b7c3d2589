/*
 * Users of this machine as /etc/passwd lists them: no plugins, no network.
 * The file is read once in a process.
 */
#ifndef CORE_BASE_USER_H
#define CORE_BASE_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/str.h"

struct user {
	struct str name, home; /* borrowed from the table */
	uid_t uid;
	gid_t gid;
};

/*
 * Find a user by name, or by number where `name` is NULL. Lines that are no
 * entry are left out. false: not listed, or the file cannot be read
 * source  passwd(5)
 */
bool user_find(const char *name, uid_t uid, struct user *ret) MUST_USE;

/* Our own effective ids, asked for once: the runner never changes them for long
   (gate/watch/sockets.c). */
uid_t user_self(void) MUST_USE;
gid_t user_self_group(void) MUST_USE;

/* user_find() in the text of a table. Pure. */
bool user_find_in(struct str table, const char *name, uid_t uid,
		  struct user *ret) MUST_USE;

#endif
