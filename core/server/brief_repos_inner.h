/*
 * What the files of the tool `repos` share. Who calls it sees brief.h.
 *
 *	brief_repos.c	     finding working trees, the call as a whole
 *	brief_repos_git.c    the library, loaded on first use
 *	brief_repos_read.c   what one working tree is like
 *	brief_repos_write.c  a working tree in the answer
 */
#ifndef CORE_SERVER_BRIEF_REPOS_INNER_H
#define CORE_SERVER_BRIEF_REPOS_INNER_H

/*
 * Types and constants only: the functions come by dlsym() on first use, so
 * that a run without this tool maps neither libgit2 nor what it brings along.
 */
#include <git2.h>

#include "core/base/dl.h"
#include "core/server/brief.h"

#define GIT_FUNCTIONS(X)                 \
	X(git_libgit2_init)              \
	X(git_libgit2_opts)              \
	X(git_libgit2_shutdown)          \
	X(git_error_last)                \
	X(git_repository_open_ext)       \
	X(git_repository_free)           \
	X(git_repository_workdir)        \
	X(git_repository_state)          \
	X(git_repository_head)           \
	X(git_repository_head_detached)  \
	X(git_reference_lookup)          \
	X(git_reference_symbolic_target) \
	X(git_reference_shorthand)       \
	X(git_reference_target)          \
	X(git_reference_free)            \
	X(git_branch_upstream)           \
	X(git_graph_ahead_behind)        \
	X(git_commit_lookup)             \
	X(git_commit_summary)            \
	X(git_commit_time)               \
	X(git_commit_free)               \
	X(git_oid_tostr)                 \
	X(git_status_list_new)           \
	X(git_status_list_entrycount)    \
	X(git_status_byindex)            \
	X(git_status_list_free)

/* The functions, by their names. */
struct repos_git {
	GIT_FUNCTIONS(DL_MEMBER)
};

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

/* One call. */
struct repos {
	const struct repos_git *git;
	const struct tool_env *env;
	struct arena *arena; /* of all strings */
	struct tool_result *ret;
	struct jw jw; /* into the structured result */
	struct jw problems;
	struct buf problems_json, problems_text; /* owned */
	size_t n;				 /* working trees so far */
	bool is_full;				 /* there were more */
};

/* brief_repos_git.c */
/*
 * library  file name; NULL: the one of the version that this was built with
 * errors   ERR_NOT_FOUND  it is not there, or not that one
 */
int repos_git_load(const char *library, struct repos_git *ret, struct err *err)
	MUST_USE;
void repos_git_set_up(const struct repos_git *g);
/* What the library says of its last failure; always -1. */
int repos_git_fail(const struct repos_git *g, struct err *err);

/* brief_repos_read.c */
/* Everything but t->path, which is there. */
int repos_read(struct repos *r, git_repository *repo, struct repos_tree *t,
	       struct err *err) MUST_USE;

/* brief_repos_write.c */
void repos_write(const struct repos_tree *t, struct jw *w);
/* A line; a newline before it, but at the beginning. */
void repos_tell(const struct repos_tree *t, struct buf *out);

#endif
