#include "tests/unit/test.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/client/known_tools.h"

struct fixture {
	char dir[64];
	struct arena arena;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.dir = "/tmp/test_known_tools.XXXXXX",
			     .arena = ARENA_INIT};
	*state = &f;
	return mkdtemp(f.dir) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	const char *folder = arena_printf(&f->arena, "%s/tools", f->dir);
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		(void)!unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	(void)!rmdir(folder);
	(void)!rmdir(f->dir);
	arena_release(&f->arena);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static void keep(struct fixture *f, const char *server, const char *result,
		 const struct scrub *scrub)
{
	struct err err = ERR_INIT;
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(listing_add(&l, str_of(result), &err), LISTING_DONE);
	known_tools_keep(f->dir, "/p/m.toml", server, &l, scrub);
	listing_release(&l);
}

TEST_IN(fixture, keep, then_find, of_that_server_and_file)
{
	struct fixture *f = *state;
	struct strlist names;

	keep(f, "s", "{\"tools\":[{\"name\":\"b\"},{\"name\":\"a/b.c-d_E\"}]}",
	     NULL);
	names = known_tools(f->dir, "/p/m.toml", "s", &f->arena);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.item[0], "b");
	assert_string_equal(names.item[1], "a/b.c-d_E");
	assert_int_equal(known_tools(f->dir, "/p/m.toml", "t", &f->arena).n, 0);
	assert_int_equal(known_tools(f->dir, "/q.toml", "s", &f->arena).n, 0);
	assert_int_equal(known_tools(NULL, "/p/m.toml", "s", &f->arena).n, 0);
	keep(f, "s", "{\"tools\":[]}", NULL);
	assert_int_equal(known_tools(f->dir, "/p/m.toml", "s", &f->arena).n, 0);
}

/* A server chooses them, and a shell shows them. */
TEST_IN(fixture, keep, names_that_are_more_than_words, left_out)
{
	struct fixture *f = *state;
	struct scrub *scrub = scrub_new();
	struct strlist names;

	scrub_add(scrub, STR("s3cret-token"));
	keep(f, "s",
	     "{\"tools\":[{\"name\":\"a\\nb\"},{\"name\":\"$(x)\"},"
	     "{\"name\":\"-rf\"},{\"name\":\"a b\"},{\"name\":\"\\u001b[2J\"},"
	     "{\"name\":\"x-s3cret-token\"},{\"name\":\"good\"}]}",
	     scrub);
	scrub_free(scrub);
	names = known_tools(f->dir, "/p/m.toml", "s", &f->arena);
	assert_int_equal(names.n, 1);
	assert_string_equal(names.item[0], "good");
}
