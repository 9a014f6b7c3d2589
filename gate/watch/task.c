#include "gate/watch/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"

/* ---- memory ---- */

ssize_t task_read(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)at, n};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

/* "/a" and "./b//c" as "/a/b/c". A ".." stays: links decide it. */
static void join(char *to, size_t n, const char *path)
{
	size_t len = strlen(to);

	while (len > 1 && to[len - 1] == '/')
		to[--len] = '\0';
	for (const char *s = path; *s;) {
		size_t part = strcspn(s, "/");

		if (part && !(part == 1 && s[0] == '.') && len + part + 2 < n) {
			if (!len || to[len - 1] != '/')
				to[len++] = '/';
			memcpy(to + len, s, part);
			len += part;
		}
		s += part;
		s += *s == '/';
	}
	if (!len)
		to[len++] = '/';
	to[len] = '\0';
}

bool task_absolute(pid_t pid, int dir, const char *path, char *to, size_t n)
{
	char link[64];
	ssize_t r = 0;

	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, dir);
	if (path[0] != '/')
		r = readlink(link, to, n - 1);
	if (r < 0)
		return false;
	to[r] = '\0';
	join(to, n, path);
	return true;
}

/* ---- files of the task ---- */

int task_open(pid_t pid, const char *name)
{
	char at[64];

	snprintf(at, sizeof(at), "/proc/%d/%s", pid, name);
	return fd_open(at, O_PATH, 0);
}

int task_walk(const struct task_root *root, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
			   (root->cached ? RESOLVE_CACHED : 0U),
	};
	int fd = -1;

	/* EAGAIN: a folder on the way is renamed just now */
	for (int i = 0; i < 8; i++) {
		fd = kernel_openat2(root->fd, path, &how);
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : fd;
}
