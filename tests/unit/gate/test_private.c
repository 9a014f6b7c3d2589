/* Private folders: made, removed, and taken over from the dead. */

#include "tests/unit/test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/private.h"
#include "tests/unit/temp_dir.h"

static void make_file(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	int fd = fd_open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	close(fd);
	free(path);
}

static bool exists(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	struct stat st;
	bool is_there = lstat(path, &st) == 0;

	free(path);
	return is_there;
}

/*
 * The folders are made in $XDG_RUNTIME_DIR, which is the test's own; a child
 * of root is somebody else and must be able to get there.
 */
static int begin(void **state)
{
	return temp_dir_make(state) || chmod(*state, 0711) ||
	       setenv("XDG_RUNTIME_DIR", *state, 1);
}

FIXTURE(runtime_dir, begin, temp_dir_remove);

TEST_IN(runtime_dir, base, closed_to_a_child_of_root, is_passed_over)
{
	struct private_dirs p = PRIVATE_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(chmod(*state, 0700), 0);
	assert_int_equal(private_open(&p, &err), 0);
	assert_int_equal(strncmp(p.path, *state, strlen(*state)) == 0,
			 geteuid() != 0);
	private_close(&p);
}

TEST_IN(runtime_dir, folders, of_a_child, are_its_own)
{
	struct private_dirs p = PRIVATE_INIT;
	struct err err = ERR_INIT;
	struct stat st;
	char *one = NULL, *two = NULL, *path;

	assert_int_equal(private_open(&p, &err), 0);
	assert_int_equal(strncmp(p.path, *state, strlen(*state)), 0);
	assert_int_equal(private_make(&p, geteuid(), getegid(), &one, &err), 0);
	assert_int_equal(private_make(&p, geteuid(), getegid(), &two, &err), 0);
	assert_string_not_equal(one, two);
	path = mem_printf("%s/home", one);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	free(path);
	assert_true(exists(two, "tmp"));
	private_remove(one);
	assert_false(exists(one, ""));
	assert_true(exists(two, "home"));
	private_close(&p);
	assert_false(exists(two, ""));
	free(one);
	free(two);
}

TEST_IN(runtime_dir, tree, with_links_and_closed_folders, is_removed)
{
	char *dir = mem_printf("%s/tree/a/b", (char *)*state);
	char *tree = mem_printf("%s/tree", (char *)*state);
	char *link = mem_printf("%s/tree/a/link", (char *)*state);
	char *outside = mem_printf("%s/outside", (char *)*state);

	assert_int_equal(fd_mkdirs(dir, 0700), 0);
	assert_int_equal(fd_mkdirs(outside, 0700), 0);
	make_file(outside, "kept");
	make_file(dir, "file");
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(chmod(dir, 0), 0);
	private_remove(tree);
	assert_false(exists(tree, ""));
	assert_true(exists(outside, "kept"));
	free(dir);
	free(tree);
	free(link);
	free(outside);
}

TEST_IN(runtime_dir, folder, of_a_dead_runner, is_removed_at_the_next_start)
{
	char *stale =
		mem_printf("%s/matins-u%u-gone", (char *)*state, geteuid());
	char *other = mem_printf("%s/matins-%u-old", (char *)*state, geteuid());
	struct private_dirs p = PRIVATE_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(fd_mkdirs(stale, 0700), 0);
	make_file(stale, "kept");
	/* of a version that had a file as its lock */
	assert_int_equal(fd_mkdirs(other, 0700), 0);
	assert_int_equal(private_open(&p, &err), 0);
	assert_false(exists(stale, ""));
	assert_true(exists(other, ""));
	private_close(&p);
	free(stale);
	free(other);
}

/* As a file of ours that everybody may link into /tmp. */
TEST_IN(runtime_dir, folder, put_there_by_another_user, is_left_alone)
{
	char *planted =
		mem_printf("%s/matins-u%u-x", (char *)*state, geteuid());
	char *link = mem_printf("%s/matins-u%u-y", (char *)*state, geteuid());
	char *aim = mem_printf("%s/aim", (char *)*state);
	struct private_dirs p = PRIVATE_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(fd_mkdirs(planted, 0700), 0);
	make_file(planted, "kept");
	assert_int_equal(fd_mkdirs(aim, 0700), 0);
	make_file(aim, "kept");
	assert_int_equal(symlink(aim, link), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(planted, 65534, 65534), 0);
	private_sweep();
	/* only root can give a folder away; a user's own is removed */
	assert_int_equal(exists(planted, "kept"), geteuid() == 0);
	assert_true(exists(aim, "kept"));
	assert_int_equal(private_open(&p, &err), 0);
	private_close(&p);
	free(planted);
	free(link);
	free(aim);
}

TEST_IN(runtime_dir, folder, of_a_living_runner, stays)
{
	struct private_dirs one = PRIVATE_INIT, two = PRIVATE_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(private_open(&one, &err), 0);
	assert_int_equal(private_open(&two, &err), 0);
	assert_string_not_equal(one.path, two.path);
	assert_true(exists(one.path, ""));
	private_close(&two);
	assert_true(exists(one.path, ""));
	private_close(&one);
}
