/* The leash: reading it, and what it allows. */

#include "tests/unit/test.h"

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/limits.h"
#include "gate/policy/allow.h"

#define OPEN_LEASH                                                    \
	"{\"fs_read\":\"all\",\"fs_write\":\"all\",\"exec\":\"all\"," \
	"\"net\":\"all\",\"max_calls\":\"unlimited\","                \
	"\"valid_for_generation\":\"all\"}"

static void parse(const char *text, struct arena *arena, struct gate_leash *l)
{
	struct err err = ERR_INIT;

	if (gate_leash_parse(str_of(text), arena, l, &err) < 0)
		fail_msg("%s", err.msg);
}

static struct gate_leash exec_leash(const char **rows, size_t n)
{
	return (struct gate_leash){
		.exec = {.only = {rows, n}},
		.source = "a test",
	};
}

/* ---- programs ---- */

static const char *EXEC_ROWS[] = {"git", "/usr/bin/python3", "./tool"};

static const struct exec_case {
	const char *asked, *resolved;
	bool ok;
} EXEC_CASES[] = {
	{"git", NULL, true},
	{"git", "/usr/bin/git", true},
	/* a bare row is never the last part of a path */
	{"/tmp/x/git", "/tmp/x/git", false},
	{"/usr/bin/git", "/usr/bin/git", false},
	{"./git", "/tmp/x/git", false},
	{"gi", NULL, false},
	{"gitx", NULL, false},
	{"Git", NULL, false},
	{"", NULL, false},
	/* a row that is a path: what was asked, or what it came to */
	{"/usr/bin/python3", NULL, true},
	{"python3", "/usr/bin/python3", true},
	{"/opt/link", "/usr/bin/python3", true},
	{"python3", NULL, false},
	{"python3", "/home/u/bin/python3", false},
	{"/usr/bin/python3.11", "/usr/bin/python3.11", false},
	{"/usr/bin/python3/", NULL, false},
	{"/usr/bin/../bin/python3", NULL, false},
	{"./tool", "/srv/tool", true},
	{"tool", "/srv/tool", false},
	/* a name resolves to a name only in a broken caller */
	{"other", "git", false},
};

TEST(exec, each_case, is_as_listed)
{
	struct gate_leash l = exec_leash(EXEC_ROWS, ARRAY_LEN(EXEC_ROWS));

	for (size_t i = 0; i < ARRAY_LEN(EXEC_CASES); i++) {
		const struct exec_case *c = &EXEC_CASES[i];
		struct err err = ERR_INIT;
		int r = allow_exec(&l, c->asked, c->resolved, &err);

		if (r != (c->ok ? 0 : -1))
			fail_msg("%s (%s): %d", c->asked,
				 c->resolved ? c->resolved : "-", r);
		if (!c->ok)
			assert_int_equal(err.kind, ERR_LEASH);
	}
}

TEST(exec, all, allows_everything)
{
	struct gate_leash l = {.exec = {.all = true}};
	struct err err = ERR_INIT;

	assert_int_equal(allow_exec(&l, "/tmp/x/git", NULL, &err), 0);
}

TEST(exec, refused, names_source_and_nearest_row)
{
	const char *many[] = {"alpha", "beta", "gamma", "delta"};
	struct gate_leash l = exec_leash(EXEC_ROWS, ARRAY_LEN(EXEC_ROWS));
	struct gate_leash other = exec_leash(many, ARRAY_LEN(many));
	struct gate_leash none = exec_leash(NULL, 0);
	struct err err = ERR_INIT;

	assert_int_equal(allow_exec(&l, "gti", NULL, &err), -1);
	assert_string_equal(err.msg, "the leash (a test) does not allow "
				     "\"gti\"; nearest row: \"git\"");
	assert_int_equal(allow_exec(&other, "zzzzzzzz", NULL, &err), -1);
	assert_string_equal(err.msg,
			    "the leash (a test) does not allow \"zzzzzzzz\"; "
			    "it names \"alpha\", \"beta\", \"gamma\" and 1 "
			    "more");
	assert_int_equal(allow_exec(&none, "x", NULL, &err), -1);
	assert_string_equal(err.msg, "the leash (a test) does not allow "
				     "\"x\"; it names nothing");
}

/* ---- paths ---- */

TEST(axis, some_rows, is_covered_by_any_of_them)
{
	const char *rows[] = {"/srv", "/home/u"};
	struct gate_axis axis = {.only = {rows, 2}};
	struct gate_axis all = {.all = true};
	struct gate_axis none = {.all = false};

	assert_true(allow_axis_covers(&axis, "/home/u/x"));
	assert_false(allow_axis_covers(&axis, "/home/v"));
	assert_true(allow_axis_covers(&all, "/home/v"));
	assert_false(allow_axis_covers(&none, "/"));
}

/* ---- numbers ---- */

TEST(calls, at_the_bound, are_refused)
{
	struct gate_leash l = {.max_calls = 2};
	struct gate_leash zero = {.max_calls = 0};
	struct gate_leash any = {.calls_unlimited = true};
	struct err err = ERR_INIT;

	assert_int_equal(allow_calls(&l, 0, &err), 0);
	assert_int_equal(allow_calls(&l, 1, &err), 0);
	assert_int_equal(allow_calls(&l, 2, &err), -1);
	assert_int_equal(err.kind, ERR_LEASH);
	assert_non_null(strstr(err.msg, "at most 2"));
	assert_int_equal(allow_calls(&zero, 0, &err), -1);
	assert_int_equal(allow_calls(&any, UINT64_MAX, &err), 0);
}

TEST(generation, not_listed, is_refused)
{
	const char *rows[] = {"7", "12"};
	struct gate_leash l = {.generations = {.only = {rows, 2}}};
	struct gate_leash all = {.generations = {.all = true}};
	struct err err = ERR_INIT;

	assert_int_equal(allow_generation(&l, 7, &err), 0);
	assert_int_equal(allow_generation(&l, 12, &err), 0);
	assert_int_equal(allow_generation(&l, 1, &err), -1);
	assert_int_equal(err.kind, ERR_LEASH);
	assert_int_equal(allow_generation(&all, 1, &err), 0);
}

/* ---- the JSON form ---- */

TEST(parse, open, everything_is_open)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_leash l;

	parse(OPEN_LEASH, &arena, &l);
	assert_true(l.fs_read.all && l.fs_write.all && l.exec.all &&
		    l.net.all && l.generations.all && l.calls_unlimited);
}

TEST(parse, rows, are_kept_in_order)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_leash l;

	parse(" {\"valid_for_generation\":{\"only\":[3,1]},"
	      "\"fs_read\":{\"only\":[\"/srv\"]},"
	      "\"fs_write\":{\"only\":[]},"
	      "\"exec\":{\"only\":[\"git\",\"/bin/\\u0073h\"]},"
	      "\"net\":{\"only\":[\":443\"]},"
	      "\"max_calls\":{\"at_most\":9}}\n",
	      &arena, &l);
	assert_false(l.fs_read.all || l.fs_write.all || l.exec.all ||
		     l.net.all || l.generations.all || l.calls_unlimited);
	assert_int_equal(l.max_calls, 9);
	assert_int_equal(l.fs_write.only.n, 0);
	assert_int_equal(l.exec.only.n, 2);
	assert_string_equal(l.exec.only.item[1], "/bin/sh");
	assert_string_equal(l.generations.only.item[0], "3");
	assert_string_equal(l.generations.only.item[1], "1");
}

/* One member of an open leash, replaced; what the error must say. */
static const struct bad_case {
	const char *text, *say;
} BAD[] = {
	{"", "leash"},
	{"[]", "not a JSON object"},
	{"\"all\"", "not a JSON object"},
	{"{}", "fs_read is missing"},
	{OPEN_LEASH " x", "leash"},
	{"{\"fs_read\":\"all\",\"fs_write\":\"all\",\"exec\":\"all\","
	 "\"net\":\"all\",\"max_calls\":\"unlimited\"}",
	 "valid_for_generation is missing"},
	{"{\"fs_raed\":\"all\"}", "unknown member \"fs_raed\""},
	{"{\"exec\":{\"only\":[]},\"exec\":\"all\"}", "exec is there twice"},
	{"{\"exec\":{\"only\":[]},\"\\u0065xec\":\"all\"}", "twice"},
};

TEST(parse, wrong_shape, says_what_is_wrong)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct gate_leash l;

		assert_int_equal(
			gate_leash_parse(str_of(BAD[i].text), &arena, &l, &err),
			-1);
		assert_int_equal(err.kind, ERR_CONFIG);
		if (!strstr(err.msg, BAD[i].say))
			fail_msg("\"%s\" lacks \"%s\"", err.msg, BAD[i].say);
	}
}

static const struct bad_value {
	const char *member, *value;
} BAD_VALUES[] = {
	{"exec", "null"},
	{"exec", "true"},
	{"exec", "\"none\""},
	{"exec", "[\"git\"]"},
	{"exec", "{}"},
	{"exec", "{\"only\":\"git\"}"},
	{"exec", "{\"only\":[\"git\"],\"also\":1}"},
	{"exec", "{\"only\":[1]}"},
	{"exec", "{\"only\":[\"\"]}"},
	{"exec", "{\"only\":[\"gi\\u0000t\"]}"},
	{"fs_read", "{\"only\":[1]}"},
	{"fs_write", "{\"only\":[\"\"]}"},
	{"max_calls", "3"},
	{"max_calls", "\"all\""},
	{"max_calls", "{\"at_most\":-1}"},
	{"max_calls", "{\"at_most\":1.5}"},
	{"max_calls", "{\"at_most\":\"3\"}"},
	{"max_calls", "{\"at_most\":99999999999999999999}"},
	{"valid_for_generation", "{\"only\":[\"3\"]}"},
	{"valid_for_generation", "{\"only\":[-3]}"},
	{"valid_for_generation", "{\"only\":[3.5]}"},
};

static void leash_with(struct buf *out, const char *member, const char *value)
{
	static const char *const ALL[] = {
		"fs_read", "fs_write", "exec", "net", "valid_for_generation",
	};

	buf_addf(out, "{\"%s\":%s", member, value);
	for (size_t i = 0; i < ARRAY_LEN(ALL); i++)
		if (strcmp(ALL[i], member) != 0)
			buf_addf(out, ",\"%s\":\"all\"", ALL[i]);
	if (strcmp("max_calls", member) != 0)
		buf_adds(out, ",\"max_calls\":\"unlimited\"");
	buf_addc(out, '}');
}

TEST(parse, wrong_value, names_the_member)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD_VALUES); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		struct gate_leash l;

		leash_with(&text, BAD_VALUES[i].member, BAD_VALUES[i].value);
		if (gate_leash_parse(buf_str(&text), &arena, &l, &err) == 0)
			fail_msg("accepted: %s", buf_cstr(&text));
		assert_int_equal(err.kind, ERR_CONFIG);
		assert_non_null(strstr(err.msg, BAD_VALUES[i].member));
	}
}

TEST(parse, over_the_ceiling, is_refused)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct gate_leash l;

	buf_adds(&text, OPEN_LEASH);
	while (text.n <= LIMIT_CONFIG_BYTES)
		buf_addc(&text, ' ');
	assert_int_equal(gate_leash_parse(buf_str(&text), &arena, &l, &err),
			 -1);
	text.n = LIMIT_CONFIG_BYTES;
	assert_int_equal(gate_leash_parse(buf_str(&text), &arena, &l, &err), 0);
}
