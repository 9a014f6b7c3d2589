/*
 * Tries one thing and says what happened, from inside a sandbox:
 *
 *	probe NAME [ARGS...]
 *
 *	ok: ...		it worked; whether it should have is the test's matter
 *	blocked: ...	it was refused, and by what
 *	escaped: ...	something worked that no sandboxed program may do
 *
 * An argument that begins with @ is taken without it, so that it is no path
 * to whoever starts the probe. Exit status 0, 1, 2 in that order; 64 for wrong
 *usage. `probe` alone lists the names. Calls that would do harm are made with
 *arguments that the kernel refuses, so that a missing sandbox shows as another
 *error.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

enum { OK = 0, BLOCKED = 1, ESCAPED = 2, USAGE = 64 };

#if defined(__x86_64__)
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static int say(int verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int say(int verdict, const char *fmt, ...)
{
	static const char *const words[] = {"ok", "blocked", "escaped"};
	va_list args;

	va_start(args, fmt);
	printf("%s: ", words[verdict]);
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
	return verdict;
}

/* blocked with errno, or `verdict` when r says that it worked */
static int result(long r, int verdict, const char *what)
{
	if (r < 0)
		return say(BLOCKED, "%s: %s", what, strerror(errno));
	return say(verdict, "%s", what);
}

/* Arguments are bogus: any error but these two came from the call itself. */
static int refused(long r, const char *what)
{
	if (r < 0 && (errno == EPERM || errno == ENOSYS))
		return say(BLOCKED, "%s: %s", what, strerror(errno));
	return say(ESCAPED, "%s reached the kernel: %s", what,
		   r < 0 ? strerror(errno) : "it worked");
}

/* ---- files ---- */

static int probe_read(char **a)
{
	char byte;
	int fd = open(a[0], O_RDONLY);
	long r = fd < 0 ? -1 : read(fd, &byte, 1);

	return result(r, OK, "read");
}

static int probe_write(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT | O_APPEND, 0644);

	return result(fd < 0 ? -1 : write(fd, "x\n", 2), OK, "write");
}

static int probe_list(char **a)
{
	DIR *d = opendir(a[0]);
	int n = 0;

	if (!d)
		return result(-1, OK, "list");
	while (readdir(d))
		n++;
	return say(OK, "list: %d entries", n - 2);
}

static int probe_stat(char **a)
{
	struct stat st;

	return result(stat(a[0], &st), OK, "stat");
}

static int probe_mkdir(char **a)
{
	return result(mkdir(a[0], 0755), OK, "mkdir");
}

static int probe_rename(char **a)
{
	return result(rename(a[0], a[1]), OK, "rename");
}

static int probe_unlink(char **a)
{
	return result(unlink(a[0]), OK, "unlink");
}

static int probe_chmod(char **a)
{
	return result(chmod(a[0], (mode_t)strtoul(a[1], NULL, 8)), OK, "chmod");
}

static int probe_utimes(char **a)
{
	return result(utimensat(AT_FDCWD, a[0], NULL, 0), OK, "utimes");
}

static int probe_xattr(char **a)
{
	return result(setxattr(a[0], "user.probe", "1", 1, 0), OK, "setxattr");
}

static int probe_truncate(char **a)
{
	return result(truncate(a[0], 0), OK, "truncate");
}

static int probe_symlink(char **a)
{
	return result(symlink(a[0], a[1]), OK, "symlink");
}

static int probe_link(char **a)
{
	return result(link(a[0], a[1]), OK, "link");
}

static int probe_mknod(char **a)
{
	/* the null device: harmless */
	return result(mknod(a[0], S_IFCHR | 0666, 1 << 8 | 3), ESCAPED,
		      "mknod of a device");
}

static int probe_inotify(char **a)
{
	int fd = inotify_init1(IN_CLOEXEC);

	return result(fd < 0 ? -1 : inotify_add_watch(fd, a[0], IN_MODIFY), OK,
		      "inotify");
}

/* ---- running files ---- */

static int run(char *const *argv, int verdict, const char *what)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return result(-1, OK, "fork");
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		execv(argv[0], argv);
		_exit(errno == EACCES || errno == EPERM ? 126 : 127);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		return say(BLOCKED, "%s: signal %d", what, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return say(BLOCKED, "%s: status %d", what, WEXITSTATUS(status));
	return say(verdict, "%s", what);
}

static int probe_exec(char **a)
{
	return run(a, OK, "exec");
}

static int probe_loader(char **a)
{
	char *argv[] = {(char *)LOADER, a[0], a[1], NULL};

	return run(argv, OK, "run by the loader");
}

static long copy_self(int to)
{
	char chunk[65536];
	int from = open("/proc/self/exe", O_RDONLY);
	ssize_t n;

	if (from < 0)
		return -1;
	while ((n = read(from, chunk, sizeof(chunk))) > 0)
		if (write(to, chunk, (size_t)n) != n)
			return -1;
	return n;
}

/* Drop a copy of this program somewhere and run it. */
static int probe_dropped(char **a)
{
	char *direct[] = {a[0], (char *)"nothing", NULL};
	char *loaded[] = {(char *)LOADER, a[0], (char *)"nothing", NULL};
	int fd = open(a[0], O_WRONLY | O_CREAT | O_EXCL, 0755), r;

	if (fd < 0 || copy_self(fd) < 0)
		return say(BLOCKED, "cannot drop a file at %s", a[0]);
	close(fd);
	r = run(direct, ESCAPED, "a dropped file");
	if (r != BLOCKED)
		return r;
	return run(loaded, ESCAPED, "a dropped file by the loader");
}

static int probe_memfd_exec(char **a)
{
	char *argv[] = {(char *)"probe", (char *)"nothing", NULL};
	char *envp[] = {NULL};
	int fd = memfd_create("probe", 0);
	int status;
	pid_t pid;

	(void)a;
	if (fd < 0)
		return result(-1, OK, "memfd_create without seal");
	if (copy_self(fd) < 0)
		return say(BLOCKED, "cannot read myself");
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		fexecve(fd, argv, envp);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return say(ESCAPED, "a memory file was executed");
	return say(BLOCKED, "memory file: status %#x", status);
}

static int probe_memfd(char **a)
{
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
	int fd = memfd_create("probe", MFD_NOEXEC_SEAL);

	(void)a;
	return result(fd < 0 ? -1 : write(fd, "x", 1), OK, "memory file");
}

static int probe_nothing(char **a)
{
	(void)a;
	return say(OK, "nothing");
}

/* ---- the terminal ---- */

static int probe_tty(char **a)
{
	int fd = open("/dev/tty", O_RDWR);

	(void)a;
	if (fd < 0)
		fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	return result(fd, ESCAPED, "a terminal");
}

static int probe_tiocsti(char **a)
{
	char c = ' ';

	(void)a;
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd))
			return say(ESCAPED, "descriptor %d is a terminal", fd);
	return refused(ioctl(0, TIOCSTI, &c), "TIOCSTI");
}

/* an int argument whose upper half is set must not slip by */
static int probe_tiocsti_high(char **a)
{
	char c = ' ';

	(void)a;
	return refused(syscall(SYS_ioctl, 0, 0x100000000UL | TIOCSTI, &c),
		       "TIOCSTI with high bits");
}

/* ---- identity and privilege ---- */

static int probe_setuid(char **a)
{
	(void)a;
	if (geteuid() == 0)
		return say(ESCAPED, "already root");
	return result(setuid(0), ESCAPED, "setuid(0)");
}

static int probe_caps(char **a)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	unsigned long long caps, all = 0;

	(void)a;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Cap%*3[InhPrmEf]: %llx", &caps) == 1)
			all |= caps;
	if (!f || all)
		return say(ESCAPED, "capabilities %llx", all);
	return say(BLOCKED, "no capabilities, uid %u", getuid());
}

static int probe_new_privs(char **a)
{
	(void)a;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return say(BLOCKED, "no_new_privs is set");
	return say(ESCAPED, "no_new_privs is not set");
}

/* ---- system calls that must never arrive ---- */

static int probe_call(char **a)
{
	static const struct {
		const char *name;
		long nr;
		long arg[5];
	} calls[] = {
		/* targets and flags that the kernel itself refuses */
		{"mount", SYS_mount, {0, 0, 0, 0, 0}},
		{"umount", SYS_umount2, {0, -1, 0, 0, 0}},
		{"pivot_root", SYS_pivot_root, {0, 0, 0, 0, 0}},
		{"chroot", SYS_chroot, {0, 0, 0, 0, 0}},
		{"unshare", SYS_unshare, {CLONE_NEWUSER | 1, 0, 0, 0, 0}},
		{"setns", SYS_setns, {-1, 0, 0, 0, 0}},
		{"open_tree", 428, {-1, 0, -1, 0, 0}},
		{"fsopen", 430, {0, -1, 0, 0, 0}},
		{"move_mount", 429, {-1, 0, -1, 0, -1}},
		{"mount_setattr", 442, {-1, 0, -1, 0, 0}},
		{"ptrace", SYS_ptrace, {PTRACE_PEEKDATA, -1, 0, 0, 0}},
		{"process_vm_readv", SYS_process_vm_readv, {-1, 0, 0, 0, 0}},
		{"io_uring_setup", 425, {0, 0, 0, 0, 0}},
		{"io_uring_enter", 426, {-1, 0, 0, 0, 0}},
		{"io_uring_register", 427, {-1, 0, 0, 0, 0}},
		{"bpf", SYS_bpf, {-1, 0, 0, 0, 0}},
		{"perf_event_open", SYS_perf_event_open, {0, -1, -1, -1, -1}},
		{"userfaultfd", SYS_userfaultfd, {-1, 0, 0, 0, 0}},
		{"keyctl", SYS_keyctl, {-1, 0, 0, 0, 0}},
		{"add_key", SYS_add_key, {0, 0, 0, 0, 0}},
		{"request_key", SYS_request_key, {0, 0, 0, 0, 0}},
		{"kexec_load", SYS_kexec_load, {0, -1, 0, -1, 0}},
		{"init_module", SYS_init_module, {0, 0, 0, 0, 0}},
		{"finit_module", SYS_finit_module, {-1, 0, -1, 0, 0}},
		{"delete_module", SYS_delete_module, {0, 0, 0, 0, 0}},
		{"swapon", SYS_swapon, {0, -1, 0, 0, 0}},
		{"acct", SYS_acct, {1, 0, 0, 0, 0}},
		{"settimeofday", SYS_settimeofday, {1, 1, 0, 0, 0}},
		{"clock_settime", SYS_clock_settime, {-1, 0, 0, 0, 0}},
		{"sethostname", SYS_sethostname, {0, -1, 0, 0, 0}},
		{"quotactl", SYS_quotactl, {-1, 0, 0, 0, 0}},
		{"open_by_handle_at", SYS_open_by_handle_at, {-1, 0, 0, 0, 0}},
		{"fanotify_init", SYS_fanotify_init, {-1, -1, 0, 0, 0}},
		{"personality", SYS_personality, {0x0400000, 0, 0, 0, 0}},
		{"lookup_dcookie", SYS_lookup_dcookie, {0, 0, 0, 0, 0}},
		{"vhangup", SYS_vhangup, {0, 0, 0, 0, 0}},
		{"pidfd_getfd", 438, {-1, -1, -1, 0, 0}},
		{"process_madvise", 440, {-1, 0, 0, -1, -1}},
		{"openat2", 437, {-1, 0, 0, 0, 0}},
		{"clone3", 435, {0, 0, 0, 0, 0}},
		{"unknown", 9999, {0, 0, 0, 0, 0}},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const long *g = calls[i].arg;

		if (strcmp(calls[i].name, a[0]) != 0)
			continue;
		/* would really hang up a terminal of root */
		if (calls[i].nr == SYS_vhangup && geteuid() == 0)
			return say(BLOCKED, "vhangup: not tried as root");
		return refused(
			syscall(calls[i].nr, g[0], g[1], g[2], g[3], g[4]),
			a[0]);
	}
	if (strcmp(a[0], "list") == 0) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			puts(calls[i].name);
		return OK;
	}
	return USAGE;
}

/* Another architecture's numbers; the kernel ends such a process. */
static int probe_i386(char **a)
{
	int status;
	pid_t pid = fork();

	(void)a;
	if (pid == 0) {
#if defined(__x86_64__)
		long r = 20; /* getpid of i386 */

		__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
		_exit(r > 0 ? 0 : 1);
#else
		_exit(1);
#endif
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return say(ESCAPED, "an i386 system call worked");
	return say(BLOCKED, "i386 system call: status %#x", status);
}

static int probe_x32(char **a)
{
	int status;
	pid_t pid = fork();

	(void)a;
	if (pid == 0)
		_exit(syscall(0x40000000L | 39) > 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return say(ESCAPED, "an x32 system call worked");
	return say(BLOCKED, "x32 system call: status %#x", status);
}

static int probe_suid_bit(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 0755);

	if (fd < 0)
		return result(-1, OK, "open");
	return result(fchmod(fd, 04755), ESCAPED, "set-user-id bit");
}

static int probe_write_exec(char **a)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)a;
	return result(p == MAP_FAILED ? -1 : 0, OK, "memory for a JIT");
}

/* ---- other processes ---- */

static int probe_kill(char **a)
{
	return result(kill((pid_t)strtol(a[0], NULL, 10), 0), ESCAPED,
		      "signal to an outside process");
}

static int probe_kill_self(char **a)
{
	(void)a;
	return result(kill(getpid(), 0), OK, "signal to myself");
}

/* The owner of the sandbox. */
static int probe_kill_parent(char **a)
{
	(void)a;
	return result(kill(getppid(), 0), ESCAPED, "signal to my owner");
}

/* Processes that I have not made. */
static int probe_processes(char **a)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int others = 0;

	(void)a;
	while (d && (e = readdir(d))) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 0 && pid != getpid())
			others++;
	}
	if (others)
		return say(ESCAPED, "%d other processes are visible", others);
	return say(BLOCKED, "no other process is visible");
}

static int probe_environ(char **a)
{
	char path[64], byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/environ", a[0]);
	fd = open(path, O_RDONLY);
	return result(fd < 0 ? -1 : read(fd, &byte, 1), ESCAPED,
		      "environment of another process");
}

/* ---- sockets and IPC ---- */

static int connect_unix(const char *name, int abstract)
{
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	snprintf(u.sun_path + abstract, sizeof(u.sun_path) - 1, "%s", name);
	return connect(fd, (void *)&u,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				   (size_t)abstract + strlen(name)));
}

static int probe_unix(char **a)
{
	return result(connect_unix(a[0], 0), ESCAPED, "socket file");
}

static int probe_abstract(char **a)
{
	return result(connect_unix(a[0], 1), ESCAPED, "abstract socket");
}

static int probe_socketpair(char **a)
{
	int pair[2];

	(void)a;
	return result(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), OK,
		      "socketpair");
}

static int probe_tcp(char **a)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_port = htons((uint16_t)strtoul(a[1], NULL, 10));
	inet_pton(AF_INET, a[0], &in.sin_addr);
	if (fd < 0)
		return result(-1, OK, "socket");
	return result(connect(fd, (void *)&in, sizeof(in)), OK, "tcp connect");
}

/* A server that speaks first: connected to something is not yet to it. */
static int probe_greeted(char **a)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char byte;

	in.sin_port = htons((uint16_t)strtoul(a[1], NULL, 10));
	inet_pton(AF_INET, a[0], &in.sin_addr);
	if (fd < 0 || connect(fd, (void *)&in, sizeof(in)) < 0)
		return result(-1, OK, "connect");
	return result(recv(fd, &byte, 1, 0) == 1 ? 0 : -1, OK, "a greeting");
}

static int probe_udp(char **a)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)a;
	inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
	if (fd < 0)
		return result(-1, OK, "udp socket");
	return result(sendto(fd, "x", 1, 0, (void *)&in, sizeof(in)), OK,
		      "udp");
}

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static int probe_mptcp(char **a)
{
	(void)a;
	return result(socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), ESCAPED,
		      "MPTCP");
}

static int probe_packet(char **a)
{
	/* anybody may ask for a family; this one wants a privilege */
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0);

	(void)a;
	return result(fd, ESCAPED, "packet socket");
}

/* Connects by sending: Landlock does not see it. */
static int probe_fastopen(char **a)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_port = htons((uint16_t)strtoul(a[1], NULL, 10));
	inet_pton(AF_INET, a[0], &in.sin_addr);
	if (fd < 0)
		return result(-1, OK, "socket");
	return result(sendto(fd, "x", 1, MSG_FASTOPEN, (void *)&in, sizeof(in)),
		      ESCAPED, "TCP Fast Open");
}

/* A server there sends it back. An own network may take it, and refuse it. */
static int probe_udp_to(char **a)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char back;

	in.sin_port = htons((uint16_t)strtoul(a[1], NULL, 10));
	inet_pton(AF_INET, a[0], &in.sin_addr);
	if (fd < 0)
		return result(-1, OK, "udp socket");
	if (connect(fd, (void *)&in, sizeof(in)) < 0 || send(fd, "x", 1, 0) < 0)
		return result(-1, OK, "udp");
	return result(recv(fd, &back, 1, 0), OK, "udp there and back");
}

static int probe_serve(char **a)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	socklen_t n = sizeof(in);
	int s = socket(AF_INET, SOCK_STREAM, 0), c;

	(void)a;
	if (s < 0)
		return result(-1, OK, "socket");
	inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
	if (bind(s, (void *)&in, n) < 0 || listen(s, 1) < 0 ||
	    getsockname(s, (void *)&in, &n) < 0)
		return result(-1, OK, "bind");
	c = socket(AF_INET, SOCK_STREAM, 0);
	return result(connect(c, (void *)&in, n), OK, "own loopback server");
}

/* A socket that was never bound is given a port by listen() itself. */
static int probe_listen(char **a)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	(void)a;
	return result(s < 0 ? -1 : listen(s, 1), OK, "listen without bind");
}

/* Of another: core files are off anyway, so nothing comes of it. */
static int probe_limits(char **a)
{
	struct rlimit none = {0, 0};

	return result(prlimit(atoi(a[0]), RLIMIT_CORE, &none, NULL), OK,
		      "limits");
}

static int probe_raw(char **a)
{
	(void)a;
	return result(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), ESCAPED,
		      "raw socket");
}

static int probe_netlink(char **a)
{
	(void)a;
	return result(socket(AF_NETLINK, SOCK_RAW, 0), ESCAPED, "netlink");
}

static int probe_vsock(char **a)
{
	(void)a;
	return result(socket(AF_VSOCK, SOCK_STREAM, 0), ESCAPED, "vsock");
}

/* A segment that the test made outside. */
static int probe_shm(char **a)
{
	key_t key = (key_t)strtol(a[0], NULL, 0);

	return result(shmget(key, 0, 0), ESCAPED, "shared memory of others");
}

/* ---- life and limits ---- */

/* Leaves the session and the parent; the test looks for MARK. */
static int probe_survive(char **a)
{
	(void)a;
	if (fork() == 0) {
		setsid();
		signal(SIGHUP, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	wait(NULL);
	return say(OK, "left a process behind");
}

/* Survivors that go on making survivors. */
static int probe_survive_storm(char **a)
{
	(void)a;
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			setsid();
			signal(SIGTERM, SIG_IGN);
			for (;;) {
				if (fork() > 0)
					_exit(0);
				setsid();
				usleep(500);
			}
		}
	usleep(50000);
	return say(OK, "left processes behind");
}

static int probe_ignore_term(char **a)
{
	(void)a;
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	say(OK, "waiting");
	while (pause() < 0)
		;
	return OK;
}

static int probe_sleep(char **a)
{
	(void)a;
	say(OK, "waiting");
	while (pause() < 0)
		;
	return OK;
}

static int probe_fork(char **a)
{
	int n = (int)strtol(a[0], NULL, 10);

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			for (;;)
				pause();
		if (pid < 0)
			return say(BLOCKED, "fork: after %d: %s", i,
				   strerror(errno));
	}
	return say(OK, "fork: %d processes", n);
}

static void touch(void *memory, size_t n)
{
	volatile char *p = memory;

	for (size_t i = 0; p && i < n; i += 4096)
		p[i] = 1;
}

static int probe_memory(char **a)
{
	size_t n = strtoul(a[0], NULL, 10) << 20;
	char *p = malloc(n);

	if (!p)
		return result(-1, OK, "memory");
	touch(p, n);
	return say(OK, "memory: %zu bytes", n);
}

/* So many MiB in each of so many processes, all at the same time. */
static int probe_memory_spread(char **a)
{
	size_t n = strtoul(a[0], NULL, 10) << 20;
	long processes = strtol(a[1], NULL, 10), killed = 0;
	int ready[2], go[2], status;
	char byte;

	if (pipe(ready) < 0 || pipe(go) < 0)
		return result(-1, OK, "pipe");
	for (long i = 0; i < processes; i++) {
		if (fork() != 0)
			continue;
		close(go[1]);
		touch(malloc(n), n);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		close(ready[1]);
		_exit(read(go[0], &byte, 1) != 0);
	}
	/* one that ends without a word has closed it, too */
	close(ready[1]);
	for (long i = 0; i < processes && read(ready[0], &byte, 1) == 1; i++)
		;
	close(go[1]);
	while (wait(&status) > 0)
		killed += WIFSIGNALED(status);
	if (killed)
		return say(BLOCKED, "memory: %ld of %ld were killed", killed,
			   processes);
	return say(OK, "memory: %ld processes of %zu bytes", processes, n);
}

static int probe_memory_shared(char **a)
{
	size_t n = strtoul(a[0], NULL, 10) << 20;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return result(-1, OK, "shared memory");
	touch(p, n);
	return say(OK, "shared memory: %zu bytes", n);
}

static int probe_reserve(char **a)
{
	void *p = mmap(NULL, (size_t)64 << 30, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)a;
	return result(p == MAP_FAILED ? -1 : 0, OK, "64 GiB reserved");
}

static int probe_file_size(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 0644);
	off_t bytes = (off_t)strtoul(a[1], NULL, 10) << 20;

	signal(SIGXFSZ, SIG_IGN);
	if (fd < 0)
		return result(-1, OK, "open");
	return result(pwrite(fd, "x", 1, bytes - 1), OK, "large file");
}

static int probe_core(char **a)
{
	struct rlimit r;

	(void)a;
	getrlimit(RLIMIT_CORE, &r);
	if (r.rlim_max)
		return say(ESCAPED, "core dumps of %lu bytes",
			   (unsigned long)r.rlim_max);
	return say(BLOCKED, "no core dumps");
}

static int probe_descriptors(char **a)
{
	char path[64], to[256];

	(void)a;
	for (int fd = 3; fd < 4096; fd++) {
		ssize_t n;

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		return say(ESCAPED, "descriptor %d is open: %s", fd, to);
	}
	return say(BLOCKED, "nothing but 0, 1, 2");
}

static int probe_signals(char **a)
{
	sigset_t mask;

	(void)a;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < 65; i++) {
		struct sigaction s;

		if (sigismember(&mask, i) == 1)
			return say(BLOCKED, "signal %d is masked", i);
		if (sigaction(i, NULL, &s) == 0 && s.sa_handler != SIG_DFL)
			return say(BLOCKED, "signal %d is ignored", i);
	}
	return say(OK, "signals are as new");
}

static int probe_session(char **a)
{
	(void)a;
	if (getsid(0) != getpid())
		return say(ESCAPED, "in the session of somebody else");
	return say(OK, "own session");
}

static void *thread_main(void *arg)
{
	return arg;
}

static int probe_thread(char **a)
{
	pthread_t t;
	int r = pthread_create(&t, NULL, thread_main, NULL);

	(void)a;
	if (r)
		return say(BLOCKED, "thread: %s", strerror(r));
	pthread_join(t, NULL);
	return say(OK, "thread");
}

static int probe_semaphore(char **a)
{
	int fd = open("/dev/shm/probe", O_RDWR | O_CREAT, 0600);

	(void)a;
	return result(fd, OK, "/dev/shm");
}

static const struct probe {
	const char *name;
	int args;
	int (*run)(char **);
} probes[] = {
	{"read", 1, probe_read},
	{"write", 1, probe_write},
	{"list", 1, probe_list},
	{"stat", 1, probe_stat},
	{"mkdir", 1, probe_mkdir},
	{"rename", 2, probe_rename},
	{"unlink", 1, probe_unlink},
	{"chmod", 2, probe_chmod},
	{"utimes", 1, probe_utimes},
	{"xattr", 1, probe_xattr},
	{"truncate", 1, probe_truncate},
	{"symlink", 2, probe_symlink},
	{"link", 2, probe_link},
	{"mknod", 1, probe_mknod},
	{"inotify", 1, probe_inotify},
	{"exec", 1, probe_exec},
	{"loader", 1, probe_loader},
	{"dropped", 1, probe_dropped},
	{"memfd-exec", 0, probe_memfd_exec},
	{"memfd", 0, probe_memfd},
	{"nothing", 0, probe_nothing},
	{"tty", 0, probe_tty},
	{"tiocsti", 0, probe_tiocsti},
	{"tiocsti-high", 0, probe_tiocsti_high},
	{"setuid", 0, probe_setuid},
	{"caps", 0, probe_caps},
	{"new-privs", 0, probe_new_privs},
	{"call", 1, probe_call},
	{"i386", 0, probe_i386},
	{"x32", 0, probe_x32},
	{"suid-bit", 1, probe_suid_bit},
	{"write-exec", 0, probe_write_exec},
	{"kill", 1, probe_kill},
	{"kill-self", 0, probe_kill_self},
	{"kill-parent", 0, probe_kill_parent},
	{"processes", 0, probe_processes},
	{"environ", 1, probe_environ},
	{"unix", 1, probe_unix},
	{"abstract", 1, probe_abstract},
	{"socketpair", 0, probe_socketpair},
	{"tcp", 2, probe_tcp},
	{"greeted", 2, probe_greeted},
	{"udp", 0, probe_udp},
	{"udp-to", 2, probe_udp_to},
	{"mptcp", 0, probe_mptcp},
	{"packet", 0, probe_packet},
	{"fastopen", 2, probe_fastopen},
	{"serve", 0, probe_serve},
	{"listen", 0, probe_listen},
	{"limits", 1, probe_limits},
	{"raw", 0, probe_raw},
	{"netlink", 0, probe_netlink},
	{"vsock", 0, probe_vsock},
	{"shm", 1, probe_shm},
	{"survive", 1, probe_survive},
	{"survive-storm", 1, probe_survive_storm},
	{"ignore-term", 1, probe_ignore_term},
	{"sleep", 1, probe_sleep},
	{"fork", 1, probe_fork},
	{"memory", 1, probe_memory},
	{"memory-spread", 2, probe_memory_spread},
	{"memory-shared", 1, probe_memory_shared},
	{"reserve", 0, probe_reserve},
	{"file-size", 2, probe_file_size},
	{"core", 0, probe_core},
	{"descriptors", 0, probe_descriptors},
	{"signals", 0, probe_signals},
	{"session", 0, probe_session},
	{"thread", 0, probe_thread},
	{"semaphore", 0, probe_semaphore},
};

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		argv[i] += argv[i][0] == '@';
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		if (argc < 2)
			puts(probes[i].name);
		else if (strcmp(probes[i].name, argv[1]) == 0 &&
			 argc >= 2 + probes[i].args)
			return probes[i].run(argv + 2);
	}
	if (argc >= 2)
		fprintf(stderr, "probe: no \"%s\" with these arguments\n",
			argv[1]);
	return argc < 2 ? 0 : USAGE;
}
