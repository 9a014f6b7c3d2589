/*
 * Private HOME and /tmp where no namespace can make them: real folders.
 *
 * One folder per process of ours, in $XDG_RUNTIME_DIR, /dev/shm or /tmp, holds
 * those of all its children and is locked; what a crashed run has left is
 * recognized by its free lock and removed at the next start.
 *
 *	private_open(&p, err);
 *	private_make(&p, uid, gid, &dir, err);    dir/home and dir/tmp
 *	private_remove(dir);  free(dir);
 *	private_close(&p);
 */
#ifndef GATE_PATH_PRIVATE_H
#define GATE_PATH_PRIVATE_H

#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"

struct private_dirs {
	char *path;	/* owned; NULL while closed */
	int lock;	/* held while we live */
	unsigned count; /* names of the next ones */
};

#define PRIVATE_INIT                     \
	{                                \
		.path = NULL, .lock = -1 \
	}

/* Removes stale ones of this user, too. Opened already: does nothing. */
int private_open(struct private_dirs *p, struct err *err) MUST_USE;
void private_close(struct private_dirs *p);
/* Remove only what crashed runs of this user have left. */
void private_sweep(void);

/* An own folder with "home" and "tmp" in it, both owned by uid and gid. */
int private_make(struct private_dirs *p, uid_t uid, gid_t gid, char **ret_dir,
		 struct err *err) MUST_USE;
/* Remove a tree as far as possible, not following links. */
void private_remove(const char *dir);

#endif
