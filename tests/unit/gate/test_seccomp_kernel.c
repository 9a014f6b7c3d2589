/*
 * Filters in the kernel: a child installs one and tries calls, the parent
 * answers as the gate does.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "core/base/fd.h"
#include "gate/child/pass.h"
#include "gate/watch/watch.h"
#include "gate/build/seccomp.h"
#include "tests/unit/gate/bpf.h"
#include "tests/unit/gate/tries.h"

#define PATIENCE_MS 20000

/* ---- a confined child ---- */

struct child {
	int status; /* of waitpid */
	struct denials log;
};

static void child_release(struct child *c)
{
	denials_release(&c->log);
}

/* In the child: 200 and up say that the filter could not be installed. */
static int confined(const struct seccomp_filter *f, bool listen, int sock,
		    int (*act)(void))
{
	struct sock_fprog prog = {.len = f->n, .filter = f->insn};
	unsigned flags = listen ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	int fd;

	prctl(PR_SET_NAME, "tries");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return 200;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (fd < 0)
		return 201;
	if (listen && (pass_send(sock, 0, &fd, 1, 0) < 0 || close(fd) < 0))
		return 202;
	close(sock);
	return act();
}

static void serve_until_end(int listener, int pidfd, struct denials *log)
{
	struct pollfd p[] = {
		{.fd = pidfd, .events = POLLIN},
		{.fd = listener, .events = POLLIN},
	};

	for (;;) {
		int n = poll(p, 2, PATIENCE_MS);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail_msg("the child neither ends nor asks");
		if (p[1].revents &&
		    notify_serve(listener, log, NULL) != NOTIFY_OK)
			p[1].fd = -1;
		if (p[0].revents)
			return;
	}
}

/* Run `act` in a child with this filter; denials are named as it says. */
static void run(struct seccomp_want w, int (*act)(void), struct child *c)
{
	AUTO_FILTER(f);
	bool listen = w.deny == SECCOMP_DENY_NOTIFY;
	AUTO(fd_closep) int pidfd = -1;
	AUTO(fd_closep) int ours = -1;
	struct passed listener = {.fd = {-1}};
	int pair[2];
	pid_t pid;

	*c = (struct child){.log = DENIALS_INIT};
	bpf_build(&w, &f);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (pid == 0)
		_exit(confined(&f, listen, pair[1], act));
	ours = pair[0];
	close(pair[1]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(pid > 0 && pidfd >= 0);
	if (listen && !pass_receive(ours, 0, &listener))
		listener.fd[0] = -1;
	serve_until_end(listener.fd[0], pidfd, &c->log);
	fd_closep(&listener.fd[0]);
	assert_int_equal(waitpid(pid, &c->status, 0), pid);
}

static void assert_exit(const char *about, const struct child *c, int status)
{
	if (!WIFEXITED(c->status) || WEXITSTATUS(c->status) != status)
		fail_msg("%s: status %#x", about, (unsigned)c->status);
}

/* ---- what the children try ---- */

/* With arguments that do no harm where a broken filter lets them through. */
static int try_refused(void)
{
	EXPECT(1, mount(NULL, NULL, NULL, 0, NULL), EPERM);
	EXPECT(2, unshare(CLONE_NEWUSER), EPERM);
	EXPECT(3, ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM);
	EXPECT(4, socket(AF_INET, SOCK_STREAM, 0), EPERM);
	EXPECT(5, socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
	EXPECT(6, ioctl(0, TIOCSTI, "x"), EPERM);
	EXPECT(7, ioctl(0, TIOCSTI | 0x100000000, "x"), EPERM);
	EXPECT(8, syscall(SYS_keyctl, 0, 0, 0, 0, 0), EPERM);
	EXPECT(9, syscall(SYS_bpf, 0, NULL, 0), EPERM);
	EXPECT(10, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0),
	       EPERM);
	EXPECT(11, chmod("no-such-file", 04755), EPERM);
	EXPECT(12, prctl(PR_SET_PTRACER, 1, 0, 0, 0), EPERM);
	EXPECT(13, mknod("no-device", S_IFCHR | 0600, 0), EPERM);
	EXPECT(14, mount(NULL, NULL, NULL, 0, NULL), EPERM);
	return 0;
}

static int try_absent(void)
{
	EXPECT(1, syscall(435, NULL, 0), ENOSYS);	  /* clone3 */
	EXPECT(2, syscall(437, 0, "/", NULL, 0), ENOSYS); /* openat2 */
	EXPECT(3, syscall(425, 1, NULL), ENOSYS);	  /* io_uring_setup */
	EXPECT(4, syscall(5000), ENOSYS);
	EXPECT(5, syscall(seccomp_newest() + 1), ENOSYS);
	return 0;
}

static void *in_thread(void *arg)
{
	return arg;
}

static int try_allowed(void)
{
	int fds[2], status;
	pthread_t thread;
	pid_t pid;

	WORKS(1, pipe(fds));
	WORKS(2, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	WORKS(3, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	WORKS(4, getppid());
	WORKS(5, prctl(PR_SET_NAME, "other"));
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
		return 6;
	pthread_join(thread, NULL);
	pid = fork();
	if (pid == 0)
		_exit(9);
	WORKS(7, waitpid(pid, &status, 0));
	return WEXITSTATUS(status) == 9 ? 0 : 8;
}

#define IN(id) .profile = PROFILE_##id, .memfd_noexec_sysctl = true
static const struct seccomp_want DEFAULT_WANT = {IN(DEFAULT)};

static const struct gate_denial *find(const struct child *c, const char *name)
{
	const struct gate_denial *rows = c->log.row;

	for (size_t i = 0; i < c->log.n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	fail_msg("%s is not among the denials", name);
	return NULL;
}

TEST(kernel, refused_calls, get_eperm_and_are_named)
{
	AUTO(child_release) struct child c;
	const struct gate_denial *row;
	size_t n;

	run(DEFAULT_WANT, try_refused, &c);
	assert_exit("refused", &c, 0);
	n = c.log.n;
	assert_int_equal(n, 11);
	row = find(&c, "mount");
	assert_string_equal(row->program, "tries");
	assert_int_equal(row->count, 2);
	assert_string_equal(row->allow.key, "syscalls");
	assert_string_equal(row->allow.value, "mount");
	assert_string_equal(find(&c, "socket")->detail,
			    "socket(AF_INET, SOCK_STREAM, 0); "
			    "socket(AF_UNIX, SOCK_STREAM, 0)");
	assert_string_equal(find(&c, "ioctl")->detail,
			    "ioctl(0, TIOCSTI, ...)");
	assert_string_equal(find(&c, "clone")->detail, "clone(CLONE_NEWUSER)");
	assert_null(find(&c, "clone")->allow.key);
}

/* ---- the network, granted and not ---- */

static int try_net(void)
{
	char byte = 0;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	WORKS(1, tcp);
	WORKS(2, socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP));
	EXPECT(3, socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), EPERM);
	EXPECT(4, socket(AF_INET, SOCK_DGRAM, 0), EPERM);
	EXPECT(5, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), EPERM);
	EXPECT(6, socket(AF_NETLINK, SOCK_RAW, 0), EPERM);
	EXPECT(7,
	       sendto(tcp, &byte, 1, MSG_FASTOPEN, (struct sockaddr *)&to,
		      sizeof(to)),
	       EPERM);
	return 0;
}

static int try_added(void)
{
	WORKS(1, syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0));
	EXPECT(2, syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0),
	       EPERM);
	return 0;
}

static int exec_shell(void)
{
	execl("/bin/sh", "sh", "-c",
	      "ls / | sort >/dev/null && test -d /usr && (exit 7); exit $?",
	      NULL);
	return 1;
}

/* Denials that are not counted: a shell may ask for more than it needs. */
#define ANY SIZE_MAX
static const char *added[] = {"process_vm_readv"};

static const struct kernel_case {
	const char *about;
	struct seccomp_want want;
	struct {
		int (*act)(void);
		int status;
		size_t denials;
	} end;
} CASES[] = {
	{"refused unnamed: the same errno",
	 {IN(DEFAULT), .deny = SECCOMP_DENY_ERRNO},
	 {try_refused, 0, 0}},
	{"hidden: ENOSYS, and not named", {IN(DEFAULT)}, {try_absent, 0, 0}},
	{"ports only: TCP and no way around",
	 {IN(DEFAULT), .net = POLICY_NET_PORTS},
	 {try_net, 0, ANY}},
	{"an added name reaches the kernel",
	 {IN(DEFAULT), .syscalls = {added, 1}},
	 {try_added, 0, ANY}},
	{"allowed, strict", {IN(STRICT)}, {try_allowed, 0, 0}},
	{"allowed, default", {IN(DEFAULT)}, {try_allowed, 0, 0}},
	{"allowed, open", {IN(OPEN)}, {try_allowed, 0, 0}},
	{"a shell, strict", {IN(STRICT)}, {exec_shell, 7, ANY}},
	{"a shell, default", {IN(DEFAULT)}, {exec_shell, 7, ANY}},
	{"a shell, open", {IN(OPEN)}, {exec_shell, 7, ANY}},
};
_Static_assert(N_PROFILES == 3, "a row for each profile");

TEST(kernel, calls_of_each_row, end_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		const struct kernel_case *k = &CASES[i];
		AUTO(child_release) struct child c;

		run(k->want, k->end.act, &c);
		assert_exit(k->about, &c, k->end.status);
		if (k->end.denials != ANY && c.log.n != k->end.denials)
			fail_msg("%s: %zu denials", k->about, c.log.n);
	}
}

/* ---- other ways into the kernel ---- */

#ifdef __x86_64__
static int call_i386(void)
{
	long r = 20; /* getpid there */

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "cc");
	return r > 0 ? 0 : 1;
}

static int call_x32(void)
{
	return syscall(0x40000000 | SYS_getpid) > 0 ? 0 : 1;
}

static int without_filter(int (*act)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(act());
	waitpid(pid, &status, 0);
	return status;
}

static void assert_killed(int (*act)(void))
{
	AUTO(child_release) struct child c;

	run(DEFAULT_WANT, act, &c);
	assert_true(WIFSIGNALED(c.status));
	assert_int_equal(WTERMSIG(c.status), SIGSYS);
}

TEST(kernel, i386_or_x32_call, is_killed)
{
	/* judged by its number before the kernel looks whether it has x32 */
	assert_killed(call_x32);
	if (without_filter(call_i386) != 0) {
		print_message("# SKIP this kernel has no i386 calls\n");
		skip();
	}
	assert_killed(call_i386);
}
#endif

/* ---- real programs ---- */

static int exec_refused(void)
{
	execl("/bin/sh", "sh", "-c", "exec unshare -r true 2>/dev/null", NULL);
	return 200;
}

TEST(kernel, a_program_after_exec, is_named)
{
	AUTO(child_release) struct child c;

	if (access("/usr/bin/unshare", X_OK) != 0) {
		print_message("# SKIP unshare(1) is not installed\n");
		skip();
	}
	run(DEFAULT_WANT, exec_refused, &c);
	assert_exit("after exec", &c, 1);
	assert_string_equal(find(&c, "unshare")->program, "unshare");
}

/* ---- the listener under stress ---- */

static int many_refused(void)
{
	for (int i = 0; i < 1000; i++)
		EXPECT(1, syscall(SYS_keyctl, 0, 0, 0, 0, 0), EPERM);
	return 0;
}

TEST(kernel, a_thousand_refusals, all_are_counted)
{
	AUTO(child_release) struct child c;

	run(DEFAULT_WANT, many_refused, &c);
	assert_exit("a thousand", &c, 0);
	assert_int_equal(c.log.n, 1);
	assert_int_equal(find(&c, "keyctl")->count, 1000);
}

/* Asks without end, and says when it has been answered once. */
static int ask_forever(int say)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_keyctl, 0, 0, 0, 0, 0);
	WORKS(1, write(say, "", 1));
	for (;;)
		syscall(SYS_keyctl, 0, 0, 0, 0, 0);
}

static int die_while_asking(void)
{
	for (int i = 0; i < 50; i++) {
		int fds[2];
		char byte;
		pid_t pid;

		WORKS(1, pipe(fds));
		pid = fork();
		if (pid == 0)
			_exit(ask_forever(fds[1]));
		WORKS(2, read(fds[0], &byte, 1));
		kill(pid, SIGKILL);
		WORKS(3, waitpid(pid, NULL, 0));
		close(fds[0]);
		close(fds[1]);
	}
	return 0;
}

TEST(kernel, tasks_killed_while_they_wait, do_no_harm)
{
	AUTO(child_release) struct child c;

	run(DEFAULT_WANT, die_while_asking, &c);
	assert_exit("killed while they wait", &c, 0);
	assert_true(c.log.n >= 1);
}
