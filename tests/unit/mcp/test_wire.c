/*
 * Readers of MCP values, row by row: tests/unit/mcp/values.
 *
 *	result JSON		a CallToolResult, of the newest revision
 *	result_any JSON		of one with structured content of any type
 *	looks TEXT		does it look like a CallToolResult?
 *	encode TEXT		the value of a header field
 *	name METHOD | PARAMS	that of Mcp-Name
 *	fields SCHEMA | ARGS	those of a tool's arguments
 *	expand TEMPLATE		of URIs, with the values below
 *	asks PARAMS		a request for sampling
 *	says DATE | RESULT	its result
 *	question PARAMS		of elicitation
 *	answer ACTION | PARAMS | VALUES
 *	typed PROPERTY | TEXT
 */
#include <stdlib.h>

#include "tests/unit/test.h"

#include "core/mcp/wire/elicit.h"
#include "core/mcp/wire/http_fields.h"
#include "core/mcp/wire/mcp.h"
#include "core/mcp/wire/sampling.h"
#include "core/mcp/wire/uri_template.h"
#include "tests/unit/values.h"

/* Of RFC 6570, section 3.2, and others. */
static const char values[] =
	"{\"count\":[\"one\",\"two\",\"three\"],"
	"\"dom\":[\"example\",\"com\"],\"dub\":\"me/too\","
	"\"hello\":\"Hello World!\",\"half\":\"50%\",\"var\":\"value\","
	"\"who\":\"fred\",\"base\":\"http://example.com/home/\","
	"\"path\":\"/foo/bar\",\"list\":[\"red\",\"green\",\"blue\"],"
	"\"keys\":{\"semi\":\";\",\"dot\":\".\",\"comma\":\",\"},"
	"\"v\":\"6\",\"x\":\"1024\",\"y\":\"768\",\"empty\":\"\","
	"\"empty_keys\":{},\"undef\":null,\"number\":12,\"yes\":true,"
	"\"word\":\"h\xc3\xa9llo\",\"nothing\":[null]}";

static const struct mcp_revision any = {"2026-07-28", MCP_ERA_PER_REQUEST,
					MCP_STRUCTURED_ANY};

static int read_result(struct value_row *r, const struct mcp_revision *revision)
{
	struct mcp_tool_result got;
	int rc = mcp_read_tool_result(str_of(r->part[0]), revision, &got,
				      &r->err);

	if (rc == 0)
		buf_addf(&r->out, "%.*s | %.*s%s repairs %u",
			 STR_ARG(got.content), STR_ARG(got.structured),
			 got.is_error ? " error" : "", got.repairs);
	mcp_tool_result_release(&got);
	return rc;
}

static int do_result(struct value_row *r)
{
	return read_result(r, mcp_revision_newest());
}

static int do_result_any(struct value_row *r)
{
	return read_result(r, &any);
}

static int do_looks(struct value_row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&text, r->part[0]);
	buf_adds(&r->out, mcp_looks_like_result(buf_str(&text)) ? "yes" : "no");
	return 0;
}

static int do_encode(struct value_row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf back = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&text, r->part[0]);
	http_encode(buf_str(&text), &r->out);
	assert_true(http_decode(buf_str(&r->out), &back));
	assert_string_equal(buf_cstr(&back), buf_cstr(&text));
	return 0;
}

static int do_name(struct value_row *r)
{
	if (!http_name_value(r->part[0], str_of(r->part[1]), &r->out))
		buf_adds(&r->out, "none");
	return 0;
}

static int do_fields(struct value_row *r)
{
	const char *tool =
		arena_printf(&r->arena, "{\"inputSchema\":%s}", r->part[0]);
	struct http_params params;

	if (http_params_read(str_of(tool), &r->arena, &params, &r->err) < 0)
		return -1;
	for (size_t i = 0; i < params.n; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (http_param_value(&params.item[i], str_of(r->part[1]),
				     &value))
			buf_addf(&r->out, "%.*s=%s;",
				 STR_ARG(params.item[i].header),
				 buf_cstr(&value));
	}
	return 0;
}

static int do_expand(struct value_row *r)
{
	return uri_template_expand(str_of(r->part[0]), str_of(values), &r->out,
				   &r->err);
}

static int do_asks(struct value_row *r)
{
	return sampling_check_request(str_of(r->part[0]), &r->err);
}

static int do_says(struct value_row *r)
{
	return sampling_check_result(str_of(r->part[1]),
				     mcp_revision_find(str_of(r->part[0])),
				     &r->err);
}

static int do_question(struct value_row *r)
{
	struct elicit e;

	if (elicit_read(str_of(r->part[0]), &r->arena, &e, &r->err) < 0)
		return -1;
	buf_addf(&r->out, "%.*s%.*s", STR_ARG(e.message), STR_ARG(e.url));
	return 0;
}

static int do_answer(struct value_row *r)
{
	enum elicit_action action;
	struct elicit e;
	struct str why;

	assert_true(elicit_action_find(r->part[0], &action));
	if (elicit_read(str_of(r->part[1]), &r->arena, &e, &r->err) < 0)
		return -1;
	elicit_answer(&e, action,
		      *r->part[2] ? str_of(r->part[2]) : (struct str){NULL, 0},
		      &r->arena, &r->out, &why);
	if (why.p)
		buf_addf(&r->out, " %.*s", STR_ARG(why));
	return 0;
}

static int do_typed(struct value_row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *form = arena_printf(
		&r->arena, "{\"requestedSchema\":{\"properties\":{\"k\":%s}}}",
		r->part[0]);
	struct elicit e;

	add_decoded(&text, r->part[1]);
	assert_int_equal(elicit_read(str_of(form), &r->arena, &e, &r->err), 0);
	return elicit_typed(&e.fields[0], buf_str(&text), &r->out, &r->err);
}

static const struct value_reader calls[] = {
	{"result", do_result}, {"result_any", do_result_any},
	{"looks", do_looks},   {"encode", do_encode},
	{"name", do_name},     {"fields", do_fields},
	{"expand", do_expand}, {"asks", do_asks},
	{"says", do_says},     {"question", do_question},
	{"answer", do_answer}, {"typed", do_typed},
};

TEST_VALUES(calls, "tests/unit/mcp/values/*.transcript");

TEST(names, of_all_operators, come_once_in_order)
{
	struct arena arena = ARENA_INIT;
	struct strlist l = uri_template_names(
		STR("x{a}{+b,c*}{?d:3,a}{#b}/{broken"), &arena);

	assert_int_equal(l.n, 4);
	assert_string_equal(l.item[0], "a");
	assert_string_equal(l.item[1], "b");
	assert_string_equal(l.item[2], "c");
	assert_string_equal(l.item[3], "d");
	assert_true(uri_template_is(STR("a{b}")));
	assert_false(uri_template_is(STR("a:b")));
	arena_release(&arena);
}

TEST(template, that_is_wrong, adds_nothing)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	buf_adds(&out, "before");
	assert_int_equal(uri_template_expand(STR("b{list:2}"), str_of(values),
					     &out, &err),
			 -1);
	assert_string_equal(buf_cstr(&out), "before");
}

TEST(action, another_word, is_unknown)
{
	enum elicit_action a;

	assert_false(elicit_action_find("maybe", &a));
}
