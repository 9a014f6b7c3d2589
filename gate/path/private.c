#include "gate/path/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/user.h"

/*
 * "matins-UID-" had its lock in a file: what is named so may be in use by an
 * older matins, though it has no lock.
 */
#define NAME_OF_USER "matins-u%u-"
/* Of making a folder and locking it before another run's sweep does. */
#define OPEN_TRIES 3
/* Folders in folders that are opened at once, two descriptors for each. */
#define REMOVE_DEPTH 64

#define BASES 4

/* Children of root are another user: all folders down to it must be open. */
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
	       S_ISDIR(st.st_mode) && st.st_uid == user_self() &&
	       (user_self() != 0 || everybody_may_pass(dir));
}

/* In memory where that can be had: made and removed for every child. */
static size_t list_bases(const char *ret[BASES])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *tmp = getenv("TMPDIR");
	struct statfs fs;
	size_t n = 0;

	if (is_ours(runtime))
		ret[n++] = runtime;
	if (statfs("/dev/shm", &fs) == 0 && fs.f_type == TMPFS_MAGIC)
		ret[n++] = "/dev/shm";
	if (is_ours(tmp))
		ret[n++] = tmp;
	ret[n++] = "/tmp";
	return n;
}

/* Removal of a tree: folders too deep move up to the top, for a later round. */
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

/* Open a folder and no link, also when the name is changed meanwhile. */
static int open_closed(int at, const char *name)
{
	AUTO(fd_closep)
	int fd =
		openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[32];

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (chmod(path, 0700) < 0)
		return -1;
	return openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_folder(int at, const char *name)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		fd = open_closed(at, name);
	/* a child may have taken away what its owner needs to empty it */
	if (fd >= 0)
		(void)fchmod(fd, 0700);
	return fd;
}

static void remove_at(struct removal *r, int at, const char *name,
		      unsigned depth)
{
	AUTO(fd_closep) int fd = -1;
	char to[32];

	if (unlinkat(at, name, 0) == 0 || unlinkat(at, name, AT_REMOVEDIR) == 0)
		return;
	fd = open_folder(at, name);
	if (fd < 0)
		return;
	if (depth > REMOVE_DEPTH) {
		snprintf(to, sizeof(to), "deep-%u", r->moved);
		r->moved += renameat(at, name, r->top, to) == 0;
		return;
	}
	remove_entries(r, fd, depth);
	unlinkat(at, name, AT_REMOVEDIR);
}

/* As a rule the places of private_make() are empty in the end. */
static bool remove_empty(const char *dir)
{
	AUTO(mem_freep) char *home = mem_printf("%s/home", dir);
	AUTO(mem_freep) char *tmp = mem_printf("%s/tmp", dir);

	/* the home is gone where lost files were looked for */
	return (rmdir(tmp) == 0 || errno == ENOENT) &&
	       (rmdir(dir) == 0 || (rmdir(home) == 0 && rmdir(dir) == 0));
}

void private_remove(const char *dir)
{
	AUTO(fd_closep) int top = -1;
	struct removal r = {.moved = 0};
	unsigned before;

	if (remove_empty(dir))
		return;
	top = r.top = open_folder(AT_FDCWD, dir);
	if (top < 0)
		return;
	do {
		before = r.moved;
		remove_entries(&r, top, 0);
	} while (r.moved != before);
	unlinkat(AT_FDCWD, dir, AT_REMOVEDIR);
}

/*
 * The lock is that of the folder itself, so that there is no moment at which
 * a killed owner leaves one that cannot be told from a living one's. One that
 * was removed meanwhile has no links; a name leads to no other, for whoever
 * could put one there removes it first.
 */
static int lock_folder(const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
	AUTO(fd_closep) int fd = fd_open(path, flags, 0);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0 ||
	    st.st_uid != user_self() || !st.st_nlink)
		return -1;
	return fd_steal(&fd);
}

/*
 * Remove folders whose owner has ended: their lock is free. Any user may
 * have put something of that name into /tmp; what is ours only we can put
 * another thing in the place of, for such folders are sticky.
 *
 * returns  may everybody make a folder there?
 */
static bool remove_stale(const char *base, const char *prefix)
{
	struct dirent *e;
	struct stat st;
	DIR *dir;

	/* two links are its own; most file systems count one for each folder */
	if (stat(base, &st) < 0)
		return false;
	dir = st.st_nlink == 2 ? NULL : opendir(base);
	while (dir && (e = readdir(dir))) {
		AUTO(mem_freep)
		char *path = mem_printf("%s/%s", base, e->d_name);
		AUTO(fd_closep) int lock = -1;

		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		lock = lock_folder(path);
		if (lock >= 0)
			private_remove(path);
	}
	if (dir)
		closedir(dir);
	return st.st_mode & S_IWOTH;
}

void private_sweep(void)
{
	AUTO(mem_freep) char *prefix = mem_printf(NAME_OF_USER, user_self());
	const char *bases[BASES];
	size_t n = list_bases(bases);

	/* the first one that can be used is the one that was */
	for (size_t i = 0; i < n; i++) {
		if (remove_stale(bases[i], prefix) ||
		    access(bases[i], W_OK) == 0)
			return;
	}
}

/* Make a folder whose name begins with the prefix of this user; NULL and errno.
 */
static char *make_folder(void)
{
	AUTO(mem_freep) char *prefix = mem_printf(NAME_OF_USER, user_self());
	const char *bases[BASES];
	size_t n = list_bases(bases);

	for (size_t i = 0; i < n; i++) {
		char *path = mem_printf("%s/%sXXXXXX", bases[i], prefix);

		(void)remove_stale(bases[i], prefix);
		if (mkdtemp(path))
			return path;
		free(path);
	}
	return NULL;
}

int private_open(struct private_dirs *p, struct err *err)
{
	if (p->path)
		return 0;
	for (int tries = 0; tries < OPEN_TRIES; tries++) {
		AUTO(mem_freep) char *path = make_folder();
		AUTO(fd_closep) int lock = -1;

		if (!path)
			break;
		lock = lock_folder(path);
		/* a sweep of another run may have been faster */
		if (lock < 0)
			continue;
		/* a child of another user passes through, and cannot list */
		if (fchmod(lock, 0711) < 0) {
			err_sys(err, errno, "%s", path);
			private_remove(path);
			return -1;
		}
		p->path = path;
		path = NULL;
		p->lock = fd_steal(&lock);
		return 0;
	}
	return err_sys(err, errno, "private folder in /tmp");
}

void private_close(struct private_dirs *p)
{
	/* as a rule those of all children are gone */
	if (p->path && rmdir(p->path) < 0)
		private_remove(p->path);
	free(p->path);
	p->path = NULL;
	fd_closep(&p->lock);
}

static int make_owned(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	if (mkdir(path, mode) < 0)
		return -1;
	if (user_self() != 0)
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
