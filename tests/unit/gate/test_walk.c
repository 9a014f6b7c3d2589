/* Paths followed part by part: what was opened, and the links on the way. */

#include "tests/unit/test.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/resolve.h"
#include "tests/unit/temp_dir.h"

struct fixture {
	struct arena arena;
	const char *dir;
	struct walk walk;
};

static const char *at(struct fixture *f, const char *name)
{
	return arena_printf(&f->arena, "%s/%s", f->dir, name);
}

static void begin(struct fixture *f, void **state)
{
	*f = (struct fixture){.arena = ARENA_INIT, .walk = WALK_INIT};
	f->dir = *state;
	assert_int_equal(fd_mkdirs(at(f, "a/b"), 0755), 0);
	assert_int_equal(symlink("a", at(f, "near")), 0);
	assert_int_equal(symlink(at(f, "near/b"), at(f, "a/far")), 0);
	assert_int_equal(symlink("loop", at(f, "loop")), 0);
}

static void end(struct fixture *f)
{
	walk_release(&f->walk);
	arena_release(&f->arena);
}

static int go(struct fixture *f, const char *name)
{
	return walk_open(at(f, name), &f->arena, &f->walk);
}

TEST_IN(temp_dir, walk, no_links, is_the_path)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(go(&f, "a/b"), 0);
	assert_string_equal(f.walk.path, at(&f, "a/b"));
	assert_true(S_ISDIR(f.walk.st.st_mode));
	assert_int_equal(f.walk.n_links, 0);
}

TEST_IN(temp_dir, walk, links, are_told_by_where_they_lie)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(go(&f, "near/../near/far/."), 0);
	assert_string_equal(f.walk.path, at(&f, "a/b"));
	assert_int_equal(f.walk.n_links, 4);
	assert_string_equal(f.walk.link[0].at, at(&f, "near"));
	assert_string_equal(f.walk.link[0].folder, f.dir);
	assert_string_equal(f.walk.link[2].at, at(&f, "a/far"));
	assert_string_equal(f.walk.link[2].folder, at(&f, "a"));
	assert_string_equal(f.walk.link[3].at, at(&f, "near"));
	assert_int_equal(f.walk.link[0].st.st_uid, geteuid());
}

TEST_IN(temp_dir, walk, in_circles, is_an_error)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(go(&f, "loop"), -1);
	assert_int_equal(errno, ELOOP);
}

TEST_IN(temp_dir, walk, to_nothing, says_so)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(go(&f, "near/none"), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(symlink("none", at(&f, "dangling")), 0);
	assert_int_equal(go(&f, "dangling"), -1);
	assert_int_equal(errno, ENOENT);
}

/* Such a link is no text that could be read: it leads to what is open. */
TEST_IN(temp_dir, walk, link_of_proc, leads_to_what_is_open)
{
	AUTO(end) struct fixture f;
	int fd;

	begin(&f, state);
	fd = fd_open(at(&f, "a"), O_PATH | O_DIRECTORY, 0);
	assert_int_equal(
		walk_open(arena_printf(&f.arena, "/proc/self/fd/%d/b", fd),
			  &f.arena, &f.walk),
		0);
	assert_string_equal(f.walk.path, at(&f, "a/b"));
	close(fd);
}

TEST_IN(temp_dir, walk_plain, a_link, is_refused)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(walk_open_plain(at(&f, "near/b"), &f.arena, &f.walk),
			 -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(walk_open_plain(at(&f, "a/b"), &f.arena, &f.walk), 0);
}
