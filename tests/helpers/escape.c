/*
 * Attacks on a sandbox that need more than one call, from inside:
 *
 *	escape NAME [ARGS...]
 *
 *	blocked: ...	it was refused, and by what
 *	escaped: ...	it worked
 *
 * Exit status 1, 2; 64 for wrong usage; `escape` alone lists the names. An
 * argument that begins with @ is taken without it, so that it is no path to
 * whoever starts the probe. What works is undone or harmless: signals are
 * number 0 or taken by a process of the test, values are set to what they were,
 * files are those of the test. Single plain attempts are in probe.c, single
 * calls with arguments that the kernel refuses in syscall.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKED = 1, ESCAPED = 2, USAGE = 64 };
/* how often a race is tried, and how often at most it may fail to open */
enum { RACE_OPENS = 4000, RACE_TRIES = 200000 };

#if defined(__x86_64__)
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static int say(int verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int say(int verdict, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("%s: ", verdict == ESCAPED ? "escaped" : "blocked");
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
	return verdict;
}

/* Did the call work? */
static int worked(long r, const char *what)
{
	if (r < 0)
		return say(BLOCKED, "%s: %s", what, strerror(errno));
	return say(ESCAPED, "%s", what);
}

static pid_t number(const char *text)
{
	return (pid_t)strtol(text, NULL, 0);
}

/* ---- files ---- */

static int try_openr(char **a)
{
	return worked(open(a[0], O_RDONLY | O_NONBLOCK | O_NOCTTY), "opened");
}

/* For writing, and nothing is written. */
static int try_openw(char **a)
{
	return worked(open(a[0], O_WRONLY | O_NONBLOCK | O_NOCTTY),
		      "opened for writing");
}

/* Does the first line of a file hold a secret of the test? */
static int is_secret(int fd)
{
	char text[16] = "";

	return read(fd, text, sizeof(text) - 1) > 0 &&
	       strncmp(text, "SECRET", 6) == 0;
}

static int try_secret(char **a)
{
	int fd = open(a[0], O_RDONLY);

	if (fd < 0)
		return worked(-1, "open");
	return is_secret(fd) ? say(ESCAPED, "read a secret")
			     : say(BLOCKED, "another file");
}

/* a link in a place where one may write, to where one may not read */
static int try_by_link(char **a)
{
	char *link[] = {a[0]};

	unlink(a[0]);
	if (symlink(a[1], a[0]) < 0)
		return worked(-1, "symlink");
	return try_secret(link);
}

static int try_hard_link(char **a)
{
	char *to[] = {a[1]};

	if (link(a[0], a[1]) < 0)
		return worked(-1, "link");
	return try_secret(to);
}

static int try_move(char **a)
{
	char *to[] = {a[1]};

	if (rename(a[0], a[1]) < 0)
		return worked(-1, "rename");
	return try_secret(to);
}

static int try_exchange(char **a)
{
	return worked(
		renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE),
		"files changed places");
}

/* Opened for reading, then changed by other ways. */
static int try_reopen(char **a)
{
	char path[64];
	int fd = open(a[0], O_RDONLY);

	if (fd < 0)
		return worked(-1, "open");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_WRONLY | O_APPEND);
	return worked(fd < 0 ? -1 : write(fd, "x", 1), "opened again");
}

static int try_fd_mode(char **a)
{
	int fd = open(a[0], O_RDONLY);

	return worked(fd < 0 ? -1 : fchmod(fd, 0777), "fchmod");
}

static int try_fd_times(char **a)
{
	int fd = open(a[0], O_RDONLY);

	return worked(fd < 0 ? -1 : futimens(fd, NULL), "futimens");
}

static int try_fd_xattr(char **a)
{
	int fd = open(a[0], O_RDONLY);

	return worked(fd < 0 ? -1 : fsetxattr(fd, "user.x", "1", 1, 0),
		      "fsetxattr");
}

static int try_flags(char **a)
{
	int fd = open(a[0], O_RDONLY), flags = 0;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return worked(-1, "flags");
	flags ^= FS_NODUMP_FL;
	return worked(ioctl(fd, FS_IOC_SETFLAGS, &flags), "set flags");
}

static int try_chown(char **a)
{
	return worked(chown(a[0], getuid(), getgid()), "chown");
}

static int try_handle(char **a)
{
	struct {
		struct file_handle h;
		char data[128];
	} x = {.h = {.handle_bytes = 128}};
	int mount_id, root = open("/", O_RDONLY | O_DIRECTORY);

	if (name_to_handle_at(AT_FDCWD, a[0], &x.h, &mount_id, 0) < 0)
		return worked(-1, "name_to_handle_at");
	return worked(open_by_handle_at(root, &x.h, O_RDONLY),
		      "opened by its handle");
}

/* chmod and the like with set-user-id bits */
static int has_bits(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !(st.st_mode & 06000))
		return say(BLOCKED, "no such bits");
	return say(ESCAPED, "mode %o", st.st_mode);
}

static int try_suid_open(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 04755);

	return fd < 0 ? worked(-1, "open") : has_bits(a[0]);
}

static int try_suid_mkdir(char **a)
{
	return mkdir(a[0], 02755) < 0 || chmod(a[0], 02755) < 0
		       ? worked(-1, "mkdir, chmod")
		       : has_bits(a[0]);
}

static int try_suid_fchmodat2(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 0755);

	if (fd < 0 || syscall(452, AT_FDCWD, a[0], 04755, 0) < 0)
		return worked(-1, "fchmodat2");
	return has_bits(a[0]);
}

/* ---- races ---- */

static const char *race_name;
static const char *race_to[2];
static volatile char *race_text;
static volatile int race_over, race_turns;

static void *swap_link(void *arg)
{
	char other[4096];

	snprintf(other, sizeof(other), "%s.next", race_name);
	for (unsigned int i = 0; !race_over; i++) {
		unlink(other);
		if (symlink(race_to[i & 1], other) < 0 ||
		    rename(other, race_name) < 0)
			break;
		race_turns++;
	}
	return arg;
}

static int race(void *(*swap)(void *), const char *path)
{
	pthread_t t;
	int verdict = BLOCKED, tries, opened = 0;

	if (pthread_create(&t, NULL, swap, NULL))
		return say(BLOCKED, "no thread");
	for (tries = 0; race_turns < 2 && tries < RACE_TRIES; tries++)
		sched_yield();
	for (tries = 0;
	     verdict == BLOCKED && tries < RACE_TRIES && opened < RACE_OPENS;
	     tries++) {
		int fd = open(path, O_RDONLY);

		if (tries % 64 == 0)
			sched_yield();
		if (fd < 0)
			continue;
		opened++;
		if (is_secret(fd))
			verdict = ESCAPED;
		close(fd);
	}
	race_over = 1;
	pthread_join(t, NULL);
	return say(verdict, "%d of %d opened", opened, tries);
}

/* LINK ALLOWED SECRET: the link points now here, now there */
static int try_race_link(char **a)
{
	race_name = a[0];
	race_to[0] = a[1];
	race_to[1] = a[2];
	return race(swap_link, a[0]);
}

static void *swap_text(void *arg)
{
	size_t n = strlen(race_to[0]) + 1;

	for (unsigned int i = 0; !race_over; i++) {
		for (size_t at = 0; at < n; at++)
			race_text[at] = race_to[i & 1][at];
		race_turns++;
	}
	return arg;
}

/* ALLOWED SECRET, of one length: a thread changes the path in memory */
static int try_race_path(char **a)
{
	static char text[4096];

	if (strlen(a[0]) != strlen(a[1]) || strlen(a[0]) >= sizeof(text))
		return USAGE;
	strcpy(text, a[0]);
	race_text = text;
	race_to[0] = a[0];
	race_to[1] = a[1];
	return race(swap_text, text);
}

/* ---- programs ---- */

/* Run in a child; its output is not shown. */
static int runs(const char *what, const char *path, int fd, char *const *argv)
{
	char *env[] = {NULL};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return worked(-1, "fork");
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		if (fd >= 0)
			syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
		else
			execve(path, argv, env);
		_exit(errno == ENOENT ? 127 : 126);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return say(ESCAPED, "%s was run", what);
	return say(BLOCKED, "%s: status %#x", what, status);
}

static int run_path(const char *what, char *path)
{
	char *argv[] = {path, NULL};

	return runs(what, path, -1, argv);
}

static int run_loaded(const char *what, char *path)
{
	char *argv[] = {(char *)LOADER, path, NULL};

	return runs(what, LOADER, -1, argv);
}

static int copy(const char *from_path, int to)
{
	char chunk[65536];
	int from = open(from_path, O_RDONLY);
	ssize_t n = -1;

	while (from >= 0 && (n = read(from, chunk, sizeof(chunk))) > 0)
		if (write(to, chunk, (size_t)n) != n)
			return -1;
	if (from >= 0)
		close(from);
	return (int)n;
}

/* This program under another name; without arguments it ends with 0. */
static int drop(const char *path)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || copy("/proc/self/exe", fd) < 0)
		return -1;
	return close(fd);
}

static int try_exec(char **a)
{
	return run_path("an unlisted program", a[0]);
}

static int try_exec_link(char **a)
{
	unlink(a[1]);
	if (symlink(a[0], a[1]) < 0)
		return worked(-1, "symlink");
	return run_path("a link to an unlisted program", a[1]);
}

static int try_exec_root(char **a)
{
	char path[4096];

	snprintf(path, sizeof(path), "/proc/self/root%s", a[0]);
	return run_path("an unlisted program through /proc", path);
}

static int try_exec_fd(char **a)
{
	char *argv[] = {a[0], NULL};
	int fd = open(a[0], O_PATH | O_CLOEXEC);

	if (fd < 0)
		return worked(-1, "open");
	return runs("a descriptor of an unlisted program", NULL, fd, argv);
}

static int try_loader(char **a)
{
	return run_loaded("an unlisted program by the loader", a[0]);
}

/* argv[0] of a listed program, the file of another */
static int try_exec_as(char **a)
{
	char *argv[] = {a[1], NULL};

	return runs("an unlisted program by a listed name", a[0], -1, argv);
}

static int try_dropped(char **a)
{
	if (drop(a[0]) < 0)
		return say(BLOCKED, "cannot drop a file at %s", a[0]);
	return run_path("a dropped file", a[0]);
}

static int try_dropped_loader(char **a)
{
	if (drop(a[0]) < 0)
		return say(BLOCKED, "cannot drop a file at %s", a[0]);
	return run_loaded("a dropped file", a[0]);
}

static int try_dropped_map(char **a)
{
	int fd;
	void *p;

	if (drop(a[0]) < 0)
		return say(BLOCKED, "cannot drop a file at %s", a[0]);
	fd = open(a[0], O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	return worked(p == MAP_FAILED ? -1 : 0, "mapped as code");
}

/* PATH #!INTERPRETER */
static int try_dropped_script(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || dprintf(fd, "#!%s\nexit 0\n", a[1]) < 0)
		return worked(-1, "script");
	close(fd);
	return run_path("a dropped script", a[0]);
}

static int try_tmpfile_exec(char **a)
{
	char path[64], *argv[] = {path, NULL};
	int fd = open(a[0], O_TMPFILE | O_RDWR, 0755), again;

	if (fd < 0 || copy("/proc/self/exe", fd) < 0)
		return worked(-1, "O_TMPFILE");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		return worked(-1, "open again");
	close(fd);
	return runs("a file without a name", NULL, again, argv);
}

/* a memory file by its name in /proc, by the loader, or mapped */
static int memory_file(char *path, size_t n)
{
	int fd = (int)syscall(SYS_memfd_create, "x", 0);

	if (fd < 0) /* MFD_NOEXEC_SEAL, which is always had */
		fd = (int)syscall(SYS_memfd_create, "x", 8);
	if (fd < 0 || copy("/proc/self/exe", fd) < 0)
		return -1;
	snprintf(path, n, "/proc/self/fd/%d", fd);
	return fd;
}

static int try_memfd_proc(char **a)
{
	char path[64];

	(void)a;
	if (memory_file(path, sizeof(path)) < 0)
		return worked(-1, "memfd_create");
	return run_path("a memory file", path);
}

static int try_memfd_loader(char **a)
{
	char path[64];

	(void)a;
	if (memory_file(path, sizeof(path)) < 0)
		return worked(-1, "memfd_create");
	return run_loaded("a memory file", path);
}

static int try_memfd_exec_flag(char **a)
{
	(void)a;
	/* MFD_EXEC, also with a bit of the upper half */
	if (syscall(SYS_memfd_create, "x", 0x10UL) >= 0)
		return say(ESCAPED, "MFD_EXEC");
	return worked(syscall(SYS_memfd_create, "x", 0x100000010UL),
		      "MFD_EXEC with high bits");
}

/* Run by its set-user-id bit: has it changed anything? */
static int try_whoami(char **a)
{
	(void)a;
	if (geteuid() != getuid())
		return say(ESCAPED, "uid %u, euid %u", getuid(), geteuid());
	return say(BLOCKED, "uid %u", getuid());
}

/* a set-user-id program, started from inside */
static int try_run_suid(char **a)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(a[0], a[0], "whoami", (char *)NULL);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == ESCAPED)
		return ESCAPED;
	return say(BLOCKED, "status %#x", status);
}

/* ---- what was inherited ---- */

static int try_env(char **a)
{
	for (; *a; a++)
		if (getenv(*a))
			return say(ESCAPED, "%s arrived", *a);
	return say(BLOCKED, "none of them is set");
}

static int try_fds(char **a)
{
	(void)a;
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return say(ESCAPED, "descriptor %d is open", fd);
	return say(BLOCKED, "nothing but 0, 1, 2");
}

/* a folder's descriptor leads everywhere */
static int try_fd_up(char **a)
{
	for (int fd = 3; fd < 1024; fd++) {
		int file = openat(fd, a[0], O_RDONLY);

		if (file >= 0 && is_secret(file))
			return say(ESCAPED, "by descriptor %d", fd);
	}
	return say(BLOCKED, "no such descriptor");
}

/* Whoever opens the file for writing waits until the lease is given back. */
static int try_lease(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return worked(fd, "open");
	r = fcntl(fd, F_SETLEASE, F_RDLCK);
	return worked(r, "F_SETLEASE");
}

static int try_isatty(char **a)
{
	struct termios t;

	(void)a;
	for (int fd = 0; fd < 3; fd++)
		if (tcgetattr(fd, &t) == 0 && tcsetattr(fd, TCSANOW, &t) == 0)
			return say(ESCAPED, "%d is the caller's terminal", fd);
	return say(BLOCKED, "no terminal among 0, 1, 2");
}

static int try_type(char **a)
{
	unsigned long request = TIOCSTI | strtoul(a[0], NULL, 0);
	char c = 'x';

	for (int fd = 0; fd < 3; fd++)
		if (syscall(SYS_ioctl, fd, request, &c) == 0)
			return say(ESCAPED, "typed into descriptor %d", fd);
	return worked(-1, "TIOCSTI");
}

/* Takes a terminal by opening one, then types into it. */
static int try_type_opened(char **a)
{
	char c = 'x';
	int fd = open("/dev/tty", O_RDWR);

	(void)a;
	return worked(fd < 0 ? -1 : ioctl(fd, TIOCSTI, &c), "/dev/tty");
}

static int try_session(char **a)
{
	(void)a;
	if (getsid(0) == number(a[0]))
		return say(ESCAPED, "in the caller's session");
	return say(BLOCKED, "another session");
}

static int try_new_privs(char **a)
{
	(void)a;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return say(BLOCKED, "no_new_privs");
	return say(ESCAPED, "new privileges can be had");
}

static int try_hard_limit(char **a)
{
	struct rlimit r;
	int which = number(a[0]);
	rlim_t bound = strtoul(a[1], NULL, 0);

	getrlimit((__rlimit_resource_t)which, &r);
	if (r.rlim_max > bound)
		return say(ESCAPED, "limit %d is %lu", which,
			   (unsigned long)r.rlim_max);
	return say(BLOCKED, "limit %d is %lu", which,
		   (unsigned long)r.rlim_max);
}

/* ---- privilege ---- */

static int in_child(int (*fn)(char **), char **a)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return worked(-1, "fork");
	if (pid == 0)
		_exit(fn(a));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : say(BLOCKED, "signal %d", WTERMSIG(status));
}

static int new_user_namespace(char **a)
{
	(void)a;
	return worked(unshare(CLONE_NEWUSER), "a user namespace of one's own");
}

static int try_userns(char **a)
{
	return in_child(new_user_namespace, a);
}

static int new_network(char **a)
{
	(void)a;
	return worked(unshare(CLONE_NEWUSER | CLONE_NEWNET),
		      "a network namespace of one's own");
}

static int try_netns(char **a)
{
	return in_child(new_network, a);
}

static int own_mount(char **a)
{
	(void)a;
	if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) < 0)
		return worked(-1, "unshare");
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return worked(mount("none", "/tmp", "tmpfs", 0, NULL),
		      "a mount of one's own");
}

static int try_mount(char **a)
{
	return in_child(own_mount, a);
}

/* Take the protection of a mount away: writable again, set-user-id again. */
static int remount(char **a)
{
	return worked(mount(NULL, a[0], NULL, MS_REMOUNT | MS_BIND, NULL),
		      "mounted again");
}

static int try_remount(char **a)
{
	return in_child(remount, a);
}

static int unmount(char **a)
{
	if (unshare(CLONE_NEWNS) < 0 && errno == ENOSYS)
		return worked(-1, "unshare");
	return worked(umount2(a[0], MNT_DETACH), "a cover taken off");
}

static int try_unmount(char **a)
{
	return in_child(unmount, a);
}

static int change_root(char **a)
{
	return worked(chroot(a[0]), "chroot");
}

static int try_chroot(char **a)
{
	return in_child(change_root, a);
}

static int join(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return worked(fd < 0 ? -1 : setns(fd, 0), "joined a namespace");
}

static int try_setns(char **a)
{
	return in_child(join, a);
}

static int try_ambient(char **a)
{
	(void)a;
	return worked(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0),
		      "an ambient capability");
}

/* ---- other processes ---- */

static int try_kill(char **a)
{
	return worked(kill(number(a[0]), 0), "a signal to a process outside");
}

static int try_tgkill(char **a)
{
	pid_t pid = number(a[0]);

	return worked(syscall(SYS_tgkill, pid, pid, 0), "tgkill");
}

static int try_sigqueue(char **a)
{
	union sigval v = {0};

	return worked(sigqueue(number(a[0]), 0, v), "sigqueue");
}

static int try_pidfd(char **a)
{
	int fd = (int)syscall(SYS_pidfd_open, number(a[0]), 0);

	return worked(fd < 0 ? -1
			     : syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0),
		      "a signal by a descriptor");
}

/* The kernel sends SIGURG in our name; the test looks whether it came. */
static int try_setown(char **a)
{
	int p[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0 ||
	    fcntl(p[0], F_SETOWN, number(a[0])) < 0 ||
	    fcntl(p[0], F_SETSIG, SIGURG) < 0 ||
	    fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
		return worked(-1, "F_SETOWN");
	if (write(p[1], "x", 1) != 1)
		return worked(-1, "write");
	return say(BLOCKED, "sent; whether it came is seen outside");
}

static int try_ptrace(char **a)
{
	pid_t pid = number(a[0]);
	long r = ptrace(PTRACE_SEIZE, pid, 0, 0);

	return worked(r, "traced a process outside");
}

/* among its own, where it could undo what was decided about an exec */
static int try_ptrace_child(char **a)
{
	int status;
	pid_t pid = fork();

	(void)a;
	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? BLOCKED : ESCAPED);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == BLOCKED)
		return say(BLOCKED, "PTRACE_TRACEME");
	return say(ESCAPED, "traced a child");
}

static int try_vm_read(char **a)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)a, 1};

	/* of another process, at an address that need not exist there */
	if (syscall(SYS_process_vm_readv, number(a[0]), &here, 1L, &there, 1L,
		    0L) < 0 &&
	    errno != EFAULT)
		return worked(-1, "process_vm_readv");
	return say(ESCAPED, "memory of a process outside");
}

static int try_priority(char **a)
{
	id_t pid = (id_t)number(a[0]);

	return worked(setpriority(PRIO_PROCESS, pid, 5),
		      "the priority of a process outside");
}

static int try_affinity(char **a)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return worked(sched_setaffinity(number(a[0]), sizeof(set), &set),
		      "the processors of a process outside");
}

static int try_scheduler(char **a)
{
	struct sched_param p = {0};

	return worked(sched_setscheduler(number(a[0]), SCHED_BATCH, &p),
		      "the scheduler of a process outside");
}

static int try_limits(char **a)
{
	struct rlimit none = {0, 0};

	return worked(prlimit(number(a[0]), RLIMIT_CORE, &none, NULL),
		      "a limit of a process outside");
}

static int try_pgid(char **a)
{
	pid_t sid = getsid(number(a[0]));

	return worked(sid, "the session of a process outside");
}

static int try_realtime(char **a)
{
	struct sched_param p = {.sched_priority = 1};

	(void)a;
	if (sched_setscheduler(0, SCHED_RR, &p) < 0)
		return worked(-1, "realtime scheduling");
	p.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &p);
	return say(ESCAPED, "realtime scheduling");
}

static int try_nice(char **a)
{
	(void)a;
	return worked(setpriority(PRIO_PROCESS, 0, -5), "a better priority");
}

static int try_ioprio(char **a)
{
	(void)a;
	return worked(syscall(SYS_ioprio_set, 1, 0, 1 << 13 | 4),
		      "realtime input and output");
}

/* ---- kernel features that sandboxes forget ---- */

static int try_keys(char **a)
{
	(void)a;
	/* -3: the session's keyring, shared with the caller */
	return worked(syscall(SYS_add_key, "user", "matins-probe", "x", 1, -3),
		      "a key in the caller's keyring");
}

static int try_uring(char **a)
{
	char params[120] = {0};

	(void)a;
	return worked(syscall(425, 4, params), "a ring");
}

static int try_listener(char **a)
{
	struct {
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} allow = {6, 0, 0, 0x7fff0000};
	struct {
		uint16_t n;
		void *filter;
	} program = {1, &allow};

	(void)a;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return worked(syscall(SYS_seccomp, 1, 8, &program),
		      "a filter with a listener");
}

static int try_mounts(char **a)
{
	struct {
		uint32_t size, spare;
		uint64_t id, param, ns;
	} req = {24, 0, UINT64_MAX, 0, 0};
	uint64_t ids[64];

	(void)a;
	return worked(syscall(458, &req, ids, 64, 0), "the list of mounts");
}

static int try_personality(char **a)
{
	return worked(syscall(SYS_personality, strtoul(a[0], NULL, 0)),
		      "personality");
}

/* ---- sockets ---- */

static int inet(const char *port, struct sockaddr_in *in)
{
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)number(port));
	return inet_pton(AF_INET, "127.0.0.1", &in->sin_addr);
}

/* The server outside greets: connected to something is not yet to it. */
static int try_connect(char **a)
{
	struct sockaddr_in in = {0};
	int fd = socket(AF_INET, SOCK_STREAM, number(a[1]));
	char byte;

	inet(a[0], &in);
	if (fd < 0 || connect(fd, (void *)&in, sizeof(in)) < 0)
		return worked(-1, "connected");
	return recv(fd, &byte, 1, 0) == 1 ? say(ESCAPED, "connected")
					  : say(BLOCKED, "ended unanswered");
}

/* PORT FLAGS: the connection that sendto() makes by itself */
static int try_fast_open(char **a)
{
	struct sockaddr_in in = {0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	unsigned long flags = MSG_FASTOPEN | strtoul(a[1], NULL, 0);

	inet(a[0], &in);
	return worked(fd < 0 ? -1
			     : syscall(SYS_sendto, fd, "x", 1, flags, &in,
				       sizeof(in)),
		      "connected by sendto");
}

static int try_fast_open_message(char **a)
{
	struct sockaddr_in in = {0};
	struct iovec v = {(void *)"x", 1};
	struct msghdr m = {.msg_name = &in,
			   .msg_namelen = sizeof(in),
			   .msg_iov = &v,
			   .msg_iovlen = 1};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet(a[0], &in);
	return worked(fd < 0 ? -1 : sendmsg(fd, &m, MSG_FASTOPEN),
		      "connected by sendmsg");
}

static int try_udp(char **a)
{
	struct sockaddr_in in = {0};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	inet(a[0], &in);
	return worked(fd < 0 ? -1
			     : sendto(fd, "x", 1, 0, (void *)&in, sizeof(in)),
		      "a datagram");
}

static int try_bind(char **a)
{
	struct sockaddr_in in = {0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet(a[0], &in);
	return worked(fd < 0 || bind(fd, (void *)&in, sizeof(in)) < 0
			      ? -1
			      : listen(fd, 1),
		      "a server");
}

static int try_socket(char **a)
{
	return worked(socket(number(a[0]), number(a[1]), number(a[2])),
		      "a socket");
}

/*
 * HOST PORT: by SOCKS5 through the proxy that the environment names, or
 * directly where there is none. % stands for a byte of 0 in HOST.
 */
static int try_proxy(char **a)
{
	const char *proxy = getenv("HTTP_PROXY"), *colon;
	unsigned char ask[300] = {5, 1, 0}, reply[16] = {0};
	char *direct[] = {a[1], (char *)"0"};
	size_t n = strlen(a[0]);
	struct sockaddr_in in = {0};
	int fd, port = number(a[1]);

	colon = proxy ? strrchr(proxy, ':') : NULL;
	if (!colon)
		return try_connect(direct);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	inet(colon + 1, &in);
	if (n > 250 || fd < 0 || connect(fd, (void *)&in, sizeof(in)) < 0)
		return worked(-1, "the proxy");
	if (write(fd, ask, 3) != 3 || read(fd, reply, 2) != 2 || reply[1])
		return say(BLOCKED, "the proxy's greeting");
	memcpy(ask, "\5\1\0\3", 4);
	ask[4] = (unsigned char)n;
	for (size_t i = 0; i < n; i++)
		ask[5 + i] = a[0][i] == '%' ? 0 : (unsigned char)a[0][i];
	ask[5 + n] = (unsigned char)(port >> 8);
	ask[6 + n] = (unsigned char)port;
	if (write(fd, ask, 7 + n) != (ssize_t)(7 + n) ||
	    read(fd, reply, sizeof(reply)) < 2 || reply[1])
		return say(BLOCKED, "the proxy answers %u", reply[1]);
	return say(ESCAPED, "connected by the proxy");
}

static socklen_t unix_name(struct sockaddr_un *u, const char *name)
{
	size_t at = name[0] == '%'; /* abstract */

	u->sun_family = AF_UNIX;
	snprintf(u->sun_path + at, sizeof(u->sun_path) - at, "%s", name + at);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			   strlen(name));
}

static int try_unix(char **a)
{
	struct sockaddr_un u = {0};
	socklen_t n = unix_name(&u, a[0]);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return worked(fd < 0 ? -1 : connect(fd, (void *)&u, n),
		      "connected to a server outside");
}

/* Clients of another program could be served under its name. */
static int try_unix_serve(char **a)
{
	struct sockaddr_un u = {0};
	socklen_t n = unix_name(&u, a[0]);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return worked(fd < 0 || bind(fd, (void *)&u, n) < 0 ? -1
							    : listen(fd, 9),
		      "serves under a name of this machine");
}

static int try_unix_datagram(char **a)
{
	struct sockaddr_un u = {0};
	socklen_t n = unix_name(&u, a[0]);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	return worked(fd < 0 ? -1 : sendto(fd, "x", 1, 0, (void *)&u, n),
		      "a datagram to a server outside");
}

/* One of a pair can send anywhere: no socket() is needed. */
static int try_pair_datagram(char **a)
{
	struct sockaddr_un u = {0};
	socklen_t n = unix_name(&u, a[0]);
	int p[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p) < 0)
		return worked(-1, "socketpair");
	return worked(sendto(p[0], "x", 1, 0, (void *)&u, n),
		      "a datagram from one of a pair");
}

/* ---- IPC ---- */

static int try_shm(char **a)
{
	return worked(syscall(SYS_shmget, number(a[0]), 0, 0),
		      "shared memory of others");
}

static int try_msg(char **a)
{
	return worked(msgget(number(a[0]), 0), "a message queue of others");
}

static int try_sem(char **a)
{
	return worked(semget(number(a[0]), 0, 0), "semaphores of others");
}

static int try_mq(char **a)
{
	return worked(syscall(SYS_mq_open, a[0], O_WRONLY, 0, NULL),
		      "a POSIX queue of others");
}

/* ---- life and limits ---- */

static void stay(void)
{
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	alarm(60); /* a missing sandbox is no reason to stay for ever */
	for (;;)
		pause();
}

/* MARK: forked twice, in a session of its own; the test looks for MARK */
static int try_orphan(char **a)
{
	(void)a;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int fd = 0; fd < 3; fd++)
				close(fd);
			prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
			stay();
		}
		_exit(0);
	}
	wait(NULL);
	return say(BLOCKED, "left a process; it is looked for outside");
}

/* MARK: the same with our output kept open, which is waited for */
static int try_hold_output(char **a)
{
	(void)a;
	if (fork() == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
		stay();
	}
	return say(BLOCKED, "left a process; the end is judged outside");
}

/* MARK: still there when the runner is killed? */
static int try_outlive(char **a)
{
	(void)a;
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	if (fork() == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
		stay();
	}
	say(BLOCKED, "ready; the runner is killed now");
	stay();
	return USAGE;
}

/* N processes at once; they end when this one says so */
static int try_forks(char **a)
{
	int n = number(a[0]), made = 0, p[2];
	char c;

	if (pipe(p) < 0)
		return worked(-1, "pipe");
	for (; made < n; made++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			close(p[1]);
			_exit(read(p[0], &c, 1) < 0);
		}
	}
	close(p[1]);
	while (wait(NULL) > 0)
		;
	return say(made == n ? ESCAPED : BLOCKED, "%d processes", made);
}

static int try_memory(char **a)
{
	size_t n = (size_t)number(a[0]) << 20;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return worked(-1, "memory");
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
	return say(ESCAPED, "%zu bytes", n);
}

static int try_file_size(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 0644);

	signal(SIGXFSZ, SIG_IGN);
	return worked(fd < 0 ? -1
			     : pwrite(fd, "x", 1, (off_t)number(a[1]) << 20),
		      "a large file");
}

static int try_spin(char **a)
{
	clock_t end = number(a[0]) * CLOCKS_PER_SEC;

	while (clock() < end)
		;
	return say(ESCAPED, "%s seconds of processor time", a[0]);
}

static int try_descriptors(char **a)
{
	int n = number(a[0]), fd = 0;
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	while (fd >= 0 && fd < n)
		fd = dup(0);
	return fd < 0 ? worked(-1, "descriptors")
		      : say(ESCAPED, "%d descriptors", fd);
}

static const struct attack {
	const char *name;
	int args;
	int (*run)(char **);
} attacks[] = {
	{"openr", 1, try_openr},
	{"openw", 1, try_openw},
	{"secret", 1, try_secret},
	{"by-link", 2, try_by_link},
	{"hard-link", 2, try_hard_link},
	{"move", 2, try_move},
	{"exchange", 2, try_exchange},
	{"reopen", 1, try_reopen},
	{"fd-mode", 1, try_fd_mode},
	{"fd-times", 1, try_fd_times},
	{"fd-xattr", 1, try_fd_xattr},
	{"flags", 1, try_flags},
	{"chown", 1, try_chown},
	{"handle", 1, try_handle},
	{"suid-open", 1, try_suid_open},
	{"suid-mkdir", 1, try_suid_mkdir},
	{"suid-fchmodat2", 1, try_suid_fchmodat2},
	{"race-link", 3, try_race_link},
	{"race-path", 2, try_race_path},
	{"exec", 1, try_exec},
	{"exec-link", 2, try_exec_link},
	{"exec-root", 1, try_exec_root},
	{"exec-fd", 1, try_exec_fd},
	{"exec-as", 2, try_exec_as},
	{"loader", 1, try_loader},
	{"dropped", 1, try_dropped},
	{"dropped-loader", 1, try_dropped_loader},
	{"dropped-map", 1, try_dropped_map},
	{"dropped-script", 2, try_dropped_script},
	{"tmpfile-exec", 1, try_tmpfile_exec},
	{"memfd-proc", 0, try_memfd_proc},
	{"memfd-loader", 0, try_memfd_loader},
	{"memfd-exec-flag", 0, try_memfd_exec_flag},
	{"whoami", 0, try_whoami},
	{"run-suid", 1, try_run_suid},
	{"env", 1, try_env},
	{"fds", 0, try_fds},
	{"fd-up", 1, try_fd_up},
	{"lease", 1, try_lease},
	{"isatty", 0, try_isatty},
	{"type", 1, try_type},
	{"type-opened", 0, try_type_opened},
	{"session", 1, try_session},
	{"new-privs", 0, try_new_privs},
	{"hard-limit", 2, try_hard_limit},
	{"userns", 0, try_userns},
	{"netns", 0, try_netns},
	{"mount", 0, try_mount},
	{"remount", 1, try_remount},
	{"unmount", 1, try_unmount},
	{"chroot", 1, try_chroot},
	{"setns", 1, try_setns},
	{"ambient", 0, try_ambient},
	{"kill", 1, try_kill},
	{"tgkill", 1, try_tgkill},
	{"sigqueue", 1, try_sigqueue},
	{"pidfd", 1, try_pidfd},
	{"setown", 1, try_setown},
	{"ptrace", 1, try_ptrace},
	{"ptrace-child", 0, try_ptrace_child},
	{"vm-read", 1, try_vm_read},
	{"priority", 1, try_priority},
	{"affinity", 1, try_affinity},
	{"scheduler", 1, try_scheduler},
	{"limits", 1, try_limits},
	{"pgid", 1, try_pgid},
	{"realtime", 0, try_realtime},
	{"nice", 0, try_nice},
	{"ioprio", 0, try_ioprio},
	{"keys", 0, try_keys},
	{"uring", 0, try_uring},
	{"listener", 0, try_listener},
	{"mounts", 0, try_mounts},
	{"personality", 1, try_personality},
	{"connect", 2, try_connect},
	{"proxy", 2, try_proxy},
	{"fast-open", 2, try_fast_open},
	{"fast-open-message", 1, try_fast_open_message},
	{"udp", 1, try_udp},
	{"bind", 1, try_bind},
	{"socket", 3, try_socket},
	{"unix", 1, try_unix},
	{"unix-serve", 1, try_unix_serve},
	{"unix-datagram", 1, try_unix_datagram},
	{"pair-datagram", 1, try_pair_datagram},
	{"shm", 1, try_shm},
	{"msg", 1, try_msg},
	{"sem", 1, try_sem},
	{"mq", 1, try_mq},
	{"orphan", 1, try_orphan},
	{"hold-output", 1, try_hold_output},
	{"outlive", 1, try_outlive},
	{"forks", 1, try_forks},
	{"memory", 1, try_memory},
	{"file-size", 2, try_file_size},
	{"spin", 1, try_spin},
	{"descriptors", 1, try_descriptors},
};

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		argv[i] += argv[i][0] == '@';
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++) {
		if (argc < 2)
			puts(attacks[i].name);
		else if (strcmp(attacks[i].name, argv[1]) == 0 &&
			 argc >= 2 + attacks[i].args)
			return attacks[i].run(argv + 2);
	}
	if (argc >= 2)
		fprintf(stderr, "escape: no \"%s\" with these arguments\n",
			argv[1]);
	return argc < 2 ? 0 : USAGE;
}
