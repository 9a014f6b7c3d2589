#include "core/base/kernel.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int kernel_openat2(int at, const char *path, const struct open_how *how)
{
	return (int)syscall(KERNEL_OPENAT2, at, path, how, sizeof(*how));
}

int kernel_open_tree(const char *path)
{
	return (int)syscall(KERNEL_OPEN_TREE, AT_FDCWD, path,
			    KERNEL_OPEN_TREE_CLONE | KERNEL_OPEN_TREE_CLOEXEC |
				    KERNEL_AT_RECURSIVE);
}

int kernel_mount_setattr(int fd, unsigned flags,
			 const struct kernel_mount_attr *attr)
{
	return (int)syscall(KERNEL_MOUNT_SETATTR, fd, "",
			    KERNEL_AT_EMPTY_PATH | flags, attr, sizeof(*attr));
}

int kernel_pidfd_open(pid_t pid)
{
	return (int)syscall(KERNEL_PIDFD_OPEN, pid, 0);
}

int kernel_pidfd_open_task(pid_t tid)
{
	/* include/uapi/linux/pidfd.h: PIDFD_THREAD */
	return (int)syscall(KERNEL_PIDFD_OPEN, tid, O_EXCL);
}

int kernel_pidfd_getfd(int pidfd, int fd)
{
	return (int)syscall(KERNEL_PIDFD_GETFD, pidfd, fd, 0);
}

int kernel_pidfd_signal(int pidfd, int signal)
{
	return (int)syscall(KERNEL_PIDFD_SEND_SIGNAL, pidfd, signal, NULL, 0);
}

int kernel_waitid(int pidfd, siginfo_t *ret, int options,
		  struct rusage *ret_usage)
{
	return (int)syscall(SYS_waitid, P_PIDFD, pidfd, ret, options,
			    ret_usage);
}

int kernel_capget(struct __user_cap_data_struct ret[2])
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &header, ret);
}

int kernel_capset(const struct __user_cap_data_struct caps[2])
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capset, &header, caps);
}

void kernel_clear_at_death(int *word)
{
	syscall(SYS_set_tid_address, word);
}

int kernel_seccomp(unsigned operation, unsigned flags, void *args)
{
	return (int)syscall(SYS_seccomp, operation, flags, args);
}

int kernel_landlock_create(const void *attr, size_t bytes, uint32_t flags)
{
	return (int)syscall(KERNEL_LANDLOCK_CREATE, attr, bytes, flags);
}

int kernel_landlock_add_rule(int ruleset, unsigned type, const void *attr)
{
	return (int)syscall(KERNEL_LANDLOCK_ADD_RULE, ruleset, type, attr, 0);
}

int kernel_landlock_restrict_self(int ruleset)
{
	return (int)syscall(KERNEL_LANDLOCK_RESTRICT_SELF, ruleset, 0);
}
