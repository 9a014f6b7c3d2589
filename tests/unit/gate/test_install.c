/* What belongs to a program beside its own file. */

#include "tests/unit/test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/install.h"
#include "tests/unit/temp_dir.h"

static const char *at(struct arena *arena, const char *dir, const char *name)
{
	return arena_printf(arena, "%s/%s", dir, name);
}

static void make_dir(struct arena *arena, const char *dir, const char *name)
{
	assert_int_equal(fd_mkdirs(at(arena, dir, name), 0755), 0);
}

static void make_file(struct arena *arena, const char *dir, const char *name)
{
	int fd = fd_open(at(arena, dir, name), O_WRONLY | O_CREAT, 0644);

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

TEST_IN(temp_dir, program, in_a_prefix, comes_with_its_parts)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *p = at(&a, *state, "prefix"), *x = at(&a, p, "bin/x");
	struct install in;

	make_dir(&a, p, "bin");
	make_dir(&a, p, "lib");
	make_dir(&a, p, "share");
	make_dir(&a, p, "secret");
	install_of_program(x, x, only("/home/nobody"), &a, &in);
	assert_int_equal(in.read.n, 2);
	assert_true(has(&in, at(&a, p, "lib")));
	assert_true(has(&in, at(&a, p, "share")));
}

TEST_IN(temp_dir, program, right_in_home, is_alone)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *home = at(&a, *state, "home"), *x = at(&a, home, "bin/x");
	struct install in;

	make_dir(&a, home, "bin");
	make_dir(&a, home, "lib");
	install_of_program(x, x, only(home), &a, &in);
	assert_int_equal(in.read.n, 0);
}

TEST_IN(temp_dir, program, in_dot_local, leaves_share_alone)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *local = at(&a, *state, ".local");
	const char *x = at(&a, local, "bin/x");
	struct install in;

	make_dir(&a, local, "bin");
	make_dir(&a, local, "lib");
	make_dir(&a, local, "share");
	install_of_program(x, x, only(*state), &a, &in);
	assert_int_equal(in.read.n, 1);
	assert_true(has(&in, at(&a, local, "lib")));
}

TEST_IN(temp_dir, program, of_a_virtual_environment, comes_with_all_of_it)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *venv = at(&a, *state, "venv"),
		   *x = at(&a, venv, "bin/python");
	struct install in;

	make_dir(&a, venv, "bin");
	make_file(&a, venv, "pyvenv.cfg");
	install_of_program(x, "/usr/bin/python3.11", only(NULL), &a, &in);
	assert_true(has(&in, venv));
}

TEST_IN(temp_dir, script, in_a_package, comes_with_the_nearest)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *app = at(&a, *state, "app"), *inner;

	make_dir(&a, app, "src/deep");
	make_file(&a, app, "package.json");
	assert_string_equal(
		install_of_script(at(&a, app, "src/deep/x.js"), only(NULL), &a),
		app);
	inner = at(&a, app, "src");
	make_file(&a, inner, "pyproject.toml");
	assert_string_equal(
		install_of_script(at(&a, app, "src/deep/x.py"), only(NULL), &a),
		inner);
}

TEST_IN(temp_dir, script, without_package, comes_with_its_folder)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *dir = at(&a, *state, "dir");

	make_dir(&a, dir, ".");
	assert_string_equal(
		install_of_script(at(&a, dir, "x.py"), only(NULL), &a), dir);
}

TEST_IN(temp_dir, script, in_home_or_a_shared_folder, is_alone)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *home = at(&a, *state, "home");
	const char *open = at(&a, *state, "open");

	make_dir(&a, home, "sub");
	make_file(&a, home, "package.json");
	assert_null(install_of_script(at(&a, home, "x.js"), only(home), &a));
	assert_string_equal(
		install_of_script(at(&a, home, "sub/x.js"), only(home), &a),
		at(&a, home, "sub"));
	make_dir(&a, open, ".");
	assert_int_equal(chmod(open, 01777), 0);
	assert_null(install_of_script(at(&a, open, "x.js"), only(home), &a));
	assert_null(install_of_script("/x.js", only(home), &a));
	assert_null(install_of_script("/tmp/x.js", only(home), &a));
}
