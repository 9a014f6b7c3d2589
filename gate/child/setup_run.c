/*
 * The child's half of setup.h: carries the list out. Runs in memory that is
 * shared with the runner, so: raw system calls, no libc, no heap, no errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "gate/child/child.h"
#include "gate/child/sys.h"

/* Make the folders above a path, and the path itself as an empty place. */
static long make_place(const char *path, bool is_dir)
{
	char at[PATH_MAX];
	long r = 0;
	size_t n;

	for (n = 0; path[n] && n + 1 < sizeof(at); n++) {
		if (n && path[n] == '/') {
			at[n] = '\0';
			/* EEXIST, EROFS: the folder is there */
			sys_call(SYS_mkdirat, AT_FDCWD, at, 0755);
		}
		at[n] = path[n];
	}
	at[n] = '\0';
	if (is_dir)
		r = sys_call(SYS_mkdirat, AT_FDCWD, at, 0755);
	else
		r = sys_call(SYS_mknodat, AT_FDCWD, at, S_IFREG | 0444, 0);
	return r == -EEXIST ? 0 : r;
}

static long take_copy(const struct setup_op *op, int *slot)
{
	struct stat st = {.st_ino = 0};
	long fd, r;

	fd = sys_call(KERNEL_OPEN_TREE, AT_FDCWD, op->path,
		      KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC |
			      KERNEL_AT_RECURSIVE);
	if (fd < 0)
		return fd;
	*slot = (int)fd;
	if (!op->ino)
		return 0;
	r = sys_call(SYS_newfstatat, fd, "", &st, KERNEL_AT_EMPTY_PATH);
	if (r < 0)
		return r;
	return st.st_dev == op->dev && st.st_ino == op->ino ? 0 : -ESTALE;
}

/* Nothing that is mounted in a copy may travel back to where it is from. */
static long set_attributes(long fd, const char *path, unsigned flags,
			   const struct setup_op *op)
{
	struct kernel_mount_attr attr = {.attr_set = op->set,
					 .attr_clr = op->clear,
					 .propagation = MS_PRIVATE};

	return sys_call(KERNEL_MOUNT_SETATTR, fd, path, flags, &attr,
			sizeof(attr));
}

static long attach_copy(long fd, const struct setup_op *op)
{
	long r = sys_call(KERNEL_MOVE_MOUNT, fd, "", AT_FDCWD, op->path,
			  KERNEL_MOVE_MOUNT_F_EMPTY_PATH);

	if (r != -ENOENT)
		return r;
	r = make_place(op->path, op->is_dir);
	if (r < 0)
		return r;
	return sys_call(KERNEL_MOVE_MOUNT, fd, "", AT_FDCWD, op->path,
			KERNEL_MOVE_MOUNT_F_EMPTY_PATH);
}

static long put_copy(const struct setup_op *op, int fd, int map_fd)
{
	struct kernel_mount_attr map = {.attr_set = KERNEL_MOUNT_IDMAP,
					.userns_fd =
						(uint64_t)(map_fd + op->idmap)};
	long r = set_attributes(fd, "",
				KERNEL_AT_EMPTY_PATH | KERNEL_AT_RECURSIVE, op);

	if (r >= 0 && op->idmap >= 0)
		r = sys_call(
			KERNEL_MOUNT_SETATTR, fd, "",
			KERNEL_AT_EMPTY_PATH |
				(op->is_recursive ? KERNEL_AT_RECURSIVE : 0),
			&map, sizeof(map));
	return r < 0 ? r : attach_copy(fd, op);
}

static long mount_here(const struct setup_op *op)
{
	long fd, r;

	fd = sys_call(KERNEL_OPEN_TREE, AT_FDCWD, op->path,
		      KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC |
			      KERNEL_AT_RECURSIVE |
			      (op->is_link ? AT_SYMLINK_NOFOLLOW : 0));
	if (fd < 0)
		return fd;
	r = set_attributes(fd, "", KERNEL_AT_EMPTY_PATH | KERNEL_AT_RECURSIVE,
			   op);
	if (r >= 0)
		r = attach_copy(fd, op);
	sys_call(SYS_close, fd);
	return r;
}

static long enter_copy(int fd)
{
	struct setup_op none = {.set = 0};
	long r = set_attributes(
		fd, "", KERNEL_AT_EMPTY_PATH | KERNEL_AT_RECURSIVE, &none);

	if (r >= 0)
		r = sys_call(KERNEL_MOVE_MOUNT, fd, "", AT_FDCWD, "/",
			     KERNEL_MOVE_MOUNT_F_EMPTY_PATH);
	if (r >= 0)
		r = sys_call(SYS_fchdir, fd);
	return r < 0 ? r : sys_call(SYS_chroot, ".");
}

/* Name of a private place in mountinfo, which `matins brief` looks for. */
#define PRIVATE_SOURCE "matins-private"

static long mount_tmpfs(const struct setup_op *op)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	long r = sys_call(SYS_mount, PRIVATE_SOURCE, op->path, "tmpfs", flags,
			  op->data);

	if (r != -ENOENT)
		return r;
	r = make_place(op->path, true);
	if (r < 0)
		return r;
	return sys_call(SYS_mount, PRIVATE_SOURCE, op->path, "tmpfs", flags,
			op->data);
}

static long make_link(const struct setup_op *op)
{
	long r = sys_call(SYS_symlinkat, op->data, AT_FDCWD, op->path);

	if (r != -ENOENT)
		return r == -EEXIST ? 0 : r;
	/* the folders above it; the place itself is then the link */
	r = make_place(op->path, false);
	if (r >= 0)
		r = sys_call(SYS_unlinkat, AT_FDCWD, op->path, 0);
	return r < 0 ? r
		     : sys_call(SYS_symlinkat, op->data, AT_FDCWD, op->path);
}

static long bring_up(const char *name)
{
	struct ifreq req = {.ifr_flags = IFF_UP | IFF_RUNNING};
	long fd, r;

	for (size_t i = 0; name[i] && i + 1 < sizeof(req.ifr_name); i++)
		req.ifr_name[i] = name[i];
	fd = sys_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = sys_call(SYS_ioctl, fd, SIOCSIFFLAGS, &req);
	sys_call(SYS_close, fd);
	return r;
}

static long run_op(const struct setup_op *op, int *slots, int map_fd)
{
	switch (op->kind) {
	case SETUP_WRITE:
		return child_write_file(op->path, op->data);
	case SETUP_TAKE:
		return take_copy(op, &slots[op->slot]);
	case SETUP_HERE:
		return mount_here(op);
	case SETUP_ENTER:
		return enter_copy(slots[op->slot]);
	case SETUP_ATTR:
		return set_attributes(
			AT_FDCWD, op->path,
			op->is_recursive ? KERNEL_AT_RECURSIVE : 0, op);
	case SETUP_TMPFS:
		return mount_tmpfs(op);
	case SETUP_PROC:
		/* only what could be traced: with 2 group 0 sees everything */
		return sys_call(SYS_mount, "proc", op->path, "proc",
				MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
				"hidepid=4");
	case SETUP_PUT:
		return put_copy(op, slots[op->slot], map_fd);
	case SETUP_LINK:
		return make_link(op);
	case SETUP_LOOPBACK:
		return bring_up(op->path);
	}
	return -ENOSYS;
}

long setup_run(const struct setup_list *list, int *slots, int map_fd,
	       int *ret_sys)
{
	for (size_t i = 0; i < list->n; i++) {
		long r = run_op(&list->op[i], slots, map_fd);

		if (r < 0 && !list->op[i].is_optional) {
			*ret_sys = (int)-r;
			return (long)i;
		}
	}
	return -1;
}
