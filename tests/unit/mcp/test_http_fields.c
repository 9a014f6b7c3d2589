#include "tests/unit/test.h"

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

TEST(XH_6, value, is_plain_where_it_can_be)
{
	assert_encoded(STR("us-west 1!~"), "us-west 1!~");
	assert_encoded(STR("=?base64?x"), "=?base64?x");
	assert_encoded(STR("x?="), "x?=");
}

TEST(XH_6, value, is_encoded_where_it_must_be)
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

TEST(XH_5, empty_string, is_a_value)
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

TEST(HM_3, name, is_of_these_methods)
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

TEST(XH_4, values, by_their_type)
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

TEST(XH_5, absent_null_and_others, get_no_field)
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

TEST(XH_8, nested, by_the_exact_path)
{
	static const char schema[] =
		OF("\"a\":" OF("\"b\":" MARK("string", "B")) ",\"b\":{}");

	assert_fields(schema, "{\"a\":{\"b\":\"x\"}}", "B=x;");
	assert_fields(schema, "{\"b\":\"x\",\"a\":7}", "");
	assert_fields(schema, "{\"a\":[{\"b\":\"x\"}]}", "");
}

TEST(XH_7, unmarked, get_no_field)
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

TEST(XH_2, marks_that_break_a_rule, make_it_unusable)
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
		assert_refused(text, "not a name of a header field");
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
		assert_refused(text, "is not on an argument");
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		snprintf(text, sizeof(text),
			 "{\"%s\":[" OF("\"s\":" MARK("string", "S")) "]}",
			 lists[i]);
		assert_refused(text, "is not on an argument");
	}
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		snprintf(text, sizeof(text),
			 "{\"%s\":{\"x\":" MARK("string", "S") "}}", maps[i]);
		assert_refused(text, "is not on an argument");
	}
	assert_refused(OF("\"s\":{\"type\":[\"string\"],\"x-mcp-header\":"
			  "\"S\"}"),
		       "is for a type");
	assert_refused(OF("\"s\":{\"x-mcp-header\":\"S\"}"), "is for a type");
	assert_refused(OF("\"s\":{\"type\":\"string\",\"x-mcp-header\":7}"),
		       "is not a string");
	assert_refused(MARK("object", "S"), "is not on an argument");
	assert_refused(OF("\"a\":" MARK("string", "Same") ",\"b\":" MARK(
			       "string", "sAME")),
		       "is used twice");
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

TEST(XH_3, bad_tool, is_left_out_with_a_warning)
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

TEST(XH_10, over_stdio, it_is_kept)
{
	struct listing l;

	list(false, &l);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.warnings.n, 0);
	listing_release(&l);
}
