#include "core/auth/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/base/fd.h"

/* Room for a name, ".", 16 hexadecimal digits and a NUL. */
#define NAME_BYTES 128

static int open_at(int dir, const char *name, int flags)
{
	int fd;

	do
		fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Whose it is and who else may look at it. */
static int judge(const struct stat *st, const char *name, const char *mode,
		 struct err *err)
{
	if (st->st_uid != geteuid())
		return err_set(err, ERR_POLICY,
			       "%s belongs to uid %u and not to uid %u, who "
			       "runs this; name another folder as token_store",
			       name, (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & 077)
		return err_set(err, ERR_POLICY,
			       "%s is open to others (mode %04o); what lies "
			       "there may be known already: chmod %s it",
			       name, (unsigned)st->st_mode & 07777, mode);
	return 0;
}

int folder_open(const char *dir, bool make, int *ret, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
	AUTO(fd_closep) int fd = fd_open(dir, flags, 0);
	struct stat st;

	if (fd < 0 && errno == ENOENT) {
		if (!make)
			return 1;
		if (fd_mkdirs(dir, 0700) < 0)
			return err_sys(err, errno, "make the folder %s", dir);
		fd = fd_open(dir, flags, 0);
	}
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR) &&
	    lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(err, ERR_POLICY,
			       "%s is a link; name the folder itself as "
			       "token_store",
			       dir);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", dir);
	if (judge(&st, dir, "700", err) < 0)
		return -1;
	*ret = fd_steal(&fd);
	return 0;
}

int folder_read(int dir, const char *name, struct buf *out, struct err *err)
{
	/* not to hang on a pipe of that name */
	AUTO(fd_closep) int fd = open_at(dir, name, O_RDONLY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_POLICY, "%s is a link; remove it",
			       name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_POLICY, "%s is not a file; remove it",
			       name);
	if (judge(&st, name, "600", err) < 0)
		return -1;
	if (fd_read_all(fd, out, err) < 0)
		return err_wrap(err, "%s", name);
	return 0;
}

/* A file of a name that is nobody's yet, on disk. */
static int write_new(int dir, const char *name, struct str content,
		     char tmp[NAME_BYTES], struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	unsigned char random[8];
	int sys;

	crypto_random(random, sizeof(random));
	snprintf(tmp, NAME_BYTES, "%.100s.", name);
	for (size_t i = 0, at = strlen(tmp); i < sizeof(random); i++, at += 2)
		snprintf(tmp + at, NAME_BYTES - at, "%02x", random[i]);
	fd = open_at(dir, tmp, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return err_sys(err, errno, "create %s", tmp);
	/* umask may have taken from it */
	if (fchmod(fd, 0600) == 0 &&
	    fd_write_all(fd, content.p, content.n) == 0 && fsync(fd) == 0)
		return 0;
	sys = errno;
	unlinkat(dir, tmp, 0);
	return err_sys(err, sys, "write %s", name);
}

int folder_replace(int dir, const char *name, struct str content,
		   struct err *err)
{
	char tmp[NAME_BYTES];

	if (write_new(dir, name, content, tmp, err) < 0)
		return -1;
	if (renameat(dir, tmp, dir, name) < 0) {
		int sys = errno;

		unlinkat(dir, tmp, 0);
		return err_sys(err, sys, "write %s", name);
	}
	return fsync(dir) < 0
		       ? err_sys(err, errno, "sync the folder of %s", name)
		       : 0;
}

int folder_create(int dir, const char *name, struct str content,
		  struct err *err)
{
	char tmp[NAME_BYTES];
	int sys;

	if (write_new(dir, name, content, tmp, err) < 0)
		return -1;
	sys = linkat(dir, tmp, dir, name, 0) < 0 ? errno : 0;
	unlinkat(dir, tmp, 0);
	if (sys == EEXIST)
		return 1;
	if (sys)
		return err_sys(err, sys, "write %s", name);
	return fsync(dir) < 0
		       ? err_sys(err, errno, "sync the folder of %s", name)
		       : 0;
}

int folder_remove(int dir, const char *name, struct err *err)
{
	if (unlinkat(dir, name, 0) == 0)
		return fsync(dir) < 0 ? err_sys(err, errno,
						"sync the folder of %s", name)
				      : 0;
	return errno == ENOENT ? 1 : err_sys(err, errno, "remove %s", name);
}

int folder_lock(int dir, const char *name, int *ret, struct err *err)
{
	AUTO(fd_closep) int fd = open_at(dir, name, O_RDWR | O_CREAT);

	if (fd < 0)
		return err_sys(err, errno, "%s", name);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 1;
		if (errno != EINTR)
			return err_sys(err, errno, "lock %s", name);
	}
	*ret = fd_steal(&fd);
	return 0;
}
