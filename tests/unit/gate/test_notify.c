/* The table of refused calls, and a listener that is none. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include <seccomp.h>

#include "core/base/fd.h"
#include "gate/watch/watch.h"
#include "gate/build/seccomp.h"

static void add(struct denials *log, const char *name, uint64_t a, uint64_t b,
		const char *comm)
{
	struct seccomp_data d = {.nr = seccomp_call_number(name),
				 .arch = seccomp_arch_native(),
				 .args = {a, b}};

	denials_add(log, &d, comm);
}

TEST(denials, same_call_and_program, share_one_row_that_counts)
{
	AUTO(denials_release) struct denials log = DENIALS_INIT;

	assert_int_equal(log.n, 0);
	for (int i = 0; i < 1000; i++)
		add(&log, "mount", 0, 0, "node");
	add(&log, "mount", 0, 0, "sh");
	add(&log, "unshare", 0x10000000, 0, "node");
	assert_int_equal(log.n, 3);
	assert_string_equal(log.row[0].kind, "syscall");
	assert_string_equal(log.row[0].name, "mount");
	assert_string_equal(log.row[0].program, "node");
	assert_int_equal(log.row[0].count, 1000);
	assert_string_equal(log.row[0].detail, "mount(..., ..., ..., 0, ...)");
	assert_string_equal(log.row[0].allow.key, "syscalls");
	assert_string_equal(log.row[0].allow.value, "mount");
	assert_string_equal(log.row[1].program, "sh");
	assert_string_equal(log.row[2].name, "unshare");
	assert_string_equal(log.row[2].detail, "unshare(CLONE_NEWUSER)");
	assert_int_equal(log.dropped, 0);
}

TEST(denials, different_arguments, are_joined_once_each)
{
	AUTO(denials_release) struct denials log = DENIALS_INIT;

	for (int i = 0; i < 3; i++) {
		add(&log, "socket", 16, 3, "curl");
		add(&log, "socket", 2, 1, "curl");
	}
	assert_int_equal(log.n, 1);
	assert_int_equal(log.row[0].count, 6);
	assert_string_equal(log.row[0].detail,
			    "socket(AF_NETLINK, SOCK_RAW, 0); "
			    "socket(AF_INET, SOCK_STREAM, 0)");
	/* the first that a line can allow */
	assert_string_equal(log.row[0].allow.key, "net");
	assert_string_equal(log.row[0].allow.value, "all");
}

TEST(denials, many_arguments, have_a_bounded_detail)
{
	AUTO(denials_release) struct denials log = DENIALS_INIT;

	for (uint64_t i = 0; i < 10000; i++)
		add(&log, "lookup_dcookie", i | 0xffffffff00000000, i, "x");
	assert_int_equal(log.n, 1);
	assert_int_equal(log.row[0].count, 10000);
	assert_true(strlen(log.row[0].detail) <= DENIALS_DETAIL_BYTES);
	/* looked at only so many times */
	assert_null(strstr(log.row[0].detail, "0xffffffff00000014"));
}

TEST(denials, more_than_the_rows, are_counted_as_dropped)
{
	AUTO(denials_release) struct denials log = DENIALS_INIT;

	for (int i = 0; i < DENIALS_MAX + 5; i++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "p%d", i);
		add(&log, "mount", 0, 0, comm);
	}
	add(&log, "mount", 0, 0, "p0"); /* a row that is there still counts */
	assert_int_equal(log.n, DENIALS_MAX);
	assert_int_equal(log.dropped, 5);
	assert_int_equal(log.row[0].count, 2);
}

TEST(denials, a_number_nobody_knows, are_named_by_it)
{
	AUTO(denials_release) struct denials log = DENIALS_INIT;
	struct seccomp_data d = {.nr = 5000, .arch = seccomp_arch_native()};

	denials_add(&log, &d, "x");
	assert_int_equal(log.n, 1);
	assert_string_equal(log.row[0].name, "syscall 5000");
	assert_null(log.row[0].allow.key);
}

TEST(serve, no_listener, is_broken_or_ended)
{
	AUTO(denials_release) struct denials log = DENIALS_INIT;
	AUTO(fd_closep) int null = fd_open("/dev/null", O_RDWR, 0);
	AUTO(fd_closep) int r = -1;
	AUTO(fd_closep) int w = -1;

	assert_int_equal(fd_pipe(&r, &w), 0);
	/* readable, and no listener */
	assert_int_equal(notify_serve(null, &log, NULL), NOTIFY_BROKEN);
	/* nothing waits */
	assert_int_equal(notify_serve(r, &log, NULL), NOTIFY_OK);
	fd_closep(&w);
	assert_int_equal(notify_serve(r, &log, NULL), NOTIFY_ENDED);
	assert_int_equal(notify_serve(9999, &log, NULL), NOTIFY_ENDED);
	assert_int_equal(log.n, 0);
}
