/* The project that a program is started in. */
#include "tests/unit/test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/project.h"
#include "tests/unit/temp_dir.h"

static struct arena arena; /* of paths */

static int release_paths(UNUSED void **state)
{
	arena_release(&arena);
	return 0;
}
TEST_FILE(NULL, release_paths);

static const char *at(const char *dir, const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

static void make_dir(const char *path)
{
	assert_int_equal(fd_mkdirs(path, 0755), 0);
}

static void make_file(const char *path)
{
	int fd = fd_open(path, O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* Find from a folder of `dir`; `home` and `written` may be NULL. */
static struct project find(const char *dir, const char *from, const char *home,
			   const char *written)
{
	const struct strlist homes = {&home, home != NULL};
	const struct strlist rows = {&written, written != NULL};
	const struct strlist *const lists[] = {&rows, NULL};
	const struct project_search search = {
		.from = from ? at(dir, from) : NULL,
		.markers = "go.mod .git",
		.homes = &homes,
		.written = lists,
	};

	return project_find(&search, &arena);
}

#define assert_project(found, folder, mark)                           \
	do {                                                          \
		const struct project p = (found);                     \
		assert_non_null(p.path);                              \
		assert_string_equal(p.path, folder);                  \
		assert_string_equal(p.marker ? p.marker : "-", mark); \
	} while (0)

TEST_IN(temp_dir, project, with_a_mark, is_the_nearest_folder_from_one_up)
{
	const char *dir = *state;

	make_dir(at(dir, "p/sub/deep"));
	make_dir(at(dir, "p/.git"));
	assert_project(find(dir, "p", NULL, NULL), at(dir, "p"), ".git");
	assert_project(find(dir, "p/sub/deep", NULL, NULL), at(dir, "p"),
		       ".git");
	make_file(at(dir, "p/sub/go.mod"));
	assert_project(find(dir, "p/sub/deep", NULL, NULL), at(dir, "p/sub"),
		       "go.mod");
	make_file(at(dir, "p/go.mod"));
	assert_project(find(dir, "p", NULL, NULL), at(dir, "p"), "go.mod");
}

TEST_IN(temp_dir, project, without_a_mark, is_the_first_folder)
{
	const char *dir = *state;

	make_dir(at(dir, "p/sub"));
	assert_project(find(dir, "p/sub", NULL, NULL), at(dir, "p/sub"), "-");
	assert_null(find(dir, "none", NULL, NULL).path);
	assert_null(find(dir, NULL, NULL, NULL).path);
}

TEST_IN(temp_dir, project, behind_a_link, is_named_without_links)
{
	const char *dir = *state;

	make_dir(at(dir, "p/sub"));
	make_dir(at(dir, "p/.git"));
	assert_int_equal(symlink("p/sub", at(dir, "link")), 0);
	assert_project(find(dir, "link", NULL, NULL), at(dir, "p"), ".git");
}

TEST_IN(temp_dir, home, and_folders_above_it, are_no_project)
{
	const char *dir = *state, *home = at(dir, "u/home");

	make_dir(at(dir, "u/home/p/sub"));
	make_dir(at(dir, "u/home/.config/app"));
	make_dir(at(dir, "u/home/.git"));
	make_dir(at(dir, "u/.git"));
	assert_null(find(dir, "u", home, NULL).path);
	assert_null(find(dir, "u/home", home, NULL).path);
	assert_null(find(dir, "u/home/.config/app", home, NULL).path);
	/* a mark of HOME counts for no folder in it */
	assert_project(find(dir, "u/home/p/sub", home, NULL),
		       at(dir, "u/home/p/sub"), "-");
	assert_project(find(dir, "u/home", NULL, NULL), home, ".git");
}

TEST_IN(temp_dir, search, in_a_written_folder, ends_there)
{
	const char *dir = *state;

	make_dir(at(dir, "p/out/sub"));
	make_dir(at(dir, "p/.git"));
	assert_project(find(dir, "p/out/sub", NULL, at(dir, "p/out")),
		       at(dir, "p/out/sub"), "-");
	assert_project(find(dir, "p/out", NULL, at(dir, "p")), at(dir, "p/out"),
		       "-");
	assert_project(find(dir, "p", NULL, at(dir, "p")), at(dir, "p"),
		       ".git");
	assert_project(find(dir, "p/out", NULL, at(dir, "other")), at(dir, "p"),
		       ".git");
}

TEST_IN(temp_dir, search, where_others_may_write, ends_there)
{
	const char *dir = *state;

	make_dir(at(dir, "p/sub"));
	make_file(at(dir, "p/go.mod"));
	assert_int_equal(chmod(at(dir, "p"), 0777), 0);
	assert_project(find(dir, "p/sub", NULL, NULL), at(dir, "p/sub"), "-");
	assert_project(find(dir, "p", NULL, NULL), at(dir, "p"), "go.mod");
	assert_int_equal(chmod(at(dir, "p"), 0755), 0);
	assert_int_equal(chmod(at(dir, "p/go.mod"), 0666), 0);
	assert_project(find(dir, "p/sub", NULL, NULL), at(dir, "p/sub"), "-");
	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(at(dir, "p/go.mod"), 0644), 0);
	assert_int_equal(chown(at(dir, "p/go.mod"), 65534, 65534), 0);
	assert_project(find(dir, "p/sub", NULL, NULL), at(dir, "p/sub"), "-");
	assert_int_equal(chown(at(dir, "p/go.mod"), 0, 0), 0);
	assert_int_equal(chown(at(dir, "p"), 65534, 65534), 0);
	assert_project(find(dir, "p/sub", NULL, NULL), at(dir, "p/sub"), "-");
}

TEST(folders, of_the_system, are_no_project)
{
	static const char *const wide[] = {"/", "/etc", "/tmp", "/usr"};

	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		assert_null(find("", wide[i] + 1, NULL, NULL).path);
}
