/*
 * Recipes as data: which call a row is of. Rows are in
 * values/recipes.transcript:
 *
 *	operand COMMAND		the first operand of a call
 *	place NAME | COMMAND	the folder that an option names, by that recipe
 *	helpers PATH		folders of programs that come with one
 *	preset WORDS		are these names of recipes?
 *	missing PROGRAM		the recipe that brings it
 */
#include "tests/unit/test.h"

#include "gate/gate.h"
#include "gate/policy/recipes.h"
#include "tests/unit/values.h"

static void add(struct value_row *r, const char *text)
{
	buf_adds(&r->out, text ? text : "-");
}

static int do_operand(struct value_row *r)
{
	struct strlist argv = value_words(r->part[0], &r->arena);

	add(r, recipe_operand(&argv));
	return 0;
}

static int do_place(struct value_row *r)
{
	struct strlist argv = value_words(r->part[1], &r->arena);
	const struct recipe *recipe = RECIPES;

	while (recipe->name && strcmp(recipe->name, r->part[0]) != 0)
		recipe++;
	assert_non_null(recipe->name);
	add(r, recipe_place(recipe, &argv));
	return 0;
}

static int do_helpers(struct value_row *r)
{
	add(r, recipe_helpers(r->part[0]));
	return 0;
}

static int do_preset(struct value_row *r)
{
	struct strlist names = value_words(r->part[0], &r->arena);

	return recipes_check(&names, &r->err);
}

static int do_missing(struct value_row *r)
{
	add(r, gate_recipe_of(r->part[0]));
	return 0;
}

static const struct value_reader READERS[] = {
	{"operand", do_operand}, {"place", do_place},
	{"helpers", do_helpers}, {"preset", do_preset},
	{"missing", do_missing},
};
TEST_VALUES(READERS, "tests/unit/gate/values/recipes.transcript");

TEST(recipes, listed, have_names_and_help)
{
	const char *help = NULL, *name;
	size_t n = 0;

	for (; (name = gate_recipe(n, &help)); n++) {
		assert_true(*name && help && *help);
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(name, RECIPES[i].name);
		help = NULL;
	}
	assert_true(n > 5);
}

TEST(preset, near_no_recipe, is_answered_with_all_names)
{
	const struct strlist names = STRLIST("xyzzy");
	const char *help, *name;
	struct err err = ERR_INIT;

	assert_int_equal(recipes_check(&names, &err), -1);
	for (size_t i = 0; (name = gate_recipe(i, &help)); i++)
		assert_non_null(strstr(err.msg, name));
	assert_true(str_ends(str_of(err.msg), ", " RECIPE_NONE));
}
