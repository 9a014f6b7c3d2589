/* The tool `repos`: finds working trees and tells of each. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <git2.h> /* types and constants only: functions come by dlsym() */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/dl.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/server/brief.h"

/* ---- git ---- */

/*
 * Working trees of git, read with libgit2, which is loaded on first use: a
 * run without the tool `repos` maps neither the library nor its dependencies.
 *
 *	if (repos_git_open(NULL, &git, &err) < 0) ...
 *	repos_git_read(git, path, arena, &tree, &err)
 *	repos_git_close(git);
 */

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

/*
 * Read everything about the working tree at `path` but t->path.
 *
 * ret    texts are in `arena`
 * errors ERR_SYNTAX with the words of libgit2
 */
static int repos_git_read(struct repos_git *g, const char *path,
			  struct arena *arena, struct repos_tree *ret,
			  struct err *err)
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

/*
 * Load the library and set it up.
 *
 * library  file name; NULL: the one of the version this was built with
 * errors   ERR_NOT_FOUND  the library, or one of its functions, is missing
 *	    ERR_SYNTAX     it does not start
 */
static int repos_git_open(const char *library, struct repos_git **ret,
			  struct err *err)
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

/* Takes NULL. */
static void repos_git_close(struct repos_git *g)
{
	if (g)
		g->git_libgit2_shutdown();
	free(g);
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

static void write_head(const struct repos_tree *t, struct jw *w)
{
	jw_kv_object(w, "head");
	jw_kv_cstr(w, "id", t->id);
	jw_kv_cstr(w, "subject", t->subject);
	jw_kv_cstr(w, "time", t->time);
	jw_end(w);
}

static void write_upstream(const struct repos_tree *t, struct jw *w)
{
	jw_kv_object(w, "upstream");
	jw_kv_cstr(w, "name", t->upstream);
	if (t->has_distance) {
		jw_kv_int(w, "ahead", (int64_t)t->ahead);
		jw_kv_int(w, "behind", (int64_t)t->behind);
	}
	jw_end(w);
}

static void write_tree(const struct repos_tree *t, struct jw *w)
{
	const struct repos_counts *c = &t->counts;

	jw_object(w);
	jw_kv_cstr(w, "name", t->name);
	jw_kv_cstr(w, "path", t->path);
	if (t->branch)
		jw_kv_cstr(w, "branch", t->branch);
	jw_kv_bool(w, "detached", t->detached);
	if (t->operation)
		jw_kv_cstr(w, "operation", t->operation);
	if (t->has_head)
		write_head(t, w);
	jw_kv_object(w, "changes");
	jw_kv_int(w, "staged", (int64_t)c->staged);
	jw_kv_int(w, "modified", (int64_t)c->modified);
	jw_kv_int(w, "untracked", (int64_t)c->untracked);
	jw_kv_int(w, "conflicted", (int64_t)c->conflicted);
	jw_end(w);
	if (t->upstream)
		write_upstream(t, w);
	jw_end(w);
}

/* ---- a working tree as a line of text ---- */

static void tell_changes(const struct repos_counts *c, struct buf *out)
{
	const struct {
		size_t n;
		const char *word;
	} parts[] = {{c->staged, "staged"},
		     {c->modified, "modified"},
		     {c->untracked, "untracked"},
		     {c->conflicted, "conflicted"}};
	const char *comma = "; ";

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (!parts[i].n)
			continue;
		buf_addf(out, "%s%zu %s", comma, parts[i].n, parts[i].word);
		comma = ", ";
	}
	if (*comma == ';')
		buf_adds(out, "; clean");
}

static void tell_distance(const struct repos_tree *t, struct buf *out)
{
	if (!t->has_distance)
		return;
	if (t->ahead && t->behind)
		buf_addf(out, "; %zu ahead, %zu behind %s", t->ahead, t->behind,
			 t->upstream);
	else if (t->ahead)
		buf_addf(out, "; %zu ahead of %s", t->ahead, t->upstream);
	else if (t->behind)
		buf_addf(out, "; %zu behind %s", t->behind, t->upstream);
	else
		buf_addf(out, "; even with %s", t->upstream);
}

static void tell_tree(const struct repos_tree *t, struct buf *out)
{
	buf_addf(out, "%s%s: %s", out->n ? "\n" : "", t->name,
		 t->branch ? t->branch : "detached");
	if (t->has_head)
		buf_addf(out, " %.7s \"%s\" (%.10s)", t->id, t->subject,
			 t->time);
	else
		buf_adds(out, ", no commit yet");
	tell_changes(&t->counts, out);
	tell_distance(t, out);
	if (t->operation)
		buf_addf(out, "; %s in progress", t->operation);
}

/* State of one call of the tool. */
struct repos {
	struct repos_git *git;
	const struct tool_env *env;
	struct arena *arena; /* of all strings */
	struct tool_result *ret;
	struct jw jw; /* into the structured result */
	struct jw problems;
	struct buf problems_json, problems_text; /* owned */
	size_t n;				 /* working trees so far */
	bool is_full;				 /* there were more */
};

/* ---- finding them ---- */

static void problem(struct repos *r, const char *path, bool is_error,
		    const char *message)
{
	jw_object(&r->problems);
	jw_kv_cstr(&r->problems, "path", path);
	jw_kv_cstr(&r->problems, "message", message);
	jw_end(&r->problems);
	buf_addf(&r->problems_text, "\n%s: %s", path, message);
	r->ret->is_error |= is_error;
}

/* Report whether the sandbox, or a mode, kept us out: libgit2 does not say. */
static bool is_denied(struct repos *r, const char *path)
{
	AUTO(fd_closep)
	int fd = fd_open(arena_printf(r->arena, "%s/.git", path), O_RDONLY, 0);

	return fd < 0 && (errno == EACCES || errno == EPERM);
}

static void tell_failure(struct repos *r, const char *shown, const char *path,
			 const struct err *err)
{
	if (is_denied(r, path))
		problem(r, shown, true,
			arena_printf(r->arena,
				     "may not be read from here; in a "
				     "routine, grant it: sandbox = { read = "
				     "[\"%s\"] }",
				     shown));
	else
		problem(r, shown, true, err->msg);
}

static void add_tree(struct repos *r, const char *shown, const char *path)
{
	struct repos_tree t = {.path = shown};
	struct err err = ERR_INIT;

	if (r->n == LIMIT_BRIEF_REPOS) {
		r->is_full = true;
		return;
	}
	r->n++;
	if (repos_git_read(r->git, path, r->arena, &t, &err) < 0) {
		tell_failure(r, shown, path, &err);
		return;
	}
	write_tree(&t, &r->jw);
	tell_tree(&t, &r->ret->text);
}

/* A .git folder, or a file that names one elsewhere. */
static bool is_tree(struct repos *r, const char *path)
{
	struct stat st;

	return lstat(arena_printf(r->arena, "%s/.git", path), &st) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
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
	qsort(name, n, sizeof(*name), by_name);
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
				     strerror(errno), shown));
		return;
	}
	search(r, shown, path, dir);
	closedir(dir);
}

/* ---- one call ---- */

static void look(struct repos *r, struct strlist paths)
{
	jw_init(&r->jw, &r->ret->structured, false);
	jw_init(&r->problems, &r->problems_json, false);
	jw_object(&r->jw);
	jw_key(&r->jw, "repos");
	jw_array(&r->jw);
	jw_array(&r->problems);
	for (size_t i = 0; i < paths.n; i++)
		visit(r, paths.item[i]);
	if (r->is_full)
		problem(r, "others", true,
			"200 working trees are looked at; name fewer, or let "
			"another step look at the rest");
	jw_end(&r->problems);
	jw_end(&r->jw);
	jw_kv_raw(&r->jw, "problems", buf_str(&r->problems_json));
	jw_end(&r->jw);
	buf_add_str(&r->ret->text, buf_str(&r->problems_text));
	if (r->ret->text.n && r->ret->text.p[0] == '\n')
		buf_drop(&r->ret->text, 1);
}

void brief_repos(struct str args, const struct tool_env *env,
		 struct arena *arena, struct tool_result *ret)
{
	struct repos r = {
		.env = env,
		.arena = arena,
		.ret = ret,
		.problems_json = BUF_INIT(BUF_UNBOUNDED),
		.problems_text = BUF_INIT(BUF_UNBOUNDED),
	};
	struct err err = ERR_INIT;

	if (repos_git_open(env->libgit, &r.git, &err) < 0) {
		tool_result_fail(ret, "%s", err.msg);
		return;
	}
	look(&r, fields_strings(args, "paths", arena));
	repos_git_close(r.git);
	buf_release(&r.problems_json);
	buf_release(&r.problems_text);
}
