#include <string.h>

#include "tests/unit/test.h"

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/mcp/wire/rpc.h"

static struct rpc_message read(const char *text)
{
	struct err err = ERR_INIT;
	struct rpc_message m;
	struct str v;

	assert_int_equal(scan_document(str_of(text), NULL, &v, &err), 0);
	if (rpc_read(v, &m) != m.type)
		fail_msg("%s: two types", text);
	return m;
}

TEST(RPC_10, kinds, are_told_by_members)
{
	static const struct {
		const char *text;
		enum rpc_type type;
	} rows[] = {
		{"{\"id\":1,\"method\":\"m\"}", RPC_REQUEST},
		{"{\"method\":\"m\",\"params\":{},\"id\":\"\"}", RPC_REQUEST},
		{"{\"id\":0,\"method\":\"m\",\"result\":1}", RPC_REQUEST},
		{"{\"method\":\"m\"}", RPC_NOTIFICATION},
		{"{\"id\":null,\"method\":\"m\"}", RPC_NOTIFICATION},
		{"{\"id\":1,\"result\":{}}", RPC_RESULT},
		{"{\"result\":null,\"id\":1}", RPC_RESULT},
		{"{\"id\":1,\"result\":{},\"error\":null}", RPC_RESULT},
		{"{\"id\":1,\"error\":{}}", RPC_ERROR},
		{"{\"id\":null,\"error\":{}}", RPC_ERROR},
		{"{\"error\":\"x\"}", RPC_ERROR},
		{"{\"id\":1,\"result\":{},\"error\":{}}", RPC_ERROR},
		{"{\"id\":1}", RPC_INVALID},
		{"{\"id\":1,\"error\":null}", RPC_INVALID},
		{"{\"result\":{}}", RPC_INVALID},
		{"{\"id\":null,\"result\":{}}", RPC_INVALID},
		{"{\"id\":1,\"method\":7}", RPC_INVALID},
		{"{\"id\":1,\"method\":null}", RPC_INVALID},
		{"{\"me\\u0074hod\":\"m\"}", RPC_NOTIFICATION},
		{"{\"Method\":\"m\"}", RPC_INVALID},
		{"{}", RPC_INVALID},
		{"[]", RPC_INVALID},
		{"[{\"method\":\"m\"}]", RPC_INVALID},
		{"\"method\"", RPC_INVALID},
		{"null", RPC_INVALID},
		{"12", RPC_INVALID},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(read(rows[i].text).type, rows[i].type);
}

TEST(version, member, is_told)
{
	assert_int_equal(read("{\"jsonrpc\":\"2.0\"}").version, RPC_VERSION_OK);
	assert_int_equal(read("{\"jsonrpc\":2.0}").version, RPC_VERSION_OTHER);
	assert_int_equal(read("{\"jsonrpc\":null}").version, RPC_VERSION_OTHER);
	assert_int_equal(read("{}").version, RPC_VERSION_ABSENT);
}

TEST(params, absent_null_or_empty_array, are_an_object)
{
	assert_true(str_is(read("{\"method\":\"m\"}").params, "{}"));
	assert_true(str_is(read("{\"method\":\"m\",\"params\":null}").params,
			   "{}"));
	/* RW-57 */
	assert_true(
		str_is(read("{\"method\":\"m\",\"params\":[ ]}").params, "{}"));
	assert_true(str_is(read("{\"method\":\"m\",\"params\":[1]}").params,
			   "[1]"));
	assert_true(
		str_is(read("{\"method\":\"m\",\"params\":{\"a\":1.0}}").params,
		       "{\"a\":1.0}"));
}

TEST(RPC_14, result, keeps_its_text)
{
	struct rpc_message m =
		read(" {\"result\": {\"b\":1e3, \"a\":[ 18446744073709551616 ]}"
		     " ,\"id\":1}");

	assert_true(str_is(m.result,
			   "{\"b\":1e3, \"a\":[ 18446744073709551616 ]}"));
}

TEST(error, members, are_read)
{
	struct rpc_message m = read("{\"id\":1,\"error\":{\"code\":-32601,"
				    "\"message\":\"no\",\"data\":null}}");

	assert_int_equal(m.code, -32601);
	assert_true(str_is(m.message, "\"no\""));
	assert_null(m.data.p);
	assert_false(m.bad_error);
	assert_false(m.both);
	m = read("{\"id\":1,\"error\":{\"code\":1,\"message\":\"\","
		 "\"data\":0},\"result\":0}");
	assert_true(str_is(m.data, "0"));
	assert_true(m.both);
}

TEST(RW_56, malformed_errors, are_internal_errors)
{
	static const char *const bad[] = {
		"\"boom\"",
		"7",
		"[]",
		"{}",
		"{\"code\":\"1\",\"message\":\"m\"}",
		"{\"code\":1.5,\"message\":\"m\"}",
		"{\"code\":99999999999999999999,\"message\":\"m\"}",
		"{\"message\":\"m\"}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO(mem_freep)
		char *text = mem_printf("{\"id\":1,\"error\":%s}", bad[i]);
		struct rpc_message m = read(text);

		assert_int_equal(m.type, RPC_ERROR);
		assert_int_equal(m.code, RPC_INTERNAL_ERROR);
		assert_true(m.bad_error);
		assert_true(str_is(m.raw_error, bad[i]));
	}
	assert_true(read("{\"id\":1,\"error\":{\"code\":3,\"message\":null}}")
			    .bad_error);
}

TEST(ids, types, are_told)
{
	static const struct {
		const char *text;
		enum rpc_id_type type;
		int64_t number;
	} rows[] = {
		{"1", RPC_ID_INT, 1},
		{"-9", RPC_ID_INT, -9},
		{"2.0", RPC_ID_INT, 2},
		{"9007199254740993", RPC_ID_INT, 9007199254740993},
		{"\"1\"", RPC_ID_STRING, 0},
		{"\"\"", RPC_ID_STRING, 0},
		{"null", RPC_ID_NONE, 0},
		{"1.5", RPC_ID_OTHER, 0},
		{"1e0", RPC_ID_OTHER, 0},
		{"99999999999999999999", RPC_ID_OTHER, 0},
		{"true", RPC_ID_OTHER, 0},
		{"{}", RPC_ID_OTHER, 0},
		{"[1]", RPC_ID_OTHER, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rpc_id id = rpc_read_id(str_of(rows[i].text));

		assert_int_equal(id.type, rows[i].type);
		if (id.type == RPC_ID_INT)
			assert_int_equal(id.number, rows[i].number);
		assert_true(str_is(id.raw, rows[i].text));
	}
	assert_true(str_is(read("{}").id.raw, "null"));
}

TEST(ID_4, matching, is_by_value_then_by_digits)
{
	static const struct {
		const char *text;
		bool matches;
	} rows[] = {
		{"10", true},	    {"10.0", true},
		{"\"10\"", true},   {"\"010\"", false},
		{"\" 10\"", false}, {"\"0xa\"", false},
		{"\"+10\"", false}, {"\"\"", false},
		{"\"1e1\"", false}, {"-10", false},
		{"11", false},	    {"null", false},
		{"true", false},    {"\"\\u0031\\u0030\"", false},
	};
	struct rpc_id zero = rpc_read_id(STR("\"0\""));
	struct rpc_id below = rpc_read_id(STR("-1"));
	uint64_t number;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rpc_id id = rpc_read_id(str_of(rows[i].text));

		assert_int_equal(rpc_id_number(&id, &number) && number == 10,
				 rows[i].matches);
	}
	assert_true(rpc_id_number(&zero, &number));
	assert_int_equal(number, 0);
	assert_false(rpc_id_number(&below, &number));
}

TEST(write, request_and_notification, stand_on_a_line)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct rpc_writer w;

	rpc_begin_request(&w, &out, 1, "a\nb");
	jw_kv_raw(&w.jw, "params", STR("{}"));
	rpc_end(&w);
	rpc_begin_notification(&w, &out, "n");
	rpc_end(&w);
	assert_string_equal(
		buf_cstr(&out),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\nb\","
		"\"params\":{}}\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n");
	buf_release(&out);
}

TEST(STD_11, newlines_in_raw_slices, are_taken_out)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct rpc_id id = rpc_read_id(STR("\"x y\""));

	rpc_write_result(&out, &id, STR("{}"));
	rpc_write_result(&out, &id,
			 STR("{\r\n  \"a b\" : [ 1.0 ,\n\t\"\\n \"]\n}"));
	assert_string_equal(buf_cstr(&out),
			    "{\"jsonrpc\":\"2.0\",\"id\":\"x y\",\"result\":{}}"
			    "\n{\"jsonrpc\":\"2.0\",\"id\":\"x y\",\"result\":"
			    "{\"a b\":[1.0,\"\\n \"]}}\n");
	buf_release(&out);
}

TEST(write, error, has_code_message_and_data)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	rpc_write_error(&out, NULL, RPC_PARSE_ERROR, "bad \"x\"",
			(struct str){NULL, 0});
	rpc_write_error(&out, NULL, 1, "m", STR("[0]"));
	assert_string_equal(
		buf_cstr(&out),
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
		"\"message\":\"bad \\\"x\\\"\"}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,"
		"\"message\":\"m\",\"data\":[0]}}\n");
	buf_release(&out);
}
