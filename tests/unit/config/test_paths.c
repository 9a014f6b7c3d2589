#include "tests/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/config/paths.h"

/* A link of the kernel that leads to "/". */
#define SELF_ROOT "/proc/self/root"

static int setup(UNUSED void **state)
{
	setenv("HOME", "/home/me", 1);
	return chdir("/usr");
}

TEST(resolve, any_spelling, one_rule)
{
	static const struct {
		const char *path, *folder, *want;
	} rows[] = {
		{"~", "/etc", "/home/me"},
		{"~/a", NULL, "/home/me/a"},
		{"~a/b", "/etc", "/etc/~a/b"},
		{"a/~/b", "/etc", "/etc/a/~/b"},
		{"a", "/etc", "/etc/a"},
		{"a", NULL, "/usr/a"},
		{"a", "/", "/a"},
		{"", NULL, "/usr"},
		{".", "/etc", "/etc"},
		{"./a/./b//c/", "/etc", "/etc/a/b/c"},
		{"../a", "/etc", "/a"},
		{"../../..", "/etc", "/"},
		{"/a/../b/", "/etc", "/b"},
		{"/", NULL, "/"},
	};
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(
			path_resolve(rows[i].path, rows[i].folder, &arena),
			rows[i].want);
}

TEST(resolve, up_behind_a_link, stays_to_be_judged)
{
	/* links of /proc are everywhere */
	static const struct {
		const char *path, *want;
	} rows[] = {
		{SELF_ROOT "/../a", SELF_ROOT "/../a"},
		{SELF_ROOT "/../../a/./b", SELF_ROOT "/../../a/b"},
		{SELF_ROOT "/..", SELF_ROOT "/.."},
		{"/proc/not there/../a", "/proc/a"},
		{"/proc/sys/../a", "/proc/a"},
	};
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(path_resolve(rows[i].path, NULL, &arena),
				    rows[i].want);
}

TEST(resolve, no_home, tilde_is_a_name)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	unsetenv("HOME");
	assert_string_equal(path_resolve("~/a", "/etc", &arena), "/etc/~/a");
	setenv("HOME", "", 1);
	assert_string_equal(path_resolve("~/a", "/etc", &arena), "/etc/~/a");
}

TEST(program, bare_name, stays)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	setenv("HOME", "/home/me", 1);
	assert_string_equal(path_program("git", "/etc", &arena), "git");
	assert_string_equal(path_program("./git", "/etc", &arena), "/etc/git");
	assert_string_equal(path_program("~/bin/git", "/etc", &arena),
			    "/home/me/bin/git");
}

TEST(words, command_line, program_and_homes)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct strlist words;

	assert_int_equal(path_words("bin/x ~/a b/c '~/d e' --f=~/g", "/etc",
				    &arena, &words, &err),
			 0);
	assert_int_equal(words.n, 5);
	assert_string_equal(words.item[0], "/etc/bin/x");
	assert_string_equal(words.item[1], "/home/me/a");
	assert_string_equal(words.item[2], "b/c");
	assert_string_equal(words.item[3], "/home/me/d e");
	assert_string_equal(words.item[4], "--f=~/g");
	assert_int_equal(path_words("'open", "/etc", &arena, &words, &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
}

/* rows: where a link lies, where it leads, what programs write */
TEST(links, out_of_what_is_written, are_refused)
{
	static const struct {
		const char *link, *leads, *writes;
		int want;
	} rows[] = {
		{"/usr/lib", "/usr/share", "/usr/bin", 0},
		{"/usr/lib", "/usr/share", "/usr/lib", -1},
		{"/usr/lib", "/usr/share", "/usr", 0},
		{"/usr/lib", "/usr/lib", "/usr/lib", 0},
		{"/usr/lib", "/usr/share", "/none", 0},
		{"/usr/lib", "/usr/share", "/", 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *link = rows[i].link, *writes = rows[i].writes;
		const struct outfolder d = {
			.fd = -1, .path = rows[i].leads, .links = {&link, 1}};
		struct err err = ERR_INIT;

		assert_int_equal(path_check_links("x", &d,
						  &(struct strlist){&writes, 1},
						  &err),
				 rows[i].want);
		if (rows[i].want)
			assert_int_equal(err.kind, ERR_OUTPUT);
	}
}

TEST_FILE(setup, NULL);
