#include "tests/unit/test.h"

#include "core/schema/value.h"

static int order(const char *a, const char *b)
{
	struct decimal da = decimal_of(str_of(a)), db = decimal_of(str_of(b));
	int there = decimal_compare(&da, &db), back = decimal_compare(&db, &da);

	assert_int_equal(there<0, back> 0);
	assert_int_equal(there == 0, back == 0);
	if (there == 0)
		assert_int_equal(decimal_hash(&da), decimal_hash(&db));
	return there < 0 ? -1 : there > 0;
}

static bool multiple(const char *a, const char *b)
{
	struct decimal da = decimal_of(str_of(a)), db = decimal_of(str_of(b));

	return decimal_is_multiple(&da, &db);
}

static bool integer(const char *a)
{
	struct decimal d = decimal_of(str_of(a));

	return decimal_is_integer(&d);
}

static uint64_t count(const char *a)
{
	struct decimal d = decimal_of(str_of(a));

	return decimal_count(&d);
}

TEST(compare, other_spelling, equal)
{
	static const char *const same[][2] = {
		{"1", "1.0"},
		{"1e2", "100"},
		{"0.1", "1e-1"},
		{"-0", "0"},
		{"0.0e99", "0"},
		{"12.50", "0.1250e+2"},
		{"1E400", "10e399"},
		{"0.00120", "12e-4"},
		{"100000000000000000000", "1e20"},
	};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		assert_int_equal(order(same[i][0], same[i][1]), 0);
}

TEST(compare, in_order, below)
{
	static const char *const rising[] = {
		"-1e400",
		"-9007199254740993",
		"-9007199254740992",
		"-1.5",
		"-1",
		"-1e-400",
		"0",
		"1e-400",
		"0.1",
		"0.10000000000000000000001",
		"1",
		"9007199254740992",
		"9007199254740993",
		"1e400",
		"1.00000000000000000000001e400",
	};

	for (size_t i = 0; i < ARRAY_LEN(rising); i++)
		for (size_t k = i + 1; k < ARRAY_LEN(rising); k++)
			assert_int_equal(order(rising[i], rising[k]), -1);
}

TEST(compare, endless_exponent, bounded)
{
	assert_int_equal(order("1e99999999999999999999999", "1e400"), 1);
	assert_int_equal(order("1e-99999999999999999999999", "1e-400"), -1);
	assert_int_equal(order("0e99999999999999999999999", "0"), 0);
}

TEST(integer, fraction_of_zeros, is_one)
{
	assert_true(integer("1.0"));
	assert_true(integer("-0.0"));
	assert_true(integer("1.5e1"));
	assert_true(integer("1e400"));
	assert_true(integer("12345678901234567890123456789"));
	assert_false(integer("1.5"));
	assert_false(integer("1e-1"));
	assert_false(integer("123456789012345678901234567890.5"));
}

TEST(count, any_size, saturates)
{
	assert_int_equal(count("0"), 0);
	assert_int_equal(count("2.0"), 2);
	assert_int_equal(count("12e3"), 12000);
	assert_true(count("18446744073709551615") == UINT64_MAX);
	assert_true(count("18446744073709551616") == UINT64_MAX);
	assert_true(count("1e400") == UINT64_MAX);
}

TEST(multiple, decimals, exact)
{
	assert_true(multiple("0.1", "0.01"));
	assert_true(multiple("0.3", "0.1"));
	assert_true(multiple("1.13", "0.01"));
	assert_true(multiple("0.0075", "0.0001"));
	assert_true(multiple("-4.5", "1.5"));
	assert_true(multiple("0", "7"));
	assert_true(multiple("1e400", "0.5"));
	assert_true(multiple("9007199254740993", "3"));
	assert_true(multiple("1e308", "123456789e-9") ==
		    multiple("1e317", "123456789"));
	assert_false(multiple("0.00751", "0.0001"));
	assert_false(multiple("1", "3"));
	assert_false(multiple("1e400", "3"));
	assert_false(multiple("9007199254740992", "3"));
	assert_false(multiple("35", "1.5"));
	assert_false(multiple("0.1", "1"));
}
