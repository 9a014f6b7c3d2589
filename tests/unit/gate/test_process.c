/* Processes of each kind: they run, they end, and nothing of them is left. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "gate/child/process.h"
#include "tests/unit/test.h"

extern char **environ;

/* Bytes of all mappings of ours that can be written and are no file's. */
static size_t mapped(void)
{
	AUTO(buf_release) struct buf text = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;
	struct str rest;
	size_t all = 0;

	assert_int_equal(fd_read_file("/proc/self/maps", &text, &err), 0);
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		unsigned long from, to;

		if (sscanf(line.p, "%lx-%lx rw-p 00000000 00:00 0", &from,
			   &to) == 2 &&
		    !str_ends(line, "]"))
			all += to - from;
	}
	return all;
}

static int give_seven(UNUSED void *arg)
{
	return 7;
}

TEST(share, a_function, has_its_status)
{
	struct process p = PROCESS_NONE;
	size_t before;

	/* memory of the test itself is there by now */
	(void)!mapped();
	before = mapped();
	for (int i = 0; i < 20; i++) {
		int status;

		assert_int_equal(process_share(give_seven, NULL, 0, &p), 0);
		status = process_wait(&p);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 7);
		assert_int_equal(p.pid, 0);
		assert_int_equal(p.pidfd, -1);
	}
	assert_true(mapped() < before + 20 * 4096);
}

/* The kernel refuses these two together. */
TEST(share, that_is_refused, leaves_nothing)
{
	struct process p = PROCESS_NONE;
	size_t before;

	(void)!mapped();
	before = mapped();
	for (int i = 0; i < 20; i++) {
		errno = 0;
		assert_int_equal(process_share(give_seven, NULL,
					       CLONE_NEWUSER | CLONE_FS, &p),
				 -1);
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(p.pid, 0);
	assert_true(mapped() < before + 20 * 4096);
}

static void wait_for_ever(UNUSED const void *arg)
{
	for (;;)
		pause();
}

static void nothing(UNUSED const void *arg)
{
}

static uint64_t in_ms(uint64_t ms)
{
	return clock_system()->now_ns(clock_system()) + ms * NS_PER_MS;
}

TEST(fork, that_returns, has_ended_well)
{
	struct process p = PROCESS_NONE;

	assert_int_equal(process_fork(nothing, NULL, &p), 0);
	assert_true(process_has_ended(&p, in_ms(20000)));
	assert_int_equal(process_wait(&p), 0);
	assert_int_equal(process_wait(&p), -1);
}

TEST(fork, that_hangs, is_killed)
{
	struct process p = PROCESS_NONE;
	pid_t pid;

	assert_int_equal(process_fork(wait_for_ever, NULL, &p), 0);
	assert_false(process_has_ended(&p, in_ms(10)));
	pid = p.pid;
	process_end(&p);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

TEST(fork, abandoned, is_reaped)
{
	struct process p = PROCESS_NONE;
	pid_t pid;

	assert_int_equal(process_fork(wait_for_ever, NULL, &p), 0);
	pid = p.pid;
	process_abandon(&p);
	assert_int_equal(p.pid, 0);
	for (int i = 0; i < 1000 && kill(pid, 0) == 0; i++) {
		usleep(10000);
		process_reap();
	}
	assert_int_equal(kill(pid, 0), -1);
}

/* Each clause of this script is a promise of process_execute(). */
TEST(execute, a_shell, finds_its_descriptors)
{
	static const char script[] =
		"set -e\n"
		"[ \"$(readlink /proc/$$/fd/0)\" = /dev/null ]\n"
		"[ \"$(readlink /proc/$$/fd/1)\" = /dev/null ]\n"
		"echo said >&4\n"
		"read line <&3; [ \"$line\" = heard ]\n"
		"! [ -e /proc/$$/fd/5 ]; ! [ -e /proc/$$/fd/7 ]\n"
		"exit 3\n";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct process p = PROCESS_NONE;
	int in[2], out[2], fd[2], status;
	char text[16] = "";

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(write(in[1], "heard\n", 6), 6);
	fd[0] = in[0];
	fd[1] = out[1];
	assert_int_equal(process_execute("/bin/sh", argv,
					 (const char *const *)environ, fd, 2, 3,
					 &p),
			 0);
	assert_true(process_has_ended(&p, in_ms(20000)));
	status = process_wait(&p);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(read(out[0], text, sizeof(text)), 5);
	assert_string_equal(text, "said\n");
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
}

TEST(execute, no_such_file, is_an_errno)
{
	const char *const argv[] = {"none", NULL};
	struct process p = PROCESS_NONE;

	assert_int_equal(process_execute("/none/such", argv,
					 (const char *const *)environ, NULL, 0,
					 3, &p),
			 ENOENT);
	assert_int_equal(p.pid, 0);
}

/* The program of the tests lists them and ends. */
TEST(again, this_program, runs_once_more)
{
	const char *const argv[] = {"again", "--list", NULL};
	const char *const envp[] = {NULL};
	struct process p = PROCESS_NONE;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), out[2], status;
	char text[64] = "";

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(process_again(argv, envp,
				       (const int[4]){null, null, null, out[1]},
				       &p),
			 0);
	close(out[1]);
	assert_true(process_has_ended(&p, in_ms(20000)));
	status = process_wait(&p);
	assert_true(WIFEXITED(status));
	assert_int_not_equal(WEXITSTATUS(status), 127);
	/* no other process has its descriptor 3 */
	assert_int_equal(read(out[0], text, sizeof(text)), 0);
	close(out[0]);
	close(null);
}

TEST(left, rounds_up, and_ends_at_zero)
{
	int left = process_left_ms(in_ms(5000));

	assert_int_equal(process_left_ms(0), 0);
	assert_true(left > 0 && left <= 5000);
}
