/*
 * Descriptors: closed by scope, close-on-exec from birth, read and written
 * in full.
 *
 *	AUTO(fd_closep) int fd = fd_open(path, O_RDONLY, 0);
 *	...
 *	*ret_fd = fd_steal(&fd);
 */
#ifndef CORE_BASE_FD_H
#define CORE_BASE_FD_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"

/* Close unless -1, and set to -1; errno is kept. */
void fd_closep(int *fd);
/* Close a folder unless NULL. */
void dir_closep(DIR **dir);
/* Give the descriptor away: returns it and leaves -1. */
int fd_steal(int *fd) MUST_USE;
/* open(2) with O_CLOEXEC, repeated on EINTR; -1 and errno on failure. */
int fd_open(const char *path, int flags, mode_t mode) MUST_USE;
/* A pipe with both ends close-on-exec; 0 or -1 and errno. */
int fd_pipe(int *ret_read, int *ret_write) MUST_USE;
/*
 * Bound the time that fd_write_all() waits for room in a non-blocking stream,
 * in milliseconds; the process has one bound, none at first.
 */
void fd_limit_wait(int ms);
/*
 * Write all of it, also to a non-blocking descriptor; 0 or -1 and errno,
 * ETIMEDOUT when the bound of fd_limit_wait() is over.
 */
int fd_write_all(int fd, const void *bytes, size_t n) MUST_USE;
/*
 * Open with O_PATH what an absolute path names, if no link is on the way: then
 * it is the path of what was opened, and /proc, which is ten times as slow,
 * need not be asked. Close-on-exec; -1 and errno.
 *
 * errors  ELOOP   a link, or a part that is empty, "." or ".."
 *	   ENOSYS  openat2(2) is missing; EPERM: an outer filter refuses it
 */
int fd_open_plain(const char *path, int flags) MUST_USE;
/*
 * Read to the end of file into `out`.
 * errors  ERR_SYS, ERR_LIMIT when the ceiling of `out` is reached
 */
int fd_read_all(int fd, struct buf *out, struct err *err) MUST_USE;
/*
 * As fd_read_all(), for a file of a known size: its end is asked for only where
 * it has another one. A file that grows meanwhile is read as it was.
 *
 * bytes  st_size; 0: not known, as of files in /proc
 */
int fd_read_sized(int fd, off_t bytes, struct buf *out, struct err *err)
	MUST_USE;
/* Open, read to the end, close; the path is in the error. */
int fd_read_file(const char *path, struct buf *out, struct err *err) MUST_USE;
/*
 * As fd_read_file(), for a file in a folder that programs may write: nothing
 * waits for the writer of a FIFO.
 * errors  ERR_SYS  also where it is no regular file
 */
int fd_read_regular(const char *path, struct buf *out, struct err *err)
	MUST_USE;
/* A content that is made while it is written; nothing need hold all of it. */
struct fd_text {
	void (*print)(const void *arg, struct buf *out);
	const void *arg;
	/* done once it is written, while the disk works; NULL: nothing */
	void (*beside)(void *arg);
	void *beside_arg;
};

/* One that lies in memory already; borrowed. */
struct fd_text fd_text_of(const struct str *s) MUST_USE;
/* Print to a descriptor; 0 or -1 and errno. */
int fd_print(int fd, const struct fd_text *text) MUST_USE;
/*
 * Make a file of ours (0600) of such a content; whoever sees its name sees all
 * of it. When this returns 0 it is on disk with its name, by one flush: file
 * systems of Linux log a new name with its file. After a crash before, there
 * may be a torn file of that name, so a record elsewhere must count.
 */
int fd_add_text(const char *path, const struct fd_text *text, struct err *err)
	MUST_USE;
/*
 * Replace a file so that a reader sees the old or the new content and a crash
 * leaves one of them: temporary file beside it, fsync, rename, fsync of the
 * folder when `durable`. For folders of our own; a file that a user named is
 * written by core/base/outfile.h.
 */
int fd_replace_file(const char *path, struct str content, mode_t mode,
		    bool durable, struct err *err) MUST_USE;
/* Does this name, no link followed, still lead to what is open? */
bool fd_is_at(int fd, int at, const char *name) MUST_USE;
/* mkdir -p with one mode for what is new; 0 or -1 and errno. */
int fd_mkdirs(const char *path, mode_t mode) MUST_USE;

/* Compare by device and inode: are both of one file? */
bool stat_is_same(const struct stat *a, const struct stat *b) MUST_USE;
/* And by size and both times: has nothing happened to it? */
bool stat_is_unchanged(const struct stat *a, const struct stat *b) MUST_USE;

#endif
