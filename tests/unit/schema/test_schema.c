#include "tests/unit/test.h"

#include "core/schema/regex.h"
#include "tests/unit/schema/schema_fixture.h"

TEST(validate, more_than_the_bound, counts_errors_over_the_bound)
{
	AUTO(schema_freep)
	struct schema *s = compiled("{'items':{'type':'null'}}");
	struct buf value = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result result;
	struct err err = ERR_INIT;

	buf_addc(&value, '[');
	for (int i = 0; i < 99; i++)
		buf_adds(&value, "1,");
	buf_adds(&value, "1]");
	assert_int_equal(schema_validate(s, buf_str(&value), &fixture_arena,
					 &result, &err),
			 SCHEMA_VIOLATED);
	assert_int_equal(result.n, LIMIT_SCHEMA_VIOLATIONS);
	assert_int_equal(result.n_more, 100 - LIMIT_SCHEMA_VIOLATIONS);
	buf_release(&value);
}

TEST(add, document, is_found)
{
	struct schema_docs docs = {.arena = &fixture_arena};
	const struct schema_options options = {.docs = &docs};
	struct schema_result result;
	struct err err = ERR_INIT;
	struct schema *s;

	assert_int_equal(schema_add(&docs, STR("http://x/y#"),
				    STR("{\"$defs\":{\"a\":{\"type\":"
					"\"null\"}}}"),
				    &err),
			 0);
	assert_int_equal(schema_compile(STR("{\"$ref\":\"http://x/z/../y#/"
					    "$defs/a\"}"),
					&options, &s, &err),
			 0);
	assert_int_equal(
		schema_validate(s, STR("1"), &fixture_arena, &result, &err),
		SCHEMA_VIOLATED);
	assert_true(str_is(result.item[0].schema, "http://x/y#/$defs/a/type"));
	assert_true(str_is(result.item[0].instance, ""));
	assert_string_equal(result.item[0].keyword, "type");
	schema_free(s);
	assert_int_equal(schema_add(&docs, STR(""), STR("{}"), &err), -1);
	assert_int_equal(schema_add(&docs, STR("a"), STR("{"), &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
}

static const char *nested(const char *before, int n, const char *inner,
			  const char *after)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *copy;

	for (int i = 0; i < n; i++)
		buf_adds(&out, before);
	buf_adds(&out, inner);
	for (int i = 0; i < n; i++)
		buf_adds(&out, after);
	copy = arena_strndup(&fixture_arena, buf_cstr(&out), out.n);
	buf_release(&out);
	return copy;
}

TEST(compile, over_a_bound, ends_at_a_limit)
{
	struct buf many = BUF_INIT(BUF_UNBOUNDED);

	schema_free(
		compiled(nested("{'not':", LIMIT_SCHEMA_NESTING, "{}", "}")));
	assert_int_equal(
		refusal(nested("{'not':", LIMIT_SCHEMA_NESTING + 1, "{}", "}")),
		ERR_LIMIT);

	buf_adds(&many, "{'allOf':[true");
	for (int i = 2; i < LIMIT_SCHEMA_NODES; i++)
		buf_adds(&many, ",true");
	buf_adds(&many, "]}");
	schema_free(compiled(buf_cstr(&many)));
	many.n -= 2;
	buf_adds(&many, ",true]}");
	assert_int_equal(refusal(buf_cstr(&many)), ERR_LIMIT);

	buf_clear(&many);
	buf_adds(&many, "{'patternProperties':{'x':true");
	for (int i = 0; i < 1100; i++)
		buf_addf(&many, ",\"%d\":true", i);
	buf_adds(&many, "}}");
	assert_int_equal(refusal(buf_cstr(&many)), ERR_LIMIT);
	buf_release(&many);

	assert_int_equal(refusal("{'multipleOf':1.234567890123456789}"),
			 ERR_LIMIT);
}

TEST(validate, too_much_work, is_an_error_and_no_verdict)
{
	AUTO(buf_release) struct buf schema = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	/* each level doubles the work */
	buf_adds(&schema, "{'$ref':'#/$defs/a0','$defs':{");
	for (int i = 0; i < 40; i++)
		buf_addf(&schema,
			 "'a%d':{'allOf':[{'$ref':'#/$defs/a%d'},"
			 "{'$ref':'#/$defs/a%d'}]},",
			 i, i + 1, i + 1);
	buf_adds(&schema, "'a40':true}}");
	assert_int_equal(judge(json(buf_cstr(&schema)), STR("1"), &out, &err),
			 -1);
	assert_string_equal(err.msg, "validation is too much work; no verdict");
}

TEST(new, too_long, limit)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct regex *r;

	for (int i = 0; i < LIMIT_REGEX_BYTES; i++)
		buf_addc(&text, 'a');
	assert_int_equal(regex_new(buf_str(&text), &r, &err), 0);
	regex_free(r);
	buf_addc(&text, 'a');
	assert_int_equal(regex_new(buf_str(&text), &r, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_release(&text);
}

TEST_FILE(NULL, release_fixture);
