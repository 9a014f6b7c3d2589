/* The edit script between random documents. */
#include "tests/unit/test.h"

#include "tests/unit/report/diff_properties.h"

static uint32_t seed = 7;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* One value, on a level; the same seed gives the same value. */
static void add_value(struct buf *out, unsigned int level)
{
	static const char *const scalars[] = {
		"0",
		"1",
		"1.0",
		"-3e2",
		"true",
		"false",
		"null",
		"\"\"",
		"\"a\"",
		"\"\\u0061\"",
		"\"x\\ny\"",
		"\"{\\\"a\\\": 1}\"",
		"\"[1, 2]\"",
		"\"123e4567-e89b-12d3-a456-426614174000\"",
		"\"2026-01-31\"",
	};
	static const char *const keys[] = {"a", "b",   "id",
					   "",	"a.b", "\\u0061"};
	uint32_t kind = rnd(level > 3 ? 4 : 8), n = rnd(6);

	if (kind < 4) {
		buf_adds(out, scalars[rnd(ARRAY_LEN(scalars))]);
		return;
	}
	buf_addc(out, kind < 6 ? '[' : '{');
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(out, i ? "," : "");
		if (kind >= 6)
			buf_addf(out, "\"%s\":", keys[rnd(ARRAY_LEN(keys))]);
		add_value(out, level + 1);
	}
	buf_addc(out, kind < 6 ? ']' : '}');
}

/* Elements of an array, of which `kept` in a hundred are those of `from`. */
static void add_document(struct buf *out, uint32_t from, uint32_t kept)
{
	uint32_t own = rnd(UINT32_MAX >> 8), n = rnd(12), later;

	buf_adds(out, "{\"step_results\":[");
	for (uint32_t i = 0; i < n; i++) {
		later = seed;
		if (rnd(100) < kept)
			seed = from + i;
		else
			seed = own + i;
		buf_addf(out,
			 "%s{\"step_name\":\"s%u\",\"output\":\"x\","
			 "\"data\":",
			 i ? "," : "", (i + (own & 1)) % 9);
		add_value(out, 0);
		buf_addc(out, '}');
		seed = later + 1;
	}
	buf_adds(out, "]}");
}

TEST(diff, random_documents, lead_from_one_to_the_other)
{
	static const char *const rules[] = {
		"",
		"{\"embedded_json\":false}",
		"{\"ignore\":[\"data.a\"]}",
		"{\"ignore\":[\"$..id\"],\"tolerance\":{\"$..a\":\"100%\"}}",
		"{\"arrays\":{\"data\":\"set\",\"$..a\":\"key:id\"}}",
		"{\"arrays\":{\"$..*\":\"multiset\"}}",
		"{\"match\":{\"$..a\":\"uuid\",\"$..b\":\"time\"}}",
	};

	for (uint32_t round = 0; round < 2000; round++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf old = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf new = BUF_INIT(BUF_UNBOUNDED);
		struct documents d = {.arena = &arena};

		add_document(&old, round * 31, 100);
		add_document(&new, round * 31, 70);
		d.old = buf_str(&old);
		d.new = buf_str(&new);
		d.rules = str_of(rules[round % ARRAY_LEN(rules)]);
		assert_true(diff_properties(&d));
	}
}
