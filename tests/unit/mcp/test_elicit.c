#include <string.h>

#include "tests/unit/test.h"

#include "core/mcp/wire/elicit.h"

#define FORM(properties, required)                                           \
	"{\"message\":\"Who\\u003f\",\"requestedSchema\":{\"type\":"         \
	"\"object\",\"properties\":{" properties "},\"required\":[" required \
	"]}}"

/* Read, answer, compare; `why` is a part of the reason, NULL for none. */
static void answers(const char *params, enum elicit_action action,
		    const char *values, const char *expected, const char *why)
{
	struct arena arena = ARENA_INIT;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct elicit e;
	struct str said;

	assert_int_equal(elicit_read(str_of(params), &arena, &e, &err), 0);
	elicit_answer(&e, action,
		      values ? str_of(values) : (struct str){NULL, 0}, &arena,
		      &out, &said);
	assert_string_equal(buf_cstr(&out), expected);
	if (why) {
		assert_non_null(said.p);
		assert_non_null(strstr(said.p, why));
	} else {
		assert_null(said.p);
	}
	buf_release(&out);
	arena_release(&arena);
}

TEST(EL_6, defaults_of_all_types, are_filled_in)
{
	answers(FORM("\"s\":{\"type\":\"string\",\"default\":\"x\"},"
		     "\"i\":{\"type\":\"integer\",\"default\":5},"
		     "\"n\":{\"type\":\"number\",\"default\":95.5},"
		     "\"b\":{\"type\":\"boolean\",\"default\":true},"
		     "\"e\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"],"
		     "\"default\":\"b\"},"
		     "\"m\":{\"type\":\"array\",\"items\":{\"anyOf\":[{"
		     "\"const\":\"r\",\"title\":\"Red\"}]},\"default\":["
		     "\"r\"]},\"o\":{\"type\":\"string\"}",
		     "\"s\""),
		ELICIT_ACCEPT, NULL,
		"{\"action\":\"accept\",\"content\":{\"s\":\"x\",\"i\":5,"
		"\"n\":95.5,\"b\":true,\"e\":\"b\",\"m\":[\"r\"]}}",
		NULL);
}

TEST(RW_15, two_properties_of_one_name, the_last_counts)
{
	answers(FORM("\"a\":{\"type\":\"string\",\"default\":\"x\"},"
		     "\"\\u0061\":{\"type\":\"integer\",\"default\":5}",
		     ""),
		ELICIT_ACCEPT, NULL,
		"{\"action\":\"accept\",\"content\":{\"a\":5}}", NULL);
}

TEST(EL_8, required_without_value, is_a_cancel)
{
	answers(FORM("\"name\":{\"type\":\"string\"}", "\"name\""),
		ELICIT_ACCEPT, "{\"other\":1}", "{\"action\":\"cancel\"}",
		"name: no value");
	answers(FORM("\"name\":{\"type\":\"string\"}", "\"name\""),
		ELICIT_ACCEPT, "{\"name\":\"Eve\",\"other\":1}",
		"{\"action\":\"accept\",\"content\":{\"name\":\"Eve\"}}", NULL);
	answers(FORM("\"name\":{\"type\":\"string\"}", "\"name\""),
		ELICIT_ACCEPT, "{\"other\":1,\"nam\":\"Eve\"}",
		"{\"action\":\"cancel\"}",
		"name: no value was given, but one for nam, which was not "
		"asked for");
	/* a near name that is asked for is no mistake */
	answers(FORM("\"name\":{\"type\":\"string\"},"
		     "\"nam\":{\"type\":\"string\"}",
		     "\"name\""),
		ELICIT_ACCEPT, "{\"nam\":\"Eve\"}", "{\"action\":\"cancel\"}",
		"names no default");
	answers(FORM("\"name\":{\"type\":\"string\"}", "\"name\""),
		ELICIT_ACCEPT, NULL, "{\"action\":\"cancel\"}",
		"names no default");
}

TEST(EL_7, value_that_does_not_fit, is_a_cancel)
{
	static const struct {
		const char *property, *bad, *good;
	} rows[] = {
		{"{\"type\":\"string\"}", "1", "\"\""},
		{"{\"type\":\"string\",\"minLength\":2}", "\"\\u00fc\"",
		 "\"\\u00fcx\""},
		{"{\"type\":\"string\",\"maxLength\":1}", "\"ab\"", "\"a\""},
		{"{\"type\":\"string\",\"format\":\"email\"}", "\"a\"",
		 "\"a@b\""},
		{"{\"type\":\"string\",\"format\":\"uri\"}", "\"a b\"",
		 "\"a:b\""},
		{"{\"type\":\"string\",\"format\":\"date\"}", "\"1-1-1\"",
		 "\"2026-01-31\""},
		{"{\"type\":\"string\",\"format\":\"date\"}", "\"2026-99-99\"",
		 "\"2024-02-29\""},
		{"{\"type\":\"string\",\"format\":\"date-time\"}",
		 "\"2026-01-31\"", "\"2026-01-31T10:00:00Z\""},
		{"{\"type\":\"integer\"}", "1.5", "2.0"},
		{"{\"type\":\"integer\",\"minimum\":3}", "2", "3"},
		{"{\"type\":\"number\",\"maximum\":1e2}", "100.5", "99.5"},
		{"{\"type\":\"boolean\"}", "\"true\"", "false"},
		{"{\"type\":\"string\",\"enum\":[\"a\"],\"enumNames\":["
		 "\"A\"]}",
		 "\"A\"", "\"\\u0061\""},
		{"{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":"
		 "\"A\"}]}",
		 "\"b\"", "\"a\""},
		{"{\"type\":\"array\",\"minItems\":1,\"items\":{\"enum\":["
		 "\"a\",\"b\"]}}",
		 "[]", "[\"b\",\"a\"]"},
		{"{\"type\":\"array\",\"items\":{\"enum\":[\"a\"]}}", "[\"c\"]",
		 "[]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char form[512], values[128], expected[256];

		snprintf(form, sizeof(form), FORM("\"k\":%s", ""),
			 rows[i].property);
		snprintf(values, sizeof(values), "{\"k\":%s}", rows[i].bad);
		answers(form, ELICIT_ACCEPT, values, "{\"action\":\"cancel\"}",
			"k: ");
		snprintf(values, sizeof(values), "{\"k\":%s}", rows[i].good);
		snprintf(expected, sizeof(expected),
			 "{\"action\":\"accept\",\"content\":{\"k\":%s}}",
			 rows[i].good);
		answers(form, ELICIT_ACCEPT, values, expected, NULL);
	}
}

TEST(check, wrong_choice, names_the_choices)
{
	const struct elicit_field f = {
		.name = STR("k"),
		.schema = STR("{\"type\":\"string\",\"oneOf\":[{\"const\":"
			      "\"a\",\"title\":\"A\"},{\"const\":\"b\"}]}"),
	};
	struct err err = ERR_INIT;

	assert_int_equal(elicit_check(&f, STR("\"c\""), &err), -1);
	assert_string_equal(err.msg, "k: is \"c\", must be one of \"a\", "
				     "\"b\"");
}

TEST(EL_4, decline_and_cancel, have_no_content)
{
	answers(FORM("\"n\":{\"type\":\"string\"}", ""), ELICIT_DECLINE,
		"{\"n\":\"x\"}", "{\"action\":\"decline\"}", NULL);
	answers(FORM("\"n\":{\"type\":\"string\"}", ""), ELICIT_CANCEL, NULL,
		"{\"action\":\"cancel\"}", NULL);
}

TEST(EL_12, consent_to_an_address, has_no_content)
{
	answers("{\"mode\":\"url\",\"message\":\"?\",\"url\":\"https:\\/\\/"
		"x.example\\/a\",\"elicitationId\":\"1\"}",
		ELICIT_ACCEPT, "{\"n\":1}", "{\"action\":\"accept\"}", NULL);
}

TEST(read, what_is_no_question, is_refused)
{
	static const char *const bad[] = {
		"{\"mode\":\"phone\"}",
		"{\"mode\":\"url\"}",
		"{\"mode\":\"url\",\"url\":\"http://x.example/\"}",
		"{\"mode\":\"url\",\"url\":\"http://localhost.x/\"}",
		"{\"mode\":\"url\",\"url\":\"javascript:1\"}",
		"{\"mode\":\"url\",\"url\":\"https://x\\u001b\"}",
		"{\"requestedSchema\":[]}",
		FORM("\"k\":{\"type\":\"object\"}", ""),
		FORM("\"k\":{}", ""),
		FORM("\"k\":{\"type\":\"array\"}", ""),
		FORM("\"k\":{\"type\":\"array\",\"items\":{}}", ""),
		FORM("\"k\":{\"type\":\"string\",\"enum\":[]}", ""),
		FORM("\"k\":{\"type\":\"string\",\"enum\":[1]}", ""),
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct elicit e;

		assert_int_equal(elicit_read(str_of(bad[i]), &arena, &e, &err),
				 -1);
		assert_true(strlen(err.msg) > 0);
		arena_release(&arena);
	}
}

TEST(read, local_address, is_accepted)
{
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct elicit e;

	assert_int_equal(elicit_read(STR("{\"mode\":\"url\",\"url\":"
					 "\"http://127.0.0.1:9/\"}"),
				     &arena, &e, &err),
			 0);
	assert_true(str_is(e.url, "http://127.0.0.1:9/"));
	arena_release(&arena);
}

TEST(typed, text, becomes_the_value)
{
	static const struct {
		const char *property, *text, *json; /* NULL: refused */
	} rows[] = {
		{"{\"type\":\"string\"}", "a \"b\"", "\"a \\\"b\\\"\""},
		{"{\"type\":\"number\"}", " 1.50 ", "1.50"},
		{"{\"type\":\"number\"}", "one", NULL},
		{"{\"type\":\"integer\"}", "7", "7"},
		{"{\"type\":\"integer\"}", "7.5", NULL},
		{"{\"type\":\"boolean\"}", "yes", "true"},
		{"{\"type\":\"boolean\"}", "n", "false"},
		{"{\"type\":\"boolean\"}", "1", NULL},
		{"{\"type\":\"string\",\"oneOf\":[{\"const\":\"r\",\"title\":"
		 "\"Red\"}]}",
		 "Red", "\"r\""},
		{"{\"type\":\"string\",\"enum\":[\"r\"]}", "blue", NULL},
		{"{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]}}",
		 "b, a", "[\"b\",\"a\"]"},
		{"{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]}}", "",
		 "[]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena arena = ARENA_INIT;
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		struct elicit e;
		char form[256];
		int r;

		snprintf(form, sizeof(form), FORM("\"k\":%s", ""),
			 rows[i].property);
		assert_int_equal(elicit_read(str_of(form), &arena, &e, &err),
				 0);
		r = elicit_typed(&e.fields[0], str_of(rows[i].text), &out,
				 &err);
		assert_int_equal(r, rows[i].json ? 0 : -1);
		assert_string_equal(buf_cstr(&out),
				    rows[i].json ? rows[i].json : "");
		buf_release(&out);
		arena_release(&arena);
	}
}

TEST(action, words, are_known)
{
	enum elicit_action a;

	assert_true(elicit_action_find("decline", &a));
	assert_int_equal(a, ELICIT_DECLINE);
	assert_false(elicit_action_find("maybe", &a));
}
