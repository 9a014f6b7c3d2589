/*
 * The leash: reading it, and what it allows. Rows are in
 * values/leash.transcript:
 *
 *	exec ROWS | ASKED | RESOLVED	may it be started? RESOLVED may be "-"
 *	covers ROWS | PATH		ROWS may be "all"
 *	leash JSON			is it one?
 *	member NAME | JSON		likewise, all others are open
 */
#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "gate/policy/allow.h"
#include "tests/unit/values.h"

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

/* ---- rows ---- */

static struct gate_axis axis_of(const char *text, struct arena *arena)
{
	if (strcmp(text, "all") == 0)
		return (struct gate_axis){.all = true};
	return (struct gate_axis){.only = value_words(text, arena)};
}

static int do_exec(struct value_row *r)
{
	const char *resolved = r->part[2];
	struct gate_leash l = {.exec = axis_of(r->part[0], &r->arena),
			       .source = "a test"};

	if (strcmp(resolved, "-") == 0)
		resolved = NULL;
	return allow_exec(&l, r->part[1], resolved, &r->err);
}

static int do_covers(struct value_row *r)
{
	struct gate_axis axis = axis_of(r->part[0], &r->arena);

	return value_is(r, allow_axis_covers(&axis, r->part[1]));
}

static int do_leash(struct value_row *r)
{
	struct gate_leash l;

	return gate_leash_parse(str_of(r->part[0]), &r->arena, &l, &r->err);
}

static int do_member(struct value_row *r)
{
	static const char *const members[] = {
		"fs_read", "fs_write",	"exec",
		"net",	   "max_calls", "valid_for_generation"};
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct gate_leash l;

	buf_addf(&text, "{\"%s\":%s", r->part[0], r->part[1]);
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (strcmp(members[i], r->part[0]) != 0)
			buf_addf(&text, ",\"%s\":\"%s\"", members[i],
				 strcmp(members[i], "max_calls") ? "all"
								 : "unlimited");
	buf_addc(&text, '}');
	return gate_leash_parse(buf_str(&text), &r->arena, &l, &r->err);
}

static const struct value_reader READERS[] = {{"exec", do_exec},
					      {"covers", do_covers},
					      {"leash", do_leash},
					      {"member", do_member}};

TEST_VALUES(READERS, "tests/unit/gate/values/leash.transcript");

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
