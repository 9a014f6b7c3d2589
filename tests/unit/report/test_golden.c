#include "tests/unit/test.h"

#include "core/report/golden.h"

static struct arena arena;

static int release(UNUSED void **state)
{
	arena_release(&arena);
	return 0;
}

#define REPORT(load)                                                           \
	"{\"schema\":\"matins-report/1\",\"generation\":3,\"routine\":\"r\","  \
	"\"dry_run\":false,\"success\":true,\"summary\":\"r: 1 ran\","         \
	"\"step_results\":[{\"step_name\":\"host\",\"step_type\":"             \
	"\"script\",\"success\":true,\"skipped\":false,\"output\":\"o\","      \
	"\"state\":\"ok\",\"data\":{\"load\":" load "},\"run\":{\"pid\":9}}]," \
	"\"run\":{\"t\":1}}"

static struct golden make(const char *report, const char *rule)
{
	struct err err = ERR_INIT;
	struct golden g = {0};
	const struct strlist ignore = {&rule, rule ? 1 : 0};
	struct rules rules = {NULL, 0};

	if (rules_ignore(&rules, &ignore, &arena, &err) < 0 ||
	    golden_make(str_of(report), &rules, &arena, &g, &err) < 0)
		fail_msg("%s", err.msg);
	return g;
}

static const char *text_of(const struct golden *g)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *copy;

	golden_print(g, &out);
	copy = arena_strdup(&arena, buf_cstr(&out));
	buf_release(&out);
	return copy;
}

static struct golden load(const char *text)
{
	struct err err = ERR_INIT;
	struct golden g = {0};

	if (golden_load(str_of(text), &arena, &g, &err) < 0)
		fail_msg("%s", err.msg);
	return g;
}

static size_t differences(const char *old, const char *new, const char *rule)
{
	struct golden a = load(old), b = make(new, rule);
	struct err err = ERR_INIT;
	struct diff d;

	assert_int_equal(golden_compare(&a, &b, &arena, &d, &err), 0);
	return d.n;
}

TEST(golden, print, is_canonical_without_run)
{
	struct golden g = make(REPORT("1.50"), "data.nothing");

	assert_string_equal(text_of(&g),
			    "{\n"
			    "  \"report\": {\n"
			    "    \"dry_run\": false,\n"
			    "    \"routine\": \"r\",\n"
			    "    \"schema\": \"matins-report/1\",\n"
			    "    \"step_results\": [\n"
			    "      {\n"
			    "        \"data\": {\n"
			    "          \"load\": 1.50\n"
			    "        },\n"
			    "        \"output\": \"o\",\n"
			    "        \"skipped\": false,\n"
			    "        \"state\": \"ok\",\n"
			    "        \"step_name\": \"host\",\n"
			    "        \"step_type\": \"script\",\n"
			    "        \"success\": true\n"
			    "      }\n"
			    "    ],\n"
			    "    \"success\": true,\n"
			    "    \"summary\": \"r: 1 ran\"\n"
			    "  },\n"
			    "  \"routine\": \"r\",\n"
			    "  \"rules\": {\n"
			    "    \"ignore\": [\n"
			    "      \"data.nothing\"\n"
			    "    ]\n"
			    "  },\n"
			    "  \"schema\": \"matins-golden/1\"\n"
			    "}\n");
}

/* Members of that name below the data are a server's own. */
TEST(golden, volatile_members, are_left_out_where_they_are_ours)
{
	struct golden g = make(REPORT("{\"run\":1}"), NULL);
	const char *text = text_of(&g);

	assert_null(strstr(text, "generation"));
	assert_null(strstr(text, "pid"));
	assert_non_null(strstr(text, "\"run\": 1"));
	/* any other document than a report is left alone */
	g = load("{\"schema\":\"matins-golden/1\",\"routine\":\"r\","
		 "\"report\":{\"schema\":\"x\",\"run\":1}}");
	assert_non_null(jdoc_get(g.report, "run"));
}

TEST(golden, loaded, prints_the_same)
{
	struct golden g = make(REPORT("[1,{\"b\":1,\"a\":\"\\u001b\"}]"), NULL);
	const char *text = text_of(&g);
	struct golden again = load(text);

	assert_string_equal(text_of(&again), text);
	assert_int_equal(differences(text,
				     REPORT("[1,{\"a\":\"\\u001B\","
					    "\"b\":1}]"),
				     NULL),
			 0);
}

TEST(golden, changed_value, is_one_difference)
{
	struct golden g = make(REPORT("1"), NULL);

	assert_int_equal(differences(text_of(&g), REPORT("1"), NULL), 0);
	assert_int_equal(differences(text_of(&g), REPORT("2"), NULL), 1);
}

TEST(golden, ignored, is_not_kept_and_not_compared)
{
	struct golden g = make(REPORT("\"private\""), "data.load");
	const char *text = text_of(&g);

	assert_null(strstr(text, "private"));
	assert_non_null(strstr(text, "\"load\": \"(ignored)\""));
	/* the rule of the file counts for the new report */
	assert_int_equal(differences(text, REPORT("{\"other\":1}"), NULL), 0);
}

TEST(golden, rule_of_the_configuration, counts)
{
	struct golden g = make(REPORT("1"), NULL);

	assert_int_equal(differences(text_of(&g), REPORT("2"), "$..load"), 0);
	assert_int_equal(differences(text_of(&g), REPORT("2"), "$..other"), 1);
}

TEST(golden, rules_of_both, are_joined)
{
	struct golden a = make(REPORT("1"), "output");
	struct golden b = make(REPORT("2"), "data.load");
	struct golden old = load(text_of(&a));
	struct err err = ERR_INIT;
	struct diff d;

	assert_int_equal(golden_compare(&old, &b, &arena, &d, &err), 0);
	assert_int_equal(d.n, 0);
	assert_int_equal(b.rules.n, 2);
	assert_string_equal(b.rules.item[0].path, "data.load");
	assert_string_equal(b.rules.item[1].path, "output");
	assert_non_null(strstr(text_of(&b), "\"output\": \"(ignored)\""));
}

TEST(golden, rule_without_match, has_no_hits)
{
	static const char *const names[] = {"data.nothing", "data.load"};
	const struct strlist ignore = {(const char **)(uintptr_t)names, 2};
	struct rules rules = {NULL, 0};
	struct golden a = make(REPORT("1"), NULL), b = {0};
	struct golden old = load(text_of(&a));
	struct err err = ERR_INIT;
	struct diff d;

	assert_int_equal(rules_ignore(&rules, &ignore, &arena, &err), 0);
	assert_int_equal(
		golden_make(STR(REPORT("1")), &rules, &arena, &b, &err), 0);
	assert_int_equal(golden_compare(&old, &b, &arena, &d, &err), 0);
	assert_int_equal(b.rules.item[0].hits, 0);
	assert_int_equal(b.rules.item[1].hits, 2);
}

TEST(golden, other_routine, cannot_be_compared)
{
	struct golden a = make(REPORT("1"), NULL);
	struct golden b = make("{\"schema\":\"matins-report/1\","
			       "\"routine\":\"q\",\"step_results\":[]}",
			       NULL);
	struct err err = ERR_INIT;
	struct diff d;

	assert_int_equal(golden_compare(&a, &b, &arena, &d, &err), -1);
	assert_int_equal(err.kind, ERR_COMPARE);
}

static int try_make(const char *report, const char *rule, bool secrets,
		    struct err *err)
{
	const struct strlist ignore = {&rule, rule ? 1 : 0};
	struct rules rules = {NULL, 0};
	struct golden g;

	if (rules_ignore(&rules, &ignore, &arena, err) < 0)
		return -1;
	return golden_make(str_of(report), &rules, &arena, &g, err) < 0
		       ? -1
		       : golden_check_secrets(&g, secrets, &arena, err);
}

TEST(golden, scrubbed_secret, is_refused)
{
	struct err err = ERR_INIT;

	assert_int_equal(try_make(REPORT("\"a***b\""), NULL, true, &err), -1);
	assert_int_equal(err.kind, ERR_CREDENTIAL);
	assert_non_null(strstr(err.msg, "step host"));
	/* an ignored one is not kept */
	assert_int_equal(try_make(REPORT("\"a***b\""), "data.load", true, &err),
			 0);
	/* a key is kept, whatever its value */
	assert_int_equal(try_make(REPORT("{\"a***b\":1}"), NULL, true, &err),
			 -1);
	assert_int_equal(
		try_make(REPORT("{\"a***b\":1}"), "data.load.*", true, &err),
		-1);
	assert_int_equal(
		try_make(REPORT("{\"a***b\":1}"), "data.load", true, &err), 0);
	/* stars that are no secret */
	assert_int_equal(try_make(REPORT("\"a***b\""), NULL, false, &err), 0);
	assert_int_equal(try_make(REPORT("1"), NULL, true, &err), 0);
}

TEST(golden, report_says_scrubbed, is_refused)
{
	static const char report[] =
		"{\"schema\":\"matins-report/1\",\"routine\":\"r\","
		"\"step_results\":[{\"step_name\":\"s\",\"output\":\"***\","
		"\"run\":{\"scrubbed\":1}}]}";
	struct err err = ERR_INIT;

	assert_int_equal(try_make(report, NULL, false, &err), -1);
	assert_int_equal(err.kind, ERR_CREDENTIAL);
}

TEST(golden, wrong_input, gives_error_kinds)
{
	struct err err = ERR_INIT;
	struct golden g;

	assert_int_equal(try_make("{", NULL, false, &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
	assert_int_equal(try_make("{}", NULL, false, &err), -1);
	assert_int_equal(err.kind, ERR_COMPARE);
	assert_int_equal(
		try_make("{\"schema\":\"matins-report/1\"}", NULL, false, &err),
		-1);
	assert_int_equal(err.kind, ERR_COMPARE);
	assert_int_equal(try_make(REPORT("1"), "$[", false, &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
	assert_int_equal(golden_load(STR("{}"), &arena, &g, &err), -1);
	assert_int_equal(err.kind, ERR_COMPARE);
	assert_int_equal(golden_load(STR("{\"schema\":\"matins-golden/1\","
					 "\"routine\":\"r\",\"report\":{},"
					 "\"rules\":{\"ignore\":[1]}}"),
				     &arena, &g, &err),
			 -1);
	assert_int_equal(err.kind, ERR_COMPARE);
	assert_int_equal(golden_load(STR("nonsense"), &arena, &g, &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
}

TEST(file_name, odd_names, is_safe_for_odd_names)
{
	assert_string_equal(golden_file_name("morning", &arena),
			    "morning.json");
	assert_string_equal(golden_file_name("../x y", &arena),
			    "%2E.%2Fx%20y.json");
	assert_string_equal(golden_file_name("été.1", &arena), "été.1.json");
	assert_string_equal(golden_file_name("a%b\n", &arena), "a%25b%0A.json");
}

TEST_FILE(NULL, release);
