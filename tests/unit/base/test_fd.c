#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"

/* Each test runs in an empty folder of its own. */
static char dir[64];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "%s", "/tmp/test_fd.XXXXXX");
	umask(022);
	return !mkdtemp(dir) || chdir(dir) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"a", "b", "x/y/z", "x/y", "x"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		(void)!remove(files[i]);
	(void)!chdir("/");
	return rmdir(dir); /* also fails when something was left behind */
}

FIXTURE(fixture, setup, teardown);

static void assert_content(const char *path, const char *want)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(fd_read_file(path, &text, &err), 0);
	assert_string_equal(buf_cstr(&text), want);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

TEST_IN(fixture, closep, open_or_not, is_minus_one_and_keeps_errno)
{
	int fd = fd_open(".", O_RDONLY, 0), number = fd;

	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	errno = EXDEV;
	fd_closep(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	fd_closep(&fd);
	assert_int_equal(fd, -1);
}

TEST_IN(fixture, steal, open, leaves_minus_one)
{
	int fd = fd_open(".", O_RDONLY, 0);
	int taken = fd_steal(&fd);

	assert_int_equal(fd, -1);
	assert_true(taken >= 0);
	fd_closep(&taken);
}

TEST_IN(fixture, write_all, full_nonblocking_pipe, waits_for_the_reader)
{
	AUTO(buf_release) struct buf got = BUF_INIT(BUF_UNBOUNDED);
	AUTO(fd_closep) int in = -1;
	AUTO(fd_closep) int out = -1;
	static char big[300000];
	struct err err = ERR_INIT;
	pid_t child;

	memset(big, 'x', sizeof(big));
	assert_int_equal(fd_pipe(&in, &out), 0);
	assert_int_equal(fcntl(out, F_SETFL, O_NONBLOCK), 0);
	child = fork();
	if (child == 0)
		_exit(fd_write_all(out, big, sizeof(big)) < 0);
	fd_closep(&out);
	assert_int_equal(fd_read_all(in, &got, &err), 0);
	assert_int_equal(got.n, sizeof(big));
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST_IN(fixture, write_all, no_reader, epipe)
{
	int in, out;

	assert_int_equal(fd_pipe(&in, &out), 0);
	fd_closep(&in);
	assert_int_equal(fd_write_all(out, "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	fd_closep(&out);
}

TEST_IN(fixture, read_file, over_its_ceiling, is_a_limit)
{
	AUTO(buf_release) struct buf exact = BUF_INIT(4);
	AUTO(buf_release) struct buf small = BUF_INIT(3);
	struct err err = ERR_INIT;

	assert_int_equal(fd_replace_file("a", STR("four"), 0600, false, &err),
			 0);
	assert_int_equal(fd_read_file("a", &exact, &err), 0);
	assert_int_equal(exact.n, 4);
	assert_int_equal(fd_read_file("a", &small, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(fd_read_file("b", &small, &err), -1);
	assert_int_equal(err.sys, ENOENT);
	assert_non_null(strstr(err.msg, "b"));
}

TEST_IN(fixture, read_sized, of_any_size, reads_to_the_end)
{
	static const off_t sizes[] = {0, 1, 4, 5, 9, -1};
	struct err err = ERR_INIT;

	assert_int_equal(fd_replace_file("a", STR("12345"), 0600, false, &err),
			 0);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(64);
		AUTO(fd_closep) int fd = fd_open("a", O_RDONLY, 0);

		buf_adds(&text, "x");
		assert_int_equal(fd_read_sized(fd, sizes[i], &text, &err), 0);
		assert_string_equal(buf_cstr(&text), "x12345");
	}
}

TEST_IN(fixture, replace_file, old_or_none, whole_and_with_its_mode)
{
	struct err err = ERR_INIT;

	assert_int_equal(fd_replace_file("a", STR("one"), 0640, true, &err), 0);
	assert_content("a", "one");
	assert_int_equal(mode_of("a"), 0640);
	assert_int_equal(fd_replace_file("a", STR("2"), 0600, false, &err), 0);
	assert_content("a", "2");
	assert_int_equal(mode_of("a"), 0600);
}

TEST_IN(fixture, add_text, whole, for_the_user_alone)
{
	const struct str content = STR("one");
	const struct fd_text text = fd_text_of(&content);
	struct err err = ERR_INIT;

	assert_int_equal(fd_add_text("a", &text, &err), 0);
	assert_content("a", "one");
	assert_int_equal(mode_of("a"), 0600);
	assert_int_equal(fd_add_text("x/a", &text, &err), -1);
	assert_int_equal(err.sys, ENOENT);
}

static void note_size(void *arg)
{
	struct stat st;

	*(off_t *)arg = stat("a", &st) == 0 ? st.st_size : -1;
}

TEST_IN(fixture, add_text, work_beside, is_done_when_the_file_is_there)
{
	const struct str content = STR("one");
	struct fd_text text = fd_text_of(&content);
	struct err err = ERR_INIT;
	off_t size = 0;

	text.beside = note_size;
	text.beside_arg = &size;
	assert_int_equal(fd_add_text("x/a", &text, &err), -1);
	assert_int_equal(size, 0);
	assert_int_equal(fd_add_text("a", &text, &err), 0);
	assert_int_equal(size, 3);
}

TEST_IN(fixture, replace_file, no_folder, error_and_nothing_left)
{
	struct err err = ERR_INIT;

	assert_int_equal(fd_replace_file("x/a", STR("1"), 0600, true, &err),
			 -1);
	assert_int_equal(err.sys, ENOENT);
	assert_int_equal(mkdir("b", 0700), 0);
	assert_int_equal(fd_replace_file("b", STR("1"), 0600, true, &err), -1);
	assert_int_equal(err.sys, EISDIR);
}

TEST_IN(fixture, mkdirs, some_there, makes_the_rest)
{
	assert_int_equal(mkdir("x", 0755), 0);
	assert_int_equal(fd_mkdirs("x/y/z", 0700), 0);
	assert_int_equal(mode_of("x"), 0755);
	assert_int_equal(mode_of("x/y/z"), 0700);
	assert_int_equal(fd_mkdirs("x/y/z", 0700), 0);
}

static int begin_file(UNUSED void **state)
{
	signal(SIGPIPE, SIG_IGN);

	return 0;
}

TEST_FILE(begin_file, NULL);
