/*
 * `matins wrap` edits the file of another client, so that each server that it
 * starts runs under `matins exec`; --undo puts the file back.
 *
 * A file that is replaced is kept in the folder `wrap` of the state directory,
 * where no confined program can write: under the digest of its path and the
 * digest of the bytes that took its place. So a file is put back exactly while
 * it has these bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/cli/behind.h"
#include "core/cli/command.h"
#include "core/cli/foreign.h"
#include "core/cli/put.h"
#include "core/cli/wrapped.h"
#include "core/config/edit.h"
#include "core/config/paths.h"
#include "core/import/launch.h"
#include "core/install/files.h"
#include "core/import/words.h"
#include "core/import/wrap.h"
#include "core/secret/literal.h"
#include "core/secret/scrub.h"

const struct option options_wrap[] = {
	{"write", 0, NULL,
	 "write the file; without it the lines that would change are printed"},
	{"serve", 0, NULL,
	 "put the servers behind one `matins serve`, which starts them as a "
	 "configuration of its own says"},
	{"trace", 0, NULL,
	 "start each server once, and grant what it needs of its project and "
	 "of the system"},
	FOREIGN_PATH_OPTIONS,
	{"undo", 0, NULL,
	 "put the file back as it was, unless it was edited since"},
	{0},
};

struct wrapping {
	const struct args *args;
	struct foreign f;
	const char *path; /* real */
	struct buf old;	  /* text of the file */
	struct wrap w;
	struct scrub *scrub; /* credentials, hidden in the difference */
	bool has_failed;     /* a server is left as it is, or lacks a path that
				it names; said */
	struct foreign_paths paths;
	const char *self;     /* path of this program */
	struct behind behind; /* with --serve */
	struct strlist urls;  /* names of servers without a program */
};

/* ---- what was there before ---- */

/*
 * Path of the text that stood in the place of another one.
 * errors  ERR_SYS  there is no folder for it
 */
static int kept_path(struct wrapping *w, struct str now, const char **ret,
		     struct err *err)
{
	struct arena *arena = &w->f.arena;
	const char *state = state_dir_find(arena);
	char of_path[SHA256_HEX_BYTES], of_text[SHA256_HEX_BYTES];

	if (!state)
		return err_set(err, ERR_SYS,
			       "no folder to keep the file in: set HOME");
	if (state_dir_is_ours(state, err) < 0)
		return -1;
	sha256_hex(str_of(w->path), of_path);
	sha256_hex(now, of_text);
	*ret = arena_printf(arena, "%s/wrap/%.16s-%s", state, of_path, of_text);
	return 0;
}

/* Path of the list of starts that were written into the file. */
static int starts_path(struct wrapping *w, const char **ret, struct err *err)
{
	const char *path;

	if (kept_path(w, STR(""), &path, err) < 0)
		return -1;
	*ret = arena_printf(&w->f.arena, "%.*s.starts",
			    (int)(strrchr(path, '-') - path), path);
	return 0;
}

/* Folder of the configuration of servers that one `matins serve` starts. */
static int behind_folder(struct wrapping *w, struct str before,
			 const char **ret, struct err *err)
{
	if (kept_path(w, before, ret, err) < 0)
		return -1;
	*ret = arena_printf(&w->f.arena, "%s.serve", *ret);
	return 0;
}

static int keep(struct wrapping *w, struct str now, struct err *err)
{
	const char *path, *folder;

	if (kept_path(w, now, &path, err) < 0)
		return -1;
	folder = arena_strndup(&w->f.arena, path,
			       (size_t)(strrchr(path, '/') - path));
	if (fd_mkdirs(folder, 0700) < 0)
		return err_sys(err, errno, "%s", folder);
	return fd_replace_file(path, buf_str(&w->old), 0600, true, err);
}

/* Keep what starts each server from now on. */
static int keep_starts(struct wrapping *w, struct err *err)
{
	AUTO(buf_release) struct buf list = BUF_INIT(BUF_UNBOUNDED);
	const char *path;

	for (size_t i = 0; i < w->w.n; i++) {
		const struct wrap_server *s = &w->w.server[i];
		struct strlist words = {NULL, 0};

		list_add_all(&words, &w->f.arena, &s->before);
		for (size_t k = 0; !s->goes && k < s->words.n; k++)
			list_add(&words, &w->f.arena, s->words.item[k]);
		if (s->before.n)
			wrapped_add(&list, &words);
	}
	return starts_path(w, &path, err) < 0 ? -1
					      : wrapped_write(path, &list, err);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
				      : a->tv_nsec < b->tv_nsec;
}

/* Find the newest text that is kept of this path; NULL: there is none. */
static const char *newest_kept(struct wrapping *w, const char *path)
{
	const char *name = strrchr(path, '/') + 1, *found = NULL;
	const char *folder =
		arena_strndup(&w->f.arena, path, (size_t)(name - path));
	struct timespec newest = {0, 0};
	const struct dirent *entry;
	AUTO(dir_closep) DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		const char *one = arena_printf(&w->f.arena, "%s%s", folder,
					       entry->d_name);
		struct stat st;

		if (strncmp(entry->d_name, name, 17) != 0 ||
		    stat(one, &st) < 0 || !S_ISREG(st.st_mode) ||
		    is_before(&st.st_mtim, &newest))
			continue;
		newest = st.st_mtim;
		found = one;
	}
	return found;
}

static int put_file(struct wrapping *w, struct str text, struct err *err)
{
	AUTO(outfile_release) struct outfile f = OUTFILE_INIT;

	return outfile_open(&f, w->path, OUTFILE_DURABLE, err) < 0
		       ? -1
		       : outfile_write_str(&f, text, err);
}

static int undo(struct wrapping *w, struct err *err)
{
	AUTO(buf_wipe) struct buf before = BUF_INIT(TREE_BYTES_MAX);
	const char *path, *other, *folder;

	if (fd_read_regular(w->path, &w->old, err) < 0 ||
	    kept_path(w, buf_str(&w->old), &path, err) < 0)
		return -1;
	if (access(path, F_OK) < 0) {
		other = newest_kept(w, path);
		return other ? err_set(err, ERR_CONFIG,
				       "%s was edited after matins wrote it, "
				       "so "
				       "it stays; the text before is %s: take "
				       "over what you need, or copy it over "
				       "the file",
				       w->path, other)
			     : err_set(err, ERR_CONFIG,
				       "%s was not written by matins wrap, or "
				       "with another state directory",
				       w->path);
	}
	if (fd_read_regular(path, &before, err) < 0 ||
	    put_file(w, buf_str(&before), err) < 0)
		return -1;
	(void)unlink(path);
	if (kept_path(w, buf_str(&before), &path, err) < 0 ||
	    behind_folder(w, buf_str(&before), &folder, err) < 0 ||
	    files_remove(folder, err) < 0)
		return -1;
	/* without a kept text the file has no start that wrap wrote */
	if (!newest_kept(w, path) && starts_path(w, &other, err) == 0)
		(void)unlink(other);
	log_note("wrap: %s is as it was%s", w->path,
		 access(path, F_OK) == 0
			 ? " before the last write; an earlier text is kept, "
			   "which --undo puts back next"
			 : "");
	return 0;
}

/* ---- servers ---- */

/* A program of that name elsewhere may be any program. */
static bool is_wrapped(struct wrapping *w, const struct strlist *words)
{
	const char *program = words->item[0];
	AUTO(mem_freep)
	char *real = *program == '/' ? realpath(program, NULL) : NULL;
	AUTO(mem_freep) char *self = realpath("/proc/self/exe", NULL);

	return real && self && strcmp(real, self) == 0 && words->n > 1 &&
	       (strcmp(words->item[1], "exec") == 0 ||
		behind_is_start(words, state_dir_find(&w->f.arena)));
}

/*
 * Find a variable that the client would set for matins itself, which starts
 * unconfined: code to load, or other settings. A name ends at its first `=`.
 */
static const char *outer_variable(const struct strlist *names,
				  struct arena *arena)
{
	for (size_t i = 0; i < names->n; i++) {
		struct str rest = str_of(names->item[i]);
		const struct str name = str_cut(&rest, '=');

		if (str_starts(name, "LD_") || str_starts(name, "MATINS_") ||
		    str_starts(name, "MODULEX_") || str_starts(name, "XDG_") ||
		    str_has_word("GLIBC_TUNABLES GCONV_PATH LOCPATH HOME",
				 name))
			return arena_strndup(arena, name.p, name.n);
	}
	return NULL;
}

/* A path of a row, from the folder of the file, as an option has it. */
static const char *option_value(struct wrapping *w, const char *value)
{
	return *value == '.' ? path_resolve(value, w->f.src.folder, &w->f.arena)
			     : value;
}

/* Does it start in a folder that its client may not start it in? */
static bool is_pinned(const struct wrapping *w, const struct import_server *s)
{
	return s->starts_in && !w->f.src.is_project;
}

/* Words of `matins exec` with the policy of the server. */
static void add_options(struct wrapping *w, const struct import_server *s,
			struct strlist *words)
{
	struct arena *arena = &w->f.arena;
	const struct toml_value *sandbox = toml_get(&s->table, "sandbox");

	list_add(words, arena, w->self);
	list_add(words, arena, "exec");
	for (size_t i = 0; i < s->variables.n; i++)
		if (!strchr(s->variables.item[i], '=')) {
			list_add(words, arena, "--env");
			list_add(words, arena, s->variables.item[i]);
		}
	if (is_pinned(w, s)) {
		list_add(words, arena, "--cwd");
		list_add(words, arena, s->starts_in);
	}
	for (size_t i = 0; sandbox && i < sandbox->table.n; i++) {
		const struct toml_member *m = &sandbox->table.member[i];
		const struct strlist all = words_list(&m->value, arena);
		char *option = arena_printf(arena, "--%s", m->key);

		for (char *p = option; *p; p++)
			if (*p == '_')
				*p = '-';
		for (size_t k = 0; k < all.n; k++) {
			list_add(words, arena, option);
			list_add(words, arena, option_value(w, all.item[k]));
		}
	}
	list_add(words, arena, "--");
}

static void hide(struct wrapping *w, const struct import_server *s)
{
	const struct toml_value *secret;
	const char *key;

	for (size_t i = 0; (secret = server_secret(s, i, &key)); i++)
		(void)scrub_add(w->scrub, toml_get(secret, "secret")->string);
}

/* Why a server cannot be wrapped as it is written; NULL: it can. */
static const char *why_unsafe(struct wrapping *w, const struct wrap_server *s,
			      const struct import_server *as)
{
	const char *conflict = server_conflict(s->table), *outer;

	if (conflict)
		return conflict;
	if (server_odd_args(s->table))
		return arena_printf(&w->f.arena, "has %s which are not a list",
				    server_odd_args(s->table));
	outer = outer_variable(&as->variables, &w->f.arena);
	if (outer)
		return arena_printf(&w->f.arena,
				    "sets %s, which would reach matins itself, "
				    "outside of the sandbox",
				    outer);
	if (as->has_merge)
		return "gets keys by << of YAML, which is not read, so one of "
		       "them may set a variable or another program";
	if (as->has_unread)
		return "sets variables in a form that is not read, so one of "
		       "them may reach matins itself, outside of the sandbox";
	return NULL;
}

/* Why a program stays unconfined; NULL: it does not. */
static const char *why_left(const struct wrap_server *s,
			    const struct import_server *as)
{
	const struct launch l = {s->words.item[0], s->words};

	if (launch_is_container(&l))
		return "is a container, which runs outside of any sandbox";
	if (toml_get(&as->table, "url"))
		return "only speaks to a URL, and keeps its login in HOME; "
		       "`matins import` speaks to the URL itself";
	return NULL;
}

/* Grant what the server names, as the options say, and tell of the rest. */
static void name_paths(struct wrapping *w, struct import_server *s)
{
	struct foreign_paths *p = &w->paths;

	foreign_name(&w->f, s, NULL, w->f.src.folder, p);
	for (size_t i = 0; i < p->unseen.n; i++)
		log_warning("wrap: %s: %s", s->name, p->unseen.item[i]);
	for (size_t i = 0; i < p->unwritten.n; i++)
		log_note("wrap: %s: %s", s->name, p->unwritten.item[i]);
	w->has_failed |= p->unseen.n != 0;
}

/*
 * Find the grants of a server, by starting it once where that is asked for.
 * returns  1: a signal ended the trace
 */
static int find_grants(struct wrapping *w, struct import_server *as,
		       struct err *why)
{
	bool traces = args_has(w->args, "trace");
	int r;

	if (traces && foreign_is_off(as)) {
		log_note("wrap: %s is disabled: not traced", as->name);
		traces = false;
	}
	if (!toml_get(&as->table, "command"))
		return err_set(why, ERR_CONFIG, "%s",
			       list_join(&as->lost, "; ", &w->f.arena));
	r = foreign_find(&w->f, as, why);
	if (r < 0 || !traces)
		return r;
	r = foreign_trace(&w->f, as, NULL, w->f.src.folder, why);
	foreign_sift(&w->f, as, w->f.src.folder, &w->paths);
	for (size_t i = 0; r == 0 && i < as->lost.n; i++)
		log_warning("wrap: %s: %s", as->name, as->lost.item[i]);
	return r;
}

/* Write the words that start the server confined. beside  why it does not go
   behind `matins serve` with the others; NULL: it may */
static void confine(struct wrapping *w, struct wrap_server *s,
		    struct import_server *as, const char *beside)
{
	if (as->env_file)
		log_note("wrap: %s: the client reads %s at each start, and "
			 "sets its variables for matins itself: keep it where "
			 "no server may write",
			 as->name, as->env_file);
	if (is_pinned(w, as))
		log_note("wrap: %s: its package is in %s, so it starts there",
			 as->name, as->starts_in);
	name_paths(w, as);
	if (args_has(w->args, "serve") && !beside)
		behind_add(&w->behind, s, as);
	else
		add_options(w, as, &s->before);
	if (beside)
		log_note("wrap: %s %s: it starts by itself, confined", as->name,
			 beside);
}

/* Say that it stays, and a policy that the file brought with it. */
static void say_wrapped(struct wrapping *w, const struct wrap_server *s,
			const struct import_server *as)
{
	AUTO(buf_release) struct buf policy = BUF_INIT(BUF_UNBOUNDED);
	const char *path;

	if (strcmp(s->words.item[1], "exec") == 0 &&
	    (starts_path(w, &path, ERR_IGNORED) < 0 ||
	     !wrapped_has(path, &s->words)))
		wrapped_policy(&s->words, as, &policy);
	if (policy.n)
		log_warning("wrap: %s starts by matins already, with a policy "
			    "that wrap did not write: %s; it stays as it is: "
			    "take `matins exec` and these options out of the "
			    "file unless you mean them",
			    as->name, buf_cstr(&policy));
	else
		log_note("wrap: %s starts by matins already: it stays as it is",
			 as->name);
	w->has_failed |= policy.n != 0;
}

/* returns  1: a signal ended the trace */
static int wrap_one(struct wrapping *w, struct wrap_server *s)
{
	struct import_server as;
	struct err why = ERR_INIT;
	const char *left, *beside = NULL;
	int r;

	w->f.src.folder = s->folder;
	w->f.src.is_project = s->is_project;
	server_read(&w->f.src, s->name, s->table, &as);
	hide(w, &as);
	if (!s->words.n && !server_conflict(s->table) && !as.has_merge) {
		if (toml_get(&as.table, "url"))
			list_add(&w->urls, &w->f.arena, as.name);
		return 0;
	}
	left = why_unsafe(w, s, &as);
	if (!left && is_wrapped(w, &s->words)) {
		say_wrapped(w, s, &as);
		return 0;
	}
	if (!left)
		left = why_left(s, &as);
	if (left) {
		log_warning("wrap: %s %s: it stays as it is", as.name, left);
		foreign_name_left(&w->f, &as, &w->paths);
		w->has_failed = true;
		return 0;
	}
	if (args_has(w->args, "serve"))
		beside = behind_why_not(&w->behind, &w->w, s, &as);
	r = find_grants(w, &as, &why);
	if (r == 0)
		confine(w, s, &as, beside);
	else if (r < 0)
		log_warning("wrap: %s cannot start confined, so it stays as it "
			    "is: %s",
			    as.name, why.msg);
	if (r < 0)
		foreign_name_left(&w->f, &as, &w->paths);
	w->has_failed |= r < 0;
	return r > 0;
}

/* ---- the file ---- */

static int show(struct wrapping *w, struct str now, struct err *err)
{
	AUTO(buf_wipe) struct buf diff = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&diff, "--- %s\n+++ %s\n", w->path, w->path);
	edit_diff(buf_str(&w->old), now, &diff);
	if (w->behind.n) {
		buf_addf(&diff, "--- /dev/null\n+++ %s\n", w->behind.path);
		edit_diff(STR(""), buf_str(&w->behind.text), &diff);
	}
	scrub_apply(w->scrub, buf_str(&diff), &clean);
	literal_mask(buf_str(&clean), &shown);
	return put(buf_str(&shown), PUT_TEXT, err);
}

/* Can the forms of these servers alone be edited? */
static bool are_editable(struct wrapping *w, size_t from, size_t to)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct import_source src = w->f.src;
	struct wrap alone = w->w;

	/* what an attempt reads goes with it */
	src.arena = &arena;
	alone.src = &src;
	alone.server = ARENA_ARRAY(&arena, struct wrap_server, alone.n + 1);
	for (size_t i = 0; i < alone.n; i++) {
		alone.server[i] = w->w.server[i];
		if (i >= from && i < to)
			continue;
		alone.server[i].before.n = 0;
		alone.server[i].goes = false;
	}
	return wrap_text(&alone, &text, ERR_IGNORED) == 0;
}

/* Leave servers as they are whose form cannot be edited: a part with one is
   cut in two, so that few of many cost few attempts. */
static void leave_odd(struct wrapping *w, size_t from, size_t to)
{
	struct wrap_server *s = &w->w.server[from];
	const size_t half = from + (to - from) / 2;

	if (from == to || are_editable(w, from, to))
		return;
	if (to - from > 1) {
		leave_odd(w, from, half);
		leave_odd(w, half, to);
		return;
	}
	if (!s->before.n || s->goes)
		return;
	log_warning("wrap: %s has a form that cannot be edited: it stays as it "
		    "is",
		    s->name);
	s->before.n = 0;
	w->has_failed = true;
}

/*
 * Edit the text, and leave servers as they are whose form cannot be edited.
 * returns  1: none is left to edit
 */
static int edit_text(struct wrapping *w, struct buf *now, struct err *err)
{
	struct err why = ERR_INIT;
	size_t n = 0;

	if (wrap_text(&w->w, now, &why) == 0)
		return 0;
	leave_odd(w, 0, w->w.n);
	for (size_t i = 0; i < w->w.n; i++)
		n += w->w.server[i].before.n > 0 || w->w.server[i].goes;
	buf_clear(now);
	return n ? wrap_text(&w->w, now, err) : 1;
}

/* Drop the text that was kept for a file that could not be written; not where
   the new text is there all the same, as after a sync that failed. */
static void drop_kept(struct wrapping *w, struct str now)
{
	AUTO(buf_wipe) struct buf is = BUF_INIT(TREE_BYTES_MAX);
	const char *path, *starts;

	if (fd_read_regular(w->path, &is, ERR_IGNORED) < 0 ||
	    !str_eq(buf_str(&is), buf_str(&w->old)) ||
	    kept_path(w, now, &path, ERR_IGNORED) < 0)
		return;
	(void)unlink(path);
	if (!newest_kept(w, path) && starts_path(w, &starts, ERR_IGNORED) == 0)
		(void)unlink(starts);
	if (w->behind.n && files_remove(w->behind.folder, ERR_IGNORED) < 0)
		log_debug("%s stays", w->behind.folder);
}

static int write_file(struct wrapping *w, struct str now, struct err *err)
{
	AUTO(buf_wipe) struct buf again = BUF_INIT(TREE_BYTES_MAX);
	AUTO(buf_release) struct buf given = BUF_INIT(BUF_UNBOUNDED);

	if (fd_read_regular(w->path, &again, err) < 0)
		return -1;
	if (!str_eq(buf_str(&again), buf_str(&w->old)))
		return err_set(err, ERR_CONFIG,
			       "%s changed during the wrap; wrap again",
			       w->path);
	if ((w->behind.n && behind_write(&w->behind, err) < 0) ||
	    keep(w, now, err) < 0 || keep_starts(w, err) < 0 ||
	    put_file(w, now, err) < 0) {
		drop_kept(w, now);
		return -1;
	}
	text_add_word(&given, w->args->positional[0]);
	log_note("wrap: wrote %s; matins wrap %s --undo puts it back", w->path,
		 buf_cstr(&given));
	return 0;
}

static int wrap(struct wrapping *w, struct err *err)
{
	AUTO(buf_wipe) struct buf now = BUF_INIT(BUF_UNBOUNDED);
	const char *given = w->args->positional[0], *folder;
	size_t n = 0;
	int r;

	if (foreign_read(&w->f, given, &w->old, &w->w.root, err) < 0)
		return -1;
	if (args_has(w->args, "serve")) {
		if (behind_folder(w, buf_str(&w->old), &folder, err) < 0)
			return -1;
		behind_init(&w->behind, &w->f, folder);
	}
	w->f.src.keeps_exec = true;
	w->w.src = &w->f.src;
	w->w.format = tree_format_of(given);
	w->w.text = buf_str(&w->old);
	wrap_open(&w->w);
	if (!w->w.n)
		return err_set(err, ERR_CONFIG, "%s has no MCP servers", given);
	for (size_t i = 0; i < w->w.n; i++) {
		if (wrap_one(w, &w->w.server[i]) > 0)
			return err_set(err, ERR_PEER,
				       "ended by a signal; nothing was "
				       "written");
		n += w->w.server[i].before.n > 0 || w->w.server[i].goes;
	}
	if (w->urls.n)
		log_note("wrap: without a program to confine, as the client "
			 "speaks to their url itself: %s; `matins import` "
			 "takes them over",
			 list_join(&w->urls, ", ", &w->f.arena));
	if (args_has(w->args, "serve"))
		behind_close(&w->behind, &w->w, w->self);
	if (foreign_paths_check(&w->paths, err) < 0)
		return -1;
	r = n ? edit_text(w, &now, err) : 1;
	if (r < 0)
		return -1;
	if (r > 0) {
		log_note("wrap: %s stays as it is", given);
		return w->has_failed;
	}
	if (show(w, buf_str(&now), err) < 0)
		return -1;
	if (args_has(w->args, "write"))
		return write_file(w, buf_str(&now), err) < 0 ? -1
							     : w->has_failed;
	log_note("wrap: nothing is written without --write%s",
		 args_has(w->args, "trace")
			 ? ""
			 : "; with --trace each server is started once, and "
			   "granted what it needs");
	return w->has_failed;
}

int cmd_wrap(const struct args *args, struct err *err)
{
	AUTO(mem_freep) char *real = realpath(args->positional[0], NULL);
	AUTO(mem_freep) char *self = NULL;
	struct wrapping w = {
		.args = args,
		.path = real,
		.old = BUF_INIT(TREE_BYTES_MAX),
	};
	int r;

	if (args_has(args, "undo") &&
	    (args_has(args, "trace") || args_has(args, "serve")))
		return err_set(err, ERR_USAGE,
			       "wrap: --undo starts nothing, so it takes no "
			       "--%s",
			       args_has(args, "trace") ? "trace" : "serve");
	if (!real)
		return err_sys(err, errno, "%s", args->positional[0]);
	self = realpath("/proc/self/exe", NULL);
	w.self = self ? self : "matins";
	foreign_init(&w.f);
	foreign_paths_read(&w.f, args, &w.paths);
	w.scrub = scrub_new();
	r = args_has(args, "undo") ? undo(&w, err) : wrap(&w, err);
	behind_release(&w.behind);
	scrub_free(w.scrub);
	buf_wipe(&w.old);
	foreign_release(&w.f);
	return r;
}
