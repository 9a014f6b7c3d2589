#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/client/tool_check.h"

#define TOOL                                                            \
	"{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\","         \
	"\"properties\":{\"repo\":{\"type\":\"string\"},"               \
	"\"limit\":{\"type\":\"integer\"}},\"required\":[\"repo\"]},"   \
	"\"outputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{" \
	"\"type\":\"integer\"}},\"required\":[\"n\"]}}"

struct world {
	struct arena arena;
	struct tool_check check;
	struct tool_findings found;
	struct buf text;
};

static void begin(struct world *w, const char *tool)
{
	*w = (struct world){.arena = ARENA_INIT,
			    .text = BUF_INIT(BUF_UNBOUNDED)};
	tool_check_init(&w->check, tool ? str_of(tool) : (struct str){NULL, 0});
}

static void end(struct world *w)
{
	tool_check_release(&w->check);
	buf_release(&w->text);
	arena_release(&w->arena);
}

static bool arguments(struct world *w, const char *json)
{
	bool fits = tool_check_arguments(&w->check, str_of(json), "arguments",
					 &w->arena, &w->found);

	buf_clear(&w->text);
	tool_findings_say(&w->found, &w->text);
	return fits;
}

static bool result(struct world *w, const char *json)
{
	bool fits = tool_check_result(&w->check, str_of(json), &w->arena,
				      &w->found);

	buf_clear(&w->text);
	tool_findings_say(&w->found, &w->text);
	return fits;
}

TEST(arguments, that_fit, are_passed_in_silence)
{
	struct world w;

	begin(&w, TOOL);
	assert_true(arguments(&w, "{\"repo\":\"r\",\"limit\":1,\"other\":1}"));
	assert_string_equal(buf_cstr(&w.text), "");
	assert_null(w.found.unusable);
	end(&w);
}

TEST(arguments, that_break_the_schema, are_named_with_their_place)
{
	struct world w;

	begin(&w, TOOL);
	assert_false(arguments(&w, "{\"limit\":\"x\"}"));
	assert_int_equal(w.found.violations.n, 2);
	assert_non_null(strstr(buf_cstr(&w.text), "arguments: /limit: "));
	assert_non_null(strstr(buf_cstr(&w.text), "repo"));
	assert_false(tool_check_arguments(&w.check, (struct str){NULL, 0},
					  "line 3", &w.arena, &w.found));
	assert_true(str_starts(str_of(w.found.violations.item[0]), "line 3: "));
	end(&w);
}

TEST(arguments, of_an_unknown_name, have_a_nearest_one)
{
	struct world w;

	begin(&w, TOOL);
	assert_true(arguments(&w, "{\"repo\":\"r\",\"limti\":1}"));
	assert_string_equal(buf_cstr(&w.text),
			    "the tool has no argument limti; did you mean "
			    "limit?");
	end(&w);
}

TEST(arguments, that_break_it_often, are_named_and_counted)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	struct world w;

	begin(&w, "{\"inputSchema\":{\"additionalProperties\":{\"type\":"
		  "\"string\"}}}");
	for (int i = 0; i < 100; i++)
		buf_addf(&json, "%s\"a%d\":1", i ? "," : "{", i);
	buf_addc(&json, '}');
	assert_false(arguments(&w, buf_cstr(&json)));
	assert_int_equal(w.found.violations.n, LIMIT_SCHEMA_VIOLATIONS);
	assert_non_null(strstr(buf_cstr(&w.text), "; and 36 more"));
	end(&w);
}

TEST(arguments, no_schema, nothing_is_checked)
{
	struct world w;

	begin(&w, NULL);
	assert_true(arguments(&w, "{\"x\":1}"));
	end(&w);
	begin(&w, "{\"name\":\"t\"}");
	assert_true(arguments(&w, "{\"x\":1}"));
	end(&w);
}

TEST(arguments, against_a_bad_schema, give_one_warning)
{
	struct world w;

	begin(&w, "{\"inputSchema\":{\"properties\":7}}");
	assert_true(arguments(&w, "{}"));
	assert_non_null(strstr(w.found.unusable, "cannot be used"));
	assert_false(w.found.is_told);
	assert_true(arguments(&w, "{}"));
	assert_non_null(strstr(w.found.unusable, "cannot be used"));
	assert_true(w.found.is_told);
	end(&w);
}

TEST(SC_3, structured, must_fit)
{
	struct world w;

	begin(&w, TOOL);
	assert_true(result(&w, "{\"structuredContent\":{\"n\":1}}"));
	assert_false(result(&w, "{\"structuredContent\":{\"n\":\"1\"}}"));
	assert_non_null(strstr(buf_cstr(&w.text), "structuredContent: /n: "));
	assert_false(result(&w, "{\"structuredContent\":null}"));
	end(&w);
}

TEST(SC_4, error, is_not_looked_at)
{
	struct world w;

	begin(&w, TOOL);
	assert_true(result(&w, "{\"content\":[],\"isError\":true}"));
	assert_false(result(&w, "{\"content\":[],\"isError\":false}"));
	end(&w);
}

TEST(SC_5, structured_data_promised_and_not_sent, is_named)
{
	struct world w;

	begin(&w, TOOL);
	assert_false(result(&w, "{\"content\":[]}"));
	assert_null(strstr(buf_cstr(&w.text), "JSON"));
	assert_false(result(&w, "{\"content\":[{\"type\":\"text\","
				"\"text\":\"{\\\"n\\\":1}\"}]}"));
	assert_non_null(
		strstr(buf_cstr(&w.text), "sent none, though its text is"));
	end(&w);
}

TEST(TK_2, tool, may_demand_a_task)
{
	assert_true(tool_needs_task(
		STR("{\"execution\":{\"taskSupport\":\"required\"}}")));
	assert_false(tool_needs_task(
		STR("{\"execution\":{\"taskSupport\":\"optional\"}}")));
	assert_false(tool_needs_task(STR("{}")));
}

TEST(unknown_name, of_an_argument, has_the_nearest_or_all)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_string_equal(tool_unknown(&l, "tool", "x", "", &arena),
			    "no tool x; it has none");
	assert_int_equal(listing_add(&l,
				     STR("{\"tools\":[{\"name\":\"search\"},"
					 "{\"name\":\"read\"}]}"),
				     &err),
			 LISTING_DONE);
	assert_string_equal(tool_unknown(&l, "tool", "serach", "", &arena),
			    "no tool serach; did you mean search?");
	assert_string_equal(tool_unknown(&l, "tool", "zzzz", " (y)", &arena),
			    "no tool zzzz (y); it has search, read");
	listing_release(&l);
}
