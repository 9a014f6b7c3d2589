/* Users: entries of a table. */

#include "core/base/user.h"
#include "tests/unit/test.h"

static const char table[] = "root:x:0:0:root:/root:/bin/bash\n"
			    "# comment\n"
			    "+::::::\n"
			    "\n"
			    "short:x:7:7\n"
			    ":x:8:8::/:\n"
			    "big:x:4294967296:8::/:\n"
			    "neg:x:-1:8::/:\n"
			    "ann:x:1000:1001:Ann,,,:/home/ann:/bin/sh\n"
			    "twin:x:1000:9::/home/twin:/bin/sh\n"
			    "last:x:4294967295:0::/last:";

TEST(user_find_in, names_and_numbers, first_entry_counts)
{
	struct user u;

	assert_true(user_find_in(str_of(table), "ann", 0, &u));
	assert_int_equal(u.uid, 1000);
	assert_int_equal(u.gid, 1001);
	assert_true(str_is(u.home, "/home/ann"));
	assert_true(user_find_in(str_of(table), NULL, 1000, &u));
	assert_true(str_is(u.name, "ann"));
	assert_true(user_find_in(str_of(table), NULL, 0, &u));
	assert_true(str_is(u.home, "/root"));
	assert_true(user_find_in(str_of(table), "last", 0, &u));
	assert_int_equal(u.uid, UINT32_MAX);
}

TEST(user_find_in, lines_that_are_no_entry, left_out)
{
	static const char *const names[] = {"short", "",  "+",	"big",
					    "neg",   "#", "an", "# comment"};
	struct user u;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (user_find_in(str_of(table), names[i], 0, &u))
			fail_msg("\"%s\" is no user", names[i]);
	assert_false(user_find_in(str_of(table), NULL, 8, &u));
	assert_false(user_find_in(str_of(""), "root", 0, &u));
}
