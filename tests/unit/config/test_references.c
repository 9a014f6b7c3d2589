#include "tests/unit/test.h"

#include "core/config/references.h"

static struct arena arena;

/* Findings of a step with one key, as "line:col text" lines. */
static const char *findings_of(const char *line, const char *routine)
{
	const char *text = arena_printf(
		&arena,
		"[routines.r]\n[[routines.r.steps]]\nname = \"s\"\n"
		"type = \"mcp-client\"\n%s\n",
		line);
	struct findings found = {0};
	struct err err = ERR_INIT;
	struct toml_value root;
	const char *all = "";

	if (toml_parse(&arena, str_of(text), &root, &err) < 0)
		fail_msg("%s: %s", line, err.msg);
	references_check(&root, routine, &found);
	for (size_t i = 0; i < found.n; i++) {
		assert_true(found.item[i].warning);
		all = arena_printf(
			&arena, "%s%u:%u %s\n", all, found.item[i].err.line,
			found.item[i].err.col, found.item[i].err.msg);
	}
	findings_release(&found);
	return all;
}

TEST(check, no_reference, warns_with_its_place)
{
	static const struct {
		const char *line, *shown;
	} rows[] = {
		{"params = { q = \"hello $input.x!\" }",
		 "5:16 \"$input.x\" is"},
		{"params = { q = \"${input.x}\" }", "\"${input.x}\" is passed"},
		{"params = { q = \"a {{ input.x }} b\" }",
		 "\"{{ input.x }}\" is passed"},
		{"params = { q = \"a {{steps.w.output}} b\" }",
		 "\"{{steps.w.output}}\""},
		{"params = { q = \"$steps.w.output\" }", "\"$steps.w.output\""},
		{"params = { q = [{ a = \"$item\" }] }", "5:23 \"$item\" is"},
		{"params = { q = \"$previous.a.output\" }", "\"$previous.a.ou"},
		{"params = { q = \"$input\" }", "\"$input\" is passed"},
		{"params = { q = \"$input.x.y\" }", "\"$input.x.y\" is the"},
		{"params = { q = \"$input.x!\" }", "\"$input.x!\" is the"},
		{"params = { q = \"${TOKEN}\" }", "\"${TOKEN}\" is passed"},
		{"args = [\"a\", \"--q=$input.x\"]",
		 "5:14 \"$input.x\" is pas"},
		{"args = [\"${HOME}\"]", "5:9 \"${HOME}\" is passed"},
		{"command = \"$input.x\"", "\"$input.x\" is not replaced here"},
		{"env = { A = { env = \"$input.x\" } }",
		 "is not replaced here"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strstr(findings_of(rows[i].line, "r"), rows[i].shown))
			fail_msg("%s: %s", rows[i].line,
				 findings_of(rows[i].line, "r"));
}

TEST(check, reference_or_other_text, nothing)
{
	static const char *const rows[] = {
		"params = { q = \"$input.x\", n = 1 }",
		"params = { q = \"$input.two_words-x\" }",
		"params = { q = \"price: $5, ${x}, $inputs.x, $x.y, {{.t}}\" }",
		"params = { q = \"steps.w.output\", r = \"run $runner.x\" }",
		"params = { q = \"\\u0000$input\\u0000\", e = \"$\" }",
		"args = [\"-c\", \"echo ${HOME} $1\", \".a as $item | "
		"$item.x\"]",
		"cwd = \"${HOME}/x\"",
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (*findings_of(rows[i], "r"))
			fail_msg("%s: %s", rows[i], findings_of(rows[i], "r"));
}

TEST(check, another_routine, is_not_looked_at)
{
	static const char line[] =
		"server = \"a\"\n[routines.other]\n[[routines.other.steps]]\n"
		"type = \"script\"\nargs = [\"x $input.x\"]\n"
		"[servers.a]\nargs = [\"x $input.y\"]\n"
		"[servers.b]\nargs = [\"x $input.z\"]";

	assert_string_equal(
		findings_of(line, "r"),
		"11:9 \"$input.y\" is passed on as it is: only \"$input.NAME\" "
		"as a whole string is replaced, by the value of -p "
		"NAME=VALUE\n");
	assert_non_null(strstr(findings_of(line, NULL), "$input.x"));
	assert_non_null(strstr(findings_of(line, NULL), "$input.z"));
}

TEST(check, a_type_of_another_program, is_not_looked_at)
{
	assert_string_equal(
		findings_of("[[routines.r.steps]]\ntype = \"git-tend\"\n"
			    "x = \"${input.x}\"",
			    NULL),
		"");
}

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
