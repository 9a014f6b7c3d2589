#include "gate/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

#define LOCK_NAME "lock"
/* Folders in folders that are opened at once, two descriptors for each. */
#define REMOVE_DEPTH 64

#define BASES 4

/* Root's children are somebody else: all folders down to it are open. */
static bool everybody_may_pass(const char *dir)
{
	AUTO(mem_freep) char *path = mem_strdup(dir);
	struct stat st;
	char *slash;

	for (;;) {
		if (stat(path, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
		slash = strrchr(path, '/');
		if (!slash || slash == path)
			return true;
		*slash = '\0';
	}
}

static bool is_ours(const char *dir)
{
	struct stat st;

	return dir && dir[0] == '/' && stat(dir, &st) == 0 &&
	       S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (geteuid() != 0 || everybody_may_pass(dir));
}

static bool is_in_memory(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* In memory where that can be had: made and removed for every child. */
static size_t list_bases(const char *ret[BASES])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *tmp = getenv("TMPDIR");
	size_t n = 0;

	if (is_ours(runtime))
		ret[n++] = runtime;
	if (is_in_memory("/dev/shm"))
		ret[n++] = "/dev/shm";
	if (is_ours(tmp))
		ret[n++] = tmp;
	ret[n++] = "/tmp";
	return n;
}

/* What is too deep is moved up to the top, and its turn comes later. */
struct removal {
	int top;
	unsigned moved;
};

static void remove_at(struct removal *r, int at, const char *name,
		      unsigned depth);

static void remove_entries(struct removal *r, int dir_fd, unsigned depth)
{
	int copy = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!dir) {
		fd_closep(&copy);
		return;
	}
	rewinddir(dir);
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_at(r, dir_fd, e->d_name, depth + 1);
	closedir(dir);
}

static void move_up(struct removal *r, int at, const char *name)
{
	char to[32];

	snprintf(to, sizeof(to), "deep-%u", r->moved);
	if (renameat(at, name, r->top, to) == 0)
		r->moved++;
}

static int open_folder(int at, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
		fd = openat(at, name, flags);
	/* a child may have taken away what its owner needs to empty it */
	if (fd >= 0)
		(void)fchmod(fd, 0700);
	return fd;
}

static void remove_at(struct removal *r, int at, const char *name,
		      unsigned depth)
{
	AUTO(fd_closep) int fd = -1;

	if (unlinkat(at, name, 0) == 0 || unlinkat(at, name, AT_REMOVEDIR) == 0)
		return;
	fd = open_folder(at, name);
	if (fd < 0)
		return;
	if (depth > REMOVE_DEPTH) {
		move_up(r, at, name);
		return;
	}
	remove_entries(r, fd, depth);
	unlinkat(at, name, AT_REMOVEDIR);
}

void private_remove(const char *dir)
{
	AUTO(fd_closep) int top = open_folder(AT_FDCWD, dir);
	struct removal r = {.top = top};
	unsigned before;

	if (top < 0)
		return;
	do {
		before = r.moved;
		remove_entries(&r, top, 0);
	} while (r.moved != before);
	unlinkat(AT_FDCWD, dir, AT_REMOVEDIR);
}

/* Removes a folder whose owner is no more: nobody holds its lock. */
static void remove_if_stale(const char *path)
{
	char *lock = mem_printf("%s/" LOCK_NAME, path);
	AUTO(fd_closep) int fd = fd_open(lock, O_RDWR | O_NOFOLLOW, 0);
	struct stat st;

	free(lock);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid())
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		private_remove(path);
}

static void remove_stale(const char *base, const char *prefix)
{
	DIR *dir = opendir(base);
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		char *path;

		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		path = mem_printf("%s/%s", base, e->d_name);
		remove_if_stale(path);
		free(path);
	}
	closedir(dir);
}

/* A folder of a name that only this user's are given; NULL and errno. */
static char *make_folder(void)
{
	AUTO(mem_freep) char *prefix = mem_printf("matins-%u-", geteuid());
	const char *bases[BASES];
	size_t n = list_bases(bases);

	for (size_t i = 0; i < n; i++) {
		char *path = mem_printf("%s/%sXXXXXX", bases[i], prefix);

		remove_stale(bases[i], prefix);
		if (mkdtemp(path))
			return path;
		free(path);
	}
	return NULL;
}

int private_open(struct private_dirs *p, struct err *err)
{
	AUTO(mem_freep) char *path = NULL;
	AUTO(mem_freep) char *lock = NULL;
	AUTO(fd_closep) int fd = -1;

	if (p->path)
		return 0;
	path = make_folder();
	if (!path)
		return err_sys(err, errno, "private folder in /tmp");
	lock = mem_printf("%s/" LOCK_NAME, path);
	fd = fd_open(lock, O_RDWR | O_CREAT | O_EXCL, 0600);
	/* a child of another user passes through, and cannot list */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
	    chmod(path, 0711) < 0) {
		err_sys(err, errno, "%s", lock);
		private_remove(path);
		return -1;
	}
	p->path = path;
	path = NULL;
	p->lock = fd_steal(&fd);
	return 0;
}

void private_close(struct private_dirs *p)
{
	if (p->path)
		private_remove(p->path);
	free(p->path);
	p->path = NULL;
	fd_closep(&p->lock);
}

static int make_owned(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	if (mkdir(path, mode) < 0)
		return -1;
	if (geteuid() != 0)
		return 0;
	return lchown(path, uid, gid);
}

int private_make(struct private_dirs *p, uid_t uid, gid_t gid, char **ret_dir,
		 struct err *err)
{
	AUTO(mem_freep) char *dir = mem_printf("%s/%u", p->path, p->count++);
	AUTO(mem_freep) char *home = mem_printf("%s/home", dir);
	AUTO(mem_freep) char *tmp = mem_printf("%s/tmp", dir);

	if (mkdir(dir, 0711) < 0 || chmod(dir, 0711) < 0 ||
	    make_owned(home, 0700, uid, gid) < 0 ||
	    make_owned(tmp, 0700, uid, gid) < 0)
		return err_sys(err, errno, "private folder %s", dir);
	*ret_dir = dir;
	dir = NULL;
	return 0;
}
