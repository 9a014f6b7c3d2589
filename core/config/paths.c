#include "core/config/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/base/user.h"
#include "core/secret/secret.h"
#include "gate/gate.h"

/* Asked for some ten times a start, and looked up once; the C library is only
   asked for a user who is not in the file, since it opens a dozen others. */
static const char *passwd_home(void)
{
	static bool is_known;
	static char *home;
	const struct passwd *pw;
	struct user user;

	if (!is_known && user_find(NULL, user_self(), &user)) {
		home = mem_printf("%.*s", STR_ARG(user.home));
	} else if (!is_known) {
		pw = getpwuid(user_self());
		home = pw ? mem_strdup(pw->pw_dir) : NULL;
	}
	is_known = true;
	return home;
}

const char *path_own_home(unsigned i)
{
	const char *home = i ? passwd_home() : getenv("HOME");

	return home && home[0] == '/' && home[1] ? home : NULL;
}

bool path_holds_home(const char *path)
{
	for (unsigned i = 0; i < PATH_HOMES; i++) {
		const char *home = path_own_home(i);

		if (home && path_is_beneath(home, &(struct strlist){&path, 1}))
			return true;
	}
	return false;
}

const char *path_keys_of(const char *arg, struct arena *arena)
{
	struct strlist homes = {NULL, 0};
	const char *row;

	for (unsigned i = 0; i < PATH_HOMES; i++)
		if (path_own_home(i))
			list_add(&homes, arena, path_own_home(i));
	row = *arg == '/' ? gate_secret_row(arg, &homes) : NULL;
	return row && access(arg, F_OK) == 0 ? row : NULL;
}

bool path_needs_shell(struct str text)
{
	return str_is(text, "~") || str_is(text, "$HOME") ||
	       str_starts(text, "~/") || str_starts(text, "$HOME/") ||
	       str_starts(text, "${HOME}/");
}

const char *path_home(const char *path, struct arena *arena)
{
	const char *home = getenv("HOME");

	if (path[0] != '~' || (path[1] && path[1] != '/') || !home || !*home)
		return path;
	return arena_printf(arena, "%s%s", home, path + 1);
}

/*
 * The parent of a path so far. Behind a symbolic link ".." stays, for who
 * follows the path judges the links on it, and open(2) goes the same way.
 */
static void go_up(struct buf *path)
{
	AUTO(mem_freep) char *real = path->n ? realpath(path->p, NULL) : NULL;
	const char *slash = path->n ? strrchr(path->p, '/') : NULL;

	if (!slash)
		return;
	if (real && strcmp(real, path->p) != 0) {
		buf_adds(path, "/..");
		return;
	}
	path->n = (size_t)(slash - path->p);
	path->p[path->n] = '\0';
}

/* Append without ".", "//" and, but behind links, "..". */
static void add_parts(struct buf *out, const char *path)
{
	struct str rest = str_of(path);

	while (rest.p) {
		struct str part = str_cut(&rest, '/');

		if (str_is(part, "..")) {
			go_up(out);
		} else if (part.n && !str_is(part, ".")) {
			buf_addc(out, '/');
			buf_add_str(out, part);
		}
	}
}

const char *path_resolve(const char *path, const char *folder,
			 struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	char cwd[PATH_MAX];

	path = path_home(path, arena);
	if (*path != '/' && !folder && !getcwd(cwd, sizeof(cwd)))
		return path;
	if (*path != '/')
		add_parts(&out, folder ? folder : cwd);
	add_parts(&out, path);
	return arena_strdup(arena, out.n ? out.p : "/");
}

const char *path_program(const char *name, const char *folder,
			 struct arena *arena)
{
	return strchr(name, '/') ? path_resolve(name, folder, arena) : name;
}

int path_words(const char *line, const char *folder, struct arena *arena,
	       struct strlist *ret, struct err *err)
{
	struct strlist words;

	if (secret_split_words(str_of(line), arena, &words, err) < 0)
		return -1;
	words.item[0] = path_program(words.item[0], folder, arena);
	for (size_t i = 1; i < words.n; i++)
		words.item[i] = path_home(words.item[i], arena);
	*ret = words;
	return 0;
}

int path_check_links(const char *named, const struct outfolder *d,
		     const struct strlist *writes, struct err *err)
{
	if (d->is_led_astray)
		return err_set(err, ERR_OUTPUT,
			       "%s leads to %s by a link that another user "
			       "made; if that is meant, write the path without "
			       "the link",
			       named, d->path);
	for (size_t i = 0; i < d->links.n * writes->n; i++) {
		const char *link = d->links.item[i / writes->n];
		const struct strlist one = {&writes->item[i % writes->n], 1};

		if (path_is_beneath(link, &one) &&
		    !path_is_beneath(d->path, &one))
			return err_set(err, ERR_OUTPUT,
				       "%s leads to %s by a link in a folder "
				       "that the program may write; if that is "
				       "meant, write the path without the "
				       "link",
				       named, d->path);
	}
	return 0;
}

static int check_all_links(const char *named, const struct outfolder *d,
			   const struct config *config, struct err *err)
{
	for (struct config_part p = {0}; config_next(config, &p);)
		if (path_check_links(named, d, &p.sandbox->write, err) < 0)
			return -1;
	return 0;
}

static bool is_file(const char *path, const struct stat *st)
{
	struct stat there;

	return path && stat(path, &there) == 0 && stat_is_same(&there, st);
}

/* Refuse the configuration itself, and a credential that it reads. */
static int check_used(const char *named, const struct config *config,
		      struct err *err)
{
	struct stat st;
	bool is_used;

	if (!named || stat(named, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	is_used = is_file(config->path, &st);
	for (struct config_part p = {0}; config_next(config, &p);)
		for (const struct env_ref *ref; (ref = config_next_ref(&p));)
			is_used |= ref->source == SECRET_FILE &&
				   is_file(ref->from, &st);
	return is_used ? err_set(err, ERR_OUTPUT,
				 "%s is not written over: it is the "
				 "configuration, or a credential that it "
				 "reads; name another file",
				 named)
		       : 0;
}

int path_check_links_of(const char *named, const struct outfolder *d,
			const struct config *config, struct err *err)
{
	return check_all_links(named, d, config, err) < 0
		       ? -1
		       : check_used(named, config, err);
}

bool path_is_other(const struct config *config, const char *file)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *own = place_name(config->path);

	return own && file && strcmp(own, file) != 0 && !strchr(file, '/') &&
	       access(arena_printf(&arena, "%s/%s", config->dir, file), F_OK) ==
		       0;
}

/* Find where it leads, judged by the rule of path_check_links(). */
static int find_judged(const char *path, const struct config *config,
		       struct arena *arena, struct place *ret, struct err *err)
{
	struct outfolder d = OUTFOLDER_INIT;

	if (place_find(path, arena, ret, err) < 0)
		return -1;
	d.path = ret->folder;
	d.links = ret->links;
	d.is_led_astray = ret->is_led_astray;
	return check_all_links(path, &d, config, err);
}

static int open_found(const char *path, const struct place *place, int flags,
		      struct err *err)
{
	AUTO(fd_closep)
	int dir = fd_open(place->folder, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	char link[64], real[PATH_MAX];
	ssize_t n;
	int fd;

	if (dir < 0)
		return err_sys(err, errno, "%s", path);
	/* another folder may have been put there since */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, real, sizeof(real));
	if (n <= 0 || !str_is((struct str){real, (size_t)n}, place->folder))
		return err_set(err, ERR_POLICY,
			       "%s: its folder was replaced just now", path);
	fd = openat(dir, place->name,
		    flags | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC,
		    0666);
	return fd < 0 ? err_sys(err, errno, "%s", path) : fd;
}

int path_open(const char *path, int flags, const struct config *config,
	      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct place place;

	if (find_judged(path, config, &arena, &place, err) < 0 ||
	    ((flags & O_ACCMODE) != O_RDONLY &&
	     (check_used(path, config, err) < 0 ||
	      state_dir_check(path, place.folder, err) < 0)))
		return -1;
	return open_found(path, &place, flags, err);
}

/* Refuse a link within a project that leads out of it. */
static int check_inside(const char *path, const struct place *place,
			const char *project, struct err *err)
{
	const struct strlist all = {&project, 1};

	for (size_t i = 0; i < place->links.n; i++)
		if (path_is_beneath(place->links.item[i], &all) &&
		    !path_is_beneath(place->folder, &all))
			return err_set(err, ERR_POLICY,
				       "%s is a link that leads out of its "
				       "project, to %s/%s, and is not read; "
				       "put the file itself there",
				       path, place->folder, place->name);
	return 0;
}

int path_read(const char *path, const char *project,
	      const struct config *config, struct buf *out, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(fd_closep) int fd = -1;
	struct place place;
	struct stat st;

	if (find_judged(path, config, &arena, &place, err) < 0 ||
	    check_inside(path, &place, project, err) < 0)
		return -1;
	fd = open_found(path, &place, O_RDONLY, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_SYS, "%s: not a regular file", path);
	if (!path_is_ours(&st))
		return err_set(err, ERR_POLICY,
			       "%s belongs to another user (uid %u), and is "
			       "not read; copy it, or `chown %u %s`",
			       path, st.st_uid, user_self(), path);
	return fd_read_all(fd, out, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

bool path_is_beneath(const char *path, const struct strlist *folders)
{
	for (size_t i = 0; i < folders->n; i++) {
		AUTO(mem_freep) char *real = realpath(folders->item[i], NULL);

		if (real && place_covers(real, path))
			return true;
	}
	return false;
}

/* A group that has nobody but the user in it, as Debian makes them. */
static bool is_own_group(gid_t gid)
{
	const struct group *g = gid == user_self_group() ? getgrgid(gid) : NULL;
	const struct passwd *p = g ? getpwuid(user_self()) : NULL;

	if (!p || strcmp(g->gr_name, p->pw_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, p->pw_name) != 0)
			return false;
	return true;
}

bool path_is_ours(const struct stat *st)
{
	return st->st_uid == user_self() || st->st_uid == 0;
}

/* In a sticky folder everybody makes files, and removes only their own. */
bool path_is_written_by_others(const struct stat *st)
{
	if (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)
		return false;
	return st->st_mode & S_IWOTH ||
	       (st->st_mode & S_IWGRP && !is_own_group(st->st_gid));
}
