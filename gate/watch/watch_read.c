/* What a waiting task's memory and /proc tell of a call: paths, addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "gate/watch/watch_inner.h"

const char watch_unknown[] = "?";

/* ---- memory ---- */

/* Up to n bytes, less at a page that is not there; -1: nothing. */
static ssize_t read_memory(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)at, n};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

/*
 * A text, cut where there is no room; page by page, for the next one may not
 * be there. False: it cannot be read.
 */
static bool read_text(pid_t pid, uint64_t at, char *to, size_t n)
{
	size_t got = 0;

	to[0] = '\0';
	while (got + 1 < n) {
		size_t page = 4096 - (size_t)((at + got) % 4096);
		size_t want = n - 1 - got < page ? n - 1 - got : page;
		ssize_t r = read_memory(pid, at + got, to + got, want);

		if (r <= 0)
			return false;
		to[got + (size_t)r] = '\0';
		if (strlen(to + got) < (size_t)r)
			return true;
		got += (size_t)r;
	}
	return true;
}

/* ---- paths and arguments ---- */

/* Where a descriptor of the task leads; its working directory for AT_FDCWD. */
static bool folder_of(pid_t pid, int fd, char *to, size_t n)
{
	char link[64];
	ssize_t r;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	r = readlink(link, to, n - 1);
	if (r < 0)
		return false;
	to[r] = '\0';
	return true;
}

/* "/a" and "./b//c" as "/a/b/c". What "..", too, comes to only links tell. */
static void append_plain(char *to, size_t n, const char *path)
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

bool watch_read_path(const struct seccomp_notif *req,
		     const struct watch_row *row, char *to, size_t n)
{
	pid_t pid = (pid_t)req->pid;
	int dir = row->dir < 0 ? AT_FDCWD : (int)req->data.args[row->dir];
	char path[PATH_MAX];

	to[0] = '\0';
	if (!req->data.args[row->path] ||
	    !read_text(pid, req->data.args[row->path], path, sizeof(path)))
		return false;
	if (path[0] != '/' && !folder_of(pid, dir, to, n))
		return false;
	append_plain(to, n, path);
	return true;
}

void watch_read_args(const struct seccomp_notif *req,
		     const struct watch_row *row, bool all,
		     struct watch_seen *seen)
{
	size_t n = all ? WATCH_JUDGED_ARGS : WATCH_ARGS, used = 0;
	uint64_t at = req->data.args[row->more], p;
	pid_t pid = (pid_t)req->pid;
	struct strlist *args = &seen->record[seen->n].args;

	args->item = seen->arg;
	seen->exec.is_cut = at != 0;
	for (args->n = 0; args->n < n; args->n++, at += sizeof(p)) {
		size_t room = sizeof(seen->text) - used;

		if (!all && room > WATCH_ARG_BYTES)
			room = WATCH_ARG_BYTES;
		if (read_memory(pid, at, &p, sizeof(p)) != sizeof(p))
			return;
		if (!p) {
			/* what fills the room to its end may have gone on */
			seen->exec.is_cut = room < 1;
			return;
		}
		if (room < 2 || !read_text(pid, p, seen->text + used, room))
			return;
		seen->arg[args->n] = seen->text + used;
		used += strlen(seen->text + used) + 1;
	}
}

/* ---- the file of an exec ---- */

/* "/proc/self/NAME" of the task, which is "/proc/PID/NAME" for us. */
static int open_own(pid_t pid, const char *name)
{
	char at[64];

	snprintf(at, sizeof(at), "/proc/%d/%s", pid, name);
	return fd_open(at, O_PATH, 0);
}

/* The part behind /proc/self/ when it is "exe" or "fd/N"; else NULL. */
static const char *own_name(const char *path)
{
	static const char *const begin[] = {"/proc/self/", "/proc/thread-self/",
					    "/dev/"};

	for (size_t i = 0; i < ARRAY_LEN(begin); i++) {
		size_t n = strlen(begin[i]);
		const char *name = path + n;

		if (strncmp(path, begin[i], n) != 0)
			continue;
		if (strcmp(name, "exe") == 0 && path[1] == 'p')
			return name;
		if (strncmp(name, "fd/", 3) == 0 && name[3] &&
		    strlen(name) < 16 &&
		    !name[3 + strspn(name + 3, "0123456789")])
			return name;
	}
	return NULL;
}

struct task_root {
	int fd;
	bool cached;
};

/* As the kernel walks it for the task; -errno. */
static int open_in_root(const struct task_root *root, const char *path,
			uint64_t flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
			   (root->cached ? RESOLVE_CACHED : 0U),
	};
	int fd = -1;

	/* EAGAIN: somebody renames a folder on the way just now */
	for (int i = 0; i < 8; i++) {
		fd = kernel_openat2(root->fd, path, &how);
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/*
 * A link leads nowhere as seen from outside, but is there: /proc/self is
 * nobody in the /proc of a tree.
 */
static bool is_astray(const struct task_root *root, const char *path)
{
	char part[PATH_MAX];

	for (size_t n = strlen(path); n && n < sizeof(part); n--) {
		AUTO(fd_closep) int link = -1;
		AUTO(fd_closep) int folder = -1;

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		link = open_in_root(root, part, O_NOFOLLOW);
		if (link >= 0)
			return true;
		while (n > 1 && path[n - 1] != '/')
			n--;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		folder = open_in_root(root, part, 0);
		if (folder >= 0)
			return false;
	}
	return false;
}

int watch_open_exec(const struct seccomp_notif *req,
		    const struct watch_row *row, const char *path, bool cached)
{
	AUTO(fd_closep) int top = -1;
	struct task_root root;
	pid_t pid = (pid_t)req->pid;
	const char *own = own_name(path);
	char text[2], name[32];
	int fd;

	if (row->dir >= 0 &&
	    read_text(pid, req->data.args[row->path], text, sizeof(text)) &&
	    !text[0]) {
		snprintf(name, sizeof(name), "fd/%d",
			 (int)req->data.args[row->dir]);
		own = name; /* AT_EMPTY_PATH */
	}
	if (strcmp(path, watch_unknown) == 0)
		return -EACCES;
	if (own) {
		fd = open_own(pid, own);
		return fd < 0 ? -errno : fd;
	}
	top = open_own(pid, "root");
	if (top < 0)
		return -EACCES;
	root = (struct task_root){top, cached};
	fd = open_in_root(&root, path, 0);
	if (fd != -ENOENT)
		return fd;
	return is_astray(&root, path) ? -ELOOP : -ENOENT;
}

/* In the view of the task. What we may not look at counts as there. */
bool watch_is_there(pid_t pid, const char *path)
{
	char at[64 + 2 * PATH_MAX];

	snprintf(at, sizeof(at), "/proc/%d/root%s", pid, path);
	return faccessat(AT_FDCWD, at, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

/* ---- addresses ---- */

static bool port_text(int family, const void *address, uint16_t port, char *ret,
		      size_t n)
{
	char host[INET6_ADDRSTRLEN];

	if (!inet_ntop(family, address, host, sizeof(host)))
		return false;
	snprintf(ret, n, family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 ntohs(port));
	return true;
}

bool watch_address(const void *address, size_t size, char *ret, size_t n)
{
	union {
		sa_family_t family;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} a;

	memset(&a, 0, sizeof(a));
	memcpy(&a, address, size < sizeof(a) ? size : sizeof(a));
	if (size >= sizeof(a.in) && a.family == AF_INET)
		return port_text(AF_INET, &a.in.sin_addr, a.in.sin_port, ret,
				 n);
	if (size >= offsetof(struct sockaddr_in6, sin6_scope_id) &&
	    a.family == AF_INET6)
		return port_text(AF_INET6, &a.in6.sin6_addr, a.in6.sin6_port,
				 ret, n);
	if (size <= offsetof(struct sockaddr_un, sun_path) ||
	    a.family != AF_UNIX)
		return false;
	size -= offsetof(struct sockaddr_un, sun_path);
	if (size > sizeof(a.un.sun_path))
		size = sizeof(a.un.sun_path);
	if (a.un.sun_path[0])
		snprintf(ret, n, "unix:%.*s", (int)strnlen(a.un.sun_path, size),
			 a.un.sun_path);
	else
		snprintf(ret, n, "unix:@%.*s",
			 (int)strnlen(a.un.sun_path + 1, size - 1),
			 a.un.sun_path + 1);
	return true;
}

bool watch_read_address(const struct seccomp_notif *req,
			const struct watch_row *row, char *to, size_t n)
{
	unsigned char bytes[sizeof(struct sockaddr_un)];
	uint64_t at = req->data.args[row->path];
	size_t size = (uint32_t)req->data.args[row->more];

	if (!at || !size)
		return false; /* send on a connection */
	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (read_memory((pid_t)req->pid, at, bytes, size) != (ssize_t)size) {
		snprintf(to, n, "%s", watch_unknown);
		return true;
	}
	return watch_address(bytes, size, to, n);
}
