/*
 * The system-call filter: policy to filter bytes.
 *
 * An allow-list. seccomp_build() turns a profile (groups of syscalls.def),
 * argument rules (syscall_args.def) and added names into a classic BPF
 * program. The filter is built in the parent, once per policy (about a
 *millisecond, which filters_build() saves for the named profiles); the child
 *installs the bytes with the raw system call. Nothing here installs anything.
 *
 *	struct seccomp_filter f = SECCOMP_FILTER_INIT;
 *	struct seccomp_want want = { .profile = PROFILE_DEFAULT, ... };
 *	if (seccomp_build(&want, &f, err) < 0)
 *		return -1;
 *	... struct sock_fprog prog = { f.n, f.insn };
 *	... in the child: seccomp(SECCOMP_SET_MODE_FILTER, flags, &prog)
 *	seccomp_filter_release(&f);
 *
 * Refusals: a wrong architecture (i386, x32) kills the process;
 * clone3, openat2, io_uring and numbers that this version does not know give
 * ENOSYS, so that libraries fall back; everything else takes .deny.
 *
 * Between install and execve the child may make only the calls of
 * SECCOMP_CHILD_CALLS. Any other is refused like everything else, and with
 * SECCOMP_DENY_NOTIFY and a parent that waits for the exec that is a
 * deadlock. Every profile allows them (tested).
 */
#ifndef GATE_BUILD_SECCOMP_H
#define GATE_BUILD_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "gate/policy/policy.h"

/* Calls of the child after the filter: X(name). sendmsg with flags 0. */
#define SECCOMP_CHILD_CALLS(X) \
	X(sendmsg)             \
	X(futex)               \
	X(close)               \
	X(close_range)         \
	X(read)                \
	X(write)               \
	X(dup2)                \
	X(dup3)                \
	X(fcntl)               \
	X(chdir)               \
	X(fchdir)              \
	X(getpid)              \
	X(kill)                \
	X(rt_sigaction)        \
	X(rt_sigprocmask)      \
	X(rt_sigreturn)        \
	X(execve)              \
	X(execveat)            \
	X(exit)                \
	X(exit_group)

/* AUDIT_ARCH_... of native calls. */
#if defined(__x86_64__)
#define SECCOMP_ARCH AUDIT_ARCH_X86_64
#else
#define SECCOMP_ARCH AUDIT_ARCH_AARCH64
#endif

enum seccomp_deny {
	SECCOMP_DENY_NOTIFY, /* a listener answers EPERM and names the call */
	SECCOMP_DENY_ERRNO,  /* EPERM, unnamed */
};

struct seccomp_want {
	enum policy_profile profile;
	enum policy_net net;
	bool net_udp; /* as policy.net_udp */
	/* AF_UNIX sockets of every type, with or without a network; only true
	   where the kernel keeps socket files of the host out of reach. */
	bool net_unix;
	bool ipc_namespace; /* else no System V IPC, no queues */
	/* Nothing else keeps it from the modes, times and attributes of files
	   that are not its own: a child that stays root, without a view. Only
	   without .ipc_namespace. */
	bool keep_attributes;
	bool memfd_noexec_sysctl; /* vm.memfd_noexec=2 holds; else
				     MFD_NOEXEC_SEAL is asked of each call */
	struct strlist syscalls;  /* added by name; borrowed for the call */
	enum seccomp_deny deny;
};

struct seccomp_filter {
	struct sock_filter *insn; /* owned */
	uint16_t n;
};

#define SECCOMP_FILTER_INIT  \
	{                    \
		.insn = NULL \
	}

/* Fill in what a resolved policy asks for; other members are the caller's. */
void seccomp_want_init(struct seccomp_want *want, const struct policy *p);

/*
 * Build the filter. The caller releases *ret_filter.
 *
 * errors  ERR_POLICY      an unknown name in .syscalls
 *	   ERR_PROTECTION  this kernel lacks what .deny needs, or the machine
 *			   libseccomp
 *	   ERR_SYS         libseccomp refused a rule (none is ever left out)
 */
int seccomp_build(const struct seccomp_want *want,
		  struct seccomp_filter *ret_filter, struct err *err) MUST_USE;
/* Build the filter as libseccomp writes it, before compact_filter(); tests
 * compare. */
int seccomp_build_plain(const struct seccomp_want *want,
			struct seccomp_filter *ret_filter, struct err *err)
	MUST_USE;
void seccomp_filter_release(struct seccomp_filter *f);

/*
 * Take the filter of this want from the table, instruction for instruction as
 * seccomp_build() makes it; or build it. The caller releases *ret_filter.
 *
 * errors  as seccomp_build()
 */
int filters_build(const struct seccomp_want *want,
		  struct seccomp_filter *ret_filter, struct err *err) MUST_USE;
/* Take the filter from the table; false when it is not there. */
bool filters_find(const struct seccomp_want *want,
		  struct seccomp_filter *ret_filter) MUST_USE;

/*
 * The wants whose filters are made when the program is built, numbered.
 *
 * Every policy without added system calls has a number; members that make no
 * difference to the filter (what refuses) make none to the number.
 * gate/gen/filters.c writes one program for each number, filters_build() picks
 * it.
 *
 * Networks: none, TCP to single ports, TCP and UDP; each also with AF_UNIX
 * sockets of every type. Views: the host's, the host's where attributes of
 * files are kept, an IPC namespace, one with vm.memfd_noexec.
 */
enum {
	N_VARIANT_NETS = 6,
	N_VARIANT_VIEWS = 4,
	N_VARIANTS = (int)N_PROFILES * N_VARIANT_NETS * N_VARIANT_VIEWS,
};

/* The number of a want; -1: none, the filter is built when it is due. */
int variant_of(const struct seccomp_want *want) MUST_USE;
/* The want of a number below N_VARIANTS, with SECCOMP_DENY_NOTIFY. */
void variant_want(int variant, struct seccomp_want *ret_want);

/*
 * Check the names of `syscalls`.
 * errors  ERR_POLICY      unknown, with the nearest; or never to be had, with
 *			   why
 *	   ERR_PROTECTION  libseccomp is not installed
 */
int seccomp_check_names(const struct strlist *names, struct err *err) MUST_USE;

/* Name of a native call number; NULL when it is unknown. Static. */
const char *seccomp_call_name(int nr) MUST_USE;
/* The native number, or -1. */
int seccomp_call_number(const char *name) MUST_USE;
/* The highest number that has a row; above it is ENOSYS. */
int seccomp_newest(void) MUST_USE;

/*
 * The call as text: "socket(AF_INET, SOCK_STREAM, 0)",
 * "ptrace(PTRACE_ATTACH, 12, ...)". Pointers are not followed.
 */
void seccomp_describe(const struct seccomp_data *data, struct buf *out);
/*
 * Find the key of `sandbox` and its value that would allow the call; both
 * static. Nothing is written when none can (clone with namespaces, set-user-id
 * bits, raw sockets).
 */
void seccomp_allow(const struct seccomp_data *data, const char **ret_key,
		   const char **ret_value);

#endif
