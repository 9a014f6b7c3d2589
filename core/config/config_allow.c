#include "core/config/config_allow.h"

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
#include "core/base/user.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "core/secret/literal.h"

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
	jw_kv_opt(&w, "target", a->target);
	jw_kv_cstr(&w, "sha256", a->sha256);
	jw_kv_bool(&w, "edits", a->edits);
	jw_kv_bool(&w, "by_person", a->by_person);
	jw_kv_int(&w, "wall_ms", a->wall_ms);
	jw_kv_list(&w, "grants", &a->grants);
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

static bool get_bool(struct str file, const char *name, bool *ret)
{
	struct str value;

	if (!scan_get(file, name, &value))
		return false;
	*ret = scan_type(value) == SCAN_TRUE;
	return *ret || scan_type(value) == SCAN_FALSE;
}

static bool read_members(struct str file, struct arena *arena,
			 struct allowance *a)
{
	const char *text;
	struct str v;

	if (!scan_get(file, "schema", &v) || !scan_is(v, SCHEMA) ||
	    !scan_get(file, "path", &v) || !(a->path = text_of(v, arena)) ||
	    *a->path != '/')
		return false;
	if (scan_get(file, "target", &v) &&
	    (!(a->target = text_of(v, arena)) || *a->target != '/'))
		return false;
	if (!scan_get(file, "sha256", &v) || !(text = text_of(v, arena)) ||
	    strlen(text) != SHA256_HEX_BYTES - 1)
		return false;
	memcpy(a->sha256, text, SHA256_HEX_BYTES);
	if (!get_bool(file, "edits", &a->edits) ||
	    !get_bool(file, "by_person", &a->by_person) ||
	    !scan_get(file, "wall_ms", &v) || !scan_int64(v, &a->wall_ms) ||
	    !scan_get(file, "grants", &v) || scan_type(v) != SCAN_ARRAY)
		return false;
	for (struct scan_iter it = scan_over(v); scan_next(&it);) {
		if (!(text = text_of(it.value, arena)))
			return false;
		list_add(&a->grants, arena, text);
	}
	return true;
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
	if ((st.st_uid == user_self() || st.st_uid == 0) &&
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
	const char *folder = find_folder(state_dir, arena, err);
	struct allowance a;
	int r = folder ? check_folder(folder, err) : -1;

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

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct allowance *)a)->path,
		      ((const struct allowance *)b)->path);
}

int allowed_list(const char *state_dir, struct arena *arena,
		 struct allowance **ret, size_t *ret_n, struct err *err)
{
	const char *folder = find_folder(state_dir, arena, err), *path;
	const struct dirent *e;
	struct allowance a;
	AUTO(dir_closep) DIR *dir = NULL;
	int r;

	*ret = NULL;
	*ret_n = 0;
	r = folder ? check_folder(folder, err) : -1;
	if (r != 0)
		return r < 0 ? -1 : 0;
	dir = opendir(folder);
	if (!dir)
		return err_sys(err, errno, "%s", folder);
	while ((e = readdir(dir))) {
		struct err why = ERR_INIT;

		if (!str_ends(str_of(e->d_name), SUFFIX))
			continue;
		path = arena_printf(arena, "%s/%s", folder, e->d_name);
		a = (struct allowance){.path = NULL};
		r = read_file(path, arena, &a, &why);
		if (r < 0)
			log_warning("%s", why.msg);
		/* a file that was copied to the name of another */
		if (r != 0 || strcmp(path, file_of(folder, a.path, arena)) != 0)
			continue;
		*ret = arena_grow(arena, *ret, *ret_n, sizeof(a));
		(*ret)[(*ret_n)++] = a;
	}
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(a), by_path);
	return 0;
}

/* ---- rows of what a configuration may do ---- */

/* Columns of one row, where not all is shown: it stays one line. */
#define ROW_SHOWN 64

/* Kinds of rows in the order in which they are shown. */
static const char *const words[] = {
	"starts", "recipe",   "browser",    "weakens", "writes",
	"reads",  "connects", "credential", "bounds",
};

struct rows {
	struct arena *arena;
	struct strlist list;
};

static void add(struct rows *r, const char *word, const char *text)
{
	if (text)
		list_addf(&r->list, r->arena, "%s %s", word, text);
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
	add(r, "starts", buf_cstr(&line));
	/* a file that is an argument is granted */
	for (size_t i = 0; i < args->n; i++)
		if (path_keys_of(args->item[i], r->arena))
			add(r, "reads", args->item[i]);
}

/* Values of the keys of a section that grant or weaken something. */
static void add_section(struct rows *r, enum key_section section,
			const void *object)
{
	for (const struct key *k = NULL; (k = key_next(section, k));) {
		struct strlist values = {NULL, 0};

		if (k->grants || k->weakens)
			values = key_values(k, object, r->arena);
		for (size_t i = 0; i < values.n; i++) {
			const char *value = values.item[i];

			if (k->grants && strcmp(value, "none") != 0)
				add(r, k->grants, value);
			if (k->weakens && (strcmp(k->weakens, "*") == 0 ||
					   strcmp(k->weakens, value) == 0))
				add(r, "weakens",
				    arena_printf(r->arena, "%s = %s", k->name,
						 value));
		}
	}
}

/* A bound that goes away is a change that must not be missed. */
static void add_bounds(struct rows *r, const struct server *s)
{
	for (const struct key *k = NULL; (k = key_next(SECTION_server, k));) {
		struct strlist values = {NULL, 0};

		if (k->bounds)
			values = key_values(k, s, r->arena);
		for (size_t i = 0; i < values.n; i++)
			if (!k->def || strcmp(k->def, values.item[i]) != 0)
				add(r, "bounds",
				    arena_printf(r->arena, "%s: %s = %s",
						 s->name, k->name,
						 values.item[i]));
	}
}

static void add_server(struct rows *r, const struct server *s)
{
	struct strlist rest = s->sampling;

	add_bounds(r, s);

	add(r, "connects", s->url);
	add_section(r, SECTION_server, s);
	add_section(r, SECTION_auth, &s->auth);
	if (s->auth.browser)
		add(r, "browser",
		    arena_printf(r->arena, "%s (outside of the sandbox)",
				 s->auth.browser));
	/* traffic in the clear, or to addresses that are not public */
	add(r, "weakens", s->insecure_http ? "insecure_http" : NULL);
	add(r, "weakens",
	    s->insecure_credentials ? "insecure_credentials" : NULL);
	add(r, "weakens", s->auth.allow_private ? "allow_private" : NULL);
	if (rest.n) {
		rest.n--;
		add_command(r, *rest.item++, &rest);
	}
}

static void add_part(struct rows *r, struct config_part *p)
{
	const struct env_ref *ref;

	add_command(r, p->command, p->args);
	add_section(r, SECTION_sandbox, p->sandbox);
	while ((ref = config_next_ref(p)))
		add(r, ref->source == SECRET_CMD ? "starts" : "credential",
		    ref->source == SECRET_ENV
			    ? arena_printf(r->arena, "$%s", ref->from)
			    : ref->from);
	if (p->server)
		add_server(r, p->server);
	if (p->notify) {
		add(r, "connects", p->notify->url);
		add(r, "connects", p->notify->ping);
	}
}

/* Variables in headers, URLs and paths are sent or used as they are. */
static void add_variables(struct rows *r, const char *text)
{
	while (text && (text = strstr(text, "${"))) {
		text += 2;
		add(r, "credential",
		    arena_printf(r->arena, "$%.*s", (int)strcspn(text, ":}"),
				 text));
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

/* Order by kind; of one kind the shorter, which of paths is the wider, first.
 */
static int by_kind(const void *x, const void *y)
{
	const char *a = *(const char *const *)x, *b = *(const char *const *)y;
	size_t m = kind_of(a), n = kind_of(b);

	if (m == n) {
		m = strlen(a);
		n = strlen(b);
	}
	return m != n ? (m < n ? -1 : 1) : strcmp(a, b);
}

struct strlist config_grants(const struct config *c, struct arena *arena)
{
	struct rows r = {.arena = arena};
	struct strlist all;

	for (struct config_part p = {0}; config_next(c, &p);)
		add_part(&r, &p);
	for (size_t i = 0; i < c->n_routines; i++)
		add(&r, "writes", c->routines[i].out);
	for (const struct expansion *e = c->expansions; e; e = e->next)
		add_variables(&r, *e->slot);
	all = r.list;
	if (all.n)
		qsort(all.item, all.n, sizeof(*all.item), by_kind);
	r.list.n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (!i || strcmp(all.item[i], all.item[r.list.n - 1]) != 0)
			all.item[r.list.n++] = all.item[i];
	return r.list;
}

/* Is each of the rows that begin with this word among the others, too? */
static bool has_rows(const struct strlist *grants, const char *word,
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

/* One line, whatever characters are in it; max 0: all. */
static void add_visible(struct buf *out, const char *text, size_t max)
{
	AUTO(buf_release) struct buf masked = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	literal_mask(str_of(text), &masked);
	/* cut as it is shown: no character takes more columns than bytes */
	log_visible(&shown, buf_str(&masked), false);
	buf_add_cut(out, buf_str(&shown), max ? max : shown.n);
}

void config_grants_show(const struct strlist *grants, size_t most,
			struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < grants->n; i++) {
		size_t kind = kind_of(grants->item[i]);
		const char *value = strchr(grants->item[i], ' ');

		if (!most || n < most) {
			buf_addf(out, "  %-10s  ", n ? "" : words[kind]);
			add_visible(out, value ? value + 1 : grants->item[i],
				    most ? ROW_SHOWN : 0);
			buf_addc(out, '\n');
		}
		n++;
		if (i + 1 < grants->n && kind_of(grants->item[i + 1]) == kind)
			continue;
		if (most && n > most)
			buf_addf(out, "  %-10s  and %zu more\n", "", n - most);
		n = 0;
	}
}

/* Bytes before the difference that a cut row shows. */
#define SAME_SHOWN 16

/* The row from shortly before where it differs from the nearest of the others.
 */
static struct str difference(struct str row, const struct strlist *others)
{
	size_t same = 0;

	for (size_t i = 0; i < others->n; i++) {
		const char *other = others->item[i];
		size_t n = 0;

		while (n < row.n && row.p[n] == other[n])
			n++;
		same = n > same ? n : same;
	}
	if (row.n <= ROW_SHOWN || same < ROW_SHOWN - SAME_SHOWN)
		return row;
	for (same -= SAME_SHOWN; (row.p[same] & 0xc0) == 0x80;)
		same--;
	return str_skip(row, same);
}

/* Add "starts echo a…", or of a long row "starts …what is new". */
static void add_cut(struct buf *out, const char *row,
		    const struct strlist *others)
{
	AUTO(buf_release) struct buf masked = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct str part;

	literal_mask(str_of(row), &masked);
	part = difference(buf_str(&masked), others);
	if (part.n < masked.n)
		buf_addf(out, "%s …", words[kind_of(row)]);
	log_visible(&shown, part, false);
	buf_add_cut(out, buf_str(&shown), ROW_SHOWN);
}

/* Rows that are not among the others. */
static void add_missing(struct buf *out, char sign, const struct strlist *rows,
			const struct strlist *others, size_t most, size_t *n)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (others->n &&
		    bsearch(&rows->item[i], others->item, others->n,
			    sizeof(*others->item), by_kind))
			continue;
		if ((*n)++ >= most)
			continue;
		buf_addf(out, "  %c ", sign);
		if (most == SIZE_MAX)
			add_visible(out, rows->item[i], 0);
		else
			add_cut(out, rows->item[i], others);
		buf_addc(out, '\n');
	}
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

/* ---- the judgement ---- */

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

static void judge_kept(struct config_file *file, struct verdict *v)
{
	const struct allowance *kept = &v->kept;
	struct err err = ERR_INIT;
	int r = allowed_find(NULL, file->found, &file->arena, &v->kept, &err);
	bool is_same;

	if (r != 0) {
		v->kept.path = NULL;
		if (r < 0 && !v->is_allowed) {
			v->is_in_vain = true;
			v->why_not = arena_printf(
				&file->arena, "cannot be allowed: %s", err.msg);
		}
		return;
	}
	is_same = strcmp(kept->target ? kept->target : kept->path,
			 file->config.path) == 0;
	if (is_same && strcmp(kept->sha256, file->sha256) == 0)
		v->is_allowed = true;
	else if (is_same && kept->edits)
		judge_path(file, v);
	else
		v->has_changed = true;
	v->by_person = v->is_allowed && kept->by_person;
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
	struct err why = ERR_INIT;

	if (strcmp(file->found, file->config.path) != 0)
		a.target = file->config.path;
	memcpy(a.sha256, file->sha256, sizeof(a.sha256));
	if (edits)
		judge_path(file, &v);
	if (edits && !v.is_allowed)
		return err_set(err, ERR_CONFIG, "%s %s", file->found,
			       v.why_not);
	if (allowed_keep(NULL, &a, &why) < 0)
		return err_set(err, why.kind,
			       "the allowance is not kept: %s; without one the "
			       "file is used when it is named: -c %s",
			       why.msg, file->path);
	return 0;
}

/* ---- asking ---- */

static void add_line(struct buf *out, const char *before, const char *path,
		     const char *behind, bool is_cut)
{
	buf_adds(out, before);
	add_visible(out, path, is_cut ? PATH_SHOWN : 0);
	buf_addf(out, "%s\n", behind);
}

/* Add a line for each row that opens all of HOME. */
static void add_homes(const struct config_file *file, bool is_cut,
		      struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < file->grants.n; i++) {
		const char *row = file->grants.item[i];
		const char *kind = words[kind_of(row)];
		const char *path = row + strlen(kind) + 1;

		if ((strcmp(kind, "reads") == 0 ||
		     strcmp(kind, "writes") == 0) &&
		    path_holds_home(
			    path_resolve(path, file->config.dir, &arena)))
			add_line(out, "Keys and tokens in HOME lie beneath ",
				 path, "; name only the folders needed.",
				 is_cut);
	}
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
	add_homes(file, most, out);
	add_line(out, "Relative paths begin at ", file->config.dir, ".", most);
}

static void put(struct str text)
{
	if (fd_write_all(STDERR_FILENO, text.p, text.n) < 0) {
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

/* Rows of one kind must not push those of another off the screen. */
static void show_question(const struct config_file *file,
			  const struct verdict *v, bool is_whole)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t most = is_whole ? 0 : ROWS_ASKED;

	add_question(file, v, most, &out);
	while (most > 1 && str_count(buf_str(&out), '\n') > LINES_ASKED) {
		buf_clear(&out);
		add_question(file, v, --most, &out);
	}
	put(buf_str(&out));
}

static bool ask(const struct config_file *file, const struct verdict *v)
{
	struct str answer = {NULL, 0};
	char room[256];
	ssize_t n;

	do {
		show_question(file, v, str_is(answer, "?"));
		/* drop input typed or pasted before the question */
		(void)!tcflush(STDIN_FILENO, TCIFLUSH);
		put(STR("Allow it? [y/N, ? shows all] "));
		n = read(STDIN_FILENO, room, sizeof(room));
		answer = str_trim((struct str){room, n > 0 ? (size_t)n : 0});
	} while (str_is(answer, "?"));
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
		has_rows(&file->grants, "browser", &v->kept.grants);

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
	struct verdict v = {.why_not = "lies in the current folder and has "
				       "not been allowed yet"};

	if (!file->found_in_cwd)
		return 0;
	judge_variable(file, &v);
	judge_kept(file, &v);
	if (v.has_changed)
		v.why_not = "has changed since it was allowed";
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
