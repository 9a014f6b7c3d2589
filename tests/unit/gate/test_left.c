/* Files that a tree left in its folder, counted. */

#include "tests/unit/test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/child/left.h"
#include "tests/unit/temp_dir.h"

/* Make a file, or a folder by a "/" at the end. */
static void make(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	size_t n = strlen(path);
	int fd;

	if (path[n - 1] == '/') {
		assert_int_equal(mkdir(path, 0700), 0);
	} else {
		fd = fd_open(path, O_WRONLY | O_CREAT, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	free(path);
}

static void link_to(const char *dir, const char *name, time_t when)
{
	const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
	char *path = mem_printf("%s/%s", dir, name);

	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW),
			 0);
	free(path);
}

FIXTURE(folder, temp_dir_make, temp_dir_remove);

TEST_IN(folder, left, in_an_empty_folder, is_nothing)
{
	struct left l;

	l = (struct left){.n_entries = 0};
	left_count(&l, *state, true);
	assert_int_equal(l.n_entries, 0);
	assert_int_equal(l.n_files, 0);
	assert_false(l.is_cut);
}

TEST_IN(folder, left, files, are_counted_with_those_beneath)
{
	struct left l;

	make(*state, "a/");
	make(*state, "a/b/");
	make(*state, "a/b/1");
	make(*state, "a/2");
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, false);
	assert_int_equal(l.n_entries, 1);
	assert_string_equal(l.name[0], "a");
	assert_true(l.is_folder[0]);
	assert_int_equal(l.n_files, 2);
	assert_false(l.is_cut);
}

TEST_IN(folder, left, dot_files, count_but_in_a_home)
{
	struct left l;

	make(*state, ".cache/");
	make(*state, ".cache/1");
	make(*state, ".gitconfig");
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, true);
	assert_int_equal(l.n_entries, 0);
	assert_int_equal(l.n_files, 0);
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, false);
	assert_int_equal(l.n_entries, 2);
	assert_int_equal(l.n_files, 2);
	make(*state, ".git/");
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, true);
	assert_int_equal(l.n_entries, 1);
}

TEST_IN(folder, left, home, counts_where_the_folder_is_empty)
{
	const char *dir = *state;
	char *home = mem_printf("%s/home", dir);
	char *here = mem_printf("%s/here", dir);
	struct left l = {.home = home};

	make(*state, "home/");
	make(*state, "here/");
	make(home, "backup/");
	make(home, "backup/1");
	make(home, ".cache/");
	left_count(&l, here, false);
	assert_int_equal(l.n_entries, 1);
	assert_string_equal(l.name[0], "backup");
	assert_int_equal(l.n_files, 1);
	assert_true(l.in_home);
	make(here, "result");
	l = (struct left){.home = home};
	left_count(&l, here, false);
	assert_int_equal(l.n_entries, 1);
	assert_string_equal(l.name[0], "result");
	assert_false(l.in_home);
	free(home);
	free(here);
}

TEST_IN(folder, left, links, count_but_those_of_the_view)
{
	struct left l;

	link_to(*state, "theirs", 1);
	link_to(*state, "ours", LEFT_TIME);
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, false);
	assert_int_equal(l.n_entries, 1);
	assert_string_equal(l.name[0], "theirs");
}

TEST_IN(folder, left, folder, is_listed_when_its_time_says_so)
{
	struct timespec times[2] = {{.tv_sec = LEFT_TIME},
				    {.tv_sec = LEFT_TIME}};
	struct left l = {.n_entries = 0};

	assert_int_equal(utimensat(AT_FDCWD, *state, times, 0), 0);
	left_count(&l, *state, false);
	assert_false(l.is_listed);
	times[0].tv_sec++;
	assert_int_equal(utimensat(AT_FDCWD, *state, times, 0), 0);
	left_count(&l, *state, false);
	assert_true(l.is_listed);
}

TEST_IN(folder, left, names, are_bounded_in_number_and_length)
{
	char name[256];
	struct left l;

	for (int i = 0; i < LEFT_NAMES + 3; i++) {
		snprintf(name, sizeof(name), "%0*d", 200, i);
		make(*state, name);
	}
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, false);
	assert_int_equal(l.n_entries, LEFT_NAMES + 3);
	assert_int_equal(l.n_files, LEFT_NAMES + 3);
	for (int i = 0; i < LEFT_NAMES; i++)
		assert_int_equal(strlen(l.name[i]), LEFT_NAME_BYTES - 1);
}

TEST_IN(folder, left, too_deep_a_folder, cuts_the_count)
{
	struct left l;
	char path[64] = "";

	for (int i = 0; i < 20; i++) {
		memcpy(path + 2 * i, "d/", 3);
		make(*state, path);
	}
	l = (struct left){.n_entries = 0};
	left_count(&l, *state, false);
	assert_true(l.is_cut);
	assert_int_equal(l.n_entries, 1);
}

TEST_IN(folder, left, that_is_not_there, is_nothing)
{
	struct left l;
	char *path = mem_printf("%s/none", (char *)*state);

	l = (struct left){.n_entries = 0};
	left_count(&l, path, false);
	assert_int_equal(l.n_entries, 0);
	free(path);
}

TEST_IN(folder, named, paths, are_there_or_not)
{
	char *file = mem_printf("%s/f", (char *)*state);
	char *beyond = mem_printf("%s/l/f", (char *)*state);
	char *link = mem_printf("%s/l", (char *)*state);
	struct left l = {
		.named = {{.path = *state}, {.path = file}, {.path = beyond}},
		.n_named = 3};

	assert_int_equal(symlink(".", link), 0);
	left_count(&l, NULL, false);
	assert_true(l.named[0].is_there && l.named[0].is_folder);
	assert_false(l.named[1].is_there);
	make(*state, "f");
	left_count(&l, NULL, false);
	assert_true(l.named[1].is_there && !l.named[1].is_folder);
	/* by a link it may lie anywhere */
	assert_false(l.named[2].is_there);
	assert_int_equal(l.n_entries, 0);
	free(file);
	free(beyond);
	free(link);
}
