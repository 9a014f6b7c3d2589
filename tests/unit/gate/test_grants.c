/* Grants: opened once, known by where they really lie. */

#include "tests/unit/test.h"
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/prepare/grants.h"
#include "tests/unit/temp_dir.h"

struct fixture {
	struct arena arena;
	struct grants grants;
	struct err err;
	const char *dir;
};

static void begin(struct fixture *f, void **state)
{
	f->arena = (struct arena)ARENA_INIT;
	f->grants = (struct grants)GRANTS_INIT(&f->arena);
	f->dir = *state;
	assert_int_equal(
		fd_mkdirs(arena_printf(&f->arena, "%s/real/deep", f->dir),
			  0755),
		0);
	assert_int_equal(
		symlink("real", arena_printf(&f->arena, "%s/link", f->dir)), 0);
}

static void end(struct fixture *f)
{
	grants_release(&f->grants);
	arena_release(&f->arena);
}

static int open_at(struct fixture *f, const char *name, unsigned what)
{
	return grants_open(&f->grants,
			   arena_printf(&f->arena, "%s/%s", f->dir, name), what,
			   NULL, &f->err);
}

TEST_IN(temp_dir, grant, plain_path, is_known_by_it)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(open_at(&f, "real", GRANT_READ), 0);
	assert_int_equal(f.grants.n, 1);
	assert_string_equal(f.grants.grant[0].path,
			    arena_printf(&f.arena, "%s/real", f.dir));
	assert_true(S_ISDIR(f.grants.grant[0].st.st_mode));
	assert_int_equal(f.grants.n_links, 0);
}

TEST_IN(temp_dir, grant, by_a_link, is_known_by_what_it_leads_to)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(open_at(&f, "link/deep", GRANT_READ), 0);
	assert_string_equal(f.grants.grant[0].path,
			    arena_printf(&f.arena, "%s/real/deep", f.dir));
	assert_int_equal(f.grants.n_links, 1);
	assert_string_equal(f.grants.link[0].path,
			    arena_printf(&f.arena, "%s/link/deep", f.dir));
}

TEST_IN(temp_dir, grant, dots_and_double_slashes, are_taken_out)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(open_at(&f, "real/../real//./deep", GRANT_READ), 0);
	assert_string_equal(f.grants.grant[0].path,
			    arena_printf(&f.arena, "%s/real/deep", f.dir));
}

TEST_IN(temp_dir, grant, twice, is_one_with_both_rights)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(open_at(&f, "real", GRANT_READ), 0);
	assert_int_equal(open_at(&f, "link", GRANT_WRITE), 0);
	assert_int_equal(f.grants.n, 1);
	assert_int_equal(f.grants.grant[0].what, GRANT_READ | GRANT_WRITE);
}

TEST_IN(temp_dir, grant, of_nothing, is_told_apart)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	assert_int_equal(open_at(&f, "missing", GRANT_READ), 1);
	assert_int_equal(f.grants.n, 0);
}

TEST_IN(temp_dir, grants, many, keep_their_descriptors)
{
	AUTO(end) struct fixture f;

	begin(&f, state);
	for (int i = 0; i < 100; i++) {
		const char *name = arena_printf(&f.arena, "real/%d", i);

		assert_int_equal(
			fd_mkdirs(arena_printf(&f.arena, "%s/%s", f.dir, name),
				  0755),
			0);
		assert_int_equal(open_at(&f, name, GRANT_READ), 0);
	}
	assert_int_equal(f.grants.n, 100);
	for (int i = 0; i < 100; i++)
		assert_true(fcntl(f.grants.grant[i].fd, F_GETFD) & FD_CLOEXEC);
}

TEST(rights, of_each_kind, never_execute_what_is_written)
{
	assert_false(grant_rights(GRANT_READ) & LL_FS_EXECUTE);
	assert_false(grant_rights(GRANT_WRITE) & LL_FS_EXECUTE);
	assert_false(grant_rights(GRANT_WRITE_ONLY) & LL_FS_READ_FILE);
	assert_true(grant_rights(GRANT_EXEC) & LL_FS_EXECUTE);
	assert_false(grant_rights(GRANT_EXEC) & LL_FS_WRITE_FILE);
	assert_int_equal(grant_rights(GRANT_ASKED), 0);
}

TEST_IN(temp_dir, base, of_this_machine, has_libraries_and_no_programs)
{
	AUTO(end) struct fixture f;
	bool has_lib = false;

	begin(&f, state);
	assert_int_equal(grants_open_base(&f.grants, &f.err), 0);
	for (size_t i = 0; i < f.grants.n; i++) {
		const char *path = f.grants.grant[i].path;

		has_lib |= strcmp(path, "/usr/lib") == 0;
		assert_string_not_equal(path, "/usr/bin");
		assert_string_not_equal(path, "/");
		assert_false(f.grants.grant[i].what & GRANT_WRITE);
	}
	assert_true(has_lib);
}
