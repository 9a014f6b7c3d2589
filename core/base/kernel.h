/*
 * System calls, structures and constants of Linux that the C library of the
 * oldest supported system has no function or header for; each call by its
 * name. Nothing else in the program calls syscall(2), so `make check-layers`
 * sees who makes processes.
 *
 * Each call returns what libc would: -1 and errno when it fails.
 */
#ifndef CORE_BASE_KERNEL_H
#define CORE_BASE_KERNEL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <linux/capability.h>
#include <linux/openat2.h>

#include "core/base/attr.h"

/* Numbers for raw calls; the same on every architecture. */
enum {
	KERNEL_PIDFD_SEND_SIGNAL = 424,
	KERNEL_OPEN_TREE = 428,
	KERNEL_MOVE_MOUNT = 429,
	KERNEL_PIDFD_OPEN = 434,
	KERNEL_CLONE3 = 435,
	KERNEL_CLOSE_RANGE = 436,
	KERNEL_OPENAT2 = 437,
	KERNEL_PIDFD_GETFD = 438,
	KERNEL_MOUNT_SETATTR = 442,
	KERNEL_LANDLOCK_CREATE = 444,
	KERNEL_LANDLOCK_ADD_RULE = 445,
	KERNEL_LANDLOCK_RESTRICT_SELF = 446,
};

/* include/uapi/linux/sched.h, which clashes with <sched.h> of some libcs */
#define KERNEL_CLONE_INTO_CGROUP UINT64_C(0x200000000)

struct kernel_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack;
	uint64_t stack_size, tls, set_tid, set_tid_size, cgroup;
};

/* include/uapi/linux/mount.h; that header clashes with <sys/mount.h> */
enum {
	KERNEL_OPEN_TREE_CLONE = 1,
	KERNEL_OPEN_TREE_CLOEXEC = 02000000, /* O_CLOEXEC */
	KERNEL_AT_RECURSIVE = 0x8000,
	KERNEL_AT_EMPTY_PATH = 0x1000,
	KERNEL_MOVE_MOUNT_F_EMPTY_PATH = 4,
	KERNEL_MOUNT_RDONLY = 1,
	KERNEL_MOUNT_NOSUID = 2,
	KERNEL_MOUNT_NODEV = 4,
	KERNEL_MOUNT_NOEXEC = 8,
	KERNEL_MOUNT_IDMAP = 0x100000,
};

struct kernel_mount_attr {
	uint64_t attr_set;
	uint64_t attr_clr;
	uint64_t propagation;
	uint64_t userns_fd;
};

int kernel_openat2(int at, const char *path, const struct open_how *how)
	MUST_USE;
/* A detached copy of the mounts at `path` and beneath it; close-on-exec. */
int kernel_open_tree(const char *path) MUST_USE;
int kernel_mount_setattr(int fd, unsigned flags,
			 const struct kernel_mount_attr *attr) MUST_USE;

int kernel_pidfd_open(pid_t pid) MUST_USE;
/* A descriptor of a task, be it a thread; EINVAL for those before Linux 6.9. */
int kernel_pidfd_open_task(pid_t tid) MUST_USE;
/* A copy of a descriptor of the task; close-on-exec. */
int kernel_pidfd_getfd(int pidfd, int fd) MUST_USE;
int kernel_pidfd_signal(int pidfd, int signal);
/* waitid(2) with what the process and those it has reaped have used. */
int kernel_waitid(int pidfd, siginfo_t *ret, int options,
		  struct rusage *ret_usage) MUST_USE;

/* Version 3 of both: two structures, the low 32 capabilities first. */
int kernel_capget(struct __user_cap_data_struct ret[2]) MUST_USE;
int kernel_capset(const struct __user_cap_data_struct caps[2]) MUST_USE;

/* Have the kernel write 0 there when this thread ends, however it does, while
   another process shares the memory; before the signals of its death. */
void kernel_clear_at_death(int *word);

int kernel_seccomp(unsigned operation, unsigned flags, void *args);

/* attr  NULL: `flags` ask for the ABI or for its corrected errors */
int kernel_landlock_create(const void *attr, size_t bytes, uint32_t flags)
	MUST_USE;
int kernel_landlock_add_rule(int ruleset, unsigned type, const void *attr)
	MUST_USE;
int kernel_landlock_restrict_self(int ruleset) MUST_USE;

#endif
