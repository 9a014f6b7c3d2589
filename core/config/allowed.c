#include "core/config/allowed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"

#define SCHEMA "matins-allowed/1"
#define SUFFIX ".json"

/* ---- as text ---- */

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

/* ---- where they lie ---- */

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

/* ---- all of them ---- */

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
