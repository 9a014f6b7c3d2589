/* Shared libraries that are loaded on first use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "core/base/dl.h"

/* The last one is not the library's: it stays as it is. */
struct functions {
	DL_MEMBER(getpid)
	DL_MEMBER(getppid)
	int more;
};

static void dl__library_with_all_names__is_loaded_once(void **state)
{
	static const char *const names[] = {DL_NAME(getpid) DL_NAME(getppid)};
	struct functions f = {.more = 7};
	struct dl dl = DL("libc.so.6", names, f);

	(void)state;
	assert_true(dl_load(&dl));
	assert_null(dl.lacks);
	assert_int_equal(f.getpid(), getpid());
	assert_int_equal(f.getppid(), getppid());
	assert_int_equal(f.more, 7);
	f.getpid = NULL;
	assert_true(dl_load(&dl));
	assert_null(f.getpid);
}

static void dl__name_that_is_missing__is_said(void **state)
{
	static const char *const names[] = {"getpid", "no_such_function"};
	struct functions f = {.more = 7};
	struct dl dl = DL("libc.so.6", names, f);

	(void)state;
	assert_false(dl_load(&dl));
	assert_string_equal(dl.lacks, "no_such_function");
	assert_false(dl_load(&dl));
}

static void dl__library_that_is_missing__is_not_tried_again(void **state)
{
	static const char *const names[] = {"getpid"};
	struct functions f = {.more = 7};
	struct dl dl = DL("libno-such.so.1", names, f);

	(void)state;
	assert_false(dl_load(&dl));
	assert_null(dl.lacks);
	assert_null(f.getpid);
	dl.file = "libc.so.6";
	assert_false(dl_load(&dl));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dl__library_with_all_names__is_loaded_once),
		cmocka_unit_test(dl__name_that_is_missing__is_said),
		cmocka_unit_test(
			dl__library_that_is_missing__is_not_tried_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
