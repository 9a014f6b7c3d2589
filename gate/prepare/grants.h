/*
 * The paths of one child: which files and folders it may touch, and how.
 *
 * A grant is opened once (O_PATH); its path without symbolic links, device
 * and inode are those of what was opened. The same file asked for twice is
 * one grant with both rights. From the list come the Landlock rules and the
 * mounts of the view.
 *
 *	struct grants g = GRANTS_INIT(&arena);
 *	grants_open(&g, "/srv/data", GRANT_READ, &grant, err);
 *	...
 *	grants_release(&g);
 */
#ifndef GATE_PREPARE_GRANTS_H
#define GATE_PREPARE_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/build/landlock.h"
#include "gate/path/resolve.h"

enum {
	GRANT_READ = 1,
	GRANT_WRITE = 2,      /* reads, too */
	GRANT_WRITE_ONLY = 4, /* changes, does not read */
	GRANT_EXEC = 8,	      /* reads, too */
	GRANT_DEVICE = 16,
	GRANT_ASKED = 32, /* by a policy or an argument: all beneath it */
	GRANT_LIST = 64,  /* names beneath it, no content */

	GRANT_SOCKET = 128, /* connects to it */

	GRANT_WRITES = GRANT_WRITE | GRANT_WRITE_ONLY,
	/* all that a program can do with a file */
	GRANT_ACCESS = GRANT_READ | GRANT_WRITES | GRANT_EXEC,
};

enum granted_by {
#define GRANT_REASON(ID, text) GRANTED_##ID,
#include "gate/prepare/grant_reasons.def"
#undef GRANT_REASON
	N_GRANT_REASONS
};

/* Reasons stand beside the rights and are joined like them: GRANT_BY(ARGUMENT).
 */
#define GRANT_BY(ID) (1U << (8U + (unsigned)GRANTED_##ID))

struct grant {
	const char *path; /* absolute, without symbolic links */
	int fd;		  /* O_PATH; owned unless is_borrowed */
	bool is_borrowed;
	unsigned what;	/* GRANT_..., and GRANT_BY() */
	struct stat st; /* of the base its kind alone */
};

struct grant_link {
	const char *path;   /* as it was asked for */
	const char *target; /* path of the grant */
	/* The links on the way; none for what grants_add() was given. */
	const struct walk_link *step;
	size_t n_steps;
};

struct grants {
	struct arena *arena;
	struct grant *grant; /* in the arena */
	size_t n;
	/* Paths that were asked for and are symbolic links. */
	struct grant_link *link;
	size_t n_links;
};

#define GRANTS_INIT(a)       \
	{                    \
		.arena = (a) \
	}

/*
 * Find what a path leads to, and grant it when that was judged. What was found
 * is what is granted: its descriptor is not opened again.
 *
 * path     absolute
 * ret      walk_release() it, unless it is taken; in the arena of `g`
 * returns  0; 1 when there is nothing at the path
 * errors   ERR_SYS
 */
int grants_find(const struct grants *g, const char *path, struct walk *ret,
		struct err *err) MUST_USE;

/*
 * Take what was found.
 *
 * asked    as it was asked for
 * found    empty afterwards
 * returns  the grant, valid until the next call
 */
const struct grant *grants_take(struct grants *g, const char *asked,
				struct walk *found, unsigned what);

/* Add an entry of a folder that was just listed: 1, too, when it is a link. */
int grants_open_entry(struct grants *g, const char *path, unsigned what,
		      struct err *err) MUST_USE;

/*
 * Add what is open already.
 *
 * asked  where it was found; a link is remembered when it differs from path
 * fd     borrowed until grants_release()
 */
void grants_add(struct grants *g, const char *asked, const char *path, int fd,
		const struct stat *st, unsigned what);
void grants_release(struct grants *g);

/*
 * Is the path a grant, or beneath one, with any of these rights or reasons?
 *
 * what  GRANT_... and GRANT_BY() joined by |
 */
bool grants_cover(const struct grants *g, const char *path, unsigned what)
	MUST_USE;

/* The Landlock class of rights. */
uint64_t grant_rights(unsigned what) MUST_USE;

/* Parts of base.def: folders of the system are opened first, the rest where
   it is needed. */
enum base_part { BASE_SYSTEM, BASE_REST };

/*
 * Open what base.def names and this machine has.
 * errors  ERR_SYS
 */
int grants_open_base(struct grants *g, enum base_part part, struct err *err)
	MUST_USE;

/* Is the path, by its name, above or beneath one of BASE_REST? */
bool grants_near_base(const char *path) MUST_USE;

/*
 * Send copies of all descriptors to one child. At most PASS_MAX.
 *
 * to      a socket of which the child has the other end, or had: no error
 * errors  ERR_SYS
 */
int grants_lend(const struct grants *g, int to, struct err *err) MUST_USE;
/* Likewise, and keep them in that message alone, which every child looks at. */
int grants_park(struct grants *g, int to, struct err *err) MUST_USE;

#endif
