/*
 * The argument rules as data: syscall_args.def with the numbers it names.
 *
 * Included by the file that builds filters and by the test that checks what
 * was built. Numbers of kernels newer than the build machine's headers stand
 * here under names of our own.
 */
#ifndef GATE_BUILD_SYSCALL_ARGS_H
#define GATE_BUILD_SYSCALL_ARGS_H

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/fiemap.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* The wants that a rule can depend on. */
enum arg_when {
	WHEN_ALWAYS,
	WHEN_NET,	/* some network */
	WHEN_UDP,	/* datagrams among it */
	WHEN_NOT_PORTS, /* no network, or not only single ports of others */
	WHEN_UNIX,	/* named AF_UNIX sockets */
	WHEN_NO_UNIX,
	WHEN_SEAL, /* memory files must be sealed against exec */
	WHEN_NO_SEAL,
	WHEN_OPEN, /* profile "open" */
	WHEN_NOT_OPEN,
};

#define ARG_CMP_MAX 3
/* Arguments of a call. */
#define SYSCALL_ARGS 6
/* The longest name and its NUL. */
#define SYSCALL_NAME_BYTES 24

struct arg_cmp {
	uint32_t arg;
	uint32_t mask; /* 0: no comparison, and none after it */
	uint32_t value;
};

struct arg_rule {
	char call[SYSCALL_NAME_BYTES];
	enum arg_when when;
	struct arg_cmp cmp[ARG_CMP_MAX];
};

#define INT UINT32_C(0xffffffff)
/* The type of a socket without its two flags. */
#define TYPE (INT & ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK))
#define SUID_SGID 06000
/* O_TMPFILE is this bit and O_DIRECTORY, which makes nothing alone. */
#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
/* include/uapi/linux/memfd.h, Linux 6.3 */
#define MEMFD_NOEXEC_SEAL 0x0008U
#define MEMFD_EXEC 0x0010U
/* include/uapi/linux/fcntl.h: F_DUPFD_QUERY, F_CREATED_QUERY */
#define FD_QUERY 1027
#define FD_CREATED 1028
/* include/uapi/linux/sched.h */
#define SCHED_RESET_BIT UINT32_C(0x40000000)
/* include/uapi/asm-generic/ioctls.h: _IOR('T', 0x2A, struct termios2), ... */
#define TTY_GETS2 UINT32_C(0x802c542a)
#define TTY_SETS2 UINT32_C(0x402c542b)
#define TTY_SETSW2 UINT32_C(0x402c542c)
#define TTY_SETSF2 UINT32_C(0x402c542d)
/* include/uapi/linux/prctl.h: PR_SET_MDWE, PR_GET_MDWE, PR_SET_VMA */
#define MDWE_SET 65
#define MDWE_GET 66
#define VMA_SET 0x53564d41

#define ARG(n, m, v)                                                      \
	{                                                                 \
		.arg = (n), .mask = (uint32_t)(m), .value = (uint32_t)(v) \
	}
#define ARG_RULE(name, cond, ...) \
	{.call = #name, .when = WHEN_##cond, .cmp = {__VA_ARGS__}},

static const struct arg_rule ARG_RULES[] = {
#include "gate/build/syscall_args.def"
};

#undef ARG_RULE

#endif
