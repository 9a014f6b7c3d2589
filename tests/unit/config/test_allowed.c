#include "tests/unit/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/config_allow.h"

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A state directory of its own. */
struct fixture {
	char dir[64];
	struct arena arena;
	struct err err;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.dir = "/tmp/test_allowed.XXXXXX",
			     .arena = ARENA_INIT,
			     .err = ERR_INIT};
	log_set_level(LOG_ERROR);
	umask(022);
	*state = &f;
	return mkdtemp(f.dir) ? 0 : -1;
}

static const char *folder(struct fixture *f)
{
	return arena_printf(&f->arena, "%s/allowed", f->dir);
}

static const char *file_of(struct fixture *f, const char *path)
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(str_of(path), hex);
	return arena_printf(&f->arena, "%s/%s.json", folder(f), hex);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	DIR *dir = opendir(folder(f));
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		(void)!unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	(void)!rmdir(folder(f));
	(void)!rmdir(f->dir);
	arena_release(&f->arena);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static struct allowance allowance(const char *path)
{
	static const char *grants[] = {"starts git", "writes \"\n\\é"};
	struct allowance a = {
		.path = path,
		.target = "/else where/m.toml",
		.sha256 = SUM,
		.edits = true,
		.wall_ms = 1700000000123,
		.grants = {grants, ARRAY_LEN(grants)},
	};

	return a;
}

static void keep(struct fixture *f, const char *path)
{
	const struct allowance a = allowance(path);

	if (allowed_keep(f->dir, &a, &f->err) < 0)
		fail_msg("%s", f->err.msg);
}

static int find(struct fixture *f, const char *path, struct allowance *ret)
{
	f->err = (struct err)ERR_INIT;
	return allowed_find(f->dir, path, &f->arena, ret, &f->err);
}

static void assert_same(const struct allowance *a, const struct allowance *b)
{
	assert_string_equal(a->path, b->path);
	assert_int_equal(a->target != NULL, b->target != NULL);
	if (a->target)
		assert_string_equal(a->target, b->target);
	assert_string_equal(a->sha256, b->sha256);
	assert_int_equal(a->edits, b->edits);
	assert_int_equal(a->by_person, b->by_person);
	assert_int_equal(a->wall_ms, b->wall_ms);
	assert_int_equal(a->grants.n, b->grants.n);
	for (size_t i = 0; i < a->grants.n; i++)
		assert_string_equal(a->grants.item[i], b->grants.item[i]);
}

TEST_IN(fixture, keep, then_find, gives_all_of_it)
{
	struct fixture *f = *state;
	struct allowance want = allowance("/p/matins.toml"), got;

	assert_int_equal(find(f, "/p/matins.toml", &got), 1);
	keep(f, "/p/matins.toml");
	assert_int_equal(find(f, "/p/matins.toml", &got), 0);
	assert_same(&got, &want);
	assert_int_equal(find(f, "/p/modulex.toml", &got), 1);
	/* the one given last counts */
	want.target = NULL;
	want.edits = false;
	want.by_person = true;
	want.grants.n = 0;
	assert_int_equal(allowed_keep(f->dir, &want, &f->err), 0);
	assert_int_equal(find(f, "/p/matins.toml", &got), 0);
	assert_same(&got, &want);
}

TEST_IN(fixture, list, several, is_sorted_by_path)
{
	struct fixture *f = *state;
	struct allowance *all;
	size_t n;

	assert_int_equal(allowed_list(f->dir, &f->arena, &all, &n, &f->err), 0);
	assert_int_equal(n, 0);
	keep(f, "/z/matins.toml");
	keep(f, "/a/matins.toml");
	assert_int_equal(allowed_list(f->dir, &f->arena, &all, &n, &f->err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(all[0].path, "/a/matins.toml");
	assert_string_equal(all[1].path, "/z/matins.toml");
	assert_int_equal(allowed_forget(f->dir, "/a/matins.toml", &f->err), 0);
	assert_int_equal(allowed_forget(f->dir, "/a/matins.toml", &f->err), 1);
	assert_int_equal(allowed_list(f->dir, &f->arena, &all, &n, &f->err), 0);
	assert_int_equal(n, 1);
}

/* The name of a file says which path it is for. */
TEST_IN(fixture, find, file_under_the_name_of_another, does_not_count)
{
	struct fixture *f = *state;
	struct allowance got, *all;
	const char *from, *to;
	size_t n;

	keep(f, "/p/matins.toml");
	from = file_of(f, "/p/matins.toml");
	to = file_of(f, "/q/matins.toml");
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(find(f, "/q/matins.toml", &got), 1);
	assert_int_equal(find(f, "/p/matins.toml", &got), 1);
	assert_int_equal(allowed_list(f->dir, &f->arena, &all, &n, &f->err), 0);
	assert_int_equal(n, 0);
}

TEST_IN(fixture, find, others_could_write, is_an_error)
{
	struct fixture *f = *state;
	struct allowance got;
	const char *file;

	keep(f, "/p/matins.toml");
	assert_int_equal(chmod(folder(f), 0720), 0);
	assert_int_equal(find(f, "/p/matins.toml", &got), -1);
	assert_non_null(strstr(f->err.msg, "could be written by others"));
	assert_int_equal(chmod(folder(f), 0700), 0);
	file = file_of(f, "/p/matins.toml");
	assert_int_equal(chmod(file, 0602), 0);
	assert_int_equal(find(f, "/p/matins.toml", &got), -1);
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(find(f, "/p/matins.toml", &got), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(file, 12345, 12345), 0);
	assert_int_equal(find(f, "/p/matins.toml", &got), -1);
}

TEST_IN(fixture, find, link_to_an_allowance, is_an_error)
{
	struct fixture *f = *state;
	struct allowance got;
	const char *file, *moved;

	keep(f, "/p/matins.toml");
	file = file_of(f, "/p/matins.toml");
	moved = arena_printf(&f->arena, "%s/moved", folder(f));
	assert_int_equal(rename(file, moved), 0);
	assert_int_equal(symlink("moved", file), 0);
	assert_int_equal(find(f, "/p/matins.toml", &got), -1);
}

TEST_IN(fixture, keep, name_without_utf8, is_an_error)
{
	struct fixture *f = *state;
	const struct allowance a = allowance("/p\xff/matins.toml");

	assert_int_equal(allowed_keep(f->dir, &a, &f->err), -1);
	assert_non_null(strstr(f->err.msg, "UTF-8"));
}

#define BEGIN                                                                \
	"{\"schema\":\"matins-allowed/1\",\"path\":\"/p\",\"sha256\":\"" SUM \
	"\","
#define BOTH "\"edits\":true,\"by_person\":true,"
#define END "\"wall_ms\":1,\"grants\":[]}"

TEST_IN(fixture, parse, other_text, is_an_error)
{
	static const char good[] =
		BEGIN "\"edits\":false,\"by_person\":false," END;
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"schema\":\"matins-allowed/2\"}",
		BEGIN END,
		BEGIN "\"edits\":1,\"by_person\":false," END,
		BEGIN "\"edits\":\"true\",\"by_person\":false," END,
		BEGIN "\"edits\":true,\"by_person\":null," END,
		BEGIN BOTH "\"wall_ms\":1}",
		BEGIN BOTH "\"wall_ms\":1.5,"
			   "\"grants\":[]}",
		BEGIN BOTH "\"wall_ms\":1,"
			   "\"grants\":[1]}",
		BEGIN BOTH "\"wall_ms\":1,"
			   "\"grants\":[\"a\\u0000b\"]}",
		BEGIN BOTH "\"target\":\"x\"," END,
		BEGIN BOTH "\"path\":\"x\"," END,
		BEGIN BOTH "\"sha256\":\"0\"," END,
	};
	struct fixture *f = *state;
	struct allowance a;

	assert_int_equal(allowed_parse(str_of(good), &f->arena, &a, &f->err),
			 0);
	assert_false(a.edits);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (allowed_parse(str_of(bad[i]), &f->arena, &a, &f->err) == 0)
			fail_msg("taken: %s", bad[i]);
}

/* ---- rows ---- */

static void assert_diff(const struct strlist *before, const struct strlist *now,
			const char *want)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	config_grants_diff(before, now, 3, &out);
	assert_string_equal(buf_cstr(&out), want);
	buf_release(&out);
}

TEST_IN(fixture, diff, rows, has_what_is_new_and_what_is_gone)
{
	static const char *a[] = {"starts git", "writes .", "reads /a"};
	static const char *b[] = {"starts git",	   "starts curl", "writes .",
				  "writes /x\x1b", "reads /b",	  "reads /c"};
	const struct strlist before = {a, 3}, now = {b, 6}, none = {NULL, 0};

	assert_diff(&before, &before, "");
	assert_diff(&before, &none,
		    "  - starts git\n  - writes .\n  - reads /a\n");
	assert_diff(&before, &now,
		    "  + starts curl\n  + writes /x\\x1b\n  + reads /b\n"
		    "  and 2 more\n");
}

TEST_IN(fixture, show, many_rows, are_counted)
{
	static const char *a[] = {"starts git", "writes /", "writes /a",
				  "writes /b"};
	const struct strlist all = {a, 4};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	config_grants_show(&all, 2, &out);
	assert_non_null(strstr(buf_cstr(&out), "and 1 more"));
	assert_null(strstr(buf_cstr(&out), "/b"));
	buf_clear(&out);
	config_grants_show(&all, 0, &out);
	assert_null(strstr(buf_cstr(&out), "more"));
	assert_non_null(strstr(buf_cstr(&out), "/b"));
	buf_release(&out);
}
