#include "tests/unit/test.h"

#include "core/config/references.h"

static struct arena arena;

TEST(inputs, of_steps_and_servers, each_once)
{
	static const char *args[] = {"$input.a", "x $input.no", "$input.b"};
	static const char *more[] = {"$input.c", "$input.a", "$input."};
	const struct server server = {.args = {more, ARRAY_LEN(more)}};
	struct step steps[] = {{.args = {args, ARRAY_LEN(args)}},
			       {.server = &server}};
	const struct routine r = {.steps = steps, .n_steps = 2};
	struct err err = ERR_INIT;
	struct toml_value params;
	struct strlist all;

	assert_int_equal(toml_parse(&arena, STR("p = { q = [\"$input.d\"] }"),
				    &params, &err),
			 0);
	steps[1].params = toml_get(&params, "p");
	all = references_inputs(&r, &arena);
	assert_int_equal(all.n, 4);
	assert_string_equal(all.item[0], "a");
	assert_string_equal(all.item[1], "b");
	assert_string_equal(all.item[2], "c");
	assert_string_equal(all.item[3], "d");
}

static int release(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

TEST_FILE(NULL, release);
