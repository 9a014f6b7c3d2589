#include <string.h>

#include "tests/unit/test.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/mcp/wire/cache.h"

#define NOW (100 * NS_PER_S)
#define RESULT(ttl) "{\"tools\":[],\"ttlMs\":" ttl "}"
#define NONE            \
	(struct str)    \
	{               \
		NULL, 0 \
	}

static bool has(struct cache *c, const char *method, const char *params,
		uint64_t now)
{
	struct str v;

	return cache_find(c, method, str_of(params), now, &v);
}

TEST(CH_3, fresh_for_its_time, and_not_longer)
{
	struct cache c = CACHE_INIT;
	struct str v;

	assert_true(
		cache_put(&c, "tools/list", NONE, STR(RESULT("1500")), NOW));
	assert_true(cache_find(&c, "tools/list", NONE,
			       NOW + 1500 * NS_PER_MS - 1, &v));
	assert_true(str_is(v, RESULT("1500")));
	assert_false(has(&c, "tools/list", "", NOW + 1500 * NS_PER_MS));
	assert_int_equal(cache_until(&c, "tools/list", NONE),
			 NOW + 1500 * NS_PER_MS);
	assert_int_equal(cache_until(&c, "prompts/list", NONE), 0);
	cache_release(&c);
}

TEST(CH_3, odd_times, are_stale_at_once)
{
	static const char *const odd[] = {RESULT("0"),
					  RESULT("-1"),
					  RESULT("1.5"),
					  RESULT("\"9\""),
					  RESULT("null"),
					  "{\"tools\":[]}",
					  "[]"};
	struct cache c = CACHE_INIT;

	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		assert_false(
			cache_put(&c, "tools/list", NONE, str_of(odd[i]), NOW));
	/* at most a day */
	assert_true(cache_put(&c, "tools/list", NONE,
			      STR(RESULT("9000000000000000000")), NOW));
	assert_true(has(&c, "tools/list", "", NOW + 86399 * NS_PER_S));
	assert_false(has(&c, "tools/list", "", NOW + 86400 * NS_PER_S));
	cache_release(&c);
}

TEST(CH_2, other_params, are_another_entry)
{
	struct cache c = CACHE_INIT;

	assert_true(cache_put(&c, "tools/list",
			      STR("{\"cursor\":\"a\",\"_meta\":{\"x\":1}}"),
			      STR(RESULT("9000")), NOW));
	assert_true(has(&c, "tools/list",
			"{\"_meta\":{\"x\":2},\"cursor\":\"\\u0061\"}", NOW));
	assert_false(has(&c, "tools/list", "{}", NOW));
	assert_false(has(&c, "tools/list", "{\"cursor\":\"\"}", NOW));
	assert_false(has(&c, "prompts/list", "{\"cursor\":\"a\"}", NOW));
	cache_release(&c);
}

TEST(CH_1, other_methods, are_not_kept)
{
	struct cache c = CACHE_INIT;

	assert_false(
		cache_put(&c, "tools/call", NONE, STR(RESULT("9000")), NOW));
	cache_release(&c);
}

TEST(CH_5, change, makes_it_stale)
{
	struct cache c = CACHE_INIT;

	assert_true(
		cache_put(&c, "tools/list", NONE, STR(RESULT("9000")), NOW));
	assert_true(cache_put(&c, "resources/templates/list", NONE,
			      STR(RESULT("9000")), NOW));
	assert_true(cache_put(&c, "resources/read", STR("{\"uri\":\"a:b\"}"),
			      STR(RESULT("9000")), NOW));
	cache_stale(&c, "notifications/resources/list_changed", STR(""));
	assert_true(has(&c, "tools/list", "", NOW));
	assert_false(has(&c, "resources/templates/list", "", NOW));
	cache_stale(&c, "notifications/resources/updated", STR("a:c"));
	assert_true(has(&c, "resources/read", "{\"uri\":\"a:b\"}", NOW));
	cache_stale(&c, "notifications/resources/updated", STR("a:b/sub"));
	assert_false(has(&c, "resources/read", "{\"uri\":\"a:b\"}", NOW));
	cache_stale(&c, "notifications/tools/list_changed", STR(""));
	assert_false(has(&c, "tools/list", "", NOW));
	cache_release(&c);
}

TEST(put, again, replaces_and_may_forget)
{
	struct cache c = CACHE_INIT;

	assert_true(
		cache_put(&c, "tools/list", NONE, STR(RESULT("9000")), NOW));
	assert_true(
		cache_put(&c, "tools/list", NONE, STR(RESULT("8000")), NOW));
	assert_int_equal(c.n, 1);
	assert_false(cache_put(&c, "tools/list", NONE, STR(RESULT("0")), NOW));
	assert_int_equal(c.n, 0);
	assert_int_equal(c.bytes, 0);
	cache_release(&c);
}

TEST(put, beyond_the_bound, drops_the_oldest)
{
	struct cache c = CACHE_INIT;
	char params[64];

	for (int i = 0; i < CACHE_ENTRIES_MAX + 10; i++) {
		snprintf(params, sizeof(params), "{\"cursor\":\"%d\"}", i);
		assert_true(cache_put(&c, "tools/list", str_of(params),
				      STR(RESULT("9000")), NOW));
	}
	assert_int_equal(c.n, CACHE_ENTRIES_MAX);
	assert_false(has(&c, "tools/list", "{\"cursor\":\"9\"}", NOW));
	assert_true(has(&c, "tools/list", "{\"cursor\":\"10\"}", NOW));
	cache_release(&c);
}
