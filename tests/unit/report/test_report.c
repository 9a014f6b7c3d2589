#include "tests/unit/test.h"

#include "core/base/scan.h"
#include "core/report/render.h"

static struct arena arena;

static int release(UNUSED void **state)
{
	arena_release(&arena);
	return 0;
}

static struct report_step step_of(enum step_reason reason, bool required)
{
	return (struct report_step){
		.name = "s",
		.type = "script",
		.state = report_reason_state(reason),
		.reason = reason,
		.required = required,
	};
}

/* A report of two steps. */
static struct report two(struct report_step *steps, enum step_reason a,
			 enum step_reason b)
{
	steps[0] = step_of(a, false);
	steps[1] = step_of(b, false);
	return (struct report){
		.routine = "r", .steps = steps, .n_steps = 2, .generation = 1};
}

TEST(reason, every_row, belongs_to_its_state)
{
#define REASON(name, word, owner)                                            \
	assert_int_equal(report_reason_state(REASON_##name), STATE_##owner); \
	assert_string_equal(report_reason_name(REASON_##name), word);
#include "core/report/reasons.def"
#undef REASON
	assert_int_equal(report_reason_state(REASON_NONE), STATE_OK);
}

TEST(success, follows_from_outcomes, as_the_table_says)
{
	static const struct {
		enum step_reason a, b;
		bool success;
		int status;
		const char *summary;
	} rows[] = {
		{REASON_NONE, REASON_NONE, true, 0,
		 "r: 2 ran, 0 skipped, 0 failed"},
		{REASON_NONE, REASON_NO_COMMAND, true, 0,
		 "r: 1 ran, 1 skipped, 0 failed"},
		{REASON_NONE, REASON_SIGNAL, false, 2,
		 "r: 2 ran, 0 skipped, 1 failed"},
		{REASON_NONE, REASON_IS_ERROR, false, 2,
		 "r: 2 ran, 0 skipped, 1 failed"},
		{REASON_NO_COMMAND, REASON_LEASH, false, 2,
		 "r: 1 ran, 1 skipped, 1 failed"},
		{REASON_DEADLINE_CALL, REASON_LEASH, false, 2,
		 "r: 2 ran, 0 skipped, 2 failed"},
		{REASON_DISABLED, REASON_NO_CREDENTIAL, false, 2,
		 "r: 0 ran, 2 skipped, 0 failed — nothing ran"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct report_step steps[2];
		struct report r = two(steps, rows[i].a, rows[i].b);

		assert_int_equal(report_success(&r), rows[i].success);
		assert_int_equal(report_exit_status(&r), rows[i].status);
		assert_string_equal(report_summary(&r, &arena),
				    rows[i].summary);
	}
}

TEST(success, of_steps_not_begun, is_counted_apart)
{
	struct report_step steps[2];
	struct report r = two(steps, REASON_NONE, REASON_CANCELLED);

	steps[1].not_begun = true;
	assert_string_equal(report_summary(&r, &arena),
			    "r: 1 ran, 0 skipped, 0 failed, 1 not begun");
	assert_false(report_success(&r));
	assert_int_equal(report_exit_status(&r), 2);
	r.steps++;
	r.n_steps = 1;
	r.allow_empty = true;
	assert_string_equal(report_summary(&r, &arena),
			    "r: 0 ran, 0 skipped, 0 failed, 1 not begun — "
			    "nothing ran");
	assert_int_equal(report_exit_status(&r), 2);
}

TEST(success, with_refusals, is_counted_apart)
{
	struct report_step steps[2];
	struct report r = two(steps, REASON_NONE, REASON_EXIT_STATUS);

	/* a failure is counted already */
	steps[0].refused = steps[1].refused = true;
	assert_string_equal(report_summary(&r, &arena),
			    "r: 2 ran, 0 skipped, 1 failed, 1 with refusals");
	r.n_steps = 1;
	assert_true(report_success(&r));
	assert_string_equal(report_summary(&r, &arena),
			    "r: 1 ran, 0 skipped, 0 failed, 1 with refusals");
}

TEST(success, without_content, is_counted_apart)
{
	struct report_step steps[2];
	struct report r = two(steps, REASON_NONE, REASON_NONE);

	steps[0].lacks = LACKS_CONTENT;
	steps[1].lacks = LACKS_ITEMS;
	assert_string_equal(report_summary(&r, &arena),
			    "r: 2 ran, 0 skipped, 0 failed, 1 without content, "
			    "1 without items");
	assert_int_equal(report_exit_status(&r), 0);
}

TEST(answer, of_blanks_alone, is_empty)
{
	static const struct {
		const char *content, *structured;
		bool is_empty;
	} rows[] = {
		{"[]", "", true},
		{"[]", "null", true},
		{"[]", "{}", false},
		{"[]", "0", false},
		{"[{\"type\":\"text\",\"text\":\"\"}]", "", true},
		{"[{\"type\":\"text\",\"text\":\" \\n\\t\\r \"}]", "", true},
		{"[{\"type\":\"text\",\"text\":\" \\nx\"}]", "", false},
		{"[{\"type\":\"text\",\"text\":\"\\\\n\"}]", "", false},
		{"[{\"type\":\"text\",\"text\":\"\"},"
		 "{\"type\":\"text\",\"text\":\"0\"}]",
		 "", false},
		{"[{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"\"}]", "",
		 false},
		{"[{\"type\":\"text\"}]", "", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (report_answer_is_empty(str_of(rows[i].content),
					   str_of(rows[i].structured)) !=
		    rows[i].is_empty)
			fail_msg("row %zu", i);
}

TEST(success, where_nothing_ran, must_be_allowed)
{
	struct report r = {.routine = "r"};

	assert_int_equal(report_exit_status(&r), 2);
	r.allow_empty = true;
	assert_int_equal(report_exit_status(&r), 0);
	/* still said */
	assert_string_equal(report_summary(&r, &arena),
			    "r: 0 ran, 0 skipped, 0 failed — nothing ran");
}

TEST(success, of_a_dry_run, is_no_failure)
{
	struct report_step steps[2];
	struct report r = two(steps, REASON_DRY_RUN, REASON_DRY_RUN);

	r.dry_run = true;
	assert_true(report_success(&r));
	assert_int_equal(report_exit_status(&r), 0);
	assert_string_equal(report_summary(&r, &arena),
			    "r: 0 ran, 2 skipped, 0 failed");
}

TEST(success, required_step_skipped, is_lost_with_a_required_step)
{
	struct report_step steps[2];
	struct report r = two(steps, REASON_NONE, REASON_NO_COMMAND);

	assert_int_equal(report_exit_status(&r), 0);
	steps[1].required = true;
	assert_int_equal(report_exit_status(&r), 2);
	assert_string_equal(report_summary(&r, &arena),
			    "r: 1 ran, 1 skipped, 1 failed");
	/* who leaves it out by hand knows */
	steps[1].reason = REASON_ONLY_FILTER;
	assert_int_equal(report_exit_status(&r), 0);
}

TEST(mcp_data, slices, are_kept_byte_for_byte)
{
	static const struct {
		struct report_answer answer;
		const char *want;
	} rows[] = {
		{{STR("[ {\"n\":9007199254740993, \"a\":1.0} ]"),
		  STR("{\"z\":1,\"a\":\"\\u0000\"}"), true},
		 "[ {\"n\":9007199254740993, \"a\":1.0} ],\"isError\":true,"
		 "\"structuredContent\":{\"z\":1,\"a\":\"\\u0000\"}}\n"},
		{{STR("[]"), {NULL, 0}, false}, "[],\"isError\":false}\n"},
	};
	const struct render_options single = {.single = true};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct report_step step = {.answer = rows[i].answer};
		const struct report r = {.steps = &step, .n_steps = 1};
		struct buf out = BUF_INIT(BUF_UNBOUNDED);

		render_find("data")->print(&r, &single, &out);
		assert_string_equal(buf_cstr(&out),
				    arena_printf(&arena,
						 "{\"schema\":\"mcp-client/1\","
						 "\"content\":%s",
						 rows[i].want));
		buf_release(&out);
	}
}

TEST(mcp_output, blocks, are_text_or_one_line)
{
	static const char *const rows[][2] = {
		{"{\"type\":\"text\",\"text\":\"a\\nb\"}", "a\nb"},
		{"{\"type\":\"text\",\"text\":\"\"}", ""},
		{"{\"type\":\"text\"}", "[text]"},
		{"{\"type\":\"image\",\"mimeType\":\"image/png\","
		 "\"data\":\"AAAA\"}",
		 "[image image/png, 3 B]"},
		{"{\"type\":\"image\",\"mimeType\":\"image/png\","
		 "\"data\":\"AA==\"}",
		 "[image image/png, 1 B]"},
		{"{\"type\":\"audio\",\"data\":5}", "[audio]"},
		{"{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///x\","
		 "\"mimeType\":\"text/plain\",\"text\":\"hello\"}}",
		 "[resource file:///x, text/plain, 5 B]"},
		{"{\"type\":\"resource\"}", "[resource]"},
		{"{\"type\":\"resource_link\",\"name\":\"n\","
		 "\"uri\":\"u:\\n1\"}",
		 "[resource_link n u: 1]"},
		{"{\"type\":\"hologram\",\"text\":\"x\"}", "[hologram]"},
		{"{}", "[unknown]"},
		{"7", "[unknown]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);

		report_mcp_output(
			&out, str_of(arena_printf(&arena, "[%s]", rows[i][0])));
		assert_string_equal(buf_cstr(&out), rows[i][1]);
		buf_release(&out);
	}
}

TEST(mcp_output, several_blocks, are_joined_by_newlines)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	report_mcp_output(&out, STR("[{\"type\":\"text\",\"text\":\"1\"},"
				    "{\"type\":\"image\"},"
				    "{\"type\":\"text\",\"text\":\"3\"}]"));
	assert_string_equal(buf_cstr(&out), "1\n[image]\n3");
	buf_clear(&out);
	report_mcp_output(&out, STR("[]"));
	assert_string_equal(buf_cstr(&out), "");
	buf_release(&out);
}

TEST(mcp_output, image_of_34_kib, has_its_size_printed)
{
	struct buf block = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&block, "[{\"type\":\"image\",\"mimeType\":\"image/png\","
			 "\"data\":\"");
	for (int i = 0; i < 34 * 1024 * 4 / 3; i++)
		buf_addc(&block, 'A');
	buf_adds(&block, "\"}]");
	report_mcp_output(&out, buf_str(&block));
	assert_string_equal(buf_cstr(&out), "[image image/png, 34 KiB]");
	buf_release(&block);
	buf_release(&out);
}

TEST(mcp_output, data_uri, has_the_size_of_its_data)
{
	static const char *const rows[][2] = {
		{"[{\"type\":\"image\",\"data\":"
		 "\"data:image/gif;base64,R0lGODlh\"}]",
		 "[image, 6 B]"},
		{"[{\"type\":\"image\",\"data\":\"data:,QQ==\"}]",
		 "[image, 1 B]"},
		{"[{\"type\":\"image\",\"data\":\"data:\"}]", "[image, 3 B]"},
		{"[{\"type\":\"audio\",\"data\":\"====\"}]", "[audio, 0 B]"},
		{"[{\"type\":\"resource\",\"resource\":{\"blob\":"
		 "\"data:x;base64,QUI=\"}}]",
		 "[resource, 2 B]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);

		report_mcp_output(&out, str_of(rows[i][0]));
		assert_string_equal(buf_cstr(&out), rows[i][1]);
		buf_release(&out);
	}
}

/* ---- reading back ---- */

static const char sample[] =
	"{\"schema\":\"matins-report/1\",\"generation\":7,\"routine\":\"r\","
	"\"dry_run\":false,\"success\":false,\"summary\":\"r: 3 ran, 2 "
	"skipped, 3 failed\",\"step_results\":["
	"{\"step_name\":\"a\",\"step_type\":\"mcp-client\",\"success\":true,"
	"\"skipped\":false,\"output\":\"x\\n\\u001b[31m\\u0000y\","
	"\"state\":\"ok\",\"data\":{\"schema\":\"mcp-client/1\","
	"\"content\":[ 1.0, {\"b\":1,\"a\":\"\\u0041\\/\"} ],"
	"\"isError\":false},\"run\":{\"pid\":1}},"
	"{\"step_name\":\"b\",\"step_type\":\"script\",\"success\":false,"
	"\"skipped\":false,\"output\":\"kept\",\"state\":\"failed\","
	"\"error\":\"it "
	"`died`\",\"reason\":\"signal\",\"said\":\"a\\nb\",\"advice\":["
	"{\"text\":\"sh was refused\",\"toml\":\"sandbox.exec = "
	"[\\\"sh\\\"]\"},{\"text\":\"trace it\",\"toml\":\"\"}]},"
	"{\"step_name\":\"c\",\"step_type\":\"script\",\"success\":true,"
	"\"skipped\":true,\"output\":\"\",\"state\":\"skipped\","
	"\"error\":\"no such program\",\"reason\":\"no_command\"},"
	"{\"step_name\":\"d\",\"step_type\":\"script\",\"success\":false,"
	"\"skipped\":true,\"output\":\"\",\"state\":\"skipped\","
	"\"error\":\"required\",\"reason\":\"no_credential\"},"
	"{\"step_name\":\"e\",\"step_type\":\"harness\",\"success\":false,"
	"\"skipped\":false,\"output\":\"\",\"state\":\"timeout\","
	"\"error\":\"late\",\"reason\":\"deadline_call\",\"data\":[1,2]}],"
	"\"run\":{\"started\":\"2026-01-01T00:00:00.000Z\"}}\n";

static struct str printed(const struct report *r, const char *form,
			  enum report_view view, bool pretty)
{
	struct render_options o = {.view = view, .pretty = pretty};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str copy;

	render_find(form)->print(r, &o, &out);
	copy = arena_str(&arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

static struct report loaded(struct str text)
{
	struct err err = ERR_INIT;
	struct report r;

	if (report_load(text, &arena, &r, &err) < 0)
		fail_msg("%s", err.msg);
	return r;
}

TEST(load, printed_report, gives_the_same_bytes_again)
{
	struct report r = loaded(str_of(sample)), again;

	assert_string_equal(printed(&r, "json", VIEW_FULL, false).p, sample);
	again = loaded(printed(&r, "json", VIEW_FULL, true));
	assert_string_equal(printed(&again, "json", VIEW_FULL, false).p,
			    sample);
}

TEST(load, any_form, gives_the_same_report)
{
	static const char *const forms[] = {"json", "md", "text", "html",
					    "data"};
	struct report r = loaded(str_of(sample));
	struct report again = loaded(printed(&r, "json", VIEW_FULL, true));

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct str a = printed(&r, forms[i], VIEW_FULL, true);
		struct str b = printed(&again, forms[i], VIEW_FULL, true);

		assert_string_equal(a.p, b.p);
	}
}

TEST(load, fields, are_all_there)
{
	struct report r = loaded(str_of(sample));

	assert_int_equal(r.generation, 7);
	assert_string_equal(r.routine, "r");
	assert_int_equal(r.n_steps, 5);
	assert_int_equal(r.steps[0].output.n, 9);
	assert_int_equal(r.steps[0].output.p[7], 0);
	assert_true(str_is(r.steps[0].run, "{\"pid\":1}"));
	assert_int_equal(r.steps[1].reason, REASON_SIGNAL);
	assert_true(str_is(r.steps[1].said, "a\nb"));
	assert_int_equal(r.steps[1].n_advice, 2);
	assert_true(str_is(r.steps[1].advice[0].toml, "sandbox.exec = "
						      "[\"sh\"]"));
	assert_true(str_is(r.steps[1].advice[1].text, "trace it"));
	assert_int_equal(r.steps[1].advice[1].toml.n, 0);
	assert_int_equal(r.steps[2].n_advice, 0);
	assert_false(r.steps[2].required);
	assert_true(r.steps[3].required);
	assert_int_equal(report_exit_status(&r), 2);
}

TEST(load, allowed_empty_run, stays_a_success)
{
	struct report r = {.routine = "r", .allow_empty = true};

	r = loaded(printed(&r, "json", VIEW_FULL, false));
	assert_true(report_success(&r));
	r.allow_empty = false;
	r = loaded(printed(&r, "json", VIEW_FULL, false));
	assert_false(report_success(&r));
}

TEST(load, advice_of_another_shape, is_left_out)
{
	static const char text[] =
		"{\"schema\":\"matins-report/1\",\"step_results\":[{"
		"\"state\":\"ok\",\"advice\":[1,{\"text\":\"a\"}]},"
		"{\"state\":\"ok\",\"advice\":\"b\"}]}";
	struct report r = loaded(str_of(text));

	assert_int_equal(r.steps[0].n_advice, 1);
	assert_true(str_is(r.steps[0].advice[0].text, "a"));
	assert_int_equal(r.steps[1].n_advice, 0);
}

TEST(golden_view, of_a_report, has_no_advice)
{
	struct report r = loaded(str_of(sample));

	assert_null(strstr(printed(&r, "json", VIEW_GOLDEN, false).p,
			   "\"advice\""));
}

TEST(load, unknown_members, are_ignored)
{
	struct report r = loaded(STR("{\"future\":[1],\"routine\":\"r\","
				     "\"schema\":\"matins-report/1\","
				     "\"step_results\":[]}"));

	assert_string_equal(r.routine, "r");
	assert_int_equal(r.generation, 0);
}

TEST(load, not_a_report, is_an_error)
{
	static const struct {
		const char *text;
		enum err_kind kind;
	} rows[] = {
		{"", ERR_SYNTAX},
		{"{\"schema\":\"matins-report/1\"", ERR_SYNTAX},
		{"[]", ERR_COMPARE},
		{"{}", ERR_COMPARE},
		{"{\"schema\":\"matins-report/2\",\"step_results\":[]}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\"}", ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":{}}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":[1]}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":"
		 "[{\"state\":\"fine\"}]}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":"
		 "[{\"state\":\"failed\",\"reason\":\"mood\"}]}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":"
		 "[{\"state\":\"failed\"}]}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":"
		 "[{\"state\":\"ok\",\"reason\":\"signal\"}]}",
		 ERR_COMPARE},
		{"{\"schema\":\"matins-report/1\",\"step_results\":[],"
		 "\"generation\":-1}",
		 ERR_COMPARE},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct report r;

		assert_int_equal(
			report_load(str_of(rows[i].text), &arena, &r, &err),
			-1);
		assert_int_equal(err.kind, rows[i].kind);
	}
}

/* A long text in any letters is printed as it came. */
TEST(output, long_text_in_any_letters, comes_back_the_same)
{
	struct report_step step = {.name = "s", .type = "mcp-client"};
	const struct report r = {.routine = "r", .steps = &step, .n_steps = 1};
	const struct render_options o = {.view = VIEW_GOLDEN};
	struct buf content = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str doc, list, value;
	struct scan_iter it;
	struct err err = ERR_INIT;

	buf_adds(&content, "[{\"type\":\"text\",\"text\":\"x");
	while (content.n < 1000000)
		buf_adds(&content, "\u00e9\u20ac\U0001f600");
	buf_adds(&content, "\"}]");
	step.answer.content = buf_str(&content);
	render_find("json")->print(&r, &o, &out);
	assert_int_equal(scan_document(buf_str(&out), NULL, &doc, &err), 0);
	assert_true(scan_get(doc, "step_results", &list));
	scan_iter_init(&it, list);
	assert_true(scan_next(&it));
	assert_true(scan_get(it.value, "output", &value));
	/* from the quote before the text to the one behind it */
	assert_int_equal(value.n, content.n - 25);
	assert_memory_equal(value.p, content.p + 23, value.n);
	buf_release(&content);
	buf_release(&out);
}

TEST_FILE(NULL, release);
