/*
 * The tests of a room, as cmocka runs them. A file holds
 *
 *	TEST(subject, condition, result)
 *	{
 *		assert_true(...);
 *	}
 *
 * and nothing else is needed: the test is known to tests/unit/main.c, and its
 * three parts make the sentence that is printed. A test that stands on
 * something names a fixture, and gets what its set-up left:
 *
 *	FIXTURE(store, store_open, store_remove);
 *
 *	TEST_IN(store, read, nothing_there, is_no_error)
 *	{
 *		struct store *s = *state;
 *
 * TEST_SCRIPTS(fixture, play, PATTERN OF FILES) has tests that are data: each
 * begins with a line "== subject__condition__result", and play() gets the text
 * behind it.
 *
 * TEST_FILE(set_up, tear_down) is once for all tests of a file, which share a
 * process that other files do not see.
 */
#ifndef MATINS_TESTS_UNIT_TEST_H
#define MATINS_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/attr.h"

typedef int test_step(void **state);
typedef void test_player(const char *file, const char *name, const char *text);

/* Set up before a test and torn down after it; either may be NULL. */
struct test_fixture {
	test_step *set_up, *tear_down;
	/* the tests are run once more in the next one, with both named */
	const char *variant;
	const struct test_fixture *next;
};

/* A row: a test, or without a name what all tests of the file stand on. */
struct test {
	const char *file;
	int line;
	const char *name;
	const struct test_fixture *fixture;
	void (*run)(void);
	void (*run_in)(void **state);
	test_player *play;
	const char *scripts; /* for glob() */
};

/* The linker gathers pointers to all rows between __start_ and __stop_tests. */
#define TEST_ROW_(id, ...)                                               \
	static const struct test id = {__FILE__, __LINE__, __VA_ARGS__}; \
	static const struct test *const id##_row                         \
		__attribute__((section("tests"), used)) = &id

#define TEST_(name)                                                  \
	static void name(void);                                      \
	TEST_ROW_(test_##name, #name, NULL, name, NULL, NULL, NULL); \
	static void name(void)

#define TEST_IN_(fixture, name)                                          \
	static void name(void **state);                                  \
	TEST_ROW_(test_##name, #name, &fixture, NULL, name, NULL, NULL); \
	static void name(UNUSED void **state)

#define TEST(subject, condition, result) \
	TEST_(subject##__##condition##__##result)

#define TEST_IN(fixture, subject, condition, result) \
	TEST_IN_(fixture, subject##__##condition##__##result)

#define FIXTURE(name, set_up, tear_down)                                   \
	static const struct test_fixture name UNUSED = {set_up, tear_down, \
							NULL, NULL}

#define TEST_FILE(set_up, tear_down)                   \
	FIXTURE(test_file_fixture, set_up, tear_down); \
	TEST_ROW_(test_file, NULL, &test_file_fixture, NULL, NULL, NULL, NULL)

#define TEST_SCRIPTS(fixture, play, files) \
	TEST_ROW_(test_scripts, NULL, &fixture, NULL, NULL, play, files)

#endif
