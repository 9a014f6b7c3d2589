#include "gate/path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "gate/path/resolve.h"

/* Absolute, and no part of it is empty, "." or "..". */
static bool is_plain(const char *path)
{
	const char *s = path;

	while (*s == '/') {
		size_t n = strcspn(++s, "/");

		if (n == 0 || (n == 1 && s[0] == '.') ||
		    (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		s += n;
	}
	return s != path && !*s;
}

/*
 * Most paths have no link in them. One that was opened without following any
 * is the path of what was opened, and /proc, which is ten times as slow, need
 * not be asked. ENOSYS, EPERM of an outer filter: openat2 is missing or
 * refused.
 */
static int open_without_links(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	if (!is_plain(path)) {
		errno = ELOOP;
		return -1;
	}
	return kernel_openat2(AT_FDCWD, path, &how);
}

static int open_part(int at, const char *part, int flags)
{
	return openat(at, part, O_PATH | O_CLOEXEC | flags);
}

struct way {
	struct arena *arena;
	struct walk_link *link;
	size_t n_links;
	const char *rest;
	int at; /* descriptor of the last part; owned */
};

/* The link's text stands before what is left of the path. */
static int follow(struct way *w, const char *part, int fd,
		  const struct stat *st)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(fd, "", text, sizeof(text));
	const char *folder = resolve_fd_path(w->at, w->arena);

	if (n < 0)
		return -1;
	if (w->n_links == WALK_LINKS || n == 0 || (size_t)n == sizeof(text)) {
		errno = ELOOP;
		return -1;
	}
	if (!folder) {
		errno = ENOENT;
		return -1;
	}
	w->link[w->n_links++] = (struct walk_link){
		.folder = folder,
		.at = arena_printf(w->arena, "%s/%s",
				   strcmp(folder, "/") ? folder : "", part),
		.st = *st,
	};
	w->rest = arena_printf(w->arena, "%.*s/%s", (int)n, text, w->rest);
	if (text[0] != '/')
		return 0;
	close(w->at);
	w->at = open_part(AT_FDCWD, "/", 0);
	return w->at < 0 ? -1 : 0;
}

static int step(struct way *w, const char *part)
{
	AUTO(fd_closep) int fd = open_part(w->at, part, O_NOFOLLOW);
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (S_ISLNK(st.st_mode)) {
		/* links of /proc lead to what a process has open, no path */
		if (fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
			return follow(w, part, fd, &st);
		close(fd);
		fd = open_part(w->at, part, 0);
		if (fd < 0)
			return -1;
	}
	close(w->at);
	w->at = fd_steal(&fd);
	return 0;
}

static int walk(struct way *w)
{
	w->at = open_part(AT_FDCWD, "/", 0);
	while (w->at >= 0) {
		size_t n;

		w->rest += strspn(w->rest, "/");
		n = strcspn(w->rest, "/");
		if (!n)
			return 0;
		w->rest += n;
		if (step(w, arena_strndup(w->arena, w->rest - n, n)) < 0)
			return -1;
	}
	return -1;
}

static int follow_all(const char *path, struct arena *arena, struct walk *ret)
{
	struct way w = {.arena = arena, .rest = path, .at = -1};
	struct walk found = WALK_INIT;
	int r;

	w.link = ARENA_ARRAY(arena, struct walk_link, WALK_LINKS);
	r = walk(&w);
	found.fd = w.at;
	found.link = w.link;
	found.n_links = w.n_links;
	if (r == 0 && fstat(found.fd, &found.st) == 0) {
		found.path = resolve_fd_path(found.fd, arena);
		*ret = found;
		return 0;
	}
	r = errno;
	walk_release(&found);
	errno = r;
	return -1;
}

static int open_fast(const char *path, struct arena *arena, struct walk *ret)
{
	AUTO(fd_closep) int fd = open_without_links(path);
	struct walk found = WALK_INIT;

	if (fd < 0 || fstat(fd, &found.st) < 0)
		return -1;
	found.path = arena_strdup(arena, path);
	found.fd = fd_steal(&fd);
	*ret = found;
	return 0;
}

int walk_open(const char *path, struct arena *arena, struct walk *ret)
{
	if (open_fast(path, arena, ret) == 0)
		return 0;
	if (errno == ENOENT || errno == ENOTDIR)
		return -1;
	return follow_all(path, arena, ret);
}

int walk_open_plain(const char *path, struct arena *arena, struct walk *ret)
{
	if (open_fast(path, arena, ret) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	if (follow_all(path, arena, ret) < 0)
		return -1;
	if (!ret->n_links)
		return 0;
	walk_release(ret);
	errno = ELOOP;
	return -1;
}

void walk_release(struct walk *w)
{
	fd_closep(&w->fd);
}
