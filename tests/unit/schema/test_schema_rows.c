/*
 * Schemas and what they stand on, row by row: tests/unit/schema/values.
 *
 *	verdict SCHEMA | VALUE	the violations, a line each
 *	compile SCHEMA
 *	pattern REGEX		compile it
 *	search REGEX | TEXT	is it found?
 *	order A | B		of two numbers: -1, 0, 1
 *	multiple A | B		is A one of B?
 *	integer A		is it one?
 *	count A			as the bound of a length
 *	resolve BASE | URI
 *	fragment URI
 *	format NAME | TEXT	has the text this form?
 */
#include "tests/unit/test.h"

#include "core/base/url.h"
#include "core/schema/format.h"
#include "core/schema/regex.h"
#include "core/schema/value.h"
#include "tests/unit/schema/schema_fixture.h"
#include "tests/unit/values.h"

static int read_verdict(struct value_row *r)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	int rc = judge(value_bytes(r, r->part[0]), value_bytes(r, r->part[1]),
		       &out, &r->err);

	add_encoded(&r->out, buf_str(&out));
	return rc;
}

static int read_compile(struct value_row *r)
{
	AUTO(schema_freep) struct schema *s = NULL;

	return schema_compile(value_bytes(r, r->part[0]), NULL, &s, &r->err);
}

static int read_pattern(struct value_row *r)
{
	struct regex *regex;

	if (regex_new(value_bytes(r, r->part[0]), &regex, &r->err) < 0)
		return -1;
	regex_free(regex);
	return 0;
}

static int read_search(struct value_row *r)
{
	uint64_t steps = 1000000;
	struct regex *regex;

	if (regex_new(value_bytes(r, r->part[0]), &regex, &r->err) < 0)
		return -1;
	buf_addf(&r->out, "%d",
		 regex_search(regex, value_bytes(r, r->part[1]), &steps));
	regex_free(regex);
	return 0;
}

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

static int read_order(struct value_row *r)
{
	buf_addf(&r->out, "%d", order(r->part[0], r->part[1]));
	return 0;
}

static int read_multiple(struct value_row *r)
{
	struct decimal a = decimal_of(str_of(r->part[0]));
	struct decimal b = decimal_of(str_of(r->part[1]));

	return value_is(r, decimal_is_multiple(&a, &b));
}

static int read_integer(struct value_row *r)
{
	struct decimal d = decimal_of(str_of(r->part[0]));

	return value_is(r, decimal_is_integer(&d));
}

static int read_count(struct value_row *r)
{
	struct decimal d = decimal_of(str_of(r->part[0]));

	buf_addu(&r->out, decimal_count(&d));
	return 0;
}

static int read_resolve(struct value_row *r)
{
	add_encoded(&r->out,
		    uri_resolve(value_bytes(r, r->part[0]),
				value_bytes(r, r->part[1]), &r->arena));
	return 0;
}

static int read_fragment(struct value_row *r)
{
	add_encoded(&r->out,
		    uri_fragment(value_bytes(r, r->part[0]), &r->arena));
	return 0;
}

static int read_format(struct value_row *r)
{
	const char *name = arena_printf(&r->arena, "\"%s\"", r->part[0]);

	return value_is(
		r, !format_missed(str_of(name), value_bytes(r, r->part[1])));
}

static void play(const char *file, const char *name, const char *text)
{
	static const struct value_reader calls[] = {
		{"verdict", read_verdict}, {"compile", read_compile},
		{"pattern", read_pattern}, {"search", read_search},
		{"order", read_order},	   {"multiple", read_multiple},
		{"integer", read_integer}, {"count", read_count},
		{"resolve", read_resolve}, {"fragment", read_fragment},
		{"format", read_format},   {0},
	};

	values_play(calls, ARRAY_LEN(calls), file, name, text);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/schema/values/*.transcript");

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

TEST(format, asserted, sentence)
{
	const struct schema_options options = {.assert_formats = true};
	struct schema_result result;
	struct err err = ERR_INIT;
	struct schema *s;

	assert_int_equal(schema_compile(STR("{\"format\":\"date\"}"), &options,
					&s, &err),
			 0);
	assert_int_equal(schema_validate(s, STR("\"31.1.\""), &fixture_arena,
					 &result, &err),
			 SCHEMA_VIOLATED);
	assert_string_equal(result.item[0].text.p,
			    "is \"31.1.\", must be a date such as 2026-01-31");
	assert_int_equal(
		schema_validate(s, STR("1"), &fixture_arena, &result, &err),
		SCHEMA_VALID);
	assert_null(format_missed(STR("1"), STR("?")));
	schema_free(s);
}

TEST_FILE(NULL, release_fixture);
