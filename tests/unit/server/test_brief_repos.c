#include "tests/unit/server/brief_fixture.h"

/* Trees with a history are in the black-box test: they need git itself. */

static void make_dir(const char *name)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&path, "%s/%s", scratch, name);
	if (fd_mkdirs(buf_cstr(&path), 0700) < 0)
		fail_msg("mkdir %s", name);
}

#define MAKE_EMPTY_REPO(name)                                        \
	do {                                                         \
		make_dir(name "/.git/objects");                      \
		make_dir(name "/.git/refs");                         \
		WRITE(name "/.git/HEAD", "ref: refs/heads/trunk\n"); \
		WRITE(name "/.git/config",                           \
		      "[core]\nrepositoryformatversion = 0\n");      \
	} while (0)

TEST(repos, no_commit_yet, branch_without_head)
{
	MAKE_EMPTY_REPO("one");
	WRITE("one/file", "x");
	call("repos", "{\"paths\":[\"~/one\"]}");
	if (result.is_error)
		fail_msg("%s", TEXT());
	assert_string_equal(TEXT(), "one: trunk, no commit yet; 1 untracked");
	assert_string_equal(
		STRUCTURED(),
		"{\"repos\":[{\"name\":\"one\",\"path\":\"~/one\","
		"\"branch\":\"trunk\",\"detached\":false,\"changes\":{"
		"\"staged\":0,\"modified\":0,\"untracked\":1,"
		"\"conflicted\":0}}],\"problems\":[]}");
}

TEST(repos, folder, children_by_name)
{
	MAKE_EMPTY_REPO("all/b");
	MAKE_EMPTY_REPO("all/a");
	MAKE_EMPTY_REPO("all/c/deeper");
	make_dir("all/plain");
	call("repos", "{\"paths\":[\"~/all\"]}");
	assert_false(result.is_error);
	assert_string_equal(TEXT(), "a: trunk, no commit yet; clean\n"
				    "b: trunk, no commit yet; clean");
}

TEST(repos, user_configuration_is_unreadable, ignored)
{
	MAKE_EMPTY_REPO("two");
	/* a folder in its place: as unreadable for root as for others */
	make_dir(".gitconfig");
	setenv("HOME", scratch, 1);
	call("repos", "{\"paths\":[\"~/two\"]}");
	if (result.is_error)
		fail_msg("%s", TEXT());
	unsetenv("HOME");
	call("repos", "{\"paths\":[\"~/two\"]}");
	if (result.is_error)
		fail_msg("%s", TEXT());
}

TEST(repos, no_tree, is_said_and_no_error)
{
	make_dir("plain");
	call("repos", "{\"paths\":[\"~/plain\"]}");
	assert_false(result.is_error);
	assert_string_equal(TEXT(), "~/plain: no git working tree there nor "
				    "directly beneath");
}

TEST(repos, missing_or_broken, error_beside_the_rest)
{
	MAKE_EMPTY_REPO("three");
	make_dir("broken/.git");
	call("repos", "{\"paths\":[\"~/none\",\"~/broken\",\"~/three\"]}");
	assert_true(result.is_error);
	assert_has(TEXT(), "three: trunk, no commit yet; clean\n~/none: No "
			   "such file or directory; where it exists, a "
			   "routine must grant it: sandbox = { read = "
			   "[\"~/none\"] }\n~/broken: ");
	assert_has(STRUCTURED(), "\"problems\":[{\"path\":\"~/none\",");
	call("repos", "{\"paths\":[\"~/a\\\"] }\"]}");
	assert_has(TEXT(), "must grant it: sandbox = { read = [\"PATH\"] }");
}

TEST(repos, library_missing, names_the_package)
{
	env.libgit = "libmatins-nonesuch.so.1";
	call("repos", "{\"paths\":[\"/\"]}");
	env.libgit = NULL;
	assert_true(result.is_error);
	assert_has(TEXT(), "apt-get install libgit2-");
	assert_string_equal(STRUCTURED(), "");
}

TEST(repos, another_library, is_refused)
{
	env.libgit = "libc.so.6";
	call("repos", "{\"paths\":[\"/\"]}");
	env.libgit = NULL;
	assert_true(result.is_error);
	assert_has(TEXT(), "has no git_libgit2_init");
}

TEST_FILE(fixture_set_up, fixture_tear_down);
