#include "core/install/depot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/install/files.h"
#include "gate/gate.h"

#define ABOUT "installed.json"
/* Names the configuration that is to name the place; goes when it does. */
#define UNFINISHED "unfinished"
/* Names the draft where the older server waits; goes when the new one stays. */
#define UPGRADING "upgrading"
#define ABOUT_BYTES (64 * 1024)

/* ---- folders and locks ---- */

/* The folder of drafts; beside that of the servers, which no child may write.
 */
static const char *drafts_dir(struct arena *arena)
{
	const char *servers = state_dir_servers(arena);

	return servers ? arena_printf(arena, "%.*s/installing",
				      (int)(strrchr(servers, '/') - servers),
				      servers)
		       : NULL;
}

static const char *place_of(const char *name, struct arena *arena)
{
	const char *servers = state_dir_servers(arena);

	return servers ? arena_printf(arena, "%s/%s", servers, name) : NULL;
}

const char *depot_tree(const char *name, struct arena *arena)
{
	const char *place = place_of(name, arena);

	return place ? arena_printf(arena, "%s/tree", place) : NULL;
}

static bool is_at(int fd, const char *path)
{
	struct stat locked, now;

	return fstat(fd, &locked) == 0 && lstat(path, &now) == 0 &&
	       locked.st_dev == now.st_dev && locked.st_ino == now.st_ino;
}

/*
 * Lock the folder that has this path when it is locked.
 * operation  of flock(2); returns -1 with errno
 */
static int lock_folder(const char *path, int operation)
{
	int fd = -1;

	do {
		fd_closep(&fd);
		fd = fd_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
		while (fd >= 0 && flock(fd, operation) < 0)
			if (errno != EINTR)
				fd_closep(&fd);
	} while (fd >= 0 && !is_at(fd, path));
	return fd;
}

/* ---- sweeping ---- */

/* Does the configuration that an unfinished place is for name it? The marker
   holds its path and, behind a NUL, the tree as it writes it. */
static bool is_named(const char *marker)
{
	AUTO(buf_release) struct buf about = BUF_INIT(ABOUT_BYTES);
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct str tree, path;

	if (fd_read_regular(marker, &about, ERR_IGNORED) < 0)
		return false;
	tree = buf_str(&about);
	path = str_cut(&tree, '\0');
	return path.n && tree.n &&
	       fd_read_regular(path.p, &text, ERR_IGNORED) == 0 && text.n &&
	       memmem(text.p, text.n, tree.p, tree.n);
}

/* Is this the path of a draft? A marker is a file beside what others made, so
   nothing else is ever moved by it. */
static bool is_draft_path(const char *path)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *name = strrchr(path, '/'), *drafts = drafts_dir(&arena);

	return name && drafts && name[1] && name[1] != '.' &&
	       str_eq(str_of(drafts),
		      (struct str){path, (size_t)(name - path)});
}

/* Put an older server back whose upgrade was killed; the new one becomes a
   draft again, and keeps its marker. */
static void put_back(const char *place)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf old = BUF_INIT(ABOUT_BYTES);
	const char *marker = arena_printf(&arena, "%s/" UPGRADING, place);
	AUTO(fd_closep) int lock = -1;

	if (access(marker, F_OK) < 0)
		return;
	lock = lock_folder(place, LOCK_EX | LOCK_NB);
	/* without the older one there is the new one alone */
	if (lock >= 0 && fd_read_regular(marker, &old, ERR_IGNORED) == 0 &&
	    is_draft_path(buf_cstr(&old)) &&
	    renameat2(AT_FDCWD, buf_cstr(&old), AT_FDCWD, place,
		      RENAME_EXCHANGE) < 0 &&
	    errno == ENOENT)
		unlink(marker);
}

static void sweep_one(const char *path, bool is_draft)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *marker = arena_printf(&arena, "%s/" UNFINISHED, path);
	struct err err = ERR_INIT;
	AUTO(fd_closep) int lock = -1;

	if (!is_draft && access(marker, F_OK) < 0)
		return;
	lock = lock_folder(path, LOCK_EX | LOCK_NB);
	/* the installer may have finished before the lock was free */
	if (lock < 0 || (!is_draft && access(marker, F_OK) < 0))
		return;
	if (!is_draft && is_named(marker))
		unlink(marker);
	else if (files_remove(path, &err) < 0)
		log_debug("sweep: %s", err.msg);
}

static void sweep_folder(const char *path, bool is_draft)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *one =
			arena_printf(&arena, "%s/%s", path, entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		if (!is_draft)
			put_back(one);
		sweep_one(one, is_draft);
	}
	if (dir)
		closedir(dir);
}

void depot_sweep(void)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *servers = state_dir_servers(&arena);
	const char *drafts = drafts_dir(&arena);
	AUTO(fd_closep)
	int lock = drafts ? lock_folder(drafts, LOCK_EX | LOCK_NB) : -1;

	/* another process sweeps, or places a server */
	if (lock < 0)
		return;
	/* an older server that waits among the drafts goes back first */
	sweep_folder(servers, false);
	sweep_folder(drafts, true);
}

/* ---- drafts ---- */

int draft_open(const char *name, struct draft *d, struct err *err)
{
	const char *dir = drafts_dir(&d->arena);
	char *path;
	AUTO(fd_closep) int all = -1;

	if (!dir)
		return err_set(err, ERR_SYS,
			       "set HOME or XDG_DATA_HOME: servers are "
			       "installed there");
	d->name = arena_strdup(&d->arena, name);
	d->place = place_of(name, &d->arena);
	if (fd_mkdirs(dir, 0700) < 0 ||
	    fd_mkdirs(state_dir_servers(&d->arena), 0700) < 0)
		return err_sys(err, errno, "mkdir %s", dir);
	depot_sweep();
	/* keep sweeps away between the making and the lock */
	all = lock_folder(dir, LOCK_EX);
	path = arena_printf(&d->arena, "%s/%s.XXXXXX", dir, name);
	if (all < 0 || !mkdtemp(path))
		return err_sys(err, errno, "%s", path);
	d->path = path;
	d->lock = lock_folder(path, LOCK_EX);
	d->tree = arena_printf(&d->arena, "%s/tree", path);
	if (d->lock < 0 || mkdir(d->tree, 0755) < 0)
		return err_sys(err, errno, "%s", d->tree);
	return 0;
}

int draft_finish(struct draft *d, struct installed_server *about,
		 struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *path = arena_printf(&d->arena, "%s/" ABOUT, d->path);
	char sum[SHA256_HEX_BYTES];
	struct jw w = jw_begin(&out);

	if (files_digest(d->tree, sum, err) < 0)
		return err_wrap(err, "%s", about->source);
	about->name = d->name;
	about->sha256 = arena_strdup(&d->arena, sum);
	jw_kv_cstr(&w, "kind", about->kind);
	jw_kv_cstr(&w, "source", about->source);
	jw_kv_cstr(&w, "version", about->version);
	jw_kv_cstr(&w, "sha256", about->sha256);
	jw_end(&w);
	buf_addc(&out, '\n');
	return fd_replace_file(path, buf_str(&out), 0600, true, err);
}

bool draft_is_installed(struct draft *d, const struct installed_server *about)
{
	struct installed_server is;

	return !d->is_upgrade &&
	       access(arena_printf(&d->arena, "%s/" UNFINISHED, d->place),
		      F_OK) < 0 &&
	       depot_read(d->name, &d->arena, &is, ERR_IGNORED) == 0 &&
	       strcmp(is.kind, about->kind) == 0 &&
	       strcmp(is.source, about->source) == 0 &&
	       strcmp(is.sha256, about->sha256) == 0;
}

static int rename_draft(struct draft *d, struct err *err)
{
	const unsigned flags =
		d->is_upgrade ? RENAME_EXCHANGE : RENAME_NOREPLACE;

	if (renameat2(AT_FDCWD, d->path, AT_FDCWD, d->place, flags) == 0)
		return 0;
	if (errno == EEXIST)
		return err_set(err, ERR_CONFIG,
			       "a server %s is installed in %s; `matins "
			       "upgrade %s` replaces it, `matins remove %s` "
			       "removes it, --name gives another name",
			       d->name, d->place, d->name, d->name);
	return err_sys(err, errno, "%s", d->place);
}

int draft_place(struct draft *d, const char *config, const char *written,
		struct err *err)
{
	const char *marker =
		arena_printf(&d->arena, "%s/%s", d->path,
			     d->is_upgrade ? UPGRADING : UNFINISHED);
	const char *other =
		arena_printf(&d->arena, "%s/%s", d->path,
			     d->is_upgrade ? UNFINISHED : UPGRADING);
	AUTO(buf_release) struct buf about = BUF_INIT(BUF_UNBOUNDED);

	if (unlink(other) < 0 && errno != ENOENT)
		return err_sys(err, errno, "%s", other);
	if (d->is_upgrade)
		buf_adds(&about, d->path);
	else if (config)
		buf_addf(&about, "%s%c%s", config, 0, written);
	if (fd_replace_file(marker, buf_str(&about), 0600, true, err) < 0)
		return -1;
	/* keep the older one from sweeps until it is of no use */
	if (d->is_upgrade) {
		d->old = lock_folder(d->place, LOCK_EX);
		if (d->old < 0)
			return err_sys(err, errno, "%s", d->place);
	}
	if (rename_draft(d, err) < 0)
		return -1;
	d->is_placed = true;
	return 0;
}

int draft_keep(struct draft *d, struct err *err)
{
	const char *marker =
		arena_printf(&d->arena, "%s/%s", d->place,
			     d->is_upgrade ? UPGRADING : UNFINISHED);

	if (unlink(marker) < 0 && errno != ENOENT)
		return err_sys(err, errno, "%s", marker);
	d->is_placed = false;
	return 0;
}

void draft_release(struct draft *d)
{
	struct err err = ERR_INIT;
	int r = 0;

	if (d->is_placed)
		r = d->is_upgrade ? rename_draft(d, &err)
				  : files_remove(d->place, &err);
	if (r < 0 || (d->path && files_remove(d->path, &err) < 0))
		log_warning("%s", err.msg);
	fd_closep(&d->lock);
	fd_closep(&d->old);
	arena_release(&d->arena);
}

/* ---- installed servers ---- */

static const char *read_text(struct str doc, const char *name,
			     struct arena *arena)
{
	struct str text =
		scan_decoded(scan_some(doc, name), ABOUT_BYTES, arena);

	return text.p ? arena_strndup(arena, text.p, text.n) : "";
}

int depot_parse(struct str text, struct arena *arena,
		struct installed_server *ret, struct err *err)
{
	struct str doc;

	if (scan_document(text, NULL, &doc, err) < 0)
		return -1;
	*ret = (struct installed_server){
		.kind = read_text(doc, "kind", arena),
		.source = read_text(doc, "source", arena),
		.version = read_text(doc, "version", arena),
		.sha256 = read_text(doc, "sha256", arena),
	};
	return 0;
}

int depot_read(const char *name, struct arena *arena,
	       struct installed_server *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(ABOUT_BYTES);
	const char *place = place_of(name, arena);
	const char *path = arena_printf(arena, "%s/" ABOUT, place ? place : "");

	if (!place || access(path, F_OK) < 0)
		return 1;
	if (fd_read_regular(path, &text, err) < 0)
		return -1;
	if (depot_parse(buf_str(&text), arena, ret, err) < 0)
		return err_wrap(err, "%s", path);
	ret->name = name;
	return 0;
}

int depot_remove(const char *name, struct err *err)
{
	struct draft d = DRAFT_INIT;
	int r = draft_open(name, &d, err);

	/* gone in one step, then file by file */
	if (r == 0 && rename(d.place, d.tree) < 0)
		r = errno == ENOENT ? 1 : err_sys(err, errno, "%s", d.place);
	draft_release(&d);
	return r;
}

/* Name behind the folder of servers, links on the way resolved; NULL. */
static const char *name_in(const char *dir, const char *path,
			   struct arena *arena)
{
	const size_t n = strlen(dir);
	size_t end;

	if (!path || strncmp(path, dir, n) != 0 || path[n] != '/' ||
	    !path[n + 1])
		return NULL;
	end = str_find(str_of(path + n + 1), '/');
	return arena_strndup(arena, path + n + 1, end);
}

/* A path without links: as a rule it has none, which one call tells. NULL and
   errno. */
static char *real_of(const char *path)
{
	AUTO(fd_closep) int fd = fd_open_plain(path, 0);

	if (fd >= 0)
		return mem_strdup(path);
	return errno == ENOENT || errno == ENOTDIR ? NULL
						   : realpath(path, NULL);
}

static const char *name_of(const char *dir, const char *real, const char *word,
			   struct arena *arena)
{
	AUTO(mem_freep) char *led = NULL;
	const char *name;

	if (!word || *word != '/')
		return NULL;
	name = name_in(dir, word, arena);
	if (name)
		return name;
	led = real_of(word);
	return led ? name_in(real, led, arena) : NULL;
}

const char *depot_server_of(const struct gate_request *request,
			    struct arena *arena)
{
	const char *dir = state_dir_servers(arena);
	AUTO(mem_freep) char *real = dir ? real_of(dir) : NULL;
	const char *name;

	if (!real)
		return NULL;
	name = name_of(dir, real, request->program, arena);
	for (size_t i = 1; !name && request->argv[0] && request->argv[i]; i++)
		name = name_of(dir, real, request->argv[i], arena);
	return name ? name : name_of(dir, real, request->cwd, arena);
}

int depot_check(const struct gate_request *request, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *name = depot_server_of(request, &arena);
	struct installed_server about;
	char sum[SHA256_HEX_BYTES];
	int r;

	if (!name)
		return 0;
	/* of an upgrade that was killed */
	if (access(arena_printf(&arena, "%s/../" UPGRADING,
				depot_tree(name, &arena)),
		   F_OK) == 0)
		depot_sweep();
	r = depot_read(name, &arena, &about, err);
	if (r > 0)
		return err_set(err, ERR_NOT_FOUND,
			       "server %s is not installed: matins remove it, "
			       "then matins add KIND SOURCE --name %s, with "
			       "those of the comment of its table",
			       name, name);
	if (r == 0)
		r = files_digest(depot_tree(name, &arena), sum, err);
	if (r < 0) {
		err->kind = ERR_PIN;
		return err_wrap(err, "server %s is not as it was installed",
				name);
	}
	return strcmp(sum, about.sha256) == 0
		       ? 0
		       : err_set(err, ERR_PIN,
				 "server %s is not as it was installed: files "
				 "in %s have changed; `matins upgrade %s` "
				 "installs it again, integrity = \"off\" of "
				 "the server leaves it so",
				 name, depot_tree(name, &arena), name);
}
