#include "tests/unit/test.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/log.h"
#include "core/cli/command.h"

static const struct option options[] = {
	{"flag", 'f', NULL, "a flag"},
	{"other", 'o', NULL, "another"},
	{"name", 'n', "VALUE", "takes a value"},
	{"json", 0, NULL, "one JSON document"},
	{0},
};
static struct args a;
static struct err err;
static char words[8][32];
static char *argv[8];

/* Parse the arguments up to NULL. */
static int parse(const char *first, ...)
{
	va_list ap;
	int n = 0;

	args_release(&a);
	err = (struct err)ERR_INIT;
	cli_json_errors = false;
	va_start(ap, first);
	for (const char *w = first; w; w = va_arg(ap, const char *)) {
		snprintf(words[n], sizeof(words[n]), "%s", w);
		argv[n] = words[n];
		n++;
	}
	va_end(ap);
	argv[n] = NULL;
	return args_parse("test", options, n, argv, &a, &err);
}

static int teardown(void **state)
{
	(void)state;
	args_release(&a);
	log_set_level(LOG_NOTE);
	return 0;
}

FIXTURE(fixture, NULL, teardown);

TEST_IN(fixture, options, anywhere, leave_the_others)
{
	assert_int_equal(parse("--flag", "a", "-n", "v", "-", "b", NULL), 0);
	assert_int_equal(a.n_positional, 3);
	assert_string_equal(a.positional[0], "a");
	assert_string_equal(a.positional[1], "-");
	assert_string_equal(a.positional[2], "b");
	assert_null(a.positional[3]);
	assert_null(a.after);
	assert_true(args_has(&a, "flag"));
	assert_false(args_has(&a, "other"));
	assert_string_equal(args_get(&a, "name"), "v");
	assert_string_equal(args_get(&a, "flag"), "");
	assert_null(args_get(&a, "other"));
}

TEST_IN(fixture, value, every_spelling, is_the_same)
{
	assert_int_equal(parse("--name=v", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "v");
	assert_int_equal(parse("--name", "v", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "v");
	assert_int_equal(parse("-nv", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "v");
	assert_int_equal(parse("--name=", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "");
	assert_int_equal(parse("--name=a=b", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "a=b");
	assert_int_equal(parse("--name", "-f", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "-f");
	assert_false(args_has(&a, "flag"));
}

TEST_IN(fixture, letters, bundled, are_options_each)
{
	assert_int_equal(parse("-fon", "v", NULL), 0);
	assert_true(args_has(&a, "flag"));
	assert_true(args_has(&a, "other"));
	assert_string_equal(args_get(&a, "name"), "v");
	assert_int_equal(parse("-fnv", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "v");
	assert_int_equal(parse("-fx", NULL), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.msg, "-x"));
}

TEST_IN(fixture, words, parsed, are_left_as_they_are)
{
	assert_int_equal(parse("-fon", "v", "--name=w", "-fnv", NULL), 0);
	assert_string_equal(words[0], "-fon");
	assert_string_equal(words[1], "v");
	assert_string_equal(words[2], "--name=w");
	assert_string_equal(words[3], "-fnv");
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(argv[i], words[i]);
	assert_int_equal(parse("-fx", NULL), -1);
	assert_string_equal(words[0], "-fx");
}

TEST_IN(fixture, repeated, last_counts, all_are_kept)
{
	struct arena arena = ARENA_INIT;
	struct strlist all;

	assert_int_equal(parse("-n", "a", "--name=b", NULL), 0);
	assert_string_equal(args_get(&a, "name"), "b");
	all = args_all(&a, "name", &arena);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.item[0], "a");
	assert_string_equal(all.item[1], "b");
	arena_release(&arena);
}

TEST_IN(fixture, dashes, alone, end_the_options)
{
	assert_int_equal(parse("a", "--", "-f", "--nmae", NULL), 0);
	assert_int_equal(a.n_positional, 1);
	assert_false(args_has(&a, "flag"));
	assert_string_equal(a.after[0], "-f");
	assert_string_equal(a.after[1], "--nmae");
	assert_null(a.after[2]);
	assert_int_equal(parse("--", NULL), 0);
	assert_non_null(a.after);
	assert_null(a.after[0]);
}

TEST_IN(fixture, wrong, each_way, usage_that_says_what)
{
	static const struct {
		const char *word, *part;
	} wrong[] = {
		{"--nmae=x", "did you mean --name"},
		{"--zzzzzzzz", "`matins test --help`"},
		{"--flag=yes", "--flag takes no value"},
		{"--name", "--name needs a value: --name VALUE"},
		{"-n", "--name needs a value"},
		{"-z", "unknown option -z"},
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(parse(wrong[i].word, NULL), -1);
		assert_int_equal(err.kind, ERR_USAGE);
		if (!strstr(err.msg, wrong[i].part))
			fail_msg("%s: %s", wrong[i].word, err.msg);
	}
}

TEST_IN(fixture, common, known_to_all, applied)
{
	assert_int_equal(parse("-q", "-c", "f.toml", "--lax", NULL), 0);
	assert_int_equal(log_level(), LOG_ERROR);
	assert_string_equal(args_get(&a, "config"), "f.toml");
	assert_true(args_has(&a, "lax"));
	assert_false(a.help);
}

TEST_IN(fixture, json, behind_an_error, still_counts)
{
	assert_int_equal(parse("--nmae", "--json", NULL), -1);
	assert_true(cli_json_errors);
	assert_int_equal(parse("a", "--", "--json", NULL), 0);
	assert_false(cli_json_errors);
}

static int run(const char *word)
{
	char *line[] = {(char *)word, NULL};

	err = (struct err)ERR_INIT;
	return command_run(1, line, &err);
}

TEST_IN(fixture, run, names, exactly)
{
	assert_int_equal(run("run"), -1);
	assert_non_null(strstr(err.msg, "run: name one routine"));
	assert_int_equal(run("ru"), -1);
	assert_non_null(strstr(err.msg, "unknown command ru; did you mean"));
	assert_int_equal(run(""), -1);
	assert_non_null(strstr(err.msg, "unknown command"));
}
