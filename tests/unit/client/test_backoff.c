#include "tests/unit/test.h"

#include "core/base/clock.h"
#include "core/client/backoff.h"

#define NOW (UINT64_C(7) * NS_PER_S)

static uint64_t pause_after(struct backoff *b, bool has_answered)
{
	backoff_ended(b, has_answered, NOW);
	assert_int_equal(b->not_before_ns, NOW + b->pause_ms * NS_PER_MS);
	return b->pause_ms;
}

TEST(backoff, server_that_never_answers, waits_twice_as_long_each_time)
{
	static const uint64_t pauses_s[] = {1, 2, 4, 8, 16, 32, 60, 60};
	struct backoff b = {0};

	assert_int_equal(b.not_before_ns, 0);
	for (size_t i = 0; i < ARRAY_LEN(pauses_s); i++)
		assert_int_equal(pause_after(&b, false), pauses_s[i] * 1000);
}

TEST(backoff, server_that_answered, begins_again)
{
	struct backoff b = {0};

	assert_int_equal(pause_after(&b, false), 1000);
	assert_int_equal(pause_after(&b, false), 2000);
	assert_int_equal(pause_after(&b, true), 1000);
	assert_int_equal(pause_after(&b, false), 2000);
}
