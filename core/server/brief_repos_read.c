/* What one working tree is like: HEAD, upstream, changes, an operation. */
#include <string.h>

#include "core/server/brief_repos_inner.h"

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
		return repos_git_fail(g, err);
	for (size_t i = 0; i < g->git_status_list_entrycount(list); i++)
		add_status(ret,
			   (unsigned)g->git_status_byindex(list, i)->status);
	g->git_status_list_free(list);
	return 0;
}

static int read_commit(struct repos *r, git_repository *repo,
		       const git_oid *oid, struct repos_tree *t,
		       struct err *err)
{
	const struct repos_git *g = r->git;
	char id[GIT_OID_HEXSZ + 1];
	git_commit *commit = NULL;
	const char *subject;
	int64_t s;

	if (!oid || g->git_commit_lookup(&commit, repo, oid) < 0)
		return repos_git_fail(g, err);
	subject = g->git_commit_summary(commit);
	s = g->git_commit_time(commit);
	/* what fits nanoseconds: the years 1970 to 2262 */
	s = s < 0 ? 0 : s > INT64_MAX / 1000000000 ? 0 : s;
	clock_format(s * (int64_t)NS_PER_S, t->time);
	t->id = arena_strdup(r->arena, g->git_oid_tostr(id, sizeof(id), oid));
	t->subject = arena_strdup(r->arena, subject ? subject : "");
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
static void read_upstream(struct repos *r, git_repository *repo,
			  const git_reference *head, struct repos_tree *t)
{
	const struct repos_git *g = r->git;
	const git_oid *ours = g->git_reference_target(head), *theirs;
	git_reference *up = NULL;

	if (!find_upstream(g, head, &up))
		return;
	t->upstream = arena_strdup(r->arena, g->git_reference_shorthand(up));
	theirs = g->git_reference_target(up);
	t->has_distance = ours && theirs &&
			  g->git_graph_ahead_behind(&t->ahead, &t->behind, repo,
						    ours, theirs) == 0;
	g->git_reference_free(up);
}

/* The branch that will be born with the first commit. */
static int read_unborn(struct repos *r, git_repository *repo,
		       struct repos_tree *t, struct err *err)
{
	static const char prefix[] = "refs/heads/";
	const struct repos_git *g = r->git;
	git_reference *head = NULL;
	const char *target;

	if (g->git_reference_lookup(&head, repo, "HEAD") < 0)
		return repos_git_fail(g, err);
	target = g->git_reference_symbolic_target(head);
	if (target && str_starts(str_of(target), prefix))
		t->branch = arena_strdup(r->arena, target + strlen(prefix));
	g->git_reference_free(head);
	return 0;
}

static int read_head(struct repos *r, git_repository *repo,
		     struct repos_tree *t, struct err *err)
{
	const struct repos_git *g = r->git;
	git_reference *head = NULL;
	int got = g->git_repository_head(&head, repo);

	if (got == GIT_EUNBORNBRANCH)
		return read_unborn(r, repo, t, err);
	if (got < 0)
		return repos_git_fail(g, err);
	t->detached = g->git_repository_head_detached(repo) == 1;
	if (!t->detached) {
		t->branch = arena_strdup(r->arena,
					 g->git_reference_shorthand(head));
		read_upstream(r, repo, head, t);
	}
	got = read_commit(r, repo, g->git_reference_target(head), t, err);
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
static const char *last_part(struct repos *r, const char *path)
{
	struct str s = str_of(path);
	size_t from;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (from = s.n; from && s.p[from - 1] != '/';)
		from--;
	return arena_strndup(r->arena, s.p + from, s.n - from);
}

int repos_read(struct repos *r, git_repository *repo, struct repos_tree *t,
	       struct err *err)
{
	const char *dir = r->git->git_repository_workdir(repo);

	t->name = last_part(r, dir ? dir : t->path);
	t->operation = operation_of(r->git->git_repository_state(repo));
	if (read_head(r, repo, t, err) < 0)
		return -1;
	return read_changes(r->git, repo, &t->counts, err);
}
