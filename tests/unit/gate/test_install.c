/* What belongs to a program beside its own file. */

#include "tests/unit/test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/install.h"
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

static void make_dir(const char *dir, const char *name)
{
	assert_int_equal(fd_mkdirs(at(dir, name), 0755), 0);
}

static void make_file(const char *dir, const char *name)
{
	int fd = fd_open(at(dir, name), O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* A list of one; NULL: none. */
static const struct strlist *only(const char *home)
{
	static const char *item[1];
	static struct strlist list;

	item[0] = home;
	list = (struct strlist){item, home ? 1 : 0};
	return &list;
}

static bool has(const struct install *in, const char *path)
{
	for (size_t i = 0; i < in->read.n; i++)
		if (strcmp(in->read.item[i], path) == 0)
			return true;
	return false;
}

/*
 * A program in dir/bin, beside lib, share and secret, comes with the first n
 * of `parts`.
 */
static void comes_with(const char *dir, const char *home, size_t n)
{
	static const char *const parts[] = {"lib", "share"};
	const char *x = at(dir, "bin/x");
	struct install in;

	make_dir(dir, "bin");
	make_dir(dir, "lib");
	make_dir(dir, "share");
	make_dir(dir, "secret");
	install_of_program(x, x, only(home), &arena, &in);
	assert_int_equal(in.read.n, n);
	for (size_t i = 0; i < n; i++)
		assert_true(has(&in, at(dir, parts[i])));
}

TEST_IN(temp_dir, program, in_a_prefix, comes_with_its_parts)
{
	comes_with(at(*state, "prefix"), "/home/nobody", 2);
}

TEST_IN(temp_dir, program, right_in_home, is_alone)
{
	comes_with(at(*state, "home"), at(*state, "home"), 0);
}

TEST_IN(temp_dir, program, in_dot_local, leaves_share_alone)
{
	comes_with(at(*state, ".local"), *state, 1);
}

TEST_IN(temp_dir, program, of_a_virtual_environment, comes_with_all_of_it)
{
	const char *venv = at(*state, "venv"), *x = at(venv, "bin/python");
	struct install in;

	make_dir(venv, "bin");
	make_file(venv, "pyvenv.cfg");
	install_of_program(x, "/usr/bin/python3.11", only(NULL), &arena, &in);
	assert_true(has(&in, venv));
}

TEST_IN(temp_dir, script, in_a_package, comes_with_the_nearest)
{
	const char *app = at(*state, "app"), *inner;

	make_dir(app, "src/deep");
	make_file(app, "package.json");
	assert_string_equal(
		install_of_script(at(app, "src/deep/x.js"), only(NULL), &arena),
		app);
	inner = at(app, "src");
	make_file(inner, "pyproject.toml");
	assert_string_equal(
		install_of_script(at(app, "src/deep/x.py"), only(NULL), &arena),
		inner);
}

TEST_IN(temp_dir, script, without_package, comes_with_its_folder)
{
	const char *dir = at(*state, "dir");

	make_dir(dir, ".");
	assert_string_equal(
		install_of_script(at(dir, "x.py"), only(NULL), &arena), dir);
}

TEST_IN(temp_dir, script, in_home_or_a_shared_folder, is_alone)
{
	const char *home = at(*state, "home");
	const char *open = at(*state, "open");

	make_dir(home, "sub");
	make_file(home, "package.json");
	assert_null(install_of_script(at(home, "x.js"), only(home), &arena));
	assert_string_equal(
		install_of_script(at(home, "sub/x.js"), only(home), &arena),
		at(home, "sub"));
	make_dir(open, ".");
	assert_int_equal(chmod(open, 01777), 0);
	assert_null(install_of_script(at(open, "x.js"), only(home), &arena));
	assert_null(install_of_script("/x.js", only(home), &arena));
	assert_null(install_of_script("/usr/bin/x.js", only(home), &arena));
	assert_null(install_of_script("/usr/local/bin/x", only(home), &arena));
	assert_null(install_of_script("/tmp/x.js", only(home), &arena));
}
