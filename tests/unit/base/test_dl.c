/* Shared libraries that are loaded on first use. */

#include "tests/unit/test.h"

#include <unistd.h>

#include "core/base/dl.h"

/* The last one is not the library's: it stays as it is. */
struct functions {
	DL_MEMBER(getpid)
	DL_MEMBER(getppid)
	int more;
};

TEST(dl, library_with_all_names, is_loaded_once)
{
	static const char *const names[] = {DL_NAME(getpid) DL_NAME(getppid)};
	struct functions f = {.more = 7};
	struct dl dl = DL("libc.so.6", names, f);

	assert_true(dl_load(&dl));
	assert_null(dl.lacks);
	assert_int_equal(f.getpid(), getpid());
	assert_int_equal(f.getppid(), getppid());
	assert_int_equal(f.more, 7);
	f.getpid = NULL;
	assert_true(dl_load(&dl));
	assert_null(f.getpid);
}

TEST(dl, name_that_is_missing, is_said)
{
	static const char *const names[] = {"getpid", "no_such_function"};
	struct functions f = {.more = 7};
	struct dl dl = DL("libc.so.6", names, f);

	assert_false(dl_load(&dl));
	assert_string_equal(dl.lacks, "no_such_function");
	assert_false(dl_load(&dl));
}

TEST(dl, library_that_is_missing, is_not_tried_again)
{
	static const char *const names[] = {"getpid"};
	struct functions f = {.more = 7};
	struct dl dl = DL("libno-such.so.1", names, f);

	assert_false(dl_load(&dl));
	assert_null(dl.lacks);
	assert_null(f.getpid);
	dl.file = "libc.so.6";
	assert_false(dl_load(&dl));
}
