/*
 * Where the configuration lies, and whether its place can be trusted: the
 * file, the links that lead to it and the folders of all of these belong to
 * the user or root and are written by nobody else.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/config/config_find.h"

/* Links that lead to one another: MAXSYMLINKS of the kernel. */
#define LINKS_MAX 40

/* ---- where it lies ---- */

struct place {
	const char *path; /* NULL when its variable is not set */
	const char *who;  /* "$NAME" or "" named it; NULL: a usual place */
	bool in_cwd;
};

static const char *beneath(struct arena *arena, const char *folder,
			   const char *rest)
{
	return folder ? arena_printf(arena, "%s/%s", folder, rest) : NULL;
}

#define N_PLACES 7

static void find_places(struct arena *arena, const char *named,
			struct place place[N_PLACES])
{
	const char *home = env_text("HOME");
	const char *xdg = env_text("XDG_CONFIG_HOME");
	const char *own =
		xdg && xdg[0] == '/'
			? beneath(arena, xdg, "matins/config.toml")
			: beneath(arena, home, ".config/matins/config.toml");

	place[0] = (struct place){named, "", false};
	place[1] = (struct place){env_text("MATINS_CONFIG"), "$MATINS_CONFIG",
				  false};
	place[2] = (struct place){"matins.toml", NULL, true};
	place[3] = (struct place){own, NULL, false};
	place[4] = (struct place){env_text("MODULEX_CONFIG"), "$MODULEX_CONFIG",
				  false};
	place[5] = (struct place){"modulex.toml", NULL, true};
	place[6] = (struct place){beneath(arena, home, ".modulex/config.toml"),
				  NULL, false};
}

static int not_found(const struct place *place, struct err *err)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < N_PLACES; i++)
		if (place[i].path)
			buf_addf(&list, "%s%s", list.n ? ", " : "",
				 place[i].path);
	err_set(err, ERR_UNKNOWN,
		"there is no configuration; looked for %s; `matins init` "
		"writes a starter file, --config names one",
		buf_cstr(&list));
	buf_release(&list);
	return -1;
}

/* ---- whether to trust it ---- */

/* A group that has nobody but the user in it, as Debian makes them. */
static bool is_own_group(gid_t gid)
{
	const struct group *g = gid == getegid() ? getgrgid(gid) : NULL;
	const struct passwd *p = g ? getpwuid(geteuid()) : NULL;

	if (!p || strcmp(g->gr_name, p->pw_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, p->pw_name) != 0)
			return false;
	return true;
}

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* In a sticky folder everybody makes files, and removes only their own. */
static bool is_written_by_others(const struct stat *st)
{
	if (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)
		return false;
	return st->st_mode & S_IWOTH ||
	       (st->st_mode & S_IWGRP && !is_own_group(st->st_gid));
}

bool config_is_trusted(const struct stat *st)
{
	return is_ours(st) && !is_written_by_others(st);
}

static int check_folder(const char *named, const char *folder,
			const struct stat *st, struct err *err)
{
	if (!is_ours(st))
		return err_set(err, ERR_CONFIG,
			       "%s lies in %s, which belongs to another user "
			       "(uid %u), who could make you run anything; "
			       "copy it into a folder of your own",
			       named, folder, st->st_uid);
	if (is_written_by_others(st))
		return err_set(err, ERR_CONFIG,
			       "%s lies in %s, which is writable by others, "
			       "who could make you run anything; "
			       "`chmod go-w %s`",
			       named, folder, folder);
	return 0;
}

static int check_link(const char *named, const char *link,
		      const struct stat *st, struct err *err)
{
	if (is_ours(st))
		return 0;
	return err_set(err, ERR_CONFIG,
		       "%s: the link %s belongs to another user (uid %u), who "
		       "could make you run anything; name the file itself",
		       named, link, st->st_uid);
}

static int check_file(struct config_file *file, int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_CONFIG, "%s: %s", file->path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_CONFIG, "%s: not a regular file",
			       file->path);
	if (!is_ours(&st))
		return err_set(err, ERR_CONFIG,
			       "%s belongs to another user (uid %u), who "
			       "could make you run anything; copy it, or "
			       "`chown %u %s`",
			       file->path, st.st_uid, geteuid(), file->path);
	if (is_written_by_others(&st))
		return err_set(err, ERR_CONFIG,
			       "%s is writable by others, who could make you "
			       "run anything; `chmod go-w %s`",
			       file->path, file->path);
	file->has_other_names = st.st_nlink > 1;
	return 0;
}

/* ---- from link to link ---- */

/* A path on the way: its folder, open, and its last part. */
struct hop {
	const char *path;   /* as it was written */
	const char *folder; /* of it, as written */
	const char *name;
	int dir; /* the folder; -1 before it is open */
};

static void split(struct hop *h, struct arena *arena)
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
	if (check_link(p->path, h->path, st, err) < 0)
		return -1;
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
	struct stat folder, st;
	int fd;

	split(h, arena);
	h->dir = fd_open(h->folder, O_PATH | O_DIRECTORY, 0);
	if (h->dir < 0 || fstat(h->dir, &folder) < 0 ||
	    fstatat(h->dir, h->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(p, errno, err);
	if (check_folder(p->path, h->folder, &folder, err) < 0)
		return -1;
	if (S_ISLNK(st.st_mode))
		return follow(p, h, &st, arena, err);
	/* a fifo must not make us wait for its writer: it is refused later */
	fd = openat(h->dir, h->name,
		    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail(p, errno, err);
	*ret_fd = fd;
	return 0;
}

/* The real folder of a path; NULL and err. */
static const char *real_folder(struct config_file *file, const struct hop *h,
			       struct err *err)
{
	AUTO(mem_freep) char *folder = realpath(h->folder, NULL);

	if (folder)
		return arena_strdup(&file->arena, folder);
	err_set(err, ERR_CONFIG, "%s: its folder: %s", file->path,
		strerror(errno));
	return NULL;
}

static const char *join(struct config_file *file, const char *folder,
			const char *name)
{
	return arena_printf(&file->arena, "%s/%s",
			    strcmp(folder, "/") ? folder : "", name);
}

/* Where it was found, and where links led: there its paths begin. */
static int set_folders(struct config_file *file, const struct hop *last,
		       struct err *err)
{
	struct hop first = {.path = file->path, .dir = -1};
	const char *found;

	split(&first, &file->arena);
	found = real_folder(file, &first, err);
	file->config.dir = real_folder(file, last, err);
	if (!found || !file->config.dir)
		return -1;
	file->found = join(file, found, first.name);
	file->config.path = join(file, file->config.dir, last->name);
	return 0;
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

int config_find(const struct config_options *options, struct config_file *file,
		int *ret_fd, struct err *err)
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
		if (place[i].in_cwd || options->passive)
			find_shadowed(place, file);
		return check_file(file, *ret_fd, err);
	}
	file->path = NULL;
	return not_found(place, err);
}
