/* The tool `repos`: finds working trees and tells of each. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <git2.h> /* types and constants only: functions come by dlsym() */
#include <string.h>
#include <sys/stat.h>

#include "core/base/dl.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/place.h"
#include "core/server/brief.h"

/*
 * ---- git ----
 *
 * Working trees are read with libgit2, which is loaded on first use: a run
 * without this tool maps neither the library nor its dependencies.
 */

/* Numbers of changed paths. */
#define REPOS_COUNTS(X) X(staged) X(modified) X(untracked) X(conflicted)

enum {
#define COUNT(name) COUNT_##name,
	REPOS_COUNTS(COUNT)
#undef COUNT
};

static const char *const count_words[] = {REPOS_COUNTS(ROW_TEXT)};

/* Texts are in the arena. */
struct tree {
	const char *path, *name;
	const char *branch; /* NULL when detached */
	bool detached, has_head, has_distance;
	const char *id, *subject; /* with has_head */
	char time[CLOCK_TEXT_BYTES];
	const char *upstream; /* NULL without */
	size_t ahead, behind;
	const char *operation; /* NULL without */
	size_t count[ARRAY_LEN(count_words)];
};

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

struct git {
	GIT_FUNCTIONS(DL_MEMBER)
	struct arena *arena; /* of the tree being read */
};

/* Structures change between versions, so no other version will do. */
#define GIT_LIBRARY "libgit2.so." LIBGIT2_SOVERSION
#define GIT_PACKAGE "libgit2-" LIBGIT2_SOVERSION

static int load(const char *library, struct git *ret, struct err *err)
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

/* Copy the words of libgit2 about its last failure; returns -1. */
static int fail(const struct git *g, struct err *err)
{
	const git_error *e = g->git_error_last();

	return err_set(err, ERR_SYNTAX, "%s",
		       e && e->message ? e->message : "libgit2 failed");
}

/*
 * Load the library and set it up; NULL is the one this was built with.
 *
 * Two settings, both of the whole process. A confined child has another uid
 * than the files it was granted, so their owner proves nothing, and since
 * nothing from a repository is ever executed, it need not. And no
 * configuration but the repository's own is looked for: the system's and the
 * user's may be there and unreadable, which would be an error, and the answer
 * is the same inside and outside a sandbox.
 */
static int begin_git(struct git *g, const char *library, struct err *err)
{
	static const int levels[] = {
		GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};

	if (load(library, g, err) < 0)
		return -1;
	if (g->git_libgit2_init() < 0) {
		fail(g, err);
		return err_wrap(err, "libgit2 does not start");
	}
	g->git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		g->git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	return 0;
}

static int read_changes(const struct git *g, git_repository *repo,
			struct tree *t, struct err *err)
{
	static const unsigned masks[] = {
		[COUNT_staged] =
			GIT_STATUS_INDEX_NEW | GIT_STATUS_INDEX_MODIFIED |
			GIT_STATUS_INDEX_DELETED | GIT_STATUS_INDEX_RENAMED |
			GIT_STATUS_INDEX_TYPECHANGE,
		[COUNT_modified] =
			GIT_STATUS_WT_MODIFIED | GIT_STATUS_WT_DELETED |
			GIT_STATUS_WT_TYPECHANGE | GIT_STATUS_WT_RENAMED |
			GIT_STATUS_WT_UNREADABLE,
		[COUNT_untracked] = GIT_STATUS_WT_NEW,
		[COUNT_conflicted] = GIT_STATUS_CONFLICTED,
	};
	/* not GIT_STATUS_OPT_UPDATE_INDEX: that would write */
	const git_status_options options = {
		.version = GIT_STATUS_OPTIONS_VERSION,
		.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED,
	};
	git_status_list *list = NULL;

	if (g->git_status_list_new(&list, repo, &options) < 0)
		return fail(g, err);
	for (size_t i = 0; i < g->git_status_list_entrycount(list); i++)
		for (size_t k = 0; k < ARRAY_LEN(masks); k++)
			t->count[k] += (g->git_status_byindex(list, i)->status &
					masks[k]) != 0;
	g->git_status_list_free(list);
	return 0;
}

static int read_commit(struct git *g, git_repository *repo, const git_oid *oid,
		       struct tree *t, struct err *err)
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

/* Without upstream, or where history is cut off, the fields stay empty. */
static void read_upstream(struct git *g, git_repository *repo,
			  const git_reference *head, struct tree *t)
{
	const git_oid *ours = g->git_reference_target(head), *theirs;
	git_reference *up = NULL;
	int got;

	LEAKS_BEGIN();
	got = g->git_branch_upstream(&up, head);
	LEAKS_END();
	if (got != 0)
		return;
	t->upstream = arena_strdup(g->arena, g->git_reference_shorthand(up));
	theirs = g->git_reference_target(up);
	t->has_distance = ours && theirs &&
			  g->git_graph_ahead_behind(&t->ahead, &t->behind, repo,
						    ours, theirs) == 0;
	g->git_reference_free(up);
}

/* The branch that will be born with the first commit. */
static int read_unborn(struct git *g, git_repository *repo, struct tree *t,
		       struct err *err)
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

static int read_head(struct git *g, git_repository *repo, struct tree *t,
		     struct err *err)
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

/* Everything about the working tree at `path` but its path. */
static int read_tree(struct git *g, const char *path, struct tree *t,
		     struct err *err)
{
	git_repository *repo = NULL;
	int got = g->git_repository_open_ext(
		&repo, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
	const char *dir;

	if (got == GIT_ENOTFOUND)
		return err_set(err, ERR_SYNTAX,
			       ".git is not a repository, or leads to one that "
			       "does not exist or is not granted");
	if (got < 0)
		return fail(g, err);
	dir = g->git_repository_workdir(repo);
	t->name = last_part(g->arena, dir ? dir : path);
	t->operation = operation_of(g->git_repository_state(repo));
	got = read_head(g, repo, t, err);
	if (got == 0)
		got = read_changes(g, repo, t, err);
	g->git_repository_free(repo);
	return got;
}

/* ---- the tool ---- */

const struct field brief_repos_input[] = {
	{0, FIELD_STRINGS, true, LIMIT_BRIEF_PATHS, "paths",
	 "Working trees, or folders whose direct children are searched for "
	 "working trees."},
	FIELD_END,
};

const struct field brief_repos_output[] = {
	{0, FIELD_OBJECTS, true, 0, "repos", "Working trees, as found."},
	{1, FIELD_STRING, true, 0, "name", "Name of its folder."},
	{1, FIELD_STRING, true, 0, "path", "Where it was found."},
	{1, FIELD_STRING, false, 0, "branch", "Absent when detached."},
	{1, FIELD_BOOLEAN, true, 0, "detached", "HEAD names no branch."},
	{1, FIELD_STRING, false, 0, "operation", "What is under way."},
	{1, FIELD_OBJECT, false, 0, "head", "Absent before the first commit."},
	{2, FIELD_STRING, true, 0, "id", "Of the commit, in hex."},
	{2, FIELD_STRING, true, 0, "subject", "First line of its message."},
	{2, FIELD_STRING, true, 0, "time", "When it was committed, UTC."},
	{1, FIELD_OBJECT, true, 0, "changes", "Numbers of changed paths."},
	{2, FIELD_INTEGER, true, 0, "staged", "Index against HEAD."},
	{2, FIELD_INTEGER, true, 0, "modified", "Files against the index."},
	{2, FIELD_INTEGER, true, 0, "untracked", "A whole folder is one."},
	{2, FIELD_INTEGER, true, 0, "conflicted", "Unmerged paths."},
	{1, FIELD_OBJECT, false, 0, "upstream", "Absent without one."},
	{2, FIELD_STRING, true, 0, "name", "As in origin/main."},
	{2, FIELD_INTEGER, false, 0, "ahead",
	 "Commits that it lacks; absent where history is cut off."},
	{2, FIELD_INTEGER, false, 0, "behind", "Commits that are only there."},
	{0, FIELD_OBJECTS, true, 0, "problems", "What could not be looked at."},
	{1, FIELD_STRING, true, 0, "path", "Where."},
	{1, FIELD_STRING, true, 0, "message", "Why, and what helps."},
	FIELD_END,
};

/* ---- a working tree as JSON ---- */

static void write_tree(const struct tree *t, struct jw *w)
{
	jw_object(w);
	jw_kv_cstr(w, "name", t->name);
	jw_kv_cstr(w, "path", t->path);
	if (t->branch)
		jw_kv_cstr(w, "branch", t->branch);
	jw_kv_bool(w, "detached", t->detached);
	if (t->operation)
		jw_kv_cstr(w, "operation", t->operation);
	if (t->has_head) {
		jw_kv_object(w, "head");
		jw_kv_cstr(w, "id", t->id);
		jw_kv_cstr(w, "subject", t->subject);
		jw_kv_cstr(w, "time", t->time);
		jw_end(w);
	}
	jw_kv_object(w, "changes");
	for (size_t i = 0; i < ARRAY_LEN(t->count); i++)
		jw_kv_int(w, count_words[i], (int64_t)t->count[i]);
	jw_end(w);
	if (t->upstream) {
		jw_kv_object(w, "upstream");
		jw_kv_cstr(w, "name", t->upstream);
		if (t->has_distance) {
			jw_kv_int(w, "ahead", (int64_t)t->ahead);
			jw_kv_int(w, "behind", (int64_t)t->behind);
		}
		jw_end(w);
	}
	jw_end(w);
}

/* ---- a working tree as a line of text ---- */

static void tell_tree(const struct tree *t, struct buf *out)
{
	const char *comma = "; ";

	buf_addf(out, "%s%s: %s", out->n ? "\n" : "", t->name,
		 t->branch ? t->branch : "detached");
	if (t->has_head)
		buf_addf(out, " %.7s \"%s\" (%.10s)", t->id, t->subject,
			 t->time);
	else
		buf_adds(out, ", no commit yet");
	for (size_t i = 0; i < ARRAY_LEN(t->count); i++) {
		if (!t->count[i])
			continue;
		buf_addf(out, "%s%zu %s", comma, t->count[i], count_words[i]);
		comma = ", ";
	}
	if (*comma == ';')
		buf_adds(out, "; clean");
	if (t->has_distance && t->ahead && t->behind)
		buf_addf(out, "; %zu ahead, %zu behind %s", t->ahead, t->behind,
			 t->upstream);
	else if (t->has_distance && t->ahead)
		buf_addf(out, "; %zu ahead of %s", t->ahead, t->upstream);
	else if (t->has_distance && t->behind)
		buf_addf(out, "; %zu behind %s", t->behind, t->upstream);
	else if (t->has_distance)
		buf_addf(out, "; even with %s", t->upstream);
	if (t->operation)
		buf_addf(out, "; %s in progress", t->operation);
}

/* State of one call of the tool. */
struct repos {
	struct git git;
	const struct tool_env *env;
	struct arena *arena; /* of all strings */
	struct tool_result *ret;
	struct jw jw; /* into the structured result */
	struct brief_notes problems;
	size_t n;     /* working trees so far */
	bool is_full; /* there were more */
};

/* ---- finding them ---- */

static void problem(struct repos *r, const char *path, bool is_error,
		    const char *message)
{
	struct jw *w = &r->problems.jw;

	jw_object(w);
	jw_kv_cstr(w, "path", path);
	jw_kv_cstr(w, "message", message);
	jw_end(w);
	buf_addf(&r->problems.text, "\n%s: %s", path, message);
	r->ret->is_error |= is_error;
}

static void add_tree(struct repos *r, const char *shown, const char *path)
{
	AUTO(fd_closep) int fd = -1;
	struct tree t = {.path = shown};
	struct err err = ERR_INIT;

	if (r->n == LIMIT_BRIEF_REPOS) {
		r->is_full = true;
		return;
	}
	r->n++;
	if (read_tree(&r->git, path, &t, &err) == 0) {
		write_tree(&t, &r->jw);
		tell_tree(&t, &r->ret->text);
		return;
	}
	/* the sandbox, or a mode, kept us out? libgit2 does not say */
	fd = fd_open(arena_printf(r->arena, "%s/.git", path), O_RDONLY, 0);
	problem(r, shown, true,
		fd < 0 && (errno == EACCES || errno == EPERM)
			? arena_printf(r->arena,
				       "may not be read from here; in a "
				       "routine, grant it: sandbox = { read = "
				       "[\"%s\"] }",
				       shown)
			: err.msg);
}

/* A .git folder, or a file that names one elsewhere. */
static bool is_tree(struct repos *r, const char *path)
{
	struct stat st;

	return lstat(arena_printf(r->arena, "%s/.git", path), &st) == 0;
}

/* The children in the order of their names, which readdir(3) does not give. */
static size_t read_folder(struct repos *r, DIR *dir, const char **name)
{
	struct dirent *e;
	size_t n = 0;

	while (n < LIMIT_BRIEF_FOLDER && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
			name[n++] = arena_strdup(r->arena, e->d_name);
	}
	list_sort(&(struct strlist){name, n});
	return n;
}

static void search(struct repos *r, const char *shown, const char *path,
		   DIR *dir)
{
	const char **name =
		ARENA_ARRAY(r->arena, const char *, LIMIT_BRIEF_FOLDER);
	size_t n = read_folder(r, dir, name), found = 0;

	for (size_t i = 0; i < n; i++) {
		const char *child =
			arena_printf(r->arena, "%s/%s", path, name[i]);

		if (!is_tree(r, child))
			continue;
		found++;
		add_tree(r, arena_printf(r->arena, "%s/%s", shown, name[i]),
			 child);
	}
	if (n == LIMIT_BRIEF_FOLDER)
		problem(r, shown, true,
			"the folder has too many entries; name the working "
			"trees themselves");
	else if (!found)
		problem(r, shown, false,
			"no git working tree there nor directly beneath");
}

static void visit(struct repos *r, const char *shown)
{
	const char *path = brief_expand(shown, r->env, r->arena);
	DIR *dir;

	if (is_tree(r, path)) {
		add_tree(r, shown, path);
		return;
	}
	dir = opendir(path);
	if (!dir) {
		problem(r, shown, true,
			arena_printf(r->arena,
				     "%s; where it exists, a routine must "
				     "grant it: sandbox = { read = [\"%s\"] }",
				     strerror(errno),
				     place_to_paste(shown, "PATH")));
		return;
	}
	search(r, shown, path, dir);
	closedir(dir);
}

/* ---- one call ---- */

void brief_repos(struct str args, const struct tool_env *env,
		 struct arena *arena, struct tool_result *ret)
{
	struct strlist paths = fields_strings(args, "paths", arena);
	struct repos r = {
		.git.arena = arena,
		.env = env,
		.arena = arena,
		.ret = ret,
	};
	struct err err = ERR_INIT;

	if (begin_git(&r.git, env->libgit, &err) < 0) {
		tool_result_fail(ret, "%s", err.msg);
		return;
	}
	brief_notes_begin(&r.problems);
	jw_init(&r.jw, &ret->structured, false);
	jw_object(&r.jw);
	jw_kv_array(&r.jw, "repos");
	for (size_t i = 0; i < paths.n; i++)
		visit(&r, paths.item[i]);
	if (r.is_full)
		problem(&r, "others", true,
			"200 working trees are looked at; name fewer, or let "
			"another step look at the rest");
	jw_end(&r.jw);
	brief_notes_end(&r.problems, "problems", &r.jw);
	jw_end(&r.jw);
	buf_add_str(&ret->text, buf_str(&r.problems.text));
	if (ret->text.n && ret->text.p[0] == '\n')
		buf_drop(&ret->text, 1);
	r.git.git_libgit2_shutdown();
	brief_notes_release(&r.problems);
}
