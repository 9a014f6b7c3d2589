/*
 * Hides features of the kernel from a program and its children:
 *
 *	hide FEATURE[,FEATURE]... -- PROGRAM [ARGS...]
 *	hide --list
 *
 * By a system-call filter that answers as an older or a more restricted
 * kernel would. The program's own filters stack with it. `landlock-abi=N` is
 * a number that no filter can answer, so the program itself is traced for
 * that one call; to its children Landlock is not there. With an N that this
 * kernel does not have, rights of files that it lacks are taken and not held:
 * what was asked for is written to the file that $HIDE_ASKED names,
 *
 *	handled 0x1ffff
 *	rule 0x10000 /run/x.sock
 *
 * `sysctl` needs root: it is a mount namespace with a read-only /proc/sys.
 * `domain` is an outer Landlock sandbox, in which no mount can be changed.
 */
#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USAGE = 64, FAILED = 99 };

/* Numbers that are the same everywhere, for older headers. */
enum {
	NR_PIDFD_SEND_SIGNAL = 424,
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_FSOPEN = 430,
	NR_FSMOUNT = 432,
	NR_PIDFD_OPEN = 434,
	NR_CLONE3 = 435,
	NR_CLOSE_RANGE = 436,
	NR_MOUNT_SETATTR = 442,
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
	NR_LANDLOCK_RESTRICT_SELF = 446,
};

#define NAMESPACES 0x7e020000U /* every CLONE_NEW* that clone() takes */
#define NEWTIME 0x80U	       /* and the one that only unshare() does */
#define PIDFD 0x1000U	       /* CLONE_PIDFD */
#define NEW_LISTENER 8U
#define NOEXEC_SEAL 8U

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* Refused with `error` when (argument & mask) == value, or != 0 for ANY. */
#define ANY UINT32_MAX
struct rule {
	const char *feature;
	int nr;
	int error; /* 0: traced */
	int arg;   /* -1: whatever the arguments */
	uint32_t mask, value;
};

#define CALL(feature, nr, error)             \
	{                                    \
		feature, nr, error, -1, 0, 0 \
	}
#define LANDLOCK(feature, error)                            \
	CALL(feature, NR_LANDLOCK_CREATE_RULESET, error),   \
		CALL(feature, NR_LANDLOCK_ADD_RULE, error), \
		CALL(feature, NR_LANDLOCK_RESTRICT_SELF, error)
/* clone3 has its flags behind a pointer, so programs are led to clone */
#define CLONE(feature, error, flags)                          \
	{feature, SYS_clone, error, 0, flags, ANY},           \
		{feature, SYS_unshare, error, 0, flags, ANY}, \
		CALL(feature, NR_CLONE3, ENOSYS)
#define MOUNTS(feature, error)                                              \
	CALL(feature, SYS_mount, error), CALL(feature, SYS_umount2, error), \
		CALL(feature, SYS_pivot_root, error),                       \
		CALL(feature, NR_OPEN_TREE, error),                         \
		CALL(feature, NR_MOVE_MOUNT, error),                        \
		CALL(feature, NR_FSOPEN, error),                            \
		CALL(feature, NR_FSMOUNT, error),                           \
		CALL(feature, NR_MOUNT_SETATTR, error)

static const struct rule RULES[] = {
	/* not built in, and not among lsm= */
	LANDLOCK("landlock", ENOSYS),
	LANDLOCK("landlock-disabled", EOPNOTSUPP),
	/* kernel.unprivileged_userns_clone=0; user.max_user_namespaces=0 */
	CLONE("userns", EPERM, CLONE_NEWUSER),
	CLONE("userns-max", ENOSPC, CLONE_NEWUSER),
	/* a container's default filter */
	CLONE("namespaces", EPERM, (NAMESPACES | NEWTIME)),
	CALL("namespaces", SYS_setns, EPERM),
	MOUNTS("namespaces", EPERM),
	/* AppArmor: namespaces, but nothing may be done in them */
	MOUNTS("mounts", EACCES),
	/* before Linux 5.12 */
	CALL("mount-setattr", NR_MOUNT_SETATTR, ENOSYS),
	/* a new read-only file system, which is the /proc of a view */
	{"proc-mount", SYS_mount, EPERM, 3,
	 MS_RDONLY | MS_BIND | MS_REMOUNT | MS_REC, MS_RDONLY},
	/* a user namespace and nothing else is for id maps */
	{"idmap", SYS_clone, EPERM, 0, NAMESPACES, CLONE_NEWUSER},
	/* an outer sandbox has it; before Linux 5.0 */
	{"listener", SYS_seccomp, EBUSY, 1, NEW_LISTENER, ANY},
	{"notify", SYS_seccomp, EINVAL, 1, NEW_LISTENER, ANY},
	{"notify", SYS_seccomp, EOPNOTSUPP, 0, ANY, SECCOMP_GET_ACTION_AVAIL},
	CALL("seccomp", SYS_seccomp, ENOSYS),
	{"seccomp", SYS_prctl, EINVAL, 0, ANY, PR_SET_SECCOMP},
	{"seccomp", SYS_prctl, EINVAL, 0, ANY, PR_GET_SECCOMP},
	/* a disk that fails when it is to write */
	CALL("disk", SYS_fdatasync, EIO),
	/* an outer sandbox that takes no filter from us */
	CALL("filters", SYS_seccomp, EPERM),
	/* before Linux 5.3, 5.9, 6.3; an old outer filter */
	CALL("pidfd", NR_PIDFD_SEND_SIGNAL, ENOSYS),
	CALL("pidfd", NR_PIDFD_OPEN, ENOSYS),
	{"pidfd", SYS_clone, EINVAL, 0, PIDFD, ANY},
	CALL("clone3", NR_CLONE3, ENOSYS),
	CALL("close-range", NR_CLOSE_RANGE, ENOSYS),
	CALL("execveat", SYS_execveat, ENOSYS),
	{"memfd-noexec", SYS_memfd_create, EINVAL, 1, NOEXEC_SEAL, ANY},
	/* answered by hand; what ABI 7 lets restrict_self() do is not there */
	CALL("landlock-abi", NR_LANDLOCK_CREATE_RULESET, 0),
	{"landlock-abi", NR_LANDLOCK_RESTRICT_SELF, EINVAL, 1, ANY, ANY},
};

#define N_RULES (sizeof(RULES) / sizeof(*RULES))
/* What begin() has put there. */
#define EMPTY 3
#define INSNS_MAX (6 * N_RULES + 8)

struct hidden {
	struct sock_filter insn[INSNS_MAX];
	unsigned short n;
	int abi; /* 0: not traced */
};

static void die(const char *what)
{
	fprintf(stderr, "hide: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

/* ---- the filter ---- */

static void put(struct hidden *h, struct sock_filter insn)
{
	h->insn[h->n++] = insn;
}

static void load(struct hidden *h, size_t offset)
{
	put(h, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    (uint32_t)offset));
}

static void put_rule(struct hidden *h, const struct rule *r)
{
	uint32_t action = r->error ? SECCOMP_RET_ERRNO | (uint32_t)r->error
				   : SECCOMP_RET_TRACE;
	unsigned char rest = r->arg < 0 ? 1 : 4;

	load(h, offsetof(struct seccomp_data, nr));
	put(h, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
					    (uint32_t)r->nr, 0, rest));
	if (r->arg >= 0) {
		load(h,
		     offsetof(struct seccomp_data, args) + 8 * (size_t)r->arg);
		put(h, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
						    r->mask));
		if (r->value == ANY)
			put(h, (struct sock_filter)BPF_JUMP(
				       BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
		else
			put(h,
			    (struct sock_filter)BPF_JUMP(
				    BPF_JMP | BPF_JEQ | BPF_K, r->value, 0, 1));
	}
	put(h, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void begin(struct hidden *h)
{
	load(h, offsetof(struct seccomp_data, arch));
	put(h, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1,
					    0));
	put(h,
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static void install(struct hidden *h)
{
	struct sock_fprog prog = {h->n, h->insn};

	put(h,
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	prog.len = h->n;
	/* root needs no promise, and set-user-id programs go on working */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0)
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		die("filter");
}

/* ---- an older Landlock ---- */

/* What each ABI knows: rights of files, of ports, scopes. */
static void known(int abi, uint64_t ret[3])
{
	int fs = abi >= 9   ? 17
		 : abi >= 5 ? 16
		 : abi >= 3 ? 15
		 : abi >= 2 ? 14
			    : 13;

	ret[0] = (UINT64_C(1) << fs) - 1;
	ret[1] = abi >= 4 ? 3 : 0;
	ret[2] = abi >= 6 ? 3 : 0;
}

static long peek(pid_t pid, uint64_t at, uint64_t *ret)
{
	struct iovec to = {ret, 8}, from = {(void *)(uintptr_t)at, 8};

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) == 8)
		return 0;
	errno = 0;
	*ret = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)at,
				NULL);
	return errno ? -1 : 0;
}

/* The kernel's check of the attribute; 0 lets the real one decide. */
static long judge_attr(pid_t pid, uint64_t at, uint64_t bytes, int abi)
{
	uint64_t mask[3], asked;

	known(abi, mask);
	for (uint64_t i = 0; i < 3 && 8 * (i + 1) <= bytes; i++) {
		/* not to be read when the program hides its memory */
		if (peek(pid, at + 8 * i, &asked) < 0)
			return 0;
		if (!mask[i] && asked)
			return -E2BIG;
		if (asked & ~mask[i])
			return -EINVAL;
	}
	return 0;
}

/* returns 0 to carry the call out, else what it shall return */
static long judge(pid_t pid, const struct __ptrace_syscall_info *s, int abi)
{
	const uint64_t *a = (const void *)s->seccomp.args;

	if (!a[2])
		return judge_attr(pid, a[0], a[1], abi);
	if (a[2] == 1 && !a[0] && !a[1])
		return abi;
	/* errata came with ABI 7 and went into older kernels as well */
	return a[2] == 2 && abi >= 7 ? 0 : -EINVAL;
}

static void answer(pid_t pid, long value)
{
	struct user_regs_struct regs;
	struct iovec io = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io) < 0)
		die("registers");
#if defined(__x86_64__)
	regs.orig_rax = (unsigned long long)-1;
	regs.rax = (unsigned long long)value;
#else
	int none = -1;
	struct iovec nr = {&none, sizeof(none)};

	if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &nr) < 0)
		die("system call");
	regs.regs[0] = (unsigned long long)value;
#endif
	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &io) < 0)
		die("registers");
}

/* ---- a newer Landlock ---- */

/* Rights of files that the hidden kernel has and this one lacks. */
static uint64_t lacking;

static void find_lacking(int abi)
{
	uint64_t wanted[3], has[3];
	long real = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1);

	known(abi, wanted);
	known(real < 0 ? 0 : (int)real, has);
	lacking = real > 0 ? wanted[0] & ~has[0] : 0;
}

static void note(const char *what, uint64_t rights, const char *path)
{
	const char *to = getenv("HIDE_ASKED");
	FILE *f = to ? fopen(to, "ae") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %#llx%s%s\n", what, (unsigned long long)rights,
		*path ? " " : "", path);
	fclose(f);
}

static void poke(pid_t pid, uint64_t at, uint64_t value)
{
	if (ptrace(PTRACE_POKEDATA, pid, (void *)(uintptr_t)at,
		   (void *)(uintptr_t)value) < 0)
		die("memory");
}

/* Go on to the next begin or end of a call. */
static void next_call(pid_t pid)
{
	int status = 0, sig = 0;

	do {
		ptrace(PTRACE_SYSCALL, pid, NULL, (long)sig);
		if (waitpid(pid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			die("the program ended among its rules");
		sig = status >> 16 ? 0 : WSTOPSIG(status);
	} while (sig != (SIGTRAP | 0x80));
}

/* The call that begins, without the rights at this place of its memory. */
static void call_without(pid_t pid, uint64_t at, uint64_t rights)
{
	poke(pid, at, rights & ~lacking);
	next_call(pid);
	poke(pid, at, rights);
}

/* A rule that comes behind the ruleset; 0: another call. */
static int take_rule(pid_t pid)
{
	struct __ptrace_syscall_info s;
	const uint64_t *a = (const void *)s.entry.args;
	char link[64], path[4096] = "";
	uint64_t rights = 0, fd = 0;
	ssize_t n;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(s), &s) < 0)
		die("system call");
	if (s.entry.nr != NR_LANDLOCK_ADD_RULE)
		return 0;
	if (a[1] != 1 || peek(pid, a[2], &rights) < 0 || !(rights & lacking)) {
		next_call(pid);
		return 1;
	}
	peek(pid, a[2] + 8, &fd);
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, (int)fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	note("rule", rights, path);
	if (rights & ~lacking) {
		call_without(pid, a[2], rights);
	} else {
		/* the kernel takes no rule without rights */
		answer(pid, 0);
		next_call(pid);
	}
	return 1;
}

/* The ruleset that is being made, and the rules that come right behind it. */
static void make_newer(pid_t pid, uint64_t at)
{
	uint64_t handled = 0;

	if (peek(pid, at, &handled) < 0 || !(handled & lacking))
		return;
	note("handled", handled, "");
	call_without(pid, at, handled);
	do
		next_call(pid);
	while (take_rule(pid));
}

static void at_call(pid_t pid, int abi)
{
	struct __ptrace_syscall_info s;
	long value;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(s), &s) < 0)
		die("system call");
	value = judge(pid, &s, abi);
	if (value)
		answer(pid, value);
	else if (lacking && !s.seccomp.args[2])
		make_newer(pid, s.seccomp.args[0]);
}

static void go_on(pid_t pid, int status, int abi)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	}
	if (event == PTRACE_EVENT_SECCOMP)
		at_call(pid, abi);
	ptrace(PTRACE_CONT, pid, NULL, (long)(event ? 0 : sig));
}

static pid_t traced;

/* What is meant for the program reaches it; by whom it was sent does not. */
static void pass_on(int sig)
{
	kill(traced, sig);
}

static int trace(pid_t pid, int abi)
{
	static const int passed[] = {SIGTERM, SIGINT,  SIGHUP,
				     SIGQUIT, SIGUSR1, SIGUSR2};

	traced = pid;
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		struct sigaction a = {.sa_handler = pass_on,
				      .sa_flags = SA_RESTART};

		sigaction(passed[i], &a, NULL);
	}
	for (;;) {
		int status;

		if (waitpid(pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			die("wait");
		}
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status)) {
			signal(WTERMSIG(status), SIG_DFL);
			raise(WTERMSIG(status));
			return 128 + WTERMSIG(status);
		}
		go_on(pid, status, abi);
	}
}

static void execute(char **argv)
{
	execvp(argv[0], argv);
	fprintf(stderr, "hide: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int run_traced(struct hidden *h, char **argv)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(ready[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* nothing is sent: the end says that we are traced */
		if (read(ready[0], &byte, 1) != 0)
			die("pipe");
		close(ready[0]);
		install(h);
		execute(argv);
	}
	close(ready[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD |
			   PTRACE_O_EXITKILL) < 0)
		die("trace");
	close(ready[1]);
	return trace(pid, h->abi);
}

/* ---- the features ---- */

static void lock_sysctl(void)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, "/proc/sys", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY,
		  NULL) < 0)
		die("sysctl");
}

/* Which of the rights it handles does not matter; here, device files. */
static void enter_domain(void)
{
	uint64_t handled = 1 << 6;
	long fd = syscall(NR_LANDLOCK_CREATE_RULESET, &handled, sizeof(handled),
			  0);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (fd < 0 || syscall(NR_LANDLOCK_RESTRICT_SELF, fd, 0) < 0)
		die("domain");
	close((int)fd);
}

static int hide(struct hidden *h, char *feature)
{
	char *number = strchr(feature, '=');
	int found = strcmp(feature, "none") == 0;

	if (number) {
		*number++ = '\0';
		h->abi = atoi(number);
	}
	if (strcmp(feature, "sysctl") == 0) {
		lock_sysctl();
		return 1;
	}
	if (strcmp(feature, "domain") == 0) {
		enter_domain();
		return 1;
	}
	for (size_t i = 0; i < N_RULES; i++)
		if (strcmp(RULES[i].feature, feature) == 0) {
			put_rule(h, &RULES[i]);
			found = 1;
		}
	if ((strcmp(feature, "landlock-abi") == 0) != (h->abi > 0 && number))
		found = 0;
	if (!found)
		fprintf(stderr, "hide: no feature \"%s\"\n", feature);
	return found;
}

static void list(void)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (!i || strcmp(RULES[i].feature, RULES[i - 1].feature) != 0)
			puts(RULES[i].feature);
	puts("sysctl\ndomain\nnone");
}

int main(int argc, char **argv)
{
	static struct hidden h;
	int i = 1;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	begin(&h);
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		for (char *f = strtok(argv[i], ","); f; f = strtok(NULL, ","))
			if (!hide(&h, f))
				return USAGE;
	if (i + 1 >= argc) {
		fprintf(stderr, "usage: hide FEATURE... -- PROGRAM\n");
		return USAGE;
	}
	if (h.n == EMPTY)
		execute(argv + i + 1);
	find_lacking(h.abi);
	if (h.abi)
		return run_traced(&h, argv + i + 1);
	install(&h);
	execute(argv + i + 1);
}
