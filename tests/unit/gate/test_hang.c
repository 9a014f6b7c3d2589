
#include "tests/unit/test.h"

#include "core/base/clock.h"
#include "gate/gate.h"
#include "gate/child/hang.h"
#include "gate/child/process.h"

#define LINE(place, type) "36 35 0:40 / " place " rw,noatime - " type " x rw\n"

TEST(mounts, of_the_kernel, are_not_served)
{
	assert_false(hang_is_served(STR("")));
	assert_false(hang_is_served(STR("nfs\n- nfs\n")));
	assert_false(hang_is_served(STR(LINE("/", "ext4") LINE("/nfs", "xfs")
						LINE("/t", "tmpfs"))));
	assert_false(hang_is_served(
		STR(LINE("/sys/fs/fuse/connections", "fusectl")
			    LINE("/proc/sys/fs/binfmt_misc", "autofs"))));
}

TEST(mounts, of_a_server, are_served)
{
	assert_true(
		hang_is_served(STR(LINE("/", "ext4") LINE("/home", "nfs4"))));
	assert_true(hang_is_served(STR(LINE("/mnt", "fuse.sshfs"))));
	assert_true(hang_is_served(STR(LINE("/mnt", "fuse"))));
	assert_true(hang_is_served(STR("36 35 98:0 /a /b rw master:1 shared:2 "
				       "- 9p x rw")));
}

TEST(try, what_is_not_there, is_no_error)
{
	static const char *const argv[] = {"/none/such", "/none", NULL};
	const struct gate_request request = {
		.program = "/none/such", .argv = argv, .cwd = "/none"};
	uint64_t now = clock_system()->now_ns(clock_system());
	struct err err = ERR_INIT;

	assert_int_equal(hang_try(&request, now + 60 * NS_PER_S, &err), 0);
}

TEST(try, no_time_at_all, is_late)
{
	static const char *const argv[] = {"x", NULL};
	const struct gate_request request = {.program = "x", .argv = argv};
	struct err err = ERR_INIT;

	assert_int_equal(process_left_ms(0), 0);
	if (hang_try(&request, 0, &err) == 0)
		return; /* it was quicker than the look at it */
	assert_int_equal(err.kind, ERR_DEADLINE);
	process_reap();
}
