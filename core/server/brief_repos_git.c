/* libgit2: loaded on first use, and how it is set up. */
#include <dlfcn.h>

#include "core/server/brief_repos_inner.h"

/* Its structures change between versions, so it must be this very one. */
#define GIT_LIBRARY "libgit2.so." LIBGIT2_SOVERSION
#define GIT_PACKAGE "libgit2-" LIBGIT2_SOVERSION

int repos_git_load(const char *library, struct repos_git *ret, struct err *err)
{
	static const char *const names[] = {GIT_FUNCTIONS(DL_NAME)};
	struct dl dl = DL(library ? library : GIT_LIBRARY, names, *ret);

	if (dl_load(&dl))
		return 0;
	if (dl.lacks)
		err_set(err, ERR_NOT_FOUND,
			"%s has no %s; install the one of Debian: apt-get "
			"install %s",
			GIT_LIBRARY, dl.lacks, GIT_PACKAGE);
	else
		err_set(err, ERR_NOT_FOUND,
			"git working trees are read with libgit2 %s, "
			"which is not here; install it: apt-get install "
			"%s (%s)",
			LIBGIT2_SOVERSION, GIT_PACKAGE, dlerror());
	return -1;
}

/*
 * Two settings, both of the whole process. A confined child has another uid
 * than the files it was granted, so their owner proves nothing, and since
 * nothing from a repository is ever executed, it need not. And no
 * configuration but the repository's own is looked for: the system's and the
 * user's may be there and unreadable, which would be an error, and the answer
 * is the same inside and outside a sandbox.
 */
void repos_git_set_up(const struct repos_git *g)
{
	static const int levels[] = {
		GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};

	g->git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		g->git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

int repos_git_fail(const struct repos_git *g, struct err *err)
{
	const git_error *e = g->git_error_last();

	return err_set(err, ERR_SYNTAX, "%s",
		       e && e->message ? e->message : "libgit2 failed");
}
