#include "gate/path/package_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"

/* Judge owners and mode: what others may change is another program. */
static int judge_owners(const char *path, const struct walk *w, struct err *err)
{
	bool is_trusted = resolve_is_trusted(w->st.st_uid);

	for (size_t i = 0; i < w->n_links; i++)
		is_trusted &= resolve_is_trusted(w->link[i].st.st_uid);
	if (!is_trusted)
		return err_set(err, ERR_POLICY,
			       "%s belongs to another user, or is reached by a "
			       "link of theirs",
			       path);
	if (w->st.st_mode & 0002)
		return err_set(err, ERR_POLICY,
			       "%s can be changed by everybody; chmod o-w it",
			       path);
	return 0;
}

int package_folder_open(const char *path, const struct strlist *homes,
			struct arena *arena, struct walk *ret, struct err *err)
{
	*ret = (struct walk)WALK_INIT;
	if (walk_open(path, arena, ret) < 0 || !ret->path ||
	    !S_ISDIR(ret->st.st_mode))
		return 0;
	if (judge_owners(path, ret, err) < 0)
		return -1;
	if (ret->n_links && place_beneath(homes, ret->path))
		return err_set(err, ERR_POLICY,
			       "%s leads to HOME, or to a folder that holds it",
			       path);
	return 1;
}

/* A regular file, opened without waiting for anybody; -1: it is none. */
static int open_regular(int at, const char *name, struct stat *ret)
{
	AUTO(fd_closep)
	int fd = openat(at, name,
			O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
				O_NOFOLLOW);

	return fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode)
		       ? fd_steal(&fd)
		       : -1;
}

bool package_folder_read(const struct walk *folder, const char *name,
			 struct buf *out)
{
	struct stat st;
	AUTO(fd_closep) int fd = open_regular(folder->fd, name, &st);

	return fd >= 0 && fd_read_all(fd, out, ERR_IGNORED) == 0;
}

static int judge_file(const struct walk *folder, const char *path,
		      const struct walk *w, struct err *err)
{
	if (!w->path || !place_covers(folder->path, w->path))
		return err_set(err, ERR_POLICY,
			       "%s leads to %s, out of its package", path,
			       w->path ? w->path : "?");
	if (!S_ISREG(w->st.st_mode))
		return err_set(err, ERR_POLICY, "%s is not a regular file",
			       path);
	return judge_owners(path, w, err);
}

int package_file_head(const struct walk *folder, const char *path,
		      struct arena *arena, const char **ret_real,
		      struct str *ret_head, struct err *err)
{
	char *head = arena_alloc(arena, PACKAGE_HEAD_BYTES);
	AUTO(fd_closep) int fd = -1;
	struct walk w = WALK_INIT;
	struct stat st;
	ssize_t n = -1;
	int r;

	if (walk_open(path, arena, &w) < 0)
		return err_set(err, ERR_NOT_FOUND,
			       "%s is missing from its package; install that "
			       "again",
			       path);
	r = judge_file(folder, path, &w, err);
	if (r == 0)
		fd = open_regular(AT_FDCWD, w.path, &st);
	if (fd >= 0 && stat_is_same(&st, &w.st))
		n = pread(fd, head, PACKAGE_HEAD_BYTES, 0);
	if (r == 0 && n < 0)
		r = err_sys(err, errno, "read %s", path);
	*ret_real = w.path;
	*ret_head = (struct str){head, n < 0 ? 0 : (size_t)n};
	walk_release(&w);
	return r;
}
