/*
 * From a path to what it leads to, opened once, with the links on the way.
 *
 * Each part is opened (O_PATH) in the folder that was opened before it, and a
 * link is read from its own descriptor: nothing that is judged by what comes
 * back can be another thing when it is used.
 *
 *	struct walk w = WALK_INIT;
 *	if (walk_open("/srv/data", &arena, &w) == 0)
 *		... w.fd, w.path, w.link[i].at ...
 *	walk_release(&w);
 */
#ifndef GATE_PATH_WALK_H
#define GATE_PATH_WALK_H

#include <stddef.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/attr.h"

/* Links of one path; the kernel follows 40 (MAXSYMLINKS). */
#define WALK_LINKS 40

struct walk_link {
	const char *folder; /* where it lies, without links */
	const char *at;	    /* itself */
	struct stat st;	    /* of the link */
};

struct walk {
	int fd;		  /* O_PATH; owned */
	const char *path; /* absolute, without links; NULL: it has none any
			     more (removed) */
	struct stat st;
	const struct walk_link *link; /* in the order of the way */
	size_t n_links;
};

#define WALK_INIT                      \
	{                              \
		.fd = -1, .n_links = 0 \
	}

/*
 * Follow a path as open(2) does.
 *
 * path     absolute
 * arena    paths and links live here
 * returns  0, or -1 and errno
 */
int walk_open(const char *path, struct arena *arena, struct walk *ret) MUST_USE;

/* Open a path without following links: any on the way is ELOOP. For names
   that were just read. */
int walk_open_plain(const char *path, struct arena *arena, struct walk *ret)
	MUST_USE;

void walk_release(struct walk *w);

#endif
