/*
 * Working trees of git, read with libgit2, which is loaded on first use: a
 * run without the tool `repos` maps neither the library nor its dependencies.
 *
 *	if (repos_git_open(NULL, &git, &err) < 0) ...
 *	repos_git_read(git, path, arena, &tree, &err)
 *	repos_git_close(git);
 */
#ifndef CORE_SERVER_BRIEF_REPOS_GIT_H
#define CORE_SERVER_BRIEF_REPOS_GIT_H

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/err.h"

struct repos_git;

struct repos_counts {
	size_t staged, modified, untracked, conflicted;
};

struct repos_tree {
	const char *path, *name;
	const char *branch; /* NULL when detached */
	bool detached, has_head, has_distance;
	const char *id, *subject; /* with has_head */
	char time[CLOCK_TEXT_BYTES];
	const char *upstream; /* NULL without */
	size_t ahead, behind;
	const char *operation; /* NULL without */
	struct repos_counts counts;
};

/*
 * Load the library and set it up.
 *
 * library  file name; NULL: the one of the version this was built with
 * errors   ERR_NOT_FOUND  the library, or one of its functions, is missing
 *	    ERR_SYNTAX     it does not start
 */
int repos_git_open(const char *library, struct repos_git **ret, struct err *err)
	MUST_USE;
/* Takes NULL. */
void repos_git_close(struct repos_git *g);
/*
 * Read everything about the working tree at `path` but t->path.
 *
 * ret    texts are in `arena`
 * errors ERR_SYNTAX with the words of libgit2
 */
int repos_git_read(struct repos_git *g, const char *path, struct arena *arena,
		   struct repos_tree *ret, struct err *err) MUST_USE;

#endif
