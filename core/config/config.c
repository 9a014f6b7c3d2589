#include "core/config/config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/base/user.h"
#include "core/config/config_allow.h"
#include "core/config/config_check.h"
#include "core/config/params.h"
#include "core/config/nest.h"
#include "core/config/paths.h"
#include "core/config/flow.h"
#include "core/config/references.h"
#include "core/config/saves.h"
#include "core/secret/secret.h"
#include "core/toml/toml.h"

/*
 * Where the configuration lies, and whether its place can be trusted: the
 * file, the links that lead to it and the folders of all of these belong to
 * the user or root and are written by nobody else.
 */

/* Links that lead to one another: MAXSYMLINKS of the kernel. */
#define LINKS_MAX 40

/* ---- where it lies ---- */

struct place {
	const char *path; /* NULL when its variable is not set */
	const char *who;  /* "$NAME" or "" named it; NULL: a usual place */
	bool in_cwd;
};

#define N_PLACES 7

static const char *beneath(struct arena *arena, const char *folder,
			   const char *rest)
{
	return folder ? arena_printf(arena, "%s/%s", folder, rest) : NULL;
}

static void find_places(struct arena *arena, const char *named,
			struct place place[N_PLACES])
{
	const char *home = env_text("HOME");
	const char *xdg = env_text("XDG_CONFIG_HOME");
	const char *own =
		xdg && xdg[0] == '/'
			? beneath(arena, xdg, "matins/config.toml")
			: beneath(arena, home, ".config/matins/config.toml");
	const struct place all[N_PLACES] = {
		{named, "", false},
		{env_text("MATINS_CONFIG"), "$MATINS_CONFIG", false},
		{"matins.toml", NULL, true},
		{own, NULL, false},
		{env_text("MODULEX_CONFIG"), "$MODULEX_CONFIG", false},
		{"modulex.toml", NULL, true},
		{beneath(arena, home, ".modulex/config.toml"), NULL, false},
	};

	memcpy(place, all, sizeof(all));
}

static int not_found(const struct place *place, struct err *err)
{
	AUTO(buf_release) struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < N_PLACES; i++)
		if (place[i].path)
			buf_addf(&list, "%s%s", list.n ? ", " : "",
				 place[i].path);
	return err_set(err, ERR_UNKNOWN,
		       "there is no configuration; looked for %s; `matins "
		       "init` writes a starter file, --config names one",
		       buf_cstr(&list));
}

/* ---- whether to trust it ---- */

static int check_folder(const char *named, const char *folder,
			const struct stat *st, struct err *err)
{
	if (!path_is_ours(st))
		return err_set(err, ERR_CONFIG,
			       "%s lies in %s, which belongs to another user "
			       "(uid %u), who could make you run anything; "
			       "copy it into a folder of your own",
			       named, folder, st->st_uid);
	if (path_is_written_by_others(st))
		return err_set(err, ERR_CONFIG,
			       "%s lies in %s, which is writable by others, "
			       "who could make you run anything; "
			       "`chmod go-w %s`",
			       named, folder, folder);
	return 0;
}

static int check_regular(struct config_file *file, int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_CONFIG, "%s: %s", file->path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_CONFIG, "%s: not a regular file",
			       file->path);
	if (!path_is_ours(&st))
		return err_set(err, ERR_CONFIG,
			       "%s belongs to another user (uid %u), who "
			       "could make you run anything; copy it, or "
			       "`chown %u %s`",
			       file->path, st.st_uid, user_self(), file->path);
	if (path_is_written_by_others(&st))
		return err_set(err, ERR_CONFIG,
			       "%s is writable by others, who could make you "
			       "run anything; `chmod go-w %s`",
			       file->path, file->path);
	file->has_other_names = st.st_nlink > 1;
	file->bytes = st.st_size;
	return 0;
}

/* ---- from link to link ---- */

/* A path on the way: its folder, open, and its last part. */
struct hop {
	const char *path;   /* as it was written */
	const char *folder; /* of it, as written */
	const char *name;
	int dir;       /* the folder; -1 before it is open */
	bool is_plain; /* no link led to the folder */
};

static void split_path(struct hop *h, struct arena *arena)
{
	const char *slash = strrchr(h->path, '/');
	size_t n = slash ? (size_t)(slash - h->path) : 0;

	h->name = slash ? slash + 1 : h->path;
	h->folder = !slash ? "." : n ? arena_strndup(arena, h->path, n) : "/";
}

/* The errno stays in err->sys: a usual place may have no file. */
static int fail(const struct place *p, int error, struct err *err)
{
	const char *who = p->who ? p->who : "";

	err_set(err, ERR_CONFIG, "%s%s%s: %s", who, *who ? " " : "", p->path,
		strerror(error));
	err->sys = error;
	return -1;
}

/* 1, and h->path is what the link leads to. */
static int follow(const struct place *p, struct hop *h, const struct stat *st,
		  struct arena *arena, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(h->dir, h->name, target, sizeof(target) - 1);

	if (n < 0)
		return fail(p, errno, err);
	if (!path_is_ours(st))
		return err_set(err, ERR_CONFIG,
			       "%s: the link %s belongs to another user (uid "
			       "%u), who could make you run anything; name the "
			       "file itself",
			       p->path, h->path, st->st_uid);
	target[n] = '\0';
	h->path = *target == '/'
			  ? arena_strdup(arena, target)
			  : arena_printf(arena, "%s/%s", h->folder, target);
	return 1;
}

/* 1: one link was followed. 0: the file is open. */
static int open_hop(const struct place *p, struct hop *h, struct arena *arena,
		    int *ret_fd, struct err *err)
{
	/* a fifo must not make us wait for its writer: it is refused later */
	const int flags =
		O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;
	AUTO(fd_closep) int fd = -1;
	struct stat folder, link;
	int error;

	split_path(h, arena);
	h->dir = fd_open_plain(h->folder, O_DIRECTORY);
	h->is_plain = h->dir >= 0;
	if (!h->is_plain && errno != ENOENT && errno != ENOTDIR)
		h->dir = fd_open(h->folder, O_PATH | O_DIRECTORY, 0);
	if (h->dir < 0 || fstat(h->dir, &folder) < 0)
		return fail(p, errno, err);
	fd = openat(h->dir, h->name, flags);
	error = fd < 0 ? errno : 0;
	if (error == ENOENT ||
	    (error == ELOOP &&
	     fstatat(h->dir, h->name, &link, AT_SYMLINK_NOFOLLOW) < 0))
		return fail(p, error, err);
	if (check_folder(p->path, h->folder, &folder, err) < 0)
		return -1;
	if (error == ELOOP)
		return follow(p, h, &link, arena, err);
	if (error)
		return fail(p, error, err);
	*ret_fd = fd_steal(&fd);
	return 0;
}

/* The real folder of a path, and the path in it. */
static int set_folder(struct config_file *file, const struct hop *h,
		      const char **ret_folder, const char **ret_path,
		      struct err *err)
{
	AUTO(mem_freep)
	char *real =
		h->is_plain ? mem_strdup(h->folder) : realpath(h->folder, NULL);

	if (!real)
		return err_set(err, ERR_CONFIG, "%s: its folder: %s",
			       file->path, strerror(errno));
	*ret_folder = arena_strdup(&file->arena, real);
	*ret_path = arena_printf(&file->arena, "%s/%s",
				 strcmp(real, "/") ? real : "", h->name);
	return 0;
}

/* Where it was found, and where links led: there its paths begin. */
static int set_folders(struct config_file *file, const struct hop *last,
		       struct err *err)
{
	struct hop first = {.path = file->path, .dir = -1};
	const char *folder;

	if (set_folder(file, last, &file->config.dir, &file->config.path, err) <
	    0)
		return -1;
	file->found = file->config.path;
	if (strcmp(last->path, first.path) == 0)
		return 0;
	split_path(&first, &file->arena);
	return set_folder(file, &first, &folder, &file->found, err);
}

/* 0, and *ret_fd stays -1 where a usual place has no file. */
static int open_place(const struct place *p, struct config_file *file,
		      int *ret_fd, struct err *err)
{
	struct hop h = {.path = p->path, .dir = -1};
	struct err why = ERR_INIT;
	int r = 1;

	for (int i = 0; i < LINKS_MAX && r > 0; i++) {
		fd_closep(&h.dir);
		r = open_hop(p, &h, &file->arena, ret_fd, &why);
	}
	fd_closep(&h.dir);
	if (r == 0)
		return set_folders(file, &h, err);
	if (r < 0 && !p->who && (why.sys == ENOENT || why.sys == ENOTDIR))
		return 0;
	if (r > 0)
		return fail(p, ELOOP, err);
	*err = why;
	return -1;
}

/* The user's own that would count without the one of a current folder. */
static void find_shadowed(const struct place *place, struct config_file *file)
{
	size_t at = str_ends(str_of(file->path), "modulex.toml") ? 5 : 2;

	for (size_t i = at + 1; i < N_PLACES && !file->shadows; i++)
		if (place[i].path && !place[i].who && !place[i].in_cwd &&
		    access(place[i].path, F_OK) == 0)
			file->shadows =
				arena_strdup(&file->arena, place[i].path);
}

static int config_find(const struct config_options *options,
		       struct config_file *file, int *ret_fd, struct err *err)
{
	struct place place[N_PLACES];

	find_places(&file->arena, options->path, place);
	for (size_t i = 0; i < N_PLACES; i++) {
		if (!place[i].path)
			continue;
		file->path = arena_strdup(&file->arena, place[i].path);
		if (open_place(&place[i], file, ret_fd, err) < 0)
			return -1;
		if (*ret_fd < 0)
			continue;
		file->found_in_cwd = place[i].in_cwd;
		file->config.named = place[i].who ? file->found : NULL;
		if (place[i].in_cwd || options->passive)
			find_shadowed(place, file);
		return check_regular(file, *ret_fd, err);
	}
	file->path = NULL;
	return not_found(place, err);
}

/* ---- findings ---- */

static void log_findings(const struct config_file *file, bool warnings,
			 const struct finding *but)
{
	for (size_t i = 0; i < file->findings.n; i++) {
		const struct finding *f = &file->findings.item[i];
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (f->warning != warnings || f->note || f == but)
			continue;
		findings_place(file->path, &f->err, &text);
		(warnings ? log_warning : log_error)("%s", buf_cstr(&text));
	}
}

/*
 * Return one error and point to `matins check` for the rest. `check` cannot
 * read a policy file, so log its other errors here and return the last.
 */
static int raise_error(const struct config_file *file,
		       const struct config_options *options, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct findings *f = &file->findings;
	const struct finding *shown = NULL;
	uint64_t more = f->dropped;

	for (size_t i = 0; i < f->n; i++) {
		if (f->item[i].warning)
			continue;
		more += shown != NULL;
		if (!shown || options->policy_only)
			shown = &f->item[i];
	}
	assert(shown);
	findings_place(file->path, &shown->err, &text);
	if (options->policy_only)
		log_findings(file, false, shown);
	else if (more)
		buf_addf(&text, " (and %llu more: `matins check %s`)",
			 (unsigned long long)more, file->path);
	return err_at(err, shown->err.kind, shown->err.line, shown->err.col,
		      "%s", buf_cstr(&text));
}

/* ---- `~/` and ${VAR} ---- */

struct expander {
	struct config_file *file;
	const struct config_options *options;
	const bool *reached;	   /* routines that are to run */
	const struct expansion *e; /* the one at hand */
};

#define expand_add(x, is_warning, ...)                                \
	findings_addf(&(x)->file->findings, is_warning, (x)->e->line, \
		      (x)->e->col, __VA_ARGS__)
#define expand_error(x, ...) expand_add(x, false, __VA_ARGS__)

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '_' && !text_is_alpha(s.p[i]) &&
		    !(i && text_is_digit(s.p[i])))
			return false;
	return s.n > 0;
}

static void remember_value(struct expander *x, const char *value)
{
	list_add(&x->file->header_values, &x->file->arena,
		 arena_strdup(&x->file->arena, value));
}

/* Is the URL so far complete up to its host? Keys stand in path and query. */
static bool is_behind_host(struct str url)
{
	size_t at = str_find(url, ':');

	for (at += 3; at < url.n; at++)
		if (strchr("/?", url.p[at]))
			return true;
	return false;
}

static void remember_header(struct expander *x, const char *value)
{
	struct err err;

	remember_value(x, value);
	if (strlen(value) >= LIMIT_SECRET_SCRUB_MIN)
		return;
	err_at(&err, ERR_CONFIG, x->e->line, x->e->col,
	       "a variable of this header has fewer than %d bytes; if it is a "
	       "credential, it cannot be scrubbed",
	       LIMIT_SECRET_SCRUB_MIN);
	findings_add_note(&x->file->findings, &err);
}

/* Keep an error of one part of the file alone; slot: of that part, or NULL. */
static void add_partial(struct expander *x, const char **slot,
			enum err_kind kind, const char *sentence)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	err_at(&err, kind, x->e->line, x->e->col, "%s", sentence);
	findings_add(slot ? &x->file->unset : &x->file->findings, false, &err);
	if (!slot || *slot)
		return;
	findings_place(x->file->path, &err, &text);
	*slot = arena_strdup(&x->file->arena, buf_cstr(&text));
}

/* One server or step that lacks a variable does not stop the others. */
static void add_unset(struct expander *x, const char *sentence)
{
	add_partial(x, x->e->unset, ERR_CONFIG, sentence);
}

/* Text between `${` and `}`. */
static bool expand_variable(struct expander *x, struct str inside,
			    struct buf *out)
{
	const struct expansion *e = x->e;
	struct str rest = inside, name = str_cut(&rest, ':');
	bool has_default = rest.n && rest.p[0] == '-';
	const char *value, *copy;

	if (!is_name(name) || (rest.p && !has_default)) {
		expand_error(x, "\"%s\": write ${NAME} or ${NAME:-default}",
			     e->key);
		return false;
	}
	copy = arena_strndup(&x->file->arena, name.p, name.n);
	value = getenv(copy);
	if (has_default && (!value || !*value)) {
		buf_add(out, rest.p + 1, rest.n - 1);
		return true;
	}
	if (!value) {
		add_unset(x, arena_printf(&x->file->arena,
					  "\"%s\" needs the variable %s, which "
					  "is not set; set it, or write "
					  "${%s:-default}",
					  e->key, copy, copy));
		return false;
	}
	if (e->kind == EXPAND_HEADER)
		remember_header(x, value);
	else if (e->kind == EXPAND_URL && is_behind_host(buf_str(out)))
		remember_value(x, value);
	buf_adds(out, value);
	return true;
}

/* False after an error, which is in the findings. */
static bool expand_text(struct expander *x, struct buf *out)
{
	const struct expansion *e = x->e;
	bool is_path = e->kind != EXPAND_URL && e->kind != EXPAND_HEADER;
	struct str text = str_of(*e->slot);

	if (is_path && (str_is(text, "~") || str_starts(text, "~/")) &&
	    !env_text("HOME")) {
		add_unset(x, arena_printf(&x->file->arena,
					  "\"%s\" needs the variable HOME, "
					  "which is not set",
					  e->key));
		return false;
	}
	while (text.n) {
		struct str inside;

		size_t plain = str_find(text, '$');

		if (!plain && !str_starts(text, "${"))
			plain = 1;
		if (plain) {
			buf_add(out, text.p, plain);
			text = str_skip(text, plain);
			continue;
		}
		text = str_skip(text, 2);
		if (str_find(text, '}') == text.n) {
			expand_error(x, "\"%s\": a ${ without }", e->key);
			return false;
		}
		inside = str_cut(&text, '}');
		if (!expand_variable(x, inside, out))
			return false;
	}
	return true;
}

static void check_url(struct expander *x, struct str url)
{
	bool is_known = str_starts(url, "http://") ||
			str_starts(url, "https://") ||
			str_starts(url, "ws://") || str_starts(url, "wss://");

	if (!is_known || text_has_control(url) || str_find(url, ' ') < url.n)
		expand_error(x,
			     "\"%s\" must be a URL that begins with https:// "
			     "(or wss://; http:// and ws:// for loopback), "
			     "without blanks",
			     x->e->key);
}

/* A look at the file says it; a run that did so each day would not be read. */
static void note_home(struct expander *x, const char *path)
{
	struct err err;

	err_at(&err, ERR_CONFIG, x->e->line, x->e->col,
	       "\"%s\" grants %s, and with it the keys and tokens in HOME; "
	       "name only the folders that are needed",
	       x->e->kind == EXPAND_READ ? "read" : "write", path);
	findings_add_note(&x->file->findings, &err);
}

/* The rules of notices that the value is one of; or NULL. */
static struct notify_rules *notices_of(const struct expander *x)
{
	struct config *c = &x->file->config;

	if (x->e->unset == &c->notify.unset)
		return &c->notify;
	for (size_t i = 0; x->e->unset && i < c->n_routines; i++)
		if (x->e->unset == &c->routines[i].notify.unset)
			return &c->routines[i].notify;
	return NULL;
}

/* A run without its notice is better than none. */
static void refuse_grant(struct expander *x, const char *path)
{
	AUTO(buf_release) struct buf word = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf how = BUF_INIT(BUF_UNBOUNDED);
	struct notify_rules *n = notices_of(x);
	const char *name = strrchr(path, '/');

	text_add_word(&word, path);
	/* "notes.log", not ".cache" */
	if (name && name[1] && strchr(name + 2, '.'))
		buf_addf(&how,
			 "`touch %s` makes a file, `mkdir -p %s` a folder",
			 buf_cstr(&word), buf_cstr(&word));
	else
		buf_addf(&how, "`mkdir -p %s`", buf_cstr(&word));
	add_partial(x, n ? &n->ungranted : NULL, n ? ERR_SYS : ERR_CONFIG,
		    arena_printf(&x->file->arena,
				 "\"write\" grants %s, which does not exist; "
				 "%s",
				 path, buf_cstr(&how)));
}

static void check_grant(struct expander *x, const char *path)
{
	struct stat st;

	if (x->options->passive && path_holds_home(path))
		note_home(x, path);
	if (stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
		return;
	if (x->e->kind == EXPAND_READ &&
	    saves_will_make(&x->file->config, path))
		return;
	if (x->e->kind == EXPAND_READ)
		expand_add(x, true,
			   "\"read\" grants %s, which does not exist%s", path,
			   strpbrk(path, "*?")
				   ? ": patterns are not expanded here; name "
				     "the folder"
				   : "");
	else
		refuse_grant(x, path);
}

static bool is_there(struct arena *arena, struct str dir, const char *name)
{
	struct stat st;
	const char *path =
		arena_printf(arena, "%.*s/%s", (int)dir.n, dir.p, name);

	return dir.n && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

static bool is_program(struct expander *x, const char *name)
{
	struct arena *arena = &x->file->arena;
	const char *path = env_text("PATH");
	struct str rest = str_of(path ? path : "");

	if (strchr(name, '/'))
		return is_there(arena, str_of("/"),
				path_resolve(name, x->file->config.dir, arena));
	while (rest.n)
		if (is_there(arena, str_cut(&rest, ':'), name))
			return true;
	return false;
}

/* A line of words, as for a shell, in the place of a program. */
static void check_program(struct expander *x, struct str text)
{
	AUTO(buf_release) struct buf args = BUF_INIT(BUF_UNBOUNDED);
	struct arena *arena = &x->file->arena;
	const char *name = arena_strndup(arena, text.p, text.n);
	struct strlist words;

	if (text.n == strcspn(name, " \t") || is_program(x, name) ||
	    secret_split_words(text, arena, &words, ERR_IGNORED) < 0 ||
	    words.n < 2 || !is_program(x, words.item[0]))
		return;
	for (size_t i = 1; i < words.n; i++) {
		buf_adds(&args, i > 1 ? ", " : "");
		/* in `args` no shell does that */
		jw_quote(&args, str_of(path_home(words.item[i], arena)));
	}
	if (strcmp(x->e->key, "command") == 0 && strpbrk(name, "|<>;&")) {
		buf_clear(&args);
		jw_quote(&args, text);
		expand_error(x,
			     "\"command\" is one program, no line of a shell; "
			     "write command = \"sh\", args = [\"-c\", %s]",
			     buf_cstr(&args));
	} else if (strcmp(x->e->key, "command") == 0)
		expand_error(x,
			     "\"command\" is one program; write command = "
			     "\"%s\", args = [%s]",
			     words.item[0], buf_cstr(&args));
	else
		expand_error(x,
			     "a program of \"%s\" stands without arguments; "
			     "write \"%s\"",
			     x->e->key, words.item[0]);
}

static void finish_expansion(struct expander *x, const struct buf *text)
{
	const struct expansion *e = x->e;
	const char *folder = x->file->config.dir;
	struct arena *arena = &x->file->arena;
	struct str s = buf_str(text);

	switch (e->kind) {
	case EXPAND_PATH:
	case EXPAND_READ:
	case EXPAND_WRITE:
		*e->slot = path_resolve(s.p, folder, arena);
		if (e->kind != EXPAND_PATH)
			check_grant(x, *e->slot);
		break;
	case EXPAND_PROGRAM:
		check_program(x, s);
		*e->slot = path_program(arena_strndup(arena, s.p, s.n), folder,
					arena);
		break;
	case EXPAND_URL:
		*e->slot = arena_strndup(arena, s.p, s.n);
		check_url(x, s);
		break;
	case EXPAND_HEADER:
		*e->slot = arena_strndup(arena, s.p, s.n);
		if (text_has_control(s))
			expand_error(x, "the value of a header has a control "
					"character");
		break;
	}
}

/* ---- what of it will be used ---- */

static bool is_named(const char *name, const char *wanted)
{
	return name && wanted && strcmp(name, wanted) == 0;
}

static bool is_reached(const struct expander *x, const char *routine)
{
	const struct config *c = &x->file->config;
	const struct routine *r = config_routine(c, routine);

	return x->options->routine && r && x->reached[r - c->routines];
}

static bool is_used(const struct expander *x, const struct expansion *e)
{
	const struct config_options *o = x->options;
	const struct routine *r;

	if ((!o->routine && !o->server) || (!e->routine && !e->server))
		return true;
	if (e->routine)
		return is_reached(x, e->routine);
	for (size_t k = 0; o->routine && k < x->file->config.n_routines; k++) {
		r = &x->file->config.routines[k];
		for (size_t i = 0; x->reached[k] && i < r->n_steps; i++)
			if (is_named(r->steps[i].server_name, e->server))
				return true;
	}
	return is_named(e->server, o->server);
}

static void expand(struct config_file *file,
		   const struct config_options *options)
{
	struct expander x = {.file = file, .options = options};
	const struct expansion *e = file->config.expansions;

	x.reached = nest_reached(&file->config, options->routine, &file->arena);
	for (; e; e = e->next) {
		AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		x.e = e;
		if (*e->slot && is_used(&x, e) && expand_text(&x, &text))
			finish_expansion(&x, &text);
	}
}

/* ---- all of it ---- */

/* Files of other MCP clients are JSON; no TOML begins with a brace. */
static void explain_json(struct str text, struct err *why)
{
	if (str_starts(str_trim(text), "{"))
		err_at(why, ERR_CONFIG, 1, 1,
		       "the file is JSON, and matins reads TOML: `matins "
		       "import FILE` writes each server of it as "
		       "[servers.NAME]");
}

/* References and the order of the steps; of the routine that is to run. */
static void check_flow(struct config_file *file, const char *routine)
{
	const struct config *c = &file->config;
	const bool *reached = nest_reached(c, routine, &file->arena);

	nest_check(c, reached, &file->arena, &file->findings);
	for (size_t i = 0; i < c->n_routines; i++)
		if (reached[i]) {
			params_check(&c->routines[i], &file->findings);
			saves_check(c, &c->routines[i], &file->findings);
			(void)!flow_make(&c->routines[i], &file->arena,
					 &file->findings);
		}
}

static int read_text(const struct config_file *file, int fd,
		     const struct config_options *options, struct buf *text,
		     struct err *err)
{
	if (!options->kept.p)
		return fd_read_sized(fd, file->bytes, text, err);
	if (buf_add_str(text, options->kept) == BUF_FULL)
		return err_set(err, ERR_LIMIT, "more than %zu bytes",
			       text->max);
	return 0;
}

static int load(struct config_file *file, int fd,
		const struct config_options *options, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	const char *path = file->config.path, *dir = file->config.dir;
	const char *named = file->config.named;
	struct err why = ERR_INIT;
	struct toml_value root;
	int r;

	/* one reading: the bytes that are judged are those that are parsed */
	if (read_text(file, fd, options, &text, &why) < 0 ||
	    toml_parse(&file->arena, buf_str(&text), &root, &why) < 0) {
		explain_json(buf_str(&text), &why);
		findings_add(&file->findings, false, &why);
		return raise_error(file, options, err);
	}
	sha256_hex(buf_str(&text), file->sha256);
	if (options->sha256 && strcmp(options->sha256, file->sha256) != 0)
		return err_set(err, ERR_NOT_ALLOWED,
			       "%s has changed since it was judged", path);
	if (options->text)
		buf_add_str(options->text, buf_str(&text));
	r = routine_load(&root, options->lax, options->policy_only,
			 &file->arena, &file->config, &file->findings);
	file->header_values = file->config.literals;
	file->config.path = path;
	file->config.sha256 = arena_strdup(&file->arena, file->sha256);
	file->config.dir = dir;
	file->config.named = named;
	if (r < 0 && options->names_only)
		return raise_error(file, options, err);
	file->grants = config_grants(&file->config, &file->arena);
	/* also behind errors of the loader: all are shown at once */
	if (!options->names_only)
		expand(file, options);
	if (!options->policy_only && !options->names_only && !options->server) {
		references_check(&root, options->routine, &file->findings);
		check_flow(file, options->routine);
	}
	config_check(file);
	findings_sort(&file->findings);
	return file->findings.has_error ? raise_error(file, options, err) : 0;
}

static void take_kept(const struct config_options *options,
		      struct config_file *file)
{
	const char *path = arena_strdup(&file->arena, options->path);
	const char *slash = strrchr(path, '/');

	file->path = file->found = path;
	file->config.path = file->config.named = path;
	file->config.dir = slash == path
				   ? "/"
				   : arena_strndup(&file->arena, path,
						   (size_t)(slash - path));
}

int config_open(const struct config_options *options,
		struct config_file *ret_file, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct config_file *file = ret_file;

	*file = (struct config_file){.arena = ARENA_INIT};
	if (options->kept.p)
		take_kept(options, file);
	else if (config_find(options, file, &fd, err) < 0)
		return options->optional && !options->path &&
				       err->kind == ERR_UNKNOWN
			       ? 0
			       : -1;
	if (load(file, fd, options, err) < 0)
		return -1;
	if (config_allow(file, options, err) < 0)
		return -1;
	if (!options->quiet)
		log_findings(file, true, NULL);
	return 0;
}

static void wipe(const char *secret)
{
	/* the arena is ours to write */
	if (secret)
		mem_wipe((char *)(uintptr_t)secret, strlen(secret));
}

void config_release(struct config_file *file)
{
	const struct expansion *e = file->config.expansions;

	for (; e; e = e->next)
		if (e->kind == EXPAND_HEADER)
			wipe(*e->slot);
	for (size_t i = 0; i < file->header_values.n; i++)
		wipe(file->header_values.item[i]);
	findings_release(&file->findings);
	findings_release(&file->unset);
	arena_release(&file->arena);
	*file = (struct config_file){.arena = ARENA_INIT};
}
