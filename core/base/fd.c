#include "core/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/kernel.h"
#include "core/base/mem.h"

void fd_closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

void dir_closep(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int fd_steal(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

int fd_open(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int fd_pipe(int *ret_read, int *ret_write)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	*ret_read = p[0];
	*ret_write = p[1];
	return 0;
}

/* Milliseconds that poll() waits for room in a stream; -1 without end. */
static int stream_wait_ms = -1;

void fd_limit_wait(int ms)
{
	stream_wait_ms = ms;
}

int fd_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EAGAIN) {
			struct pollfd ready = {.fd = fd, .events = POLLOUT};

			if (poll(&ready, 1, stream_wait_ms) != 0)
				continue;
			errno = ETIMEDOUT;
			return -1;
		}
		if (w < 0)
			return -1;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

/* Absolute, and no part of it is empty, "." or "..". */
static bool is_plain_path(const char *path)
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

int fd_open_plain(const char *path, int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (unsigned)flags,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	if (!is_plain_path(path)) {
		errno = ELOOP;
		return -1;
	}
	return kernel_openat2(AT_FDCWD, path, &how);
}

/* Most files are small: memory that is not touched is not asked for. */
#define READ_FIRST 4096
#define READ_MOST (64 * 1024)

int fd_read_sized(int fd, off_t bytes, struct buf *out, struct err *err)
{
	const size_t end = bytes > 0 ? out->n + (size_t)bytes : 0;

	for (size_t next = READ_FIRST; !end || out->n != end;) {
		size_t want = next, left = out->max - out->n;
		char *room;
		ssize_t r;

		if (want > left)
			want = left;
		if (want == 0) {
			char probe;

			r = read(fd, &probe, 1);
			if (r == 0)
				return 0;
			if (r > 0)
				return err_set(err, ERR_LIMIT,
					       "more than %zu bytes", out->max);
			if (errno == EINTR)
				continue;
			return err_sys(err, errno, "read");
		}
		room = buf_room(out, want);
		r = read(fd, room, want);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, errno, "read");
		if (r == 0)
			return 0;
		if ((size_t)r == next && next < READ_MOST)
			next *= 2;
		out->n += (size_t)r;
		out->p[out->n] = '\0';
	}
	return 0;
}

int fd_read_all(int fd, struct buf *out, struct err *err)
{
	return fd_read_sized(fd, 0, out, err);
}

static int read_path(const char *path, int flags, bool is_any, struct buf *out,
		     struct err *err)
{
	AUTO(fd_closep) int fd = fd_open(path, O_RDONLY | flags, 0);
	struct stat st = {.st_size = 0};

	if (fd < 0 || (!is_any && fstat(fd, &st) < 0))
		return err_sys(err, errno, "%s", path);
	if (!is_any && !S_ISREG(st.st_mode))
		return err_set(err, ERR_SYS, "%s: not a regular file", path);
	if (fd_read_sized(fd, st.st_size, out, err) < 0)
		return err_wrap(err, "%s", path);
	return 0;
}

int fd_read_file(const char *path, struct buf *out, struct err *err)
{
	return read_path(path, 0, true, out, err);
}

int fd_read_regular(const char *path, struct buf *out, struct err *err)
{
	return read_path(path, O_NONBLOCK, false, out, err);
}

static int sync_folder(const char *path)
{
	AUTO(mem_freep) char *copy = mem_strdup(path);
	AUTO(fd_closep)
	int fd = fd_open(dirname(copy), O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? -1 : fsync(fd);
}

struct out {
	int fd;
	int sys; /* of the first write that failed; then no more are made */
};

static void write_piece(void *arg, struct str bytes)
{
	struct out *o = arg;

	if (!o->sys && fd_write_all(o->fd, bytes.p, bytes.n) < 0)
		o->sys = errno;
}

int fd_print(int fd, const struct fd_text *text)
{
	struct out o = {.fd = fd};
	const struct buf_sink sink = {write_piece, &o};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	out.sink = &sink;
	text->print(text->arg, &out);
	buf_drain(&out);
	buf_release(&out);
	errno = o.sys;
	return o.sys ? -1 : 0;
}

static void print_str(const void *arg, struct buf *out)
{
	buf_add_str(out, *(const struct str *)arg);
}

struct fd_text fd_text_of(const struct str *s)
{
	return (struct fd_text){.print = print_str, .arg = s};
}

/* Begin to put what was written on disk; fsync() says whether that works. */
static void begin_sync(int fd)
{
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

/* Write beside the place, then rename. */
static int put_file(const char *path, const struct fd_text *text, mode_t mode,
		    bool sync_before, int *ret_fd, struct err *err)
{
	AUTO(mem_freep) char *tmp = mem_printf("%s.XXXXXX", path);
	AUTO(fd_closep) int fd = mkostemp(tmp, O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "create %s", tmp);
	if ((mode != 0600 && fchmod(fd, mode) < 0) || fd_print(fd, text) < 0 ||
	    (sync_before && fsync(fd) < 0) || rename(tmp, path) < 0) {
		int saved = errno;

		unlink(tmp);
		return err_sys(err, saved, "write %s", path);
	}
	*ret_fd = fd_steal(&fd);
	return 0;
}

int fd_replace_file(const char *path, struct str content, mode_t mode,
		    bool durable, struct err *err)
{
	const struct fd_text text = fd_text_of(&content);
	AUTO(fd_closep) int fd = -1;

	if (put_file(path, &text, mode, durable, &fd, err) < 0)
		return -1;
	if (durable && sync_folder(path) < 0)
		return err_sys(err, errno, "sync folder of %s", path);
	return 0;
}

int fd_add_text(const char *path, const struct fd_text *text, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	int saved;

	if (put_file(path, text, 0600, false, &fd, err) < 0)
		return -1;
	if (text->beside) {
		begin_sync(fd);
		text->beside(text->beside_arg);
	}
	if (fsync(fd) == 0)
		return 0;
	saved = errno;
	unlink(path);
	return err_sys(err, saved, "sync %s", path);
}

int fd_mkdirs(const char *path, mode_t mode)
{
	AUTO(mem_freep) char *copy = mem_strdup(path);

	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return mkdir(copy, mode) < 0 && errno != EEXIST ? -1 : 0;
}

bool stat_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool stat_is_unchanged(const struct stat *a, const struct stat *b)
{
	return stat_is_same(a, b) && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool fd_is_at(int fd, int at, const char *name)
{
	struct stat open, there;

	return fstat(fd, &open) == 0 &&
	       fstatat(at, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat_is_same(&open, &there);
}
