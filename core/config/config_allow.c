#include "core/config/config_allow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/config/keys.h"
#include "core/config/paths.h"

#define SCHEMA "matins-allowed/1"
#define SUFFIX ".json"

/* ---- allowances on disk ---- */

void allowed_print(const struct allowance *a, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, true);
	jw_object(&w);
	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_cstr(&w, "path", a->path);
	if (a->target)
		jw_kv_cstr(&w, "target", a->target);
	jw_kv_cstr(&w, "sha256", a->sha256);
	jw_kv_bool(&w, "edits", a->edits);
	jw_kv_bool(&w, "by_person", a->by_person);
	jw_kv_int(&w, "wall_ms", a->wall_ms);
	jw_kv_array(&w, "grants");
	for (size_t i = 0; i < a->grants.n; i++)
		jw_cstr(&w, a->grants.item[i]);
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}

/* NULL: no string, or none that C can hold. */
static const char *text_of(struct str value, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(ALLOWED_BYTES);

	if (!scan_string(value, &text) || strlen(buf_cstr(&text)) != text.n)
		return NULL;
	return arena_strdup(arena, buf_cstr(&text));
}

static bool get_text(struct str file, const char *name, struct arena *arena,
		     const char **ret)
{
	struct str value;

	*ret = scan_get(file, name, &value) ? text_of(value, arena) : NULL;
	return *ret != NULL;
}

static bool get_bool(struct str file, const char *name, bool *ret)
{
	struct str value;

	if (!scan_get(file, name, &value))
		return false;
	*ret = scan_type(value) == SCAN_TRUE;
	return *ret || scan_type(value) == SCAN_FALSE;
}

static bool get_sum(struct str file, struct arena *arena,
		    char ret[SHA256_HEX_BYTES])
{
	const char *text;

	if (!get_text(file, "sha256", arena, &text) ||
	    strlen(text) != SHA256_HEX_BYTES - 1)
		return false;
	memcpy(ret, text, SHA256_HEX_BYTES);
	return true;
}

static bool get_grants(struct str file, struct arena *arena,
		       struct strlist *ret)
{
	struct scan_iter it;
	struct str list;

	if (!scan_get(file, "grants", &list) || scan_type(list) != SCAN_ARRAY)
		return false;
	ret->item = ARENA_ARRAY(arena, const char *, scan_count(list) + 1);
	for (scan_iter_init(&it, list); scan_next(&it); ret->n++)
		if (!(ret->item[ret->n] = text_of(it.value, arena)))
			return false;
	return true;
}

static bool read_members(struct str file, struct arena *arena,
			 struct allowance *a)
{
	struct str v;

	if (!scan_get(file, "schema", &v) || !scan_is(v, SCHEMA) ||
	    !get_text(file, "path", arena, &a->path) || *a->path != '/')
		return false;
	if (scan_get(file, "target", &v) &&
	    (!(a->target = text_of(v, arena)) || *a->target != '/'))
		return false;
	return get_sum(file, arena, a->sha256) &&
	       get_bool(file, "edits", &a->edits) &&
	       get_bool(file, "by_person", &a->by_person) &&
	       scan_get(file, "wall_ms", &v) && scan_int64(v, &a->wall_ms) &&
	       get_grants(file, arena, &a->grants);
}

int allowed_parse(struct str text, struct arena *arena, struct allowance *ret,
		  struct err *err)
{
	struct allowance a = {.path = NULL};
	struct str file;

	if (scan_document(text, NULL, &file, err) < 0)
		return -1;
	if (!read_members(file, arena, &a))
		return err_set(err, ERR_SYNTAX, "not an allowance of matins");
	*ret = a;
	return 0;
}

/* NULL and err: there is no folder for them. */
static const char *find_folder(const char *state_dir, struct arena *arena,
			       struct err *err)
{
	const char *state = state_dir ? state_dir : state_dir_find(arena);

	if (state)
		return arena_printf(arena, "%s/allowed", state);
	err_set(err, ERR_SYS,
		"allowances have no folder: neither MATINS_STATE nor "
		"HOME is set");
	return NULL;
}

static const char *file_of(const char *folder, const char *path,
			   struct arena *arena)
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(str_of(path), hex);
	return arena_printf(arena, "%s/%s" SUFFIX, folder, hex);
}

/* A file that others may write is no proof of what the user allowed. */
static int check_owner(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if ((st.st_uid == geteuid() || st.st_uid == 0) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return err_set(err, ERR_SYS,
		       "%s could be written by others (owner uid %u, mode "
		       "%03o), so no allowance in it counts",
		       path, st.st_uid, (unsigned)st.st_mode & 0777);
}

/* 1: there is nothing. */
static int open_ours(const char *path, int flags, int *ret_fd, struct err *err)
{
	AUTO(fd_closep) int fd = fd_open(path, flags, 0);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	if (check_owner(fd, path, err) < 0)
		return -1;
	*ret_fd = fd_steal(&fd);
	return 0;
}

static int check_folder(const char *folder, struct err *err)
{
	AUTO(fd_closep) int fd = -1;

	return open_ours(folder, O_RDONLY | O_DIRECTORY, &fd, err);
}

static int read_file(const char *path, struct arena *arena,
		     struct allowance *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(ALLOWED_BYTES);
	AUTO(fd_closep) int fd = -1;
	int r = open_ours(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, &fd, err);

	if (r == 0 && (fd_read_all(fd, &text, err) < 0 ||
		       allowed_parse(buf_str(&text), arena, ret, err) < 0))
		return err_wrap(err, "%s", path);
	return r;
}

int allowed_find(const char *state_dir, const char *path, struct arena *arena,
		 struct allowance *ret, struct err *err)
{
	struct allowance a;
	const char *folder = find_folder(state_dir, arena, err);
	int r;

	if (!folder)
		return -1;
	r = check_folder(folder, err);
	if (r == 0)
		r = read_file(file_of(folder, path, arena), arena, &a, err);
	if (r != 0)
		return r;
	/* a file that was copied to the name of another */
	if (strcmp(a.path, path) != 0)
		return 1;
	*ret = a;
	return 0;
}

int allowed_keep(const char *state_dir, const struct allowance *a,
		 struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *folder = find_folder(state_dir, &arena, err);

	if (!folder)
		return -1;
	if (!str_is_utf8(str_of(a->path)) ||
	    (a->target && !str_is_utf8(str_of(a->target))))
		return err_set(err, ERR_SYS, "%s: its name is not UTF-8",
			       a->path);
	allowed_print(a, &text);
	if (text.n > ALLOWED_BYTES)
		return err_set(err, ERR_LIMIT,
			       "%s may do too much to be kept: over %d bytes",
			       a->path, ALLOWED_BYTES);
	if (fd_mkdirs(folder, 0700) < 0)
		return err_sys(err, errno, "%s", folder);
	if (check_folder(folder, err) < 0)
		return -1;
	return fd_replace_file(file_of(folder, a->path, &arena), buf_str(&text),
			       0600, true, err);
}

int allowed_forget(const char *state_dir, const char *path, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *folder = find_folder(state_dir, &arena, err), *file;

	if (!folder)
		return -1;
	file = file_of(folder, path, &arena);
	if (unlink(file) == 0)
		return 0;
	return errno == ENOENT || errno == ENOTDIR
		       ? 1
		       : err_sys(err, errno, "%s", file);
}

struct list {
	struct allowance *item;
	size_t n, cap;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct allowance *)a)->path,
		      ((const struct allowance *)b)->path);
}

static void add_file(struct list *l, const char *path, struct arena *arena)
{
	struct err err = ERR_INIT;
	struct allowance a;
	int r = read_file(path, arena, &a, &err);

	if (r < 0)
		log_warning("%s", err.msg);
	/* a file that was copied to the name of another */
	if (r != 0 ||
	    !str_ends(str_of(path), strrchr(file_of("", a.path, arena), '/')))
		return;
	l->item = mem_grow(l->item, l->n + 1, &l->cap, sizeof(*l->item));
	l->item[l->n++] = a;
}

int allowed_list(const char *state_dir, struct arena *arena,
		 struct allowance **ret, size_t *ret_n, struct err *err)
{
	struct list l = {.item = NULL};
	const struct dirent *e;
	const char *folder = find_folder(state_dir, arena, err);
	DIR *dir;
	int r;

	*ret = NULL;
	*ret_n = 0;
	if (!folder)
		return -1;
	r = check_folder(folder, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	dir = opendir(folder);
	if (!dir)
		return err_sys(err, errno, "%s", folder);
	while ((e = readdir(dir)))
		if (str_ends(str_of(e->d_name), SUFFIX))
			add_file(
				&l,
				arena_printf(arena, "%s/%s", folder, e->d_name),
				arena);
	closedir(dir);
	if (!l.n)
		return 0;
	qsort(l.item, l.n, sizeof(*l.item), by_path);
	*ret = arena_adopt(arena, l.item);
	*ret_n = l.n;
	return 0;
}

/* Columns of one row, where not all is shown: it stays one line. */
#define ROW_SHOWN 64

/* In the order in which they are shown. */
static const char *const words[] = {
	"starts", "browser",  "weakens",    "writes",
	"reads",  "connects", "credential",
};

enum kind {
	STARTS,
	BROWSER,
	WEAKENS,
	WRITES,
	READS,
	CONNECTS,
	CREDENTIAL,
};

struct rows {
	struct arena *arena;
	const char **item; /* owned */
	size_t n, cap;
};

/* ---- rows of what a configuration may do ---- */

static void collect(struct rows *r, const char *word, const char *text)
{
	r->item = mem_grow(r->item, r->n + 1, &r->cap, sizeof(*r->item));
	r->item[r->n++] = arena_printf(r->arena, "%s %s", word, text);
}

static void add(struct rows *r, enum kind kind, const char *text)
{
	if (text)
		collect(r, words[kind], text);
}

/* A command line; words with blanks are quoted. */
static void add_command(struct rows *r, const char *command,
			const struct strlist *args)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (!command)
		return;
	buf_adds(&line, command);
	for (size_t i = 0; i < args->n; i++) {
		const char *word = args->item[i];
		bool is_plain = *word && !strpbrk(word, " \t\r\n'\"");

		buf_addf(&line, is_plain ? " %s" : " '%s'", word);
	}
	add(r, STARTS, buf_cstr(&line));
}

static void add_ref(struct rows *r, const struct env_ref *ref)
{
	if (!ref->from)
		return;
	switch (ref->source) {
	case SECRET_CMD:
		add(r, STARTS, ref->from);
		break;
	case SECRET_FILE:
		add(r, CREDENTIAL, ref->from);
		break;
	case SECRET_ENV:
		add(r, CREDENTIAL, arena_printf(r->arena, "$%s", ref->from));
		break;
	}
}

static void add_refs(struct rows *r, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++)
		add_ref(r, &refs->item[i]);
}

static void add_value(struct rows *r, const struct key *k, const char *value)
{
	if (k->grants && strcmp(value, "none") != 0)
		collect(r, k->grants, value);
	if (k->weakens &&
	    (strcmp(k->weakens, "*") == 0 || strcmp(k->weakens, value) == 0))
		add(r, WEAKENS,
		    arena_printf(r->arena, "%s = %s", k->name, value));
}

static void add_section(struct rows *r, enum key_section section,
			const void *object)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		struct strlist values = {NULL, 0};

		if (keys[i].section == section &&
		    (keys[i].grants || keys[i].weakens))
			values = key_values(&keys[i], object, r->arena);
		for (size_t k = 0; k < values.n; k++)
			add_value(r, &keys[i], values.item[k]);
	}
}

static void add_sandbox(struct rows *r, const struct gate_policy *p)
{
	add_section(r, SECTION_sandbox, p);
}

static void add_auth(struct rows *r, const struct server_auth *a)
{
	if (a->browser)
		add(r, BROWSER,
		    arena_printf(r->arena, "%s (outside of the sandbox)",
				 a->browser));
	add_section(r, SECTION_auth, a);
}

/* Traffic in the clear, or to addresses that are not public. */
static void add_transport(struct rows *r, const struct server *s)
{
	if (s->insecure_http)
		add(r, WEAKENS, "insecure_http");
	if (s->insecure_credentials)
		add(r, WEAKENS, "insecure_credentials");
	if (s->auth.allow_private)
		add(r, WEAKENS, "allow_private");
}

static void add_server(struct rows *r, const struct server *s)
{
	struct strlist rest = {NULL, 0};

	add_command(r, s->command, &s->args);
	add_refs(r, &s->env);
	add_sandbox(r, &s->sandbox);
	add(r, CONNECTS, s->url);
	add_section(r, SECTION_server, s);
	add_auth(r, &s->auth);
	add_transport(r, s);
	for (size_t i = 0; i < SERVER_REFERENCES; i++)
		add_ref(r, server_reference(s, i));
	if (!s->sampling.n)
		return;
	rest = (struct strlist){s->sampling.item + 1, s->sampling.n - 1};
	add_command(r, s->sampling.item[0], &rest);
}

/* Variables in headers, URLs and paths are sent or used as they are. */
static void add_variables(struct rows *r, const char *text)
{
	const char *end;

	while (text && (text = strstr(text, "${"))) {
		text += 2;
		end = text + strcspn(text, ":}");
		add(r, CREDENTIAL,
		    arena_printf(r->arena, "$%.*s", (int)(end - text), text));
	}
}

static size_t kind_of(const char *row)
{
	size_t kind = 0;

	while (kind + 1 < ARRAY_LEN(words) &&
	       !(str_starts(str_of(row), words[kind]) &&
		 row[strlen(words[kind])] == ' '))
		kind++;
	return kind;
}

static int compare(const char *a, const char *b)
{
	size_t x = kind_of(a), y = kind_of(b);

	if (x == y) {
		x = strlen(a);
		y = strlen(b);
	}
	return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

static int by_kind(const void *a, const void *b)
{
	return compare(*(const char *const *)a, *(const char *const *)b);
}

static struct strlist in_order(struct rows *r)
{
	struct strlist list = {ARENA_ARRAY(r->arena, const char *, r->n + 1),
			       0};

	if (r->n)
		qsort(r->item, r->n, sizeof(*r->item), by_kind);
	for (size_t i = 0; i < r->n; i++)
		if (!i || strcmp(r->item[i], r->item[i - 1]) != 0)
			list.item[list.n++] = r->item[i];
	return list;
}

struct strlist config_grants(const struct config *c, struct arena *arena)
{
	struct rows r = {.arena = arena};
	struct strlist list;

	add_sandbox(&r, &c->sandbox);
	for (size_t i = 0; i < c->n_servers; i++)
		add_server(&r, &c->servers[i]);
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t k = 0; k < c->routines[i].n_steps; k++) {
			const struct step *s = &c->routines[i].steps[k];

			add_command(&r, s->command, &s->args);
			add_refs(&r, &s->env);
			add_sandbox(&r, &s->sandbox);
		}
	}
	for (const struct expansion *e = c->expansions; e; e = e->next)
		add_variables(&r, *e->slot);
	list = in_order(&r);
	free(r.item);
	return list;
}

static bool config_grants_has(const struct strlist *grants, const char *word,
			      const struct strlist *others)
{
	for (size_t i = 0; i < grants->n; i++) {
		bool is_there = strcmp(words[kind_of(grants->item[i])], word);

		for (size_t k = 0; k < others->n && !is_there; k++)
			is_there = !strcmp(grants->item[i], others->item[k]);
		if (!is_there)
			return false;
	}
	return true;
}

/* Cut as it is shown: no character takes more columns than bytes. */
static void add_text(struct buf *out, const char *text, bool is_cut)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&shown, str_of(text), false);
	buf_add_cut(out, buf_str(&shown), is_cut ? ROW_SHOWN : shown.n);
	buf_addc(out, '\n');
}

static void add_row(struct buf *out, const char *word, const char *row,
		    bool is_cut)
{
	const char *value = strchr(row, ' ');

	buf_addf(out, "  %-10s  ", word);
	add_text(out, value ? value + 1 : row, is_cut);
}

bool config_grants_show(const struct strlist *grants, size_t most,
			struct buf *out)
{
	bool is_whole = true;
	size_t n = 0;

	for (size_t i = 0; i < grants->n; i++) {
		size_t kind = kind_of(grants->item[i]);
		bool is_last = i + 1 == grants->n ||
			       kind_of(grants->item[i + 1]) != kind;

		if (!most || n < most)
			add_row(out, n ? "" : words[kind], grants->item[i],
				most);
		n++;
		if (!is_last)
			continue;
		if (most && n > most) {
			buf_addf(out, "  %-10s  and %zu more\n", "", n - most);
			is_whole = false;
		}
		n = 0;
	}
	return is_whole;
}

static void add_change(struct buf *out, char sign, const char *row, size_t most,
		       size_t *n)
{
	if ((*n)++ >= most)
		return;
	buf_addf(out, "  %c ", sign);
	add_text(out, row, most != SIZE_MAX);
}

/* Rows that are not among the others. */
static void add_missing(struct buf *out, char sign, const struct strlist *rows,
			const struct strlist *others, size_t most, size_t *n)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!others->n ||
		    !bsearch(&rows->item[i], others->item, others->n,
			     sizeof(*others->item), by_kind))
			add_change(out, sign, rows->item[i], most, n);
}

void config_grants_diff(const struct strlist *before, const struct strlist *now,
			size_t most, struct buf *out)
{
	size_t n = 0;

	/* where not all are shown, what is new counts more */
	add_missing(out, '+', now, before, most, &n);
	add_missing(out, '-', before, now, most, &n);
	if (n > most)
		buf_addf(out, "  and %zu more\n", n - most);
}

/* Rows of one kind in a question, and changes, at most. */
#define ROWS_ASKED 8
/* Lines of a question, some of which may take two of the screen. */
#define LINES_ASKED 18
/* Columns of a path in it. */
#define PATH_SHOWN 72
/* Changes in one line of an error. */
#define ROWS_TOLD 4

struct verdict {
	bool is_allowed;
	bool by_person; /* the allowance was given on a terminal */
	bool has_changed;
	struct allowance kept; /* .path is NULL when there is none */
	const char *why_not;   /* a sentence without the path; in the arena */
	bool is_in_vain;       /* no allowance can be found, nor kept */
};

/* ---- by the variable ---- */

static void judge_variable(const struct config_file *file, struct verdict *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str rest = str_of(env_text("MATINS_ALLOW"));

	while (rest.n && !v->is_allowed) {
		struct str item = str_cut(&rest, ':');
		AUTO(mem_freep) char *folder = NULL;

		if (item.n && item.p[0] != '/')
			v->why_not = "is not allowed: $MATINS_ALLOW takes "
				     "absolute paths";
		if (!item.n || item.p[0] != '/')
			continue;
		/* of a folder only: the slash */
		folder = realpath(arena_printf(&arena, "%.*s/", STR_ARG(item)),
				  NULL);
		v->is_allowed = folder && place_covers(folder, file->found) &&
				place_covers(folder, file->config.path);
	}
}

/* ---- by what was kept ---- */

/* First folder above the file that others may write; NULL: none. */
static const char *writable_above(const char *path, struct arena *arena)
{
	char *at = arena_strdup(arena, path);
	struct stat st;

	for (char *slash = strrchr(at, '/'); slash; slash = strrchr(at, '/')) {
		slash[slash == at] = '\0';
		if (stat(at, &st) < 0 || !path_is_ours(&st) ||
		    path_is_written_by_others(&st))
			return at;
		if (slash == at)
			return NULL;
	}
	return NULL;
}

static void judge_path(struct config_file *file, struct verdict *v)
{
	const char *folder = writable_above(file->config.path, &file->arena);

	/* $MATINS_ALLOW holds whatever the folder is */
	v->is_allowed |= !folder && !file->has_other_names;
	if (folder)
		v->why_not = arena_printf(&file->arena,
					  "is not allowed: others may write "
					  "%s, so --edits does not hold",
					  folder);
	else if (!v->is_allowed)
		v->why_not = "is not allowed: it has another name (a hard "
			     "link), so --edits does not hold";
}

static bool is_same_target(const struct config_file *file,
			   const struct allowance *a)
{
	return strcmp(a->target ? a->target : a->path, file->config.path) == 0;
}

static void judge_kept(struct config_file *file, struct verdict *v)
{
	struct err err = ERR_INIT;
	int r = allowed_find(NULL, file->found, &file->arena, &v->kept, &err);

	if (r != 0) {
		v->kept.path = NULL;
		if (r < 0 && !v->is_allowed) {
			v->is_in_vain = true;
			v->why_not = arena_printf(
				&file->arena, "cannot be allowed: %s", err.msg);
		}
		return;
	}
	if (is_same_target(file, &v->kept) &&
	    strcmp(v->kept.sha256, file->sha256) == 0)
		v->is_allowed = true;
	else if (is_same_target(file, &v->kept) && v->kept.edits)
		judge_path(file, v);
	else
		v->has_changed = true;
	v->by_person = v->is_allowed && v->kept.by_person;
}

static void judge(struct config_file *file, struct verdict *v)
{
	*v = (struct verdict){.why_not = "lies in the current folder and has "
					 "not been allowed yet"};
	judge_variable(file, v);
	judge_kept(file, v);
	if (v->has_changed)
		v->why_not = "has changed since it was allowed";
}

/* ---- keeping it ---- */

static bool is_person_there(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int config_allow_keep(struct config_file *file, bool edits, struct err *err)
{
	struct clock *clock = clock_system();
	struct allowance a = {
		.path = file->found,
		.edits = edits,
		.by_person = is_person_there(),
		.wall_ms = clock->wall_ns(clock) / (int64_t)NS_PER_MS,
		.grants = file->grants,
	};
	struct verdict v = {.is_allowed = false};

	if (strcmp(file->found, file->config.path) != 0)
		a.target = file->config.path;
	memcpy(a.sha256, file->sha256, sizeof(a.sha256));
	if (edits)
		judge_path(file, &v);
	if (edits && !v.is_allowed)
		return err_set(err, ERR_CONFIG, "%s %s", file->found,
			       v.why_not);
	if (allowed_keep(NULL, &a, err) < 0)
		return err_wrap(err, "the allowance is not kept");
	return 0;
}

/* ---- asking ---- */

/* One line, whatever characters are in a path. */
static void add_line(struct buf *out, const char *before, const char *path,
		     const char *behind, bool is_cut)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&shown, str_of(path), false);
	buf_adds(out, before);
	buf_add_cut(out, buf_str(&shown), is_cut ? PATH_SHOWN : shown.n);
	buf_addf(out, "%s\n", behind);
}

void config_allow_show(const struct config_file *file, size_t most,
		       struct buf *out)
{
	if (file->shadows)
		add_line(out, "Used instead of your own ", file->shadows, ".",
			 most);
	if (strcmp(file->found, file->config.path) != 0)
		add_line(out, "A link to ", file->config.path, ".", most);
	if (!file->grants.n)
		buf_adds(out, "Nothing beyond the default policy.\n");
	else
		config_grants_show(&file->grants, most, out);
	add_line(out, "Relative paths begin at ", file->config.dir, ".", most);
}

static void put(const struct buf *text)
{
	if (fd_write_all(STDERR_FILENO, text->p, text->n) < 0) {
		/* the end of input means no */
	}
}

static void add_question(const struct config_file *file,
			 const struct verdict *v, size_t most, struct buf *out)
{
	AUTO(buf_release) struct buf changes = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&why, " %s.", v->why_not);
	add_line(out, "", file->found, buf_cstr(&why), most);
	if (v->has_changed) {
		config_grants_diff(&v->kept.grants, &file->grants,
				   most ? most : SIZE_MAX, &changes);
		buf_adds(out, changes.n ? buf_cstr(&changes)
					: "What it may do is as before.\n");
	}
	config_allow_show(file, most, out);
}

static size_t count_lines(const struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->p[i] == '\n';
	return n;
}

/* Rows of one kind must not push those of another off the screen. */
static void show_question(const struct config_file *file,
			  const struct verdict *v, bool is_whole)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t most = is_whole ? 0 : ROWS_ASKED;

	add_question(file, v, most, &out);
	while (most > 1 && count_lines(&out) > LINES_ASKED) {
		buf_clear(&out);
		add_question(file, v, --most, &out);
	}
	put(&out);
}

/* One line of the terminal, without what was typed behind it. */
static struct str read_line(char *room, size_t n)
{
	ssize_t got = read(STDIN_FILENO, room, n);

	return str_trim((struct str){room, got > 0 ? (size_t)got : 0});
}

static bool ask(const struct config_file *file, const struct verdict *v)
{
	struct buf question = BUF_INIT(BUF_UNBOUNDED);
	bool is_whole = false;
	char room[256];
	struct str answer;

	buf_adds(&question, "Allow it? [y/N, ? shows all] ");
	do {
		show_question(file, v, is_whole);
		/* drop input typed or pasted before the question */
		(void)!tcflush(STDIN_FILENO, TCIFLUSH);
		put(&question);
		answer = read_line(room, sizeof(room));
		is_whole = true;
	} while (str_is(answer, "?"));
	buf_release(&question);
	return str_is(answer, "y") || str_is(answer, "Y") ||
	       str_is(answer, "yes");
}

static void ask_person(struct config_file *file, struct verdict *v)
{
	struct err err = ERR_INIT;

	v->is_allowed = v->by_person = ask(file, v);
	if (!v->is_allowed) {
		v->why_not = "was not allowed";
		v->has_changed = false; /* shown already */
	} else if (config_allow_keep(file, false, &err) < 0) {
		log_warning("allowed for this time only: %s", err.msg);
	}
	v->kept.grants = file->grants;
}

/* ---- the decision ---- */

/* A confined program may write there, and would be started unconfined. */
static bool is_of_the_folder(const struct config_file *file,
			     const char *program)
{
	AUTO(mem_freep) char *real = realpath(program, NULL);

	return strchr(program, '/') &&
	       (place_covers(file->config.dir, program) ||
		(real && place_covers(file->config.dir, real)));
}

/* The browser runs outside of every sandbox. */
static void judge_browser(struct config_file *file, const struct verdict *v,
			  const char *server)
{
	const bool is_allowed =
		v->by_person &&
		config_grants_has(&file->grants, "browser", &v->kept.grants);

	for (size_t i = 0; i < file->config.n_servers; i++) {
		struct server *s = &file->config.servers[i];
		const char *browser = s->auth.browser;

		if (!browser ||
		    (is_allowed && !is_of_the_folder(file, browser)))
			continue;
		s->auth.browser = NULL;
		if (server && strcmp(s->name, server) == 0)
			log_note("%s: \"browser\" of %s is not used: %s",
				 file->path, s->name,
				 is_allowed ? "it lies in the folder of the "
					      "file, where programs may write"
					    : "it was not allowed on a "
					      "terminal (matins allow)");
	}
}

/* The changes in one line, in brackets. */
static void add_changes(const struct config_file *file, const struct verdict *v,
			struct buf *out)
{
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	if (!v->has_changed)
		return;
	config_grants_diff(&v->kept.grants, &file->grants, ROWS_TOLD, &lines);
	rest = str_trim(buf_str(&lines));
	for (size_t i = 0; rest.n; i++) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		buf_addf(out, "%s%.*s", i ? "; " : " (", STR_ARG(line));
	}
	if (lines.n)
		buf_addc(out, ')');
}

int config_allow(struct config_file *file, const struct config_options *options,
		 struct err *err)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct verdict v;

	if (!file->found_in_cwd)
		return 0;
	judge(file, &v);
	if (!v.is_allowed && !options->passive && is_person_there())
		ask_person(file, &v);
	judge_browser(file, &v, options->server);
	if (v.is_allowed)
		return 0;
	buf_addf(&why, "%s %s", file->found, v.why_not);
	add_changes(file, &v, &why);
	if (v.is_in_vain)
		buf_addf(&why,
			 "; without an allowance it is used when it is "
			 "named: -c %s",
			 file->path);
	else
		buf_adds(&why,
			 "; to see what it may do, and allow it: matins allow");
	file->not_allowed = arena_strdup(&file->arena, buf_cstr(&why));
	if (options->passive)
		return 0;
	return err_set(err, ERR_NOT_ALLOWED, "%s", file->not_allowed);
}
