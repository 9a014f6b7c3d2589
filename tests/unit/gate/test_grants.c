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
	char *dir;
};

static const char *at(struct fixture *f, const char *name)
{
	return arena_printf(&f->arena, "%s/%s", f->dir, name);
}

static int begin(void **state)
{
	static struct fixture f;

	f = (struct fixture){.grants = GRANTS_INIT(&f.arena)};
	*state = &f;
	return temp_dir_make((void **)&f.dir) ||
	       fd_mkdirs(at(&f, "real/deep"), 0755) ||
	       symlink("real", at(&f, "link"));
}

static int end(void **state)
{
	struct fixture *f = *state;
	void *dir = f->dir;

	grants_release(&f->grants);
	arena_release(&f->arena);
	return temp_dir_remove(&dir);
}

FIXTURE(folder, begin, end);

static int open_at(struct fixture *f, const char *name, unsigned what)
{
	struct walk found = WALK_INIT;
	int r = grants_find(&f->grants, at(f, name), &found, &f->err);

	if (r == 0)
		grants_take(&f->grants, at(f, name), &found, what);
	return r;
}

TEST_IN(folder, grant, plain_path, is_known_by_it)
{
	struct fixture *f = *state;

	assert_int_equal(open_at(f, "real", GRANT_READ), 0);
	assert_int_equal(f->grants.n, 1);
	assert_string_equal(f->grants.grant[0].path, at(f, "real"));
	assert_true(S_ISDIR(f->grants.grant[0].st.st_mode));
	assert_int_equal(f->grants.n_links, 0);
}

TEST_IN(folder, grant, by_a_link, is_known_by_what_it_leads_to)
{
	struct fixture *f = *state;

	assert_int_equal(open_at(f, "link/deep", GRANT_READ), 0);
	assert_string_equal(f->grants.grant[0].path, at(f, "real/deep"));
	assert_int_equal(f->grants.n_links, 1);
	assert_string_equal(f->grants.link[0].path, at(f, "link/deep"));
}

TEST_IN(folder, grant, dots_and_double_slashes, are_taken_out)
{
	struct fixture *f = *state;

	assert_int_equal(open_at(f, "real/../real//./deep", GRANT_READ), 0);
	assert_string_equal(f->grants.grant[0].path, at(f, "real/deep"));
}

TEST_IN(folder, grant, twice, is_one_with_both_rights)
{
	struct fixture *f = *state;

	assert_int_equal(open_at(f, "real", GRANT_READ), 0);
	assert_int_equal(open_at(f, "link", GRANT_WRITE), 0);
	assert_int_equal(f->grants.n, 1);
	assert_int_equal(f->grants.grant[0].what, GRANT_READ | GRANT_WRITE);
}

TEST_IN(folder, grant, of_nothing, is_told_apart)
{
	struct fixture *f = *state;

	assert_int_equal(open_at(f, "missing", GRANT_READ), 1);
	assert_int_equal(f->grants.n, 0);
}

TEST_IN(folder, grants, many, keep_their_descriptors)
{
	struct fixture *f = *state;

	for (int i = 0; i < 100; i++) {
		const char *name = arena_printf(&f->arena, "real/%d", i);

		assert_int_equal(fd_mkdirs(at(f, name), 0755), 0);
		assert_int_equal(open_at(f, name, GRANT_READ), 0);
	}
	assert_int_equal(f->grants.n, 100);
	for (int i = 0; i < 100; i++)
		assert_true(fcntl(f->grants.grant[i].fd, F_GETFD) & FD_CLOEXEC);
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

TEST_IN(folder, base, of_this_machine, has_libraries_and_no_programs)
{
	struct fixture *f = *state;
	bool has_lib = false;

	assert_int_equal(grants_open_base(&f->grants, BASE_SYSTEM, &f->err), 0);
	assert_int_equal(grants_open_base(&f->grants, BASE_REST, &f->err), 0);
	for (size_t i = 0; i < f->grants.n; i++) {
		const char *path = f->grants.grant[i].path;

		has_lib |= strcmp(path, "/usr/lib") == 0;
		assert_string_not_equal(path, "/usr/bin");
		assert_string_not_equal(path, "/");
		assert_false(f->grants.grant[i].what & GRANT_WRITE);
	}
	assert_true(has_lib);
	assert_false(grants_near_base("/usr/lib"));
	assert_true(grants_near_base("/etc"));
	assert_true(grants_near_base("/etc/ssl/certs/x"));
	assert_false(grants_near_base("/etc/ssl/private"));
}
