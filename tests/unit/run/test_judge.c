#include "tests/unit/test.h"

#include "core/client/facts.h"
#include "core/run/judge.h"

static const struct gate_verdict good = {.exited = true};
static const struct gate_verdict status3 = {.exited = true, .exit_status = 3};
static const struct gate_verdict killed = {.signal = 9};

/* stdout, how it ended, and the reason that must come of it */
struct row {
	const char *out;
	const struct gate_verdict *end;
	enum step_reason reason;
};

static void check(const struct row *rows, size_t n, enum judge_mode mode)
{
	for (size_t i = 0; i < n; i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct judgement j = judge_program(mode, str_of(rows[i].out),
						   rows[i].end, &arena);

		if (j.reason != rows[i].reason)
			fail_msg("%s: %s, not %s (%.*s)", rows[i].out,
				 report_reason_name(j.reason),
				 report_reason_name(rows[i].reason),
				 STR_ARG(j.error));
		/* whatever is not well has a sentence */
		assert_int_equal(j.reason != REASON_NONE, j.error.n > 0);
	}
}

TEST(subprocess, every_shape, has_its_reason)
{
	static const struct row rows[] = {
		{"{\"content\":[]}", &good, REASON_NONE},
		{" {\"structuredContent\":{\"a\":1}}\n", &good, REASON_NONE},
		{"{\"content\":[],\"isError\":false}", &good, REASON_NONE},
		{"{\"content\":[],\"isError\":true}", &good, REASON_IS_ERROR},
		{"{\"content\":[],\"isError\":\"true\"}", &good,
		 REASON_NOT_CALL_TOOL_RESULT},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}",
		 &good, REASON_NONE},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,"
		 "\"message\":\"m\"}}",
		 &good, REASON_RPC_ERROR},
		{"", &good, REASON_NOT_JSON},
		{" \n", &good, REASON_NOT_JSON},
		{"hello", &good, REASON_NOT_JSON},
		{"{\"content\":[]} {\"content\":[]}", &good, REASON_NOT_JSON},
		{"{\"content\":[\"\xff\"]}", &good, REASON_NOT_JSON},
		{"{\"content\":[}", &good, REASON_NOT_JSON},
		{"[]", &good, REASON_NOT_CALL_TOOL_RESULT},
		{"42", &good, REASON_NOT_CALL_TOOL_RESULT},
		{"{}", &good, REASON_NOT_CALL_TOOL_RESULT},
		{"{\"content\":{}}", &good, REASON_NOT_CALL_TOOL_RESULT},
		{"{\"content\":null}", &good, REASON_NOT_CALL_TOOL_RESULT},
		{"{\"structuredContent\":null}", &good,
		 REASON_NOT_CALL_TOOL_RESULT},
		{"{\"content\":\"x\"}", &good, REASON_NOT_CALL_TOOL_RESULT},
		{"{\"content\":[],\"isError\":1}", &good,
		 REASON_NOT_CALL_TOOL_RESULT},
		{"{\"content\":[]}", &status3, REASON_EXIT_STATUS},
		{"", &status3, REASON_EXIT_STATUS},
		{"{\"content\":[]}", &killed, REASON_SIGNAL},
	};

	check(rows, ARRAY_LEN(rows), JUDGE_mcp_client);
}

TEST(end, for_a_bound, says_which)
{
	const char *rows[] = {"memory: too much", "processes: too many"};
	const struct gate_verdict v = {.signal = 9, .limits = {rows, 2}};
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	assert_string_equal(facts_say_end(&v, &arena),
			    "was killed by SIGKILL: memory: too much; "
			    "processes: too many");
	assert_string_equal(facts_say_end(&killed, &arena),
			    "was killed by SIGKILL");
}

TEST(subprocess, content, is_kept_byte_for_byte)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *out =
		"{\"isError\": false, \"content\":[ {\"type\":\"text\","
		"\"text\":\"\\u0000\\ud83d\\ude00\", \"n\":"
		"9223372036854775808, \"e\":1E+2} ]}";
	struct judgement j =
		judge_program(JUDGE_mcp_client, str_of(out), &good, &arena);

	assert_true(str_is(j.answer.content,
			   "[ {\"type\":\"text\",\"text\":"
			   "\"\\u0000\\ud83d\\ude00\", \"n\":"
			   "9223372036854775808, \"e\":1E+2} ]"));
}

TEST(subprocess, bad_exit_after_result, keeps_the_data)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct judgement j = judge_program(
		JUDGE_mcp_client,
		STR("{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"),
		&status3, &arena);

	assert_int_equal(j.reason, REASON_EXIT_STATUS);
	assert_true(str_is(j.answer.content,
			   "[{\"type\":\"text\",\"text\":\"x\"}]"));
	assert_non_null(strstr(j.error.p, "status 3"));
}

TEST(script, output, is_trimmed_and_kept_on_failure)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct judgement j =
		judge_program(JUDGE_script, STR(" hi \n"), &good, &arena);

	assert_true(str_is(j.output, "hi"));
	assert_true(str_is(j.data, "{\"exit_code\":0}"));
	j = judge_program(JUDGE_script, STR(""), &status3, &arena);
	assert_true(str_is(j.data, "{\"exit_code\":3}"));
	j = judge_program(JUDGE_script, STR("partial\n"), &killed, &arena);
	assert_true(str_is(j.data, "{\"exit_code\":null}"));
	assert_int_equal(j.reason, REASON_SIGNAL);
	assert_true(str_is(j.output, "partial"));
	assert_non_null(strstr(j.error.p, "SIGKILL"));
}

TEST(harness, first_of_text_summary_output, is_the_body)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct judgement j;

	j = judge_program(JUDGE_harness,
			  STR("{\"output\":\"o\",\"summary\":\"s\"}"), &good,
			  &arena);
	assert_true(str_is(j.output, "s"));
	assert_true(str_is(j.data, "{\"output\":\"o\",\"summary\":\"s\"}"));
	j = judge_program(JUDGE_harness, STR("{\"text\":1,\"output\":\"o\"}"),
			  &good, &arena);
	assert_true(str_is(j.output, "o"));
	j = judge_program(JUDGE_harness, STR("1 2"), &good, &arena);
	assert_int_equal(j.reason, REASON_NOT_JSON);
}

TEST(plugin, every_shape, has_its_reason)
{
	static const struct row rows[] = {
		{"{}", &good, REASON_NONE},
		{"{\"success\":true,\"output\":\"o\"}", &good, REASON_NONE},
		{"{\"success\":null,\"output\":5}", &good, REASON_NONE},
		{"{\"success\":false}", &good, REASON_IS_ERROR},
		{"{\"success\":false,\"error\":[]}", &good, REASON_IS_ERROR},
		{"{\"skipped\":true,\"success\":false}", &good,
		 REASON_CONDITION},
		{"{\"skipped\":\"true\"}", &good, REASON_NONE},
		{"{\"success\":true}", &status3, REASON_EXIT_STATUS},
		{"[]", &good, REASON_NOT_JSON},
		{"\"text\"", &good, REASON_NOT_JSON},
		{"{} {}", &good, REASON_NOT_JSON},
		{"", &good, REASON_NOT_JSON},
	};

	check(rows, ARRAY_LEN(rows), JUDGE_python);
}
