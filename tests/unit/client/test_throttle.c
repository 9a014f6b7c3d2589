#include "core/client/throttle.h"
#include "core/config/rate.h"

#include "tests/unit/test.h"

#define S INT64_C(1000000000)
#define NOW (INT64_C(1800000000) * S)

TEST(bucket, tokens, are_so_many_and_come_back_one_by_one)
{
	struct bucket b = {0, 0};

	for (int i = 0; i < 60; i++)
		assert_int_equal(bucket_take(&b, 60, 60 * S, NOW), 0);
	assert_int_equal(bucket_take(&b, 60, 60 * S, NOW), S);
	assert_int_equal(bucket_take(&b, 60, 60 * S, NOW + S - 1), 1);
	assert_int_equal(bucket_take(&b, 60, 60 * S, NOW + S), 0);
	assert_int_equal(bucket_take(&b, 60, 60 * S, NOW + S), S);
	/* no more than a whole bucket is saved up */
	for (int i = 0; i < 60; i++)
		assert_int_equal(bucket_take(&b, 60, 60 * S, NOW + 900 * S), 0);
	assert_int_not_equal(bucket_take(&b, 60, 60 * S, NOW + 900 * S), 0);
}

TEST(bucket, clock_that_was_put_back, holds_for_one_bucket_at_most)
{
	struct bucket b = {NOW + 100000 * S, 0};

	assert_int_equal(bucket_take(&b, 2, 60 * S, NOW), 30 * S);
	/* and comes to an end */
	assert_int_equal(bucket_take(&b, 2, 60 * S, NOW + 30 * S), 0);
	b = (struct bucket){0, NOW + 100000 * S};
	assert_int_equal(bucket_take(&b, 0, 0, NOW), THROTTLE_HOLD_MAX_S * S);
}

TEST(bucket, hold, goes_over_tokens)
{
	struct bucket b = {0, NOW + 5 * S};

	assert_int_equal(bucket_take(&b, 10, S, NOW), 5 * S);
	assert_int_equal(bucket_take(&b, 10, S, NOW + 5 * S), 0);
	b.hold_ns = NOW + 9 * S;
	assert_int_equal(bucket_take(&b, 0, 0, NOW + 8 * S), S);
	assert_int_equal(bucket_take(&b, 0, 0, NOW + 9 * S), 0);
}

TEST(rate, text, is_read_or_refused)
{
	static const char *const wrong[] = {
		"",	"60",	"/min", "0/s",	     "60/m",	"60/minutes",
		"-1/s", "1 /s", "1/s ", "1000001/s", "60/min/", "1.5/s",
	};
	uint64_t n, ns;

	assert_true(rate_read(STR("60/min"), &n, &ns));
	assert_int_equal(n, 60);
	assert_int_equal(ns, 60 * S);
	assert_true(rate_read(STR("5/s"), &n, &ns));
	assert_int_equal(ns, S);
	assert_true(rate_read(STR("1000000/h"), &n, &ns));
	assert_int_equal(ns, 3600 * S);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(rate_read(str_of(wrong[i]), &n, &ns));
}
