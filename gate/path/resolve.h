/*
 * From a name to opened, judged files.
 *
 * A program is a name; what the kernel executes is a file, and often several:
 * a script, its interpreter, the loader of that. Each is opened once and
 * judged by what was opened, so that replacing the name afterwards
 * changes nothing.
 *
 *	struct resolved r = RESOLVED_INIT;
 *	if (resolve_program("npx", NULL, &arena, &r, err) < 0)
 *		return -1;
 *	... r.file[r.exec].fd is what to execute,
 *	    r.prefix stands before the arguments of a script
 *	resolved_release(&r);
 *
 * Judged means: a regular file, executable, owned by root or by us, and not
 * writable by another user. The leash is not asked here.
 */
#ifndef GATE_PATH_RESOLVE_H
#define GATE_PATH_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/limits.h"
#include "core/base/str.h"

/* A script and its interpreters, env(1) and what it starts, and loaders. */
#define RESOLVE_FILES (2 * (2 * LIMIT_SHEBANG_DEPTH + 2))

struct resolved_file {
	const char *asked; /* absolute, as it was found: links not followed */
	const char *path;  /* absolute, without symbolic links */
	int fd;		   /* names it (O_PATH); owned */
	struct stat st;
	bool is_bare;	/* found in PATH, and may be looked for again at exec */
	bool is_loader; /* named by an ELF file, not by a text */
	bool is_script;
};

struct resolved {
	struct resolved_file file[RESOLVE_FILES]; /* [0] is the program */
	size_t n;
	size_t exec; /* index of the file that the kernel executes */
	/* Of a script: what stands in argv before the caller's argv[1], from
	   the interpreter's own name to the path of the script. Else empty. */
	struct strlist prefix;
	bool is_borrowed; /* the descriptors are another one's */
};

#define RESOLVED_INIT  \
	{              \
		.n = 0 \
	}

/*
 * Resolve a program.
 *
 * name    a bare name, looked up in `path`; or a path, which is taken
 *         relative to our working directory. The bare name "matins" is the
 *         running program.
 * path    like $PATH; NULL = our own. Empty and relative parts are skipped.
 * arena   the strings live here
 * errors  ERR_NOT_FOUND  nothing of that name; the message says where it was
 *			  looked for
 *	   ERR_POLICY	  found, but judged not to be run
 *	   ERR_LIMIT	  scripts interpreted by scripts, too deep
 */
int resolve_program(const char *name, const char *path, struct arena *arena,
		    struct resolved *ret, struct err *err) MUST_USE;
void resolved_release(struct resolved *r);
/*
 * Does a name still lead to the files that were opened, none of which has
 * changed?
 */
bool resolved_holds(const struct resolved *r, const char *name) MUST_USE;

/*
 * A first line "#!INTERPRETER [ARGUMENT]", read as the kernel does: one
 * argument at most, with its spaces.
 *
 * text      the start of the file
 * returns   true when it is one; *ret_argument is {NULL, 0} without argument
 * source    Linux, fs/binfmt_script.c
 */
bool resolve_shebang(struct str text, struct str *ret_interpreter,
		     struct str *ret_argument) MUST_USE;

/*
 * Program that env(1) would start: the first word that is neither an option nor
 * an assignment ("-S node --flag" gives "node"); {NULL, 0} when there is none.
 */
struct str resolve_env_target(struct str argument) MUST_USE;

/* May others than root and `uid`, `gid` change this file? Says why, or NULL. */
const char *resolve_judge(const struct stat *st, uid_t uid, gid_t gid) MUST_USE;

/* Root or ourselves: users that no other user can become. */
bool resolve_is_trusted(uid_t uid) MUST_USE;

/* The last part of a path; borrowed from it. */
const char *resolve_basename(const char *path) MUST_USE;
/* All but the last part, "/" at least. */
const char *resolve_dirname(const char *path, struct arena *arena) MUST_USE;
/* Resolve all links of a path; NULL and errno when it leads nowhere. */
const char *resolve_links(const char *path, struct arena *arena) MUST_USE;
/* The file of a program in our own PATH; NULL: none that may be run. */
const char *resolve_in_own_path(const char *name, struct arena *arena) MUST_USE;
/*
 * Does PATH lead from the last part of `path` to the file `real`? Then the
 * bare name is enough in `exec`.
 */
bool resolve_in_path(const char *path, const char *real, struct arena *arena)
	MUST_USE;
/* ---- paths ---- */

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

/*
 * Open a path of the system (O_PATH), which root alone can lead elsewhere: the
 * kernel follows its links, and none of them is judged.
 *
 * is_dir   a file in the place of the folder is ENOTDIR
 * ret      where it leads, without links: `path` itself, or in the arena; NULL
 *	    when that has no path any more
 * returns  the descriptor, the caller's, or -1 and errno
 */
int walk_open_root(const char *path, bool is_dir, struct arena *arena,
		   const char **ret) MUST_USE;

/* Open a path without following links: any on the way is ELOOP. For names
   that were just read. */
int walk_open_plain(const char *path, struct arena *arena, struct walk *ret)
	MUST_USE;

void walk_release(struct walk *w);

#endif
