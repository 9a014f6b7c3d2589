#include "tests/unit/test.h"

#include "core/run/plan.h"

/* A routine of three steps; the last two run side by side. */
static struct toml_value params_table(struct arena *a, const char *key,
				      const char *value)
{
	struct toml_member *m = ARENA_NEW(a, struct toml_member);

	m->key = key;
	m->value = (struct toml_value){.type = TOML_STRING,
				       .string = str_of(value)};
	return (struct toml_value){.type = TOML_TABLE,
				   .table = {.member = m, .n = 1}};
}

struct fixture {
	struct arena arena;
	struct toml_value params;
	struct step steps[3];
	struct routine routine;
	struct config config;
	struct plan_options options;
	struct plan plan;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));
	static const char *const names[] = {"one", "two", "three"};

	for (size_t i = 0; i < 3; i++)
		f->steps[i] = (struct step){
			.name = names[i],
			.type = "mcp-client",
			.command = "tool",
			.enabled = true,
			.parallel = i > 0,
		};
	f->routine =
		(struct routine){.name = "r", .steps = f->steps, .n_steps = 3};
	f->config.dir = "/conf";
	f->options = (struct plan_options){.config = &f->config,
					   .routine = &f->routine};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	test_free(f);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static int make(struct fixture *f)
{
	return plan_make(&f->options, &f->arena, &f->plan, &f->err);
}

static struct strlist one_name(struct arena *a, const char *name)
{
	struct strlist l = {ARENA_ARRAY(a, const char *, 1), 1};

	l.item[0] = name;
	return l;
}

TEST_IN(fixture, plan, adjacent_parallel_steps, run_together)
{
	struct fixture *f = *state;

	assert_int_equal(make(f), 0);
	assert_false(f->plan.steps[0].with_previous);
	assert_false(f->plan.steps[1].with_previous);
	assert_true(f->plan.steps[2].with_previous);
}

TEST_IN(fixture, plan, only, skips_the_others_with_their_reason)
{
	struct fixture *f = *state;

	f->options.only = one_name(&f->arena, "three,one");
	assert_int_equal(make(f), 0);
	assert_int_equal(f->plan.steps[0].reason, REASON_NONE);
	assert_int_equal(f->plan.steps[1].reason, REASON_ONLY_FILTER);
	assert_int_equal(f->plan.steps[2].reason, REASON_NONE);
}

TEST_IN(fixture, plan, disabled_step, says_so_before_the_filter)
{
	struct fixture *f = *state;

	f->steps[1].enabled = false;
	f->options.only = one_name(&f->arena, "one");
	assert_int_equal(make(f), 0);
	assert_int_equal(f->plan.steps[1].reason, REASON_DISABLED);
	/* a name of no step is an error, which offers one */
	f->options.only = one_name(&f->arena, "thre");
	assert_int_equal(make(f), -1);
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_non_null(strstr(f->err.msg, "three?"));
}

TEST_IN(fixture, plan, dry_run, skips_and_shows_the_command)
{
	struct fixture *f = *state;

	f->options.dry_run = true;
	f->steps[0].args = one_name(&f->arena, "--json");
	assert_int_equal(make(f), 0);
	assert_int_equal(f->plan.steps[0].reason, REASON_DRY_RUN);
	assert_true(str_is(f->plan.steps[0].error, "would run: tool --json"));
}

static const char *argument_for(struct fixture *f, const char *param)
{
	f->params = params_table(&f->arena, "k", "$input.repo");
	f->steps[0].params = &f->params;
	f->steps[0].tool = "t";
	f->options.given.params = one_name(&f->arena, param);
	assert_int_equal(make(f), 0);
	return f->plan.steps[0].inputs.json.p;
}

TEST_IN(fixture, plan, input, is_json_of_its_type_or_a_string)
{
	static const char *const rows[][2] = {
		{"repo=12345678901234567890", "{\"k\":12345678901234567890}"},
		{"repo=[1, 2]", "{\"k\":[1,2]}"},
		{"repo=true", "{\"k\":true}"},
		{"repo=a \"b\"", "{\"k\":\"a \\\"b\\\"\"}"},
		{"repo=", "{\"k\":\"\"}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(argument_for(*state, rows[i][0]),
				    rows[i][1]);
}

static const char *as_text(struct fixture *f, const char *param,
			   const char *pointer)
{
	const struct strlist at = one_name(&f->arena, pointer);

	argument_for(f, param);
	return fill_as_text(&f->plan.steps[0].inputs, &at, &f->arena).p;
}

TEST_IN(fixture, plan, input_that_the_schema_wants_as_text, is_a_string)
{
	struct fixture *f = *state;

	assert_string_equal(as_text(f, "repo=5", "/k"), "{\"k\":\"5\"}");
	assert_string_equal(as_text(f, "repo=[1, 2]", "/k"),
			    "{\"k\":\"[1, 2]\"}");
	/* strings already, by themselves or as JSON */
	assert_null(as_text(f, "repo=x", "/k"));
	assert_null(as_text(f, "repo=\"5\"", "/k"));
	/* another place, or one within */
	assert_null(as_text(f, "repo=5", "/l"));
	assert_null(as_text(f, "repo=[1]", "/k/0"));
}

TEST_IN(fixture, plan, inputs_at_odd_places, are_found)
{
	struct fixture *f = *state;
	struct toml_value refs[] = {
		{.type = TOML_STRING, .string = STR("fixed")},
		{.type = TOML_STRING, .string = STR("$input.repo")},
		{.type = TOML_STRING, .string = STR("$input.repo")},
	};
	struct toml_member members[] = {
		{.key = "a/b~", .value = refs[1]},
		{.key = "l", .value = {.type = TOML_ARRAY, .array = {refs, 3}}},
	};
	struct toml_value params = {.type = TOML_TABLE, .table = {members, 2}};
	const char *names[] = {"/a~1b~0", "/l/2"};
	struct fill_params *in;

	f->steps[0].params = &params;
	f->steps[0].tool = "t";
	f->options.given.params = one_name(&f->arena, "repo=7");
	assert_int_equal(make(f), 0);
	in = &f->plan.steps[0].inputs;
	assert_string_equal(in->json.p, "{\"a/b~\":7,\"l\":[\"fixed\",7,7]}");
	assert_string_equal(
		fill_as_text(in, &(struct strlist){names, 2}, &f->arena).p,
		"{\"a/b~\":\"7\",\"l\":[\"fixed\",7,\"7\"]}");
}

TEST_IN(fixture, plan, input_without_value, is_usage_before_anything)
{
	struct fixture *f = *state;

	f->params = params_table(&f->arena, "k", "$input.repo");
	f->steps[0].params = &f->params;
	assert_int_equal(make(f), -1);
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_non_null(strstr(f->err.msg, "-p repo=VALUE"));
	/* a step that is left out needs no values */
	f->options.skip = one_name(&f->arena, "one");
	assert_int_equal(make(f), 0);
}

TEST_IN(fixture, plan, working_directory, is_asked_for_or_required)
{
	struct fixture *f = *state;

	f->steps[1].cwd = "/elsewhere";
	assert_int_equal(make(f), 0);
	assert_string_equal(f->plan.steps[0].request.cwd, "/conf");
	assert_false(f->plan.steps[0].request.cwd_required);
	assert_string_equal(f->plan.steps[1].request.cwd, "/elsewhere");
	assert_true(f->plan.steps[1].request.cwd_required);
}
