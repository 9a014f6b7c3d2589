#include "core/server/brief_repos_git.h"

#include <dlfcn.h>
#include <git2.h> /* types and constants only: functions come by dlsym() */
#include <stdlib.h>
#include <string.h>

#include "core/base/dl.h"
#include "core/base/mem.h"

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

struct repos_git {
	GIT_FUNCTIONS(DL_MEMBER)
	struct arena *arena; /* of the tree being read */
};

/* Structures change between versions, so no other version will do. */
#define GIT_LIBRARY "libgit2.so." LIBGIT2_SOVERSION
#define GIT_PACKAGE "libgit2-" LIBGIT2_SOVERSION

static int load(const char *library, struct repos_git *ret, struct err *err)
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
static void set_up(const struct repos_git *g)
{
	static const int levels[] = {
		GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};

	g->git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		g->git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

/* Copy the words of libgit2 about its last failure; returns -1. */
static int fail(const struct repos_git *g, struct err *err)
{
	const git_error *e = g->git_error_last();

	return err_set(err, ERR_SYNTAX, "%s",
		       e && e->message ? e->message : "libgit2 failed");
}

static void add_status(struct repos_counts *c, unsigned s)
{
	const unsigned index =
		GIT_STATUS_INDEX_NEW | GIT_STATUS_INDEX_MODIFIED |
		GIT_STATUS_INDEX_DELETED | GIT_STATUS_INDEX_RENAMED |
		GIT_STATUS_INDEX_TYPECHANGE;
	const unsigned files = GIT_STATUS_WT_MODIFIED | GIT_STATUS_WT_DELETED |
			       GIT_STATUS_WT_TYPECHANGE |
			       GIT_STATUS_WT_RENAMED | GIT_STATUS_WT_UNREADABLE;

	c->staged += (s & index) != 0;
	c->modified += (s & files) != 0;
	c->untracked += (s & GIT_STATUS_WT_NEW) != 0;
	c->conflicted += (s & GIT_STATUS_CONFLICTED) != 0;
}

static int read_changes(const struct repos_git *g, git_repository *repo,
			struct repos_counts *ret, struct err *err)
{
	/* not GIT_STATUS_OPT_UPDATE_INDEX: that would write */
	const git_status_options options = {
		.version = GIT_STATUS_OPTIONS_VERSION,
		.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED,
	};
	git_status_list *list = NULL;

	if (g->git_status_list_new(&list, repo, &options) < 0)
		return fail(g, err);
	for (size_t i = 0; i < g->git_status_list_entrycount(list); i++)
		add_status(ret,
			   (unsigned)g->git_status_byindex(list, i)->status);
	g->git_status_list_free(list);
	return 0;
}

static int read_commit(struct repos_git *g, git_repository *repo,
		       const git_oid *oid, struct repos_tree *t,
		       struct err *err)
{
	char id[GIT_OID_HEXSZ + 1];
	git_commit *commit = NULL;
	const char *subject;
	int64_t s;

	if (!oid || g->git_commit_lookup(&commit, repo, oid) < 0)
		return fail(g, err);
	subject = g->git_commit_summary(commit);
	s = g->git_commit_time(commit);
	/* nanoseconds reach from 1970 to 2262 */
	s = s < 0 ? 0 : s > INT64_MAX / 1000000000 ? 0 : s;
	clock_format(s * (int64_t)NS_PER_S, t->time);
	t->id = arena_strdup(g->arena, g->git_oid_tostr(id, sizeof(id), oid));
	t->subject = arena_strdup(g->arena, subject ? subject : "");
	t->has_head = true;
	g->git_commit_free(commit);
	return 0;
}

/*
 * libgit2 1.5 loses the match data of each regular expression that does not
 * match, of which looking up an upstream needs a few; LeakSanitizer is told.
 */
#ifdef MATINS_ASAN
#include <sanitizer/lsan_interface.h>
#define LEAKS_BEGIN() __lsan_disable()
#define LEAKS_END() __lsan_enable()
#else
#define LEAKS_BEGIN()
#define LEAKS_END()
#endif

static bool find_upstream(const struct repos_git *g, const git_reference *head,
			  git_reference **ret)
{
	int got;

	LEAKS_BEGIN();
	got = g->git_branch_upstream(ret, head);
	LEAKS_END();
	return got == 0;
}

/* Without upstream, or where history is cut off, the fields stay empty. */
static void read_upstream(struct repos_git *g, git_repository *repo,
			  const git_reference *head, struct repos_tree *t)
{
	const git_oid *ours = g->git_reference_target(head), *theirs;
	git_reference *up = NULL;

	if (!find_upstream(g, head, &up))
		return;
	t->upstream = arena_strdup(g->arena, g->git_reference_shorthand(up));
	theirs = g->git_reference_target(up);
	t->has_distance = ours && theirs &&
			  g->git_graph_ahead_behind(&t->ahead, &t->behind, repo,
						    ours, theirs) == 0;
	g->git_reference_free(up);
}

/* The branch that will be born with the first commit. */
static int read_unborn(struct repos_git *g, git_repository *repo,
		       struct repos_tree *t, struct err *err)
{
	static const char prefix[] = "refs/heads/";
	git_reference *head = NULL;
	const char *target;

	if (g->git_reference_lookup(&head, repo, "HEAD") < 0)
		return fail(g, err);
	target = g->git_reference_symbolic_target(head);
	if (target && str_starts(str_of(target), prefix))
		t->branch = arena_strdup(g->arena, target + strlen(prefix));
	g->git_reference_free(head);
	return 0;
}

static int read_head(struct repos_git *g, git_repository *repo,
		     struct repos_tree *t, struct err *err)
{
	git_reference *head = NULL;
	int got = g->git_repository_head(&head, repo);

	if (got == GIT_EUNBORNBRANCH)
		return read_unborn(g, repo, t, err);
	if (got < 0)
		return fail(g, err);
	t->detached = g->git_repository_head_detached(repo) == 1;
	if (!t->detached) {
		t->branch = arena_strdup(g->arena,
					 g->git_reference_shorthand(head));
		read_upstream(g, repo, head, t);
	}
	got = read_commit(g, repo, g->git_reference_target(head), t, err);
	g->git_reference_free(head);
	return got;
}

static const char *operation_of(int state)
{
	static const char *const words[] = {
		[GIT_REPOSITORY_STATE_MERGE] = "merge",
		[GIT_REPOSITORY_STATE_REVERT] = "revert",
		[GIT_REPOSITORY_STATE_REVERT_SEQUENCE] = "revert",
		[GIT_REPOSITORY_STATE_CHERRYPICK] = "cherry-pick",
		[GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE] = "cherry-pick",
		[GIT_REPOSITORY_STATE_BISECT] = "bisect",
		[GIT_REPOSITORY_STATE_REBASE] = "rebase",
		[GIT_REPOSITORY_STATE_REBASE_INTERACTIVE] = "rebase",
		[GIT_REPOSITORY_STATE_REBASE_MERGE] = "rebase",
		[GIT_REPOSITORY_STATE_APPLY_MAILBOX] = "am",
		[GIT_REPOSITORY_STATE_APPLY_MAILBOX_OR_REBASE] = "am",
	};

	return state > 0 && (size_t)state < ARRAY_LEN(words) ? words[state]
							     : NULL;
}

/* "/home/u/matins/" -> "matins" */
static const char *last_part(struct arena *arena, const char *path)
{
	struct str s = str_of(path);
	size_t from;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (from = s.n; from && s.p[from - 1] != '/';)
		from--;
	return arena_strndup(arena, s.p + from, s.n - from);
}

/* Everything of an opened repository. */
static int read_all(struct repos_git *g, git_repository *repo, const char *path,
		    struct repos_tree *t, struct err *err)
{
	const char *dir = g->git_repository_workdir(repo);

	t->name = last_part(g->arena, dir ? dir : path);
	t->operation = operation_of(g->git_repository_state(repo));
	if (read_head(g, repo, t, err) < 0)
		return -1;
	return read_changes(g, repo, &t->counts, err);
}

int repos_git_read(struct repos_git *g, const char *path, struct arena *arena,
		   struct repos_tree *ret, struct err *err)
{
	git_repository *repo = NULL;
	int got = g->git_repository_open_ext(
		&repo, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);

	g->arena = arena;
	if (got == GIT_ENOTFOUND)
		return err_set(err, ERR_SYNTAX,
			       ".git is not a repository, or leads to one that "
			       "does not exist or is not granted");
	got = got < 0 ? fail(g, err) : read_all(g, repo, path, ret, err);
	g->git_repository_free(repo);
	return got;
}

int repos_git_open(const char *library, struct repos_git **ret, struct err *err)
{
	struct repos_git g = {.arena = NULL};

	if (load(library, &g, err) < 0)
		return -1;
	if (g.git_libgit2_init() < 0) {
		fail(&g, err);
		return err_wrap(err, "libgit2 does not start");
	}
	set_up(&g);
	*ret = mem_alloc(sizeof(g));
	**ret = g;
	return 0;
}

void repos_git_close(struct repos_git *g)
{
	if (g)
		g->git_libgit2_shutdown();
	free(g);
}
