/*
 * Readers of MCP values, row by row: tests/unit/mcp/values. A line is one thing
 * to read, its parts with " | " between them; behind it stands what came of it,
 * "=" and the value, or "!", the kind of the error and its text.
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
#include "tests/unit/transcript.h"

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

/* One line: its parts, and what comes of it; 0, or -1 and an error. */
struct row {
	const char *a, *b, *c;
	struct arena arena;
	struct buf out;
	struct err err;
};

static int read_result(struct row *r, const struct mcp_revision *revision)
{
	struct mcp_tool_result got;
	int rc = mcp_read_tool_result(str_of(r->a), revision, &got, &r->err);

	if (rc == 0)
		buf_addf(&r->out, "%.*s | %.*s%s repairs %u",
			 STR_ARG(got.content), STR_ARG(got.structured),
			 got.is_error ? " error" : "", got.repairs);
	mcp_tool_result_release(&got);
	return rc;
}

static int do_result(struct row *r)
{
	return read_result(r, mcp_revision_newest());
}

static int do_result_any(struct row *r)
{
	return read_result(r, &any);
}

static int do_looks(struct row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&text, r->a);
	buf_adds(&r->out, mcp_looks_like_result(buf_str(&text)) ? "yes" : "no");
	return 0;
}

static int do_encode(struct row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&text, r->a);
	http_encode(buf_str(&text), &r->out);
	return 0;
}

static int do_name(struct row *r)
{
	if (!http_name_value(r->a, str_of(r->b), &r->out))
		buf_adds(&r->out, "none");
	return 0;
}

static int do_fields(struct row *r)
{
	const char *tool =
		arena_printf(&r->arena, "{\"inputSchema\":%s}", r->a);
	struct http_params params;

	if (http_params_read(str_of(tool), &r->arena, &params, &r->err) < 0)
		return -1;
	for (size_t i = 0; i < params.n; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (http_param_value(&params.item[i], str_of(r->b), &value))
			buf_addf(&r->out, "%.*s=%s;",
				 STR_ARG(params.item[i].header),
				 buf_cstr(&value));
	}
	return 0;
}

static int do_expand(struct row *r)
{
	return uri_template_expand(str_of(r->a), str_of(values), &r->out,
				   &r->err);
}

static int do_asks(struct row *r)
{
	return sampling_check_request(str_of(r->a), &r->err);
}

static int do_says(struct row *r)
{
	return sampling_check_result(str_of(r->b),
				     mcp_revision_find(str_of(r->a)), &r->err);
}

static int do_question(struct row *r)
{
	struct elicit e;

	if (elicit_read(str_of(r->a), &r->arena, &e, &r->err) < 0)
		return -1;
	buf_addf(&r->out, "%.*s%.*s", STR_ARG(e.message), STR_ARG(e.url));
	return 0;
}

static int do_answer(struct row *r)
{
	enum elicit_action action;
	struct elicit e;
	struct str why;

	assert_true(elicit_action_find(r->a, &action));
	if (elicit_read(str_of(r->b), &r->arena, &e, &r->err) < 0)
		return -1;
	elicit_answer(&e, action, *r->c ? str_of(r->c) : (struct str){NULL, 0},
		      &r->arena, &r->out, &why);
	if (why.p)
		buf_addf(&r->out, " %.*s", STR_ARG(why));
	return 0;
}

static int do_typed(struct row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *form = arena_printf(
		&r->arena, "{\"requestedSchema\":{\"properties\":{\"k\":%s}}}",
		r->a);
	struct elicit e;

	add_decoded(&text, r->b);
	assert_int_equal(elicit_read(str_of(form), &r->arena, &e, &r->err), 0);
	return elicit_typed(&e.fields[0], buf_str(&text), &r->out, &r->err);
}

static const struct {
	const char *name;
	int (*run)(struct row *r);
} ops[] = {
	{"result", do_result}, {"result_any", do_result_any},
	{"looks", do_looks},   {"encode", do_encode},
	{"name", do_name},     {"fields", do_fields},
	{"expand", do_expand}, {"asks", do_asks},
	{"says", do_says},     {"question", do_question},
	{"answer", do_answer}, {"typed", do_typed},
};

/* Cut a line at the next " | ", and give its rest. */
static char *rest_of(char *line)
{
	char *bar = strstr(line, " | ");

	if (!bar)
		return line + strlen(line);
	*bar = '\0';
	return bar + 3;
}

static void play_row(char *line, struct buf *got)
{
	static const char *const kinds[] = {
#define ERR_KIND(name, status, word) [ERR_##name] = (word),
#include "core/base/err_kinds.def"
#undef ERR_KIND
	};
	struct row r = {.out = BUF_INIT(BUF_UNBOUNDED)};
	char *a = line + strcspn(line, " "), *b, *c;
	size_t i = 0;

	if (*a)
		*a++ = '\0';
	b = rest_of(a);
	c = rest_of(b);
	r.a = a;
	r.b = b;
	r.c = c;
	while (i < ARRAY_LEN(ops) && strcmp(ops[i].name, line) != 0)
		i++;
	if (i == ARRAY_LEN(ops))
		fail_msg("no line begins with \"%s\"", line);
	if (ops[i].run(&r) < 0)
		buf_addf(got, "! %s %s", kinds[r.err.kind], r.err.msg);
	else
		buf_addc(got, '=');
	if (r.out.n)
		buf_addc(got, ' ');
	buf_add_str(got, buf_str(&r.out));
	buf_addc(got, '\n');
	buf_release(&r.out);
	arena_release(&r.arena);
}

static void play(const char *file, const char *name, const char *text)
{
	AUTO(mem_freep) char *lines = mem_strdup(text);
	AUTO(buf_release) struct buf got = BUF_INIT(BUF_UNBOUNDED);

	for (char *next, *line = lines; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (*line == '=' || *line == '!')
			continue;
		buf_addf(&got, "%s\n", line);
		if (*line && *line != '#')
			play_row(line, &got);
	}
	transcript_accept(file, name, buf_cstr(&got));
	transcript_compare(text, buf_cstr(&got));
}

static const struct test_fixture no_fixture;

TEST_SCRIPTS(no_fixture, play, "tests/unit/mcp/values/*.transcript");

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
