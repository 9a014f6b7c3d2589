/*
 * System calls without libc, for the code between clone and exec.
 *
 * That code shares the runner's memory (CLONE_VM) and runs at the same time
 * as the runner, so it must not touch errno, locks or the heap. Every call
 * returns its result, or -errno. Numbers and constants that the headers of an
 * older build machine lack are defined here.
 */
#ifndef GATE_CHILD_SYS_H
#define GATE_CHILD_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "core/base/attr.h"

#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* include/uapi/linux/sched.h, which clashes with <sched.h> of some libcs */
#define SYS_CLONE_INTO_CGROUP UINT64_C(0x200000000)

struct sys_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack;
	uint64_t stack_size, tls, set_tid, set_tid_size, cgroup;
};

/* include/uapi/linux/mount.h; that header clashes with <sys/mount.h> */
enum {
	SYS_OPEN_TREE_CLONE = 1,
	SYS_OPEN_TREE_CLOEXEC = 02000000, /* O_CLOEXEC */
	SYS_AT_RECURSIVE = 0x8000,
	SYS_AT_EMPTY_PATH = 0x1000,
	SYS_AT_FDCWD = -100,
	SYS_MOVE_MOUNT_F_EMPTY_PATH = 4,
	SYS_ATTR_RDONLY = 1,
	SYS_ATTR_NOSUID = 2,
	SYS_ATTR_NODEV = 4,
	SYS_ATTR_NOEXEC = 8,
	SYS_ATTR_IDMAP = 0x100000,
};

struct sys_mount_attr {
	uint64_t attr_set;
	uint64_t attr_clr;
	uint64_t propagation;
	uint64_t userns_fd;
};

/*
 * The kernel's sigset: one word on 64-bit architectures. All of these take
 * integers and pointers alike, as the kernel does.
 */
#if defined(__x86_64__)
static inline long sys_6(long nr, long a, long b, long c, long d, long e,
			 long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long sys_6(long nr, long a, long b, long c, long d, long e,
			 long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}
#else
#error "the gate knows the system calls of x86_64 and aarch64 only"
#endif

#define SYS_PICK(a, b, c, d, e, f, name, ...) name
#define SYS_L(x) ((long)(x))
/* sys_call(SYS_openat, AT_FDCWD, path, flags, 0): up to six arguments. */
#define sys_call(nr, ...)                                                 \
	SYS_PICK(__VA_ARGS__, sys_call6, sys_call5, sys_call4, sys_call3, \
		 sys_call2, sys_call1)                                    \
	(nr, __VA_ARGS__)
#define sys_call1(n, a) sys_6(n, SYS_L(a), 0, 0, 0, 0, 0)
#define sys_call2(n, a, b) sys_6(n, SYS_L(a), SYS_L(b), 0, 0, 0, 0)
#define sys_call3(n, a, b, c) sys_6(n, SYS_L(a), SYS_L(b), SYS_L(c), 0, 0, 0)
#define sys_call4(n, a, b, c, d) \
	sys_6(n, SYS_L(a), SYS_L(b), SYS_L(c), SYS_L(d), 0, 0)
#define sys_call5(n, a, b, c, d, e) \
	sys_6(n, SYS_L(a), SYS_L(b), SYS_L(c), SYS_L(d), SYS_L(e), 0)
#define sys_call6(n, a, b, c, d, e, f) \
	sys_6(n, SYS_L(a), SYS_L(b), SYS_L(c), SYS_L(d), SYS_L(e), SYS_L(f))

#endif
