/* The tool `repos`: finds working trees and tells of each. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/server/brief.h"
#include "core/server/brief_repos_git.h"

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
