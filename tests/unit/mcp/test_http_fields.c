#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/mcp/wire/http_fields.h"
#include "core/mcp/wire/listing.h"

static void assert_encoded(struct str text, const char *expected)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	http_encode(text, &out);
	assert_string_equal(buf_cstr(&out), expected);
}

static void XH_6__value__is_plain_where_it_can_be(UNUSED void **state)
{
	assert_encoded(STR("us-west 1!~"), "us-west 1!~");
	assert_encoded(STR("=?base64?x"), "=?base64?x");
	assert_encoded(STR("x?="), "x?=");
}

static void XH_6__value__is_encoded_where_it_must_be(UNUSED void **state)
{
	assert_encoded(STR("\xc3\xa9"), "=?base64?w6k=?=");
	assert_encoded(STR("a\tb"), "=?base64?YQli?=");
	assert_encoded(STR("a\r\nB: c"), "=?base64?YQ0KQjogYw==?=");
	assert_encoded(STR(" a"), "=?base64?IGE=?=");
	assert_encoded(STR("a "), "=?base64?YSA=?=");
	assert_encoded(STR("\x7f"), "=?base64?fw==?=");
	assert_encoded(STR("a\0b"), "=?base64?YQBi?=");
	assert_encoded(STR("=?base64?YQ==?="),
		       "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
}

static void XH_5__empty_string__is_a_value(UNUSED void **state)
{
	assert_encoded(STR(""), "=?base64?"
				"?=");
}

static void assert_name(const char *method, const char *params,
			const char *expected)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	bool has = http_name_value(method, str_of(params), &out);

	assert_int_equal(has, expected != NULL);
	assert_string_equal(buf_cstr(&out), expected ? expected : "");
}

static void HM_3__name__is_of_these_methods(UNUSED void **state)
{
	assert_name("tools/call", "{\"name\":\"a\"}", "a");
	assert_name("prompts/get", "{\"name\":\"a b\"}", "a b");
	assert_name("resources/read", "{\"uri\":\"x:%20\"}", "x:%20");
	assert_name("tasks/get", "{\"taskId\":\"1\"}", "1");
	assert_name("tasks/update", "{\"taskId\":\"1\"}", "1");
	assert_name("tasks/cancel", "{\"taskId\":\"1\"}", "1");
	assert_name("tools/list", "{\"name\":\"a\"}", NULL);
	assert_name("tools/call", "{\"name\":7}", NULL);
	assert_name("tools/call", "{}", NULL);
}

/* The fields that a tool and arguments give, or why the tool is of no use. */
static void read_tool(const char *schema, const char *arguments,
		      struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf tool = BUF_INIT(BUF_UNBOUNDED);
	struct http_params params;
	struct err err = ERR_INIT;

	buf_addf(&tool, "{\"name\":\"t\",\"inputSchema\":%s}", schema);
	if (http_params_read(buf_str(&tool), &arena, &params, &err) < 0) {
		buf_addf(out, "no: %s", err.msg);
		return;
	}
	for (size_t i = 0; i < params.n; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (http_param_value(&params.item[i], str_of(arguments),
				     &value))
			buf_addf(out, "%.*s=%s;",
				 STR_ARG(params.item[i].header),
				 buf_cstr(&value));
	}
}

static void assert_fields(const char *schema, const char *arguments,
			  const char *expected)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	read_tool(schema, arguments, &out);
	assert_string_equal(buf_cstr(&out), expected);
}

#define MARK(type, name) "{\"type\":\"" type "\",\"x-mcp-header\":\"" name "\"}"
#define OF(property) "{\"type\":\"object\",\"properties\":{" property "}}"

static void XH_4__values__by_their_type(UNUSED void **state)
{
	static const char schema[] =
		OF("\"s\":" MARK("string", "S") ",\"i\":" MARK(
			"integer", "I") ",\"b\":" MARK("boolean", "B"));

	assert_fields(schema, "{\"s\":\"x\",\"i\":-7,\"b\":true}",
		      "S=x;I=-7;B=true;");
	assert_fields(schema, "{\"i\":1.0,\"b\":false}", "I=1;B=false;");
	assert_fields(schema, "{\"i\":1e3}", "I=1000;");
	assert_fields(schema, "{\"i\":9007199254740991}",
		      "I=9007199254740991;");
	assert_fields(schema, "{\"i\":9007199254740992}", "");
	assert_fields(schema, "{\"i\":1.5}", "");
	assert_fields(schema, "{\"i\":1e400}", "");
}

static void XH_5__absent_null_and_others__get_no_field(UNUSED void **state)
{
	static const char schema[] = OF("\"s\":" MARK("string", "S"));

	assert_fields(schema, "{}", "");
	assert_fields(schema, "{\"s\":null}", "");
	assert_fields(schema, "{\"s\":{}}", "");
	assert_fields(schema, "{\"s\":[\"x\"]}", "");
	assert_fields(schema, "{\"s\":\"\"}",
		      "S==?base64?"
		      "?=;");
}

static void XH_8__nested__by_the_exact_path(UNUSED void **state)
{
	static const char schema[] =
		OF("\"a\":" OF("\"b\":" MARK("string", "B")) ",\"b\":{}");

	assert_fields(schema, "{\"a\":{\"b\":\"x\"}}", "B=x;");
	assert_fields(schema, "{\"b\":\"x\",\"a\":7}", "");
	assert_fields(schema, "{\"a\":[{\"b\":\"x\"}]}", "");
}

static void XH_7__unmarked__get_no_field(UNUSED void **state)
{
	assert_fields(OF("\"s\":{\"type\":\"string\"}"), "{\"s\":\"x\"}", "");
	/* a property of that name is no mark, nor is an example */
	assert_fields(OF("\"x-mcp-header\":{\"type\":\"string\"}"),
		      "{\"x-mcp-header\":\"x\"}", "");
	assert_fields("{\"examples\":[{\"x-mcp-header\":\"\"}]}", "{}", "");
}

static void assert_refused(const char *schema, const char *why)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	read_tool(schema, "{}", &out);
	if (!strstr(buf_cstr(&out), why))
		fail_msg("no \"%s\" in: %s", why, buf_cstr(&out));
}

static void XH_2__marks_that_break_a_rule__make_it_unusable(UNUSED void **state)
{
	static const char *const names[] = {"",	    "a b",     "a:b",
					    "a\\n", "\\u00e9", "(a)"};
	static const char *const types[] = {"number", "object", "array",
					    "null"};
	static const char *const places[] = {
		"items",
		"contains",
		"not",
		"if",
		"then",
		"else",
		"additionalProperties",
		"propertyNames",
	};
	static const char *const lists[] = {"oneOf", "anyOf", "allOf",
					    "prefixItems"};
	static const char *const maps[] = {"$defs", "definitions",
					   "patternProperties"};
	char text[256];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(text, sizeof(text), OF("\"s\":" MARK("string", "%s")),
			 names[i]);
		assert_refused(text, "no name of a header field");
	}
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		snprintf(text, sizeof(text), OF("\"s\":" MARK("%s", "S")),
			 types[i]);
		assert_refused(text, "is for a type that is neither");
	}
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		snprintf(text, sizeof(text),
			 OF("\"s\":{\"%s\":" MARK("string", "S") "}"),
			 places[i]);
		assert_refused(text, "stands where no argument is");
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		snprintf(text, sizeof(text),
			 "{\"%s\":[" OF("\"s\":" MARK("string", "S")) "]}",
			 lists[i]);
		assert_refused(text, "stands where no argument is");
	}
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		snprintf(text, sizeof(text),
			 "{\"%s\":{\"x\":" MARK("string", "S") "}}", maps[i]);
		assert_refused(text, "stands where no argument is");
	}
	assert_refused(OF("\"s\":{\"type\":[\"string\"],\"x-mcp-header\":"
			  "\"S\"}"),
		       "is for a type");
	assert_refused(OF("\"s\":{\"x-mcp-header\":\"S\"}"), "is for a type");
	assert_refused(OF("\"s\":{\"type\":\"string\",\"x-mcp-header\":7}"),
		       "is no string");
	assert_refused(MARK("object", "S"), "stands where no argument is");
	assert_refused(OF("\"a\":" MARK("string", "Same") ",\"b\":" MARK(
			       "string", "sAME")),
		       "is there twice");
}

static void list(bool checks, struct listing *l)
{
	static const char tools[] =
		"{\"tools\":[{\"name\":\"good\",\"inputSchema\":" OF(
			"\"s\":" MARK("string",
				      "S")) "},{\"name\":\"bad\","
					    "\"inputSchema\":" OF("\"s\":" MARK(
						    "number", "S")) "}]}";
	struct err err = ERR_INIT;

	listing_init(l, LISTING_TOOLS);
	l->checks_headers = checks;
	assert_int_equal(listing_add(l, str_of(tools), &err), LISTING_DONE);
}

static void XH_3__bad_tool__is_left_out_with_a_warning(UNUSED void **state)
{
	struct listing l;

	list(true, &l);
	assert_int_equal(l.n, 1);
	assert_non_null(listing_find(&l, STR("good")));
	assert_int_equal(l.warnings.n, 1);
	assert_string_equal(l.warnings.item[0],
			    "bad is left out: its x-mcp-header \"S\" is for a "
			    "type that is neither string, integer nor boolean");
	listing_release(&l);
}

static void XH_10__over_stdio__it_is_kept(UNUSED void **state)
{
	struct listing l;

	list(false, &l);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.warnings.n, 0);
	listing_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(XH_6__value__is_plain_where_it_can_be),
		cmocka_unit_test(XH_6__value__is_encoded_where_it_must_be),
		cmocka_unit_test(XH_5__empty_string__is_a_value),
		cmocka_unit_test(HM_3__name__is_of_these_methods),
		cmocka_unit_test(XH_4__values__by_their_type),
		cmocka_unit_test(XH_5__absent_null_and_others__get_no_field),
		cmocka_unit_test(XH_8__nested__by_the_exact_path),
		cmocka_unit_test(XH_7__unmarked__get_no_field),
		cmocka_unit_test(
			XH_2__marks_that_break_a_rule__make_it_unusable),
		cmocka_unit_test(XH_3__bad_tool__is_left_out_with_a_warning),
		cmocka_unit_test(XH_10__over_stdio__it_is_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
