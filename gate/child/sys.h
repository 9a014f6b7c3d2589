/*
 * System calls without libc, for the code between clone and exec.
 *
 * That code shares the runner's memory (CLONE_VM) and runs at the same time
 * as the runner, so it must not touch errno, locks or the heap. Every call
 * returns its result, or -errno.
 */
#ifndef GATE_CHILD_SYS_H
#define GATE_CHILD_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "core/base/kernel.h"

/* A row of getdents64(2). */
struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
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

#define SYS_L(x) ((long)(x))
/* sys_call(SYS_openat, AT_FDCWD, path, flags, 0): up to six arguments. */
#define sys_call(...) SYS_PADDED(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SYS_PADDED(nr, a, b, c, d, e, f, ...) \
	sys_6(nr, SYS_L(a), SYS_L(b), SYS_L(c), SYS_L(d), SYS_L(e), SYS_L(f))

#endif
