#include "tests/unit/test.h"

#include "core/base/scan.h"
#include "tests/unit/report/render_sample.h"

static void check(const char *form, const struct report *r,
		  struct render_options o, const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str value;

	render_find(form)->print(r, &o, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	assert_int_equal(scan_document(buf_str(&out), NULL, &value, &err), 0);
	buf_release(&out);
}

#define STEPS(run)                                                            \
	"\"step_results\":["                                                  \
	"{\"step_name\":\"briefing\",\"step_type\":\"mcp-client\","           \
	"\"success\":true,\"skipped\":false,\"output\":\"3 meetings\\n\","    \
	"\"state\":\"ok\",\"data\":{\"schema\":\"mcp-client/1\","             \
	"\"content\":[ 1.0 ],\"isError\":false}" run "},"                     \
	"{\"step_name\":\"issues\",\"step_type\":\"mcp-client\","             \
	"\"success\":false,\"skipped\":false,\"output\":\"kept\","            \
	"\"state\":\"failed\",\"error\":\"exited with status 3\","            \
	"\"reason\":\"exit_status\"},"                                        \
	"{\"step_name\":\"mail\",\"step_type\":\"script\",\"success\":true,"  \
	"\"skipped\":true,\"output\":\"\",\"state\":\"skipped\","             \
	"\"error\":\"$TOKEN is not set\",\"reason\":\"no_credential\"},"      \
	"{\"step_name\":\"quiet\",\"step_type\":\"script\",\"success\":true," \
	"\"skipped\":false,\"output\":\"\",\"state\":\"ok\"}]"

#define RUN                                                                  \
	"{\"matins\":\"0\",\"started\":\"2026-11-22T07:00:00Z\",\"duration_" \
	"us\":"                                                              \
	"6012345}"
#define SUMMARY                                                  \
	"\"routine\":\"morning\",\"dry_run\":false,\"success\":" \
	"false,\"summary\":\"morning: 3 ran, 1 skipped, 1 failed\","

TEST(json, every_kind_of_step, has_a_fixed_order)
{
	check("json", &sample, (struct render_options){.view = VIEW_FULL},
	      "{\"schema\":\"matins-report/1\",\"generation\":7," SUMMARY STEPS(
		      ",\"run\":{\"pid\":1}") ",\"run\":" RUN "}\n");
}

TEST(json, golden_view, has_no_run_and_no_generation)
{
	check("json", &sample, (struct render_options){.view = VIEW_GOLDEN},
	      "{\"schema\":\"matins-report/1\"," SUMMARY STEPS("") "}\n");
}

TEST(json, pretty, indents_the_skeleton_only)
{
	struct report_step step = {
		.name = "s",
		.type = "harness",
		.data = STR("{\"b\" :1,\n\"a\": [ ]}"),
	};
	struct report r = {.routine = "r", .steps = &step, .n_steps = 1};

	check("json", &r,
	      (struct render_options){.view = VIEW_GOLDEN, .pretty = true},
	      "{\n"
	      "  \"schema\": \"matins-report/1\",\n"
	      "  \"routine\": \"r\",\n"
	      "  \"dry_run\": false,\n"
	      "  \"success\": true,\n"
	      "  \"summary\": \"r: 1 ran, 0 skipped, 0 failed\",\n"
	      "  \"step_results\": [\n"
	      "    {\n"
	      "      \"step_name\": \"s\",\n"
	      "      \"step_type\": \"harness\",\n"
	      "      \"success\": true,\n"
	      "      \"skipped\": false,\n"
	      "      \"output\": \"\",\n"
	      "      \"state\": \"ok\",\n"
	      "      \"data\": {\"b\" :1,\n\"a\": [ ]}\n"
	      "    }\n"
	      "  ]\n"
	      "}\n");
}

TEST(data, all_steps, are_found_by_name)
{
	check("data", &sample, (struct render_options){.view = VIEW_FULL},
	      "{\"briefing\":{\"schema\":\"mcp-client/1\",\"content\":[ 1.0 ],"
	      "\"isError\":false},\"issues\":null,\"mail\":null,"
	      "\"quiet\":null}\n");
}

TEST(data, single, is_the_bare_value)
{
	struct report one = sample;

	one.n_steps = 1;
	check("data", &one, (struct render_options){.single = true},
	      "{\"schema\":\"mcp-client/1\",\"content\":[ 1.0 ],"
	      "\"isError\":false}\n");
}

TEST(data, single_without_data, is_null)
{
	struct report one = sample;

	one.steps = &sample_steps[1];
	one.n_steps = 1;
	check("data", &one, (struct render_options){.single = true}, "null\n");
}

TEST(json, hostile_output, is_valid_without_raw_control)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str value;

	sample_says("json", HOSTILE, &out);
	assert_int_equal(scan_document(buf_str(&out), NULL, &value, &err), 0);
	assert_null(strchr(buf_cstr(&out), '\x1b'));
	buf_release(&out);
}
