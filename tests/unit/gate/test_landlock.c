/* Rights of each ABI, and rules as they are gathered. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "core/base/fd.h"
#include "gate/build/landlock.h"

/* The kernel's own masks: include/uapi/linux/landlock.h, by ABI. */
static const struct abi_case {
	int abi;
	uint64_t fs, net, scope;
	size_t attr_bytes;
} ABIS[] = {
	{1, 0x1fff, 0, 0, 8},	 {2, 0x3fff, 0, 0, 8},	{3, 0x7fff, 0, 0, 8},
	{4, 0x7fff, 3, 0, 16},	 {5, 0xffff, 3, 0, 16}, {6, 0xffff, 3, 3, 24},
	{7, 0xffff, 3, 3, 24},	 {8, 0xffff, 3, 3, 24}, {9, 0x1ffff, 3, 3, 24},
	{50, 0x1ffff, 3, 3, 24},
};

TEST(rules, each_abi, handle_what_it_has)
{
	for (size_t i = 0; i < ARRAY_LEN(ABIS); i++) {
		struct landlock_rules r;

		landlock_rules_init(&r, ABIS[i].abi);
		assert_int_equal(r.handled.fs, ABIS[i].fs);
		assert_int_equal(r.handled.net, ABIS[i].net);
		assert_int_equal(r.handled.scope, ABIS[i].scope);
		assert_int_equal(r.attr_bytes, ABIS[i].attr_bytes);
		landlock_rules_release(&r);
	}
}

TEST(classes, all, are_what_they_say)
{
	const uint64_t devices = LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK;

	assert_int_equal(LL_READ, 0xc);
	assert_int_equal(LL_EXEC, 0x5);
	/* everything but execute, devices and their control */
	assert_int_equal(LL_WRITE | devices | LL_FS_EXECUTE | LL_FS_IOCTL_DEV |
				 LL_SOCKET,
			 0x1ffff);
	/* a socket of the host in a writable folder is not of the tree */
	assert_int_equal(LL_WRITE & LL_SOCKET, 0);
	assert_int_equal(LL_WRITE & (devices | LL_FS_EXECUTE), 0);
	assert_int_equal(LL_WRITE_ONLY & (LL_READ | LL_FS_EXECUTE), 0);
	assert_int_equal(LL_WRITE_ONLY | LL_READ, LL_WRITE);
}

TEST(access, of_a_file, loses_what_needs_a_directory)
{
	struct landlock_rules r;

	landlock_rules_init(&r, 5);
	assert_int_equal(landlock_access(&r, LL_WRITE, true), 0x7fbe & ~0x840);
	assert_int_equal(landlock_access(&r, LL_WRITE, false),
			 LL_FS_WRITE_FILE | LL_FS_READ_FILE | LL_FS_TRUNCATE);
	assert_int_equal(landlock_access(&r, LL_READ, false), LL_FS_READ_FILE);
	assert_int_equal(landlock_access(&r, LL_LIST, false), 0);
	assert_int_equal(landlock_access(&r, LL_EXEC, false), LL_EXEC);
	assert_int_equal(landlock_access(&r, LL_DEVICE, false), LL_DEVICE);
}

TEST(access, of_an_old_abi, is_masked)
{
	struct landlock_rules r;

	landlock_rules_init(&r, 1);
	assert_int_equal(landlock_access(&r, LL_WRITE, true) &
				 (LL_FS_REFER | LL_FS_TRUNCATE),
			 0);
	landlock_rules_init(&r, 3);
	assert_int_equal(landlock_access(&r, LL_WRITE, true) &
				 (LL_FS_REFER | LL_FS_TRUNCATE),
			 LL_FS_REFER | LL_FS_TRUNCATE);
	assert_int_equal(
		landlock_access(&r, LL_DEVICE, false) & LL_FS_IOCTL_DEV, 0);
}

TEST(add, file_and_directory, the_descriptor_decides)
{
	AUTO(landlock_rules_release) struct landlock_rules r;
	AUTO(fd_closep) int dir = fd_open("/", O_PATH, 0);
	AUTO(fd_closep) int file = fd_open("/proc/self/exe", O_PATH, 0);
	struct err err = ERR_INIT;

	landlock_rules_init(&r, 7);
	assert_int_equal(landlock_add_path(&r, dir, LL_READ, &err), 0);
	assert_int_equal(landlock_add_path(&r, file, LL_READ, &err), 0);
	assert_int_equal(landlock_add_path(&r, file, LL_LIST, &err), 0);
	assert_int_equal(r.n, 2); /* listing a file is nothing */
	assert_int_equal(r.rule[0].access, LL_READ);
	assert_int_equal(r.rule[1].access, LL_FS_READ_FILE);
	assert_int_equal(landlock_add_path(&r, 9999, LL_READ, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
}

TEST(add, ports, from_abi_4_and_only_when_handled)
{
	AUTO(landlock_rules_release) struct landlock_rules r;

	landlock_rules_init(&r, 3);
	landlock_add_port(&r, 443, LL_CONNECT);
	assert_int_equal(r.n, 0);
	landlock_rules_init(&r, 4);
	landlock_add_port(&r, 443, LL_CONNECT);
	assert_int_equal(r.n, 1);
	assert_true(r.rule[0].is_port);
	assert_int_equal(r.rule[0].port, 443);
	assert_int_equal(r.rule[0].access, 2);
	landlock_rules_net_open(&r);
	landlock_add_port(&r, 80, LL_CONNECT);
	assert_int_equal(r.n, 1);
}

TEST(open, net, is_no_longer_handled)
{
	struct landlock_rules r;

	landlock_rules_init(&r, 9);
	landlock_rules_net_open(&r);
	assert_int_equal(r.handled.net, 0);
	assert_int_equal(r.handled.fs, 0x1ffff);
	assert_int_equal(r.handled.scope, 3);
}

TEST(missing, each_abi, names_what_it_lacks)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	landlock_missing(6, &text);
	assert_string_equal(buf_cstr(&text),
			    "connect to a socket file (ABI 9)");
	buf_clear(&text);
	landlock_missing(4, &text);
	assert_string_equal(
		buf_cstr(&text),
		"control a device (ABI 5); connect to a socket file (ABI 9); "
		"connect to abstract sockets of other programs (ABI 6); "
		"signal other programs (ABI 6)");
	buf_clear(&text);
	landlock_missing(9, &text);
	assert_string_equal(buf_cstr(&text), "");
}
