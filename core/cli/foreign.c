#include "core/cli/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/user.h"
#include "core/cli/rewrite.h"
#include "core/cli/server_trace.h"
#include "core/config/edit.h"
#include "core/config/paths.h"
#include "core/import/tree.h"
#include "core/secret/secret.h"

/* Bytes of a file of variables. */
#define ENV_BYTES_MAX (64 * 1024)

/* ---- files ---- */

static const char *variable(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

/* Can another user put a file there? */
static int check_folder(const char *path, const char *named, struct err *err)
{
	const char *slash = strrchr(path, '/');
	const size_t n = slash > path ? (size_t)(slash - path) : 1;
	AUTO(mem_freep) char *folder = mem_strndup(slash ? path : ".", n);
	struct stat st;

	if (stat(folder, &st) < 0)
		return err_sys(err, errno, "%s", folder);
	if (path_is_ours(&st) && !path_is_written_by_others(&st))
		return 0;
	return err_set(err, ERR_CONFIG,
		       "%s lies in %s, where another user could put one that "
		       "makes you run anything; copy it into a folder of your "
		       "own",
		       named, folder);
}

static int check_owner(const char *path, const struct stat *st, struct err *err)
{
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_SYS, "%s: not a regular file", path);
	if (!path_is_ours(st))
		return err_set(err, ERR_CONFIG,
			       "%s belongs to another user (uid %u), who could "
			       "make you run anything; copy it, or `chown %u "
			       "%s`",
			       path, st->st_uid, user_self(), path);
	if (path_is_written_by_others(st))
		return err_set(err, ERR_CONFIG,
			       "%s is writable by others, who could make you "
			       "run anything; `chmod go-w %s`",
			       path, path);
	return 0;
}

/* Read what is judged as the configuration is: servers of it start as the
   user. */
static int read_ours(const char *path, struct buf *out, struct err *err)
{
	AUTO(fd_closep) int fd = fd_open(path, O_RDONLY | O_NONBLOCK, 0);
	AUTO(mem_freep) char *real = fd < 0 ? NULL : realpath(path, NULL);
	struct stat st;

	if (!real || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (check_owner(path, &st, err) < 0 ||
	    check_folder(path, path, err) < 0 ||
	    check_folder(real, path, err) < 0)
		return -1;
	return fd_read_sized(fd, st.st_size, out, err) < 0
		       ? err_wrap(err, "%s", path)
		       : 0;
}

static struct str read_text(void *arg, const char *path)
{
	struct foreign *f = arg;
	AUTO(buf_wipe) struct buf text = BUF_INIT(ENV_BYTES_MAX);

	return read_ours(path, &text, ERR_IGNORED) < 0
		       ? (struct str){NULL, 0}
		       : arena_str(&f->arena, buf_str(&text));
}

static bool is_file(void *arg, const char *path)
{
	struct foreign *f = arg;

	return access(path_resolve(path, f->src.folder, &f->arena), F_OK) == 0;
}

void foreign_init(struct foreign *f)
{
	const char *home = path_own_home(0);

	*f = (struct foreign){
		.arena = ARENA_INIT,
		.src = {.home = home ? home : "",
			.variable = variable,
			.read = read_text,
			.is_file = is_file},
	};
	f->src.arena = &f->arena;
	f->src.arg = f;
}

void foreign_release(struct foreign *f)
{
	arena_wipe(&f->arena);
}

/* Folder of the project that a file belongs to: above .vscode and its like. */
static const char *project_of(struct foreign *f, const char *path)
{
	static const char names[] =
		".vscode .cursor .zed .gemini .codex config";
	char *folder =
		arena_strdup(&f->arena, path_resolve(path, NULL, &f->arena));
	char *above;

	*strrchr(folder, '/') = '\0';
	above = strrchr(folder, '/');
	if (above && str_has_word(names, str_of(above + 1)))
		*above = '\0';
	return *folder ? folder : "/";
}

/* Do clients start the servers of that file in the folder of its project? A
   file of a whole user says nothing of where they do. */
static bool is_of_project_file(struct foreign *f, const char *path)
{
	const char *real = path_resolve(path, NULL, &f->arena),
		   *name = strrchr(real, '/') + 1;
	const size_t n = strlen(f->src.folder);

	return !path_holds_home(f->src.folder) &&
	       (strcmp(name, ".mcp.json") == 0 ||
		n + 1 < (size_t)(name - real));
}

int foreign_read(struct foreign *f, const char *path, struct buf *text,
		 struct toml_value *ret, struct err *err)
{
	const char *log;
	struct stat st;

	if (read_ours(path, text, err) < 0)
		return -1;
	log = arena_printf(&f->arena, "%s-wal", path);
	if (stat(log, &st) == 0 && st.st_size)
		log_warning("%s has writes that are not in %s yet; end the "
			    "program that uses it, and begin again",
			    log, path);
	if (tree_read(buf_str(text), tree_format_of(path), &f->arena, ret,
		      err) < 0)
		return err_wrap(err, "%s", path);
	f->src.path = arena_strdup(&f->arena, path);
	f->src.folder = project_of(f, path);
	f->src.is_project = is_of_project_file(f, path);
	return 0;
}

/* ---- traces ---- */

struct foreign_tracing {
	struct foreign *f;
	struct import_server *s;
	const char *dir;
	struct scrub *scrub;
};

/* One row of a list of the sandbox. */
static void add_row(struct foreign *f, struct import_server *s, const char *key,
		    const char *value)
{
	struct arena *arena = &f->arena;
	const struct toml_value text = {
		.type = TOML_STRING, .string = arena_str(arena, str_of(value))};
	struct toml_value *rows;

	rows = tree_table(tree_table(&s->table, "sandbox", arena), key, arena);
	if (strcmp(key, "net") == 0 && gate_net_is_word(value))
		*rows = text;
	if (rows->type == TOML_TABLE)
		*rows = (struct toml_value){.type = TOML_ARRAY};
	for (size_t i = 0; rows->type == TOML_ARRAY && i < rows->array.n; i++)
		if (str_is(rows->array.item[i].string, value))
			return;
	if (rows->type == TOML_ARRAY)
		tree_append(rows, text, arena);
}

/* A row, or a note for a need that no trace grants. */
static void add_need(void *arg, const char *key, const char *value,
		     const char *why_not)
{
	struct foreign_tracing *t = arg;

	if (why_not)
		list_addf(&t->s->lost, &t->f->arena, "sandbox.%s of %s: %s",
			  key, value, why_not);
	else
		add_row(t->f, t->s, key, value);
}

/* Text of a value of `env`; those of credentials go to the scrubber. */
static int read_value(struct foreign_tracing *t, const struct toml_value *v,
		      struct buf *ret, struct err *err)
{
	const struct toml_value *secret = toml_get(v, "secret"),
				*name = toml_get(v, "env"),
				*file = toml_get(v, "file");
	int r = 0;

	if (secret || v->type == TOML_STRING)
		buf_add_str(ret, secret ? secret->string : v->string);
	else
		r = secret_resolve(name ? SECRET_ENV : SECRET_FILE,
				   name ? name->string.p
					: path_resolve(file->string.p, t->dir,
						       &t->f->arena),
				   NULL, ret, err);
	if (r == 0 && v->type != TOML_STRING)
		scrub_add(t->scrub, buf_str(ret));
	return r;
}

static int read_env(struct foreign_tracing *t, struct strlist *lines,
		    struct err *err)
{
	const struct toml_value *env = toml_get(&t->s->table, "env");

	for (size_t i = 0; env && i < env->table.n; i++) {
		const struct toml_member *m = &env->table.member[i];
		AUTO(buf_wipe) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (read_value(t, &m->value, &value, err) < 0)
			return err_wrap(err, "%s", m->key);
		list_addf(lines, &t->f->arena, "%s=%s", m->key,
			  buf_cstr(&value));
	}
	return 0;
}

/* Rows of its sandbox, absolute. */
static struct strlist rows_of(struct foreign *f, const struct import_server *s,
			      const char *key, const char *dir)
{
	const struct toml_value *sandbox = toml_get(&s->table, "sandbox");
	const struct toml_value *rows = sandbox ? toml_get(sandbox, key) : NULL;
	struct strlist list = {NULL, 0};

	for (size_t i = 0; rows && i < rows->array.n; i++)
		list_add(&list, &f->arena,
			 path_resolve(rows->array.item[i].string.p, dir,
				      &f->arena));
	return list;
}

/*
 * dir      NULL: the caller's folder
 * explain  NULL: it is traced; else nothing starts
 */
static int start(struct foreign *f, struct import_server *s,
		 const struct config *config, const char *dir,
		 struct gate_explained *explain, bool traces, struct err *err)
{
	struct foreign_tracing t = {f, s, dir, scrub_new()};
	const struct toml_value *args = toml_get(&s->table, "args");
	const struct toml_value *cwd = toml_get(&s->table, "cwd");
	const char *command = toml_get(&s->table, "command")->string.p;
	const char *folder = cwd	    ? cwd->string.p
			     : s->starts_in ? s->starts_in
					    : ".";
	struct strlist words = {NULL, 0}, env = {NULL, 0};
	struct server_trace trace = {
		.name = s->name,
		.dir = dir,
		.config = config,
		.scrub = t.scrub,
		.only_finds = !traces,
		.ret_explained = explain,
		.need = add_need,
		.arg = &t,
		.request = {.program = path_program(command, dir, &f->arena),
			    .cwd = path_resolve(folder, dir, &f->arena)},
	};
	int r = traces ? read_env(&t, &env, err) : 0;

	if (explain) {
		trace.read = rows_of(f, s, "read", dir);
		trace.write = rows_of(f, s, "write", dir);
	}
	list_add(&words, &f->arena, trace.request.program);
	for (size_t i = 0; args && i < args->array.n; i++)
		list_add(&words, &f->arena, args->array.item[i].string.p);
	list_add(&words, &f->arena, NULL);
	list_add(&env, &f->arena, NULL);
	trace.request.argv = words.item;
	trace.request.env = env.item;
	if (r == 0)
		r = server_trace(&trace, &f->arena, err);
	scrub_free(t.scrub);
	return r;
}

bool foreign_is_off(const struct import_server *s)
{
	const struct toml_value *enabled = toml_get(&s->table, "enabled");

	return enabled && !enabled->boolean;
}

int foreign_trace(struct foreign *f, struct import_server *s,
		  const struct config *config, const char *dir, struct err *err)
{
	return start(f, s, config, dir, NULL, true, err);
}

/* ---- the folder where it starts ---- */

/* Explain its start from a folder; false: it cannot start there. */
static bool explain_in(struct foreign *f, struct import_server *s,
		       const char *folder, struct gate_explained *ret)
{
	*ret = (struct gate_explained){.program = NULL};
	s->starts_in = folder;
	return start(f, s, NULL, f->src.folder, ret, false, ERR_IGNORED) == 0;
}

/* Folder of the modules that a launcher found from a folder; that folder where
   they lie elsewhere. */
static const char *folder_of(struct foreign *f, const struct gate_explained *e,
			     const char *from)
{
	const struct str modules =
				 str_of(e->installation ? e->installation : ""),
			 end = STR("/node_modules");
	const char *folder;

	if (!str_ends(modules, end.p))
		return from;
	folder = arena_strndup(&f->arena, modules.p, modules.n - end.n);
	return place_covers(folder, from) ? folder : from;
}

/*
 * Let it start in the folder where its package was found, unless every folder
 * leads to that package.
 *
 * e, from  of the start that found it
 */
static int pin_folder(struct foreign *f, struct import_server *s,
		      const struct gate_explained *e, const char *from,
		      struct err *err)
{
	const char *folder = folder_of(f, e, from);
	struct gate_explained other;

	if (!e->runs || (explain_in(f, s, "/", &other) && other.runs &&
			 strcmp(other.runs, e->runs) == 0)) {
		s->starts_in = NULL;
		return 0;
	}
	if (!explain_in(f, s, folder, &other) || !other.cwd ||
	    strcmp(other.cwd, folder) != 0) {
		s->starts_in = NULL;
		return err_set(err, ERR_NOT_FOUND,
			       "its package was found in %s, where its client "
			       "may not start it",
			       folder);
	}
	return 0;
}

int foreign_find(struct foreign *f, struct import_server *s, struct err *err)
{
	const bool is_known = s->starts_in || toml_get(&s->table, "cwd");
	const char *from = f->src.folder;
	struct err why = ERR_INIT;
	struct gate_explained e;

	if (start(f, s, NULL, from, NULL, false, &why) == 0) {
		if (is_known)
			return 0;
	} else {
		from = path_resolve(".", NULL, &f->arena);
		if (is_known) {
			*err = why;
			return -1;
		}
	}
	if (explain_in(f, s, from, &e))
		return pin_folder(f, s, &e, from, err);
	s->starts_in = NULL;
	if (why.kind)
		*err = why;
	return why.kind ? -1 : 0;
}

int foreign_explain(struct foreign *f, struct import_server *s, const char *dir,
		    struct gate_explained *ret, struct err *err)
{
	return start(f, s, NULL, dir, ret, false, err);
}

/* ---- files and folders that a definition names ---- */

struct naming {
	struct foreign *f;
	struct import_server *s;
	const char *dir;
	struct foreign_paths *paths;
	struct gate_explained e; /* grants that it would get */
	bool is_left;		 /* it gets none: see foreign_name_left() */
};

static bool has_one(const struct gate_grant *all, size_t n_all,
		    const char *path, unsigned access)
{
	for (size_t i = 0; i < n_all; i++)
		if (all[i].access & access &&
		    (all[i].is_folder ? place_covers(all[i].path, path)
				      : strcmp(all[i].path, path) == 0))
			return true;
	return false;
}

static bool has(const struct naming *n, const char *path, unsigned access)
{
	return has_one(n->e.grant, n->e.n_grants, path, access);
}

/* The part of an argument or a value that is a path; NULL: there is none. */
static const char *path_in(const char *text)
{
	const char *equals = *text == '-' ? strchr(text, '=') : NULL;

	text = equals ? equals + 1 : text;
	return *text == '/' || str_has_word(". ..", str_of(text)) ||
			       strncmp(text, "./", 2) == 0 ||
			       strncmp(text, "../", 3) == 0
		       ? text
		       : NULL;
}

/* Is it, or does it hold, a key, a home, settings in one, or what the system
   keeps? No line proposes to open it: a file of others may name it. */
static bool is_closed(const struct naming *n, const char *path)
{
	const char *home = n->f->src.home;
	const struct strlist homes = {&home, 1};

	return path_holds_home(path) || gate_secret_row(path, &homes) ||
	       place_covers("/etc", path) || place_covers("/proc", path) ||
	       place_covers("/sys", path) ||
	       (place_covers(home, path) && strstr(path + strlen(home), "/."));
}

/* Is it within the project of the file, and not closed? */
static bool is_of_project(const struct naming *n, const char *path)
{
	const char *folder = n->s->folder;

	return !path_holds_home(folder) && strcmp(path, folder) != 0 &&
	       place_covers(folder, path) && !is_closed(n, path);
}

static void add_path(struct naming *n, const char *key, const char *path)
{
	add_row(n->f, n->s, key, rewrite_path(n->dir, key, path, &n->f->arena));
}

/* ---- rows of a trace ---- */

/* A file of others chose the program, which chose its rows: like `add`, grant
   programs and files of the system, and beside them its own project. */
static bool is_row_granted(struct naming *n, const char *key, const char *value)
{
	struct foreign_paths *p = n->paths;
	const bool is_write = strcmp(key, "write") == 0,
		   is_exec = strcmp(key, "exec") == 0;
	const char *path = path_resolve(value, n->dir, &n->f->arena);
	const char *row = NULL;
	char real[PATH_MAX];

	if (p->grants_all)
		return true;
	if (!str_has_word("read write exec", str_of(key)))
		return false;
	if (is_exec && !strchr(value, '/'))
		return true;
	path = realpath(path, real) ? real : path;
	/* the options are about data: nothing there may be executed */
	if (!is_exec)
		row = place_around(&p->write, path);
	if (!row && !is_write && !is_exec)
		row = place_around(&p->read, path);
	if (row)
		list_add_new(&p->used, &n->f->arena, row);
	return row ||
	       (!is_write && (place_is_system(path) || is_of_project(n, path)));
}

/* A person decides about this row. */
static void leave_row(struct naming *n, const char *key, const char *value)
{
	AUTO(buf_release) struct buf row = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&row, "sandbox.%s = [", key);
	edit_add_string(&row, value);
	buf_adds(&row, "], wanted at its first start and not granted; write it "
		       "if you mean it (--grant grants all)");
	list_add_new(&n->s->lost, &n->f->arena,
		     arena_strdup(&n->f->arena, buf_cstr(&row)));
}

/* Keep the rows of a trace that are granted; true: one stays in the list. */
static bool sift_rows(struct naming *n, const char *key,
		      struct toml_value *rows)
{
	size_t kept = 0;

	if (rows->type != TOML_ARRAY) {
		if (n->paths->grants_all)
			return true;
		leave_row(n, key, rows->string.p);
		return false;
	}
	for (size_t i = 0; i < rows->array.n; i++) {
		const struct toml_value row = rows->array.item[i];

		if (is_row_granted(n, key, row.string.p))
			rows->array.item[kept++] = row;
		else
			leave_row(n, key, row.string.p);
	}
	rows->array.n = kept;
	return kept != 0;
}

void foreign_sift(struct foreign *f, struct import_server *s, const char *dir,
		  struct foreign_paths *paths)
{
	struct naming n = {f, s, dir, paths, {.program = NULL}, false};
	struct toml_value *sandbox;
	size_t kept = 0;

	if (!toml_get(&s->table, "sandbox"))
		return;
	sandbox = tree_table(&s->table, "sandbox", &f->arena);
	for (size_t i = 0; i < sandbox->table.n; i++) {
		struct toml_member *m = &sandbox->table.member[i];

		if (sift_rows(&n, m->key, &m->value))
			sandbox->table.member[kept++] = *m;
	}
	sandbox->table.n = kept;
}

/* ---- paths that it names ---- */

/* Grant it by an option that names it, or a folder around it. */
static bool is_granted(struct naming *n, const char *path)
{
	struct foreign_paths *p = n->paths;
	const char *write = place_around(&p->write, path),
		   *row = write ? write : place_around(&p->read, path);

	if (!row)
		return false;
	list_add_new(&p->used, &n->f->arena, row);
	add_path(n, write ? "write" : "read", row);
	return true;
}

static void say_unseen(struct naming *n, const char *what, const char *path,
		       bool is_folder)
{
	const char *paste = place_to_paste(path, "PATH");

	if (is_closed(n, path)) {
		list_add_new(&n->paths->unseen, &n->f->arena,
			     arena_printf(&n->f->arena,
					  "%s names %s, which it will not see, "
					  "and which is not proposed: HOME, "
					  "keys or settings lie there",
					  what, path));
		return;
	}
	list_add_new(&n->paths->unseen, &n->f->arena,
		     arena_printf(&n->f->arena,
				  "%s names %s, which it will not see: "
				  "--allow-read %s, or where it writes%s "
				  "--allow-write %s",
				  what, path, paste,
				  is_folder ? ""
					    : " (its folder, where it replaces "
					      "the file)",
				  paste));
}

static void say_unwritten(struct naming *n, const char *what, const char *path)
{
	if (!is_closed(n, path))
		list_add_new(&n->paths->unwritten, &n->f->arena,
			     arena_printf(&n->f->arena,
					  "%s names %s, which it may read "
					  "alone; where its tools write: "
					  "--allow-write %s",
					  what, path,
					  place_to_paste(path, "PATH")));
}

/* May a person let a server write the folder, for a file in it? */
static bool is_for_data(const struct naming *n, const char *folder)
{
	return !is_closed(n, folder) && strcmp(folder, n->s->folder) != 0;
}

/* A file to be made: its folder is there, and is not "/", as of a word "/mcp".
   Many servers write a new file and rename it, which its folder must allow. */
static void name_new(struct naming *n, const char *what, const char *path)
{
	const char *end = strrchr(path, '/');
	const char *folder =
		arena_strndup(&n->f->arena, path, (size_t)(end - path));
	const char *script = n->e.missing_script, *how;
	struct stat st;

	if (script && strcmp(script, path) == 0) {
		list_add_new(&n->paths->unseen, &n->f->arena,
			     arena_printf(&n->f->arena,
					  "%s names %s, which it runs, and "
					  "which is not there",
					  what, path));
		return;
	}
	if (end == path || stat(folder, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    has(n, path, GATE_ACCESS_WRITE) || is_granted(n, path))
		return;
	if (is_closed(n, path)) {
		say_unseen(n, what, path, false);
		return;
	}
	how = is_for_data(n, folder)
		      ? arena_printf(&n->f->arena,
				     "--allow-write %s, its folder, as servers "
				     "replace their files",
				     place_to_paste(folder, "FOLDER"))
		      : "name one in a folder of its own, as servers replace "
			"their files; make that folder, and --allow-write it";
	list_add_new(&n->paths->unseen, &n->f->arena,
		     arena_printf(&n->f->arena,
				  "%s names %s, which is not there, so nothing "
				  "of it would stay: %s",
				  what, path, how));
}

/* Remember the option for a path that is not granted with its server. */
static void leave(struct naming *n, const char *path)
{
	struct foreign_paths *p = n->paths;
	const char *write = place_around(&p->write, path),
		   *row = write ? write : place_around(&p->read, path);

	if (!row)
		return;
	list_add(&p->left, &n->f->arena, row);
	list_add(&p->left_by, &n->f->arena, n->s->name);
}

/*
 * Grant one path, or say how it is granted.
 *
 * what    "env.NAME", "argument 3"
 * is_env  a file of it may well be written, where an argument is often code
 */
static void name_one(struct naming *n, const char *what, const char *text,
		     bool is_env)
{
	const struct toml_value *cwd = toml_get(&n->s->table, "cwd");
	const char *path = path_in(text);
	char real[PATH_MAX];
	struct stat st;

	if (!path)
		return;
	path = path_resolve(path,
			    cwd		      ? cwd->string.p
			    : n->s->starts_in ? n->s->starts_in
					      : n->s->folder,
			    &n->f->arena);
	if (n->is_left) {
		leave(n, realpath(path, real) ? real : path);
		return;
	}
	if (stat(path, &st) < 0) {
		name_new(n, what, path);
		return;
	}
	/* a program is started, and is no data */
	if ((!S_ISDIR(st.st_mode) &&
	     (!S_ISREG(st.st_mode) || st.st_mode & 0111)) ||
	    !realpath(path, real) || strcmp(real, "/") == 0 ||
	    has_one(n->e.base, n->e.n_base, real, GATE_ACCESS_READ) ||
	    has(n, real, GATE_ACCESS_WRITE) || is_granted(n, real))
		return;
	if (!has(n, real, GATE_ACCESS_READ)) {
		if (n->paths->is_traced || !is_of_project(n, real)) {
			say_unseen(n, what, real, S_ISDIR(st.st_mode));
			return;
		}
		add_path(n, "read", real);
	}
	if (is_env || S_ISDIR(st.st_mode))
		say_unwritten(n, what, real);
}

/* Say a file beside the project that the gate opens, since an argument is its
   name; the program's own script is none. An option says that it is meant. */
static void name_opened(struct naming *n, const char *what, const char *text)
{
	const struct toml_value *cwd = toml_get(&n->s->table, "cwd");
	const char *script = n->e.script ? n->e.script : "";
	struct arena *arena = &n->f->arena;
	char real[PATH_MAX], of_script[PATH_MAX];
	struct stat st;

	text = path_resolve(text,
			    path_resolve(cwd		   ? cwd->string.p
					 : n->s->starts_in ? n->s->starts_in
							   : ".",
					 n->dir, arena),
			    arena);
	if (stat(text, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !realpath(text, real) || !has(n, real, GATE_ACCESS_READ) ||
	    has_one(n->e.base, n->e.n_base, real, GATE_ACCESS_READ) ||
	    place_is_system(real) || is_of_project(n, real) ||
	    (realpath(script, of_script) && strcmp(of_script, real) == 0) ||
	    is_granted(n, real))
		return;
	list_add_new(&n->paths->unseen, arena,
		     arena_printf(arena,
				  "%s names %s, outside of its project, which "
				  "it may read; --allow-read %s says that this "
				  "is meant",
				  what, real, place_to_paste(real, "PATH")));
}

/* Name the paths that options of its `matins exec` ask for: one of the project
   may be read, as if an argument named it. */
static void name_asked(struct naming *n)
{
	const struct strlist *asked = &n->s->asked;

	for (size_t i = 1; i < asked->n; i += 2) {
		const char *option = asked->item[i - 1];
		const char *what = arena_printf(
			&n->f->arena, "%s of its `matins exec`", option);
		const unsigned access = strcmp(option, "--write") == 0
						? GATE_ACCESS_WRITE
						: GATE_ACCESS_READ;
		char real[PATH_MAX];
		const bool is_there = realpath(asked->item[i], real);
		const char *path = is_there ? arena_strdup(&n->f->arena, real)
					    : asked->item[i];
		struct stat st;

		if (has(n, path, access) ||
		    has_one(n->e.base, n->e.n_base, path, access) ||
		    is_granted(n, path))
			continue;
		if (!has(n, path, GATE_ACCESS_READ)) {
			/* a link whose end is not there could lead anywhere
			   later */
			if (!is_there || stat(path, &st) < 0 ||
			    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) ||
			    n->paths->is_traced || !is_of_project(n, path)) {
				say_unseen(n, what, path, true);
				continue;
			}
			add_path(n, "read", path);
		}
		if (access == GATE_ACCESS_WRITE)
			say_unwritten(n, what, path);
	}
}

static void name_all(struct naming *n)
{
	const struct toml_value *args = toml_get(&n->s->table, "args"),
				*env = toml_get(&n->s->table, "env");
	const struct toml_value *cwd = toml_get(&n->s->table, "cwd");
	struct arena *arena = &n->f->arena;

	if (cwd && strcmp(cwd->string.p, n->s->folder) != 0)
		name_one(n, "cwd", cwd->string.p, false);
	for (size_t i = 0; args && i < args->array.n; i++) {
		const char *what = arena_printf(arena, "argument %zu", i + 1),
			   *text = args->array.item[i].string.p;

		name_opened(n, what, text);
		name_one(n, what, text, false);
	}
	for (size_t i = 0; env && i < env->table.n; i++) {
		const struct toml_member *m = &env->table.member[i];
		const struct toml_value *of = toml_get(&m->value, "env");
		const char *value = m->value.type == TOML_STRING
					    ? m->value.string.p
				    : of ? getenv(of->string.p)
					 : NULL;

		if (value)
			name_one(n, arena_printf(arena, "env.%s", m->key),
				 value, true);
	}
}

void foreign_paths_read(struct foreign *f, const struct args *args,
			struct foreign_paths *ret)
{
	static const char *const options[] = {"allow-read", "allow-write"};
	struct strlist *lists[] = {&ret->read, &ret->write};

	*ret = (struct foreign_paths){
		.is_traced = args_has(args, "trace"),
		.grants_all = args_has(args, "grant"),
	};
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct strlist all =
			args_all(args, options[k], &f->arena);

		for (size_t i = 0; i < all.n; i++) {
			char real[PATH_MAX];
			const char *path =
				path_resolve(all.item[i], NULL, &f->arena);

			list_add(lists[k], &f->arena,
				 realpath(path, real)
					 ? arena_strdup(&f->arena, real)
					 : path);
		}
	}
}

/* Names of the servers without grants that name a path; "": there are none. */
static const char *left_by(const struct foreign_paths *p, const char *path,
			   struct arena *arena)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < p->left.n; i++)
		if (strcmp(p->left.item[i], path) == 0)
			list_add_new(&names, arena, p->left_by.item[i]);
	return list_join(&names, " and ", arena);
}

int foreign_paths_check(const struct foreign_paths *p, struct err *err)
{
	const struct strlist *lists[] = {&p->read, &p->write};
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (p->grants_all && !p->is_traced)
		return err_set(err, ERR_USAGE,
			       "--grant is about what a trace finds: add "
			       "--trace");
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		for (size_t i = 0; i < lists[k]->n; i++) {
			const char *option = k ? "write" : "read",
				   *path = lists[k]->item[i],
				   *by = left_by(p, path, &arena);

			if (list_has(&p->used, path))
				continue;
			if (!*by)
				return err_set(err, ERR_USAGE,
					       "--allow-%s %s: no server names "
					       "that path, or one within",
					       option, path);
			log_warning("--allow-%s %s: %s alone names that path, "
				    "and gets no grant, as it cannot start "
				    "confined",
				    option, path, by);
		}
	}
	return 0;
}

void foreign_name(struct foreign *f, struct import_server *s,
		  const struct config *config, const char *dir,
		  struct foreign_paths *paths)
{
	struct naming n = {f, s, dir, paths, {.program = NULL}, false};

	paths->unseen.n = paths->unwritten.n = 0;
	/* a program that cannot be started is said elsewhere */
	if (start(f, s, config, dir, &n.e, false, ERR_IGNORED) == 0)
		name_all(&n);
	else
		foreign_name_left(f, s, paths);
	name_asked(&n);
}

void foreign_name_left(struct foreign *f, struct import_server *s,
		       struct foreign_paths *paths)
{
	struct naming n = {f, s, s->folder, paths, {.program = NULL}, true};

	name_all(&n);
}
