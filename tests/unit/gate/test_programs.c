/*
 * Rules on programs: which calls each allows. Rows are in
 *values/programs.transcript:
 *
 *	deny OPTIONS | PATH | CALL	may it be called, by this rule?
 *	rule NAME | RULE | CALL		likewise; of /bin/x
 *	means NAME | ITS PATH | ASKED | PATH
 *	check NAME | RULE		is it a rule by itself?
 *	script PATH | CALL		the file that an interpreter runs, "-":
 *none
 *	data CALL			the word {from data} that decides; "-"
 *	input CALL			is standard input run?
 *
 * RULE is "args ...", "prefix ...", "package ...", "deny ..." or "sha256 ...";
 * a call that ends with " ..." has more arguments, not seen.
 */
#include "tests/unit/test.h"

#include "core/base/fd.h"
#include "gate/policy/programs.h"
#include "tests/unit/values.h"

#define VALUES "tests/unit/gate/values/programs.transcript"

static struct programs_call call_of(const char *path, const char *line,
				    struct arena *arena)
{
	struct programs_call call = {.path = path,
				     .argv = value_words(line, arena)};
	struct strlist *argv = &call.argv;

	call.asked = argv->item[0];
	call.is_cut = strcmp(argv->item[argv->n - 1], "...") == 0;
	argv->n -= call.is_cut;
	return call;
}

/* ---- rows ---- */

static struct gate_program_rule rule_of(const char *name, const char *text,
					struct arena *arena)
{
	struct str value = str_of(text), key = str_cut(&value, ' ');
	const char *rest = value.n ? value.p : "";
	struct gate_program_rule rule = {.name = name};

	if (str_is(key, "args")) {
		rule.has_args = true;
		rule.args = value_words(rest, arena);
	} else if (str_is(key, "prefix")) {
		rule.prefix = value_words(rest, arena);
	} else if (str_is(key, "deny")) {
		rule.deny = value_words(rest, arena);
	} else if (str_is(key, "package")) {
		rule.package = rest;
	} else if (str_is(key, "sha256")) {
		rule.sha256 = rest;
	} else {
		assert_int_equal(key.n, 0);
	}
	return rule;
}

static int do_deny(struct value_row *r)
{
	const char *const path[] = {r->part[1]};
	struct programs_call call = call_of(path[0], r->part[2], &r->arena);
	struct gate_program_rule rule = {
		.name = call.asked, .deny = value_words(r->part[0], &r->arena)};
	struct programs set = {.rule = &rule, .path = path, .n = 1};

	return programs_judge(&set, &call, &r->err);
}

static int do_rule(struct value_row *r)
{
	struct gate_program_rule rule =
		rule_of(r->part[0], r->part[1], &r->arena);
	struct programs_call call = call_of("/bin/x", r->part[2], &r->arena);
	struct programs set = {.rule = &rule, .n = 1};

	return programs_judge(&set, &call, &r->err);
}

static const char *or_null(const char *part)
{
	return strcmp(part, "-") == 0 ? NULL : part;
}

static int do_means(struct value_row *r)
{
	struct gate_program_rule rule = {.name = r->part[0]};
	const char *const path[] = {or_null(r->part[1])};
	struct programs set = {.rule = &rule, .path = path, .n = 1};

	return value_is(r, programs_means(&set, 0, or_null(r->part[2]),
					  or_null(r->part[3])));
}

static int do_check(struct value_row *r)
{
	struct gate_program_rule rule =
		rule_of(r->part[0], r->part[1], &r->arena);

	return programs_check(&rule, &r->err);
}

static int do_script(struct value_row *r)
{
	struct strlist argv = value_words(r->part[1], &r->arena);
	size_t i = programs_script(argv.item[0], r->part[0], &argv);

	buf_adds(&r->out, i ? argv.item[i] : "-");
	return 0;
}

/* Take the braces out of a word; was it marked? */
static bool unmark(const char **word, struct arena *arena)
{
	const char *open = strchr(*word, '{');
	size_t n = strlen(*word);

	if (!open)
		return false;
	*word = arena_printf(arena, "%.*s%.*s", (int)(open - *word), *word,
			     (int)(n - (size_t)(open - *word) - 2), open + 1);
	return true;
}

static int do_data(struct value_row *r)
{
	struct strlist argv = value_words(r->part[0], &r->arena);
	bool data[16] = {false};
	size_t i;

	for (i = 0; i < argv.n; i++)
		data[i] = unmark(&argv.item[i], &r->arena);
	i = programs_decided(argv.item[0], NULL, &argv, data);
	buf_adds(&r->out, i ? argv.item[i] : "-");
	return 0;
}

static int do_input(struct value_row *r)
{
	struct strlist argv = value_words(r->part[0], &r->arena);

	return value_is(r, programs_reads_input(argv.item[0], NULL, &argv));
}

static const struct value_reader READERS[] = {
	{"deny", do_deny},   {"rule", do_rule},	    {"means", do_means},
	{"check", do_check}, {"script", do_script}, {"data", do_data},
	{"input", do_input},
};

TEST_VALUES(READERS, VALUES);

/* Has a call one of these names among its first words? */
static bool has_name_of(const char *names, const char *call,
			struct arena *arena)
{
	struct strlist list = value_words(names, arena),
		       args = value_words(call, arena);

	for (size_t k = 0; k < list.n; k++)
		for (size_t i = 0; i < args.n && i < 3; i++)
			/* python3 is of python's row */
			if (!strncmp(args.item[i], list.item[k],
				     strlen(list.item[k])))
				return true;
	return false;
}

/* Which rows are there of a launcher? "@eval" denies it something, and the
   script that it runs is found. */
static void look_for_rows(const char *text, const char *names, bool *ret_eval,
			  bool *ret_script)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str rest = str_of(text);

	*ret_eval = *ret_script = false;
	while (rest.n) {
		struct str row = str_cut(&rest, '\n');
		const char *line = arena_strndup(&arena, row.p, row.n);
		const char *bar = strrchr(line, '|');

		if (str_starts(row, "deny @eval"))
			*ret_eval |= has_name_of(names, bar + 2, &arena);
		else if (str_starts(row, "script ") &&
			 !str_starts(rest, "= -\n"))
			*ret_script |= strncmp(names, bar + 2,
					       strcspn(names, " ")) == 0;
	}
}

TEST(launchers, each_of_the_table, has_rows)
{
	static const struct {
		const char *names, *operand;
	} launchers[] = {
#define LAUNCHER(id, parent, names, syntax, order, operand) {names, #operand},
#include "gate/policy/programs.def"
	};
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(fd_read_file(VALUES, &text, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
		bool is_script = strcmp(launchers[i].operand, "SCRIPT") == 0;
		bool is_file = strcmp(launchers[i].operand, "FILE") == 0;
		bool eval, script;

		look_for_rows(buf_cstr(&text), launchers[i].names, &eval,
			      &script);
		if (!is_script && !eval)
			fail_msg("no row denies @eval of %s",
				 launchers[i].names);
		if ((is_script || is_file) && !script)
			fail_msg("no row has a script of %s",
				 launchers[i].names);
	}
}

/* ---- several rules ---- */

/* Rules of two tables for one program: both hold. */
TEST(judge, two_rules, both_hold)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_program_rule rule[2] = {
		{.name = "x", .deny = value_words("-a", &arena)},
		{.name = "x", .deny = value_words("-b", &arena)},
	};
	struct programs set = {.rule = rule, .n = 2};
	struct programs_call a = call_of("/bin/x", "x -a", &arena);
	struct programs_call b = call_of("/bin/x", "x -b", &arena);
	struct programs_call c = call_of("/bin/x", "x -c", &arena);
	struct err err = ERR_INIT;

	assert_int_equal(programs_judge(&set, &a, &err), -1);
	assert_int_equal(programs_judge(&set, &b, &err), -1);
	assert_int_equal(programs_judge(&set, &c, &err), 0);
}

/* ---- scripts ---- */

TEST(judge, script, its_interpreter_is_judged)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_program_rule rule = {.name = "python3",
					 .deny = value_words("-i", &arena)};
	struct programs_start start = {
		.file = "/srv/tool",
		.asked = "/usr/bin/python3",
		.path = "/usr/bin/python3.11",
		.prefix = value_words("/usr/bin/python3 -i /srv/tool", &arena),
	};
	struct programs set = {
		.rule = &rule, .n = 1, .start = &start, .n_starts = 1};
	struct programs_call tool = call_of("/srv/tool", "tool x", &arena);
	struct programs_call other = call_of("/srv/other", "other x", &arena);
	struct err err = ERR_INIT;

	assert_int_equal(programs_judge(&set, &tool, &err), -1);
	assert_non_null(strstr(err.msg, "/srv/tool"));
	assert_int_equal(programs_judge(&set, &other, &err), 0);
	start.prefix = value_words("/usr/bin/python3 -u /srv/tool", &arena);
	assert_int_equal(programs_judge(&set, &tool, &err), 0);
	start.is_unclear = true;
	assert_int_equal(programs_judge(&set, &tool, &err), -1);
	rule.name = "perl";
	assert_int_equal(programs_judge(&set, &tool, &err), 0);
}

TEST(copy, originals_gone, judges_the_same)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct arena gone = ARENA_INIT;
	struct gate_program_rule rule = {
		.name = arena_strdup(&gone, "python3"),
		.deny = value_words("-c", &gone),
	};
	const char *const paths[] = {arena_strdup(&gone, "/opt/py")};
	struct programs_start start = {
		.file = arena_strdup(&gone, "/srv/tool"),
		.asked = arena_strdup(&gone, "/opt/py"),
		.path = arena_strdup(&gone, "/opt/py"),
		.prefix = value_words("/opt/py -c /srv/tool", &gone),
	};
	struct programs_file file = {1, 2};
	struct programs set = {&rule, paths, &file, 1, &start, 1};
	struct programs copy = programs_copy(&set, &arena);
	struct programs_call call = call_of("/opt/py", "py -c", &arena);
	struct programs_call link = call_of("/srv/x", "x -c", &arena);
	struct programs_call tool = call_of("/srv/tool", "tool", &arena);
	struct err err = ERR_INIT;

	arena_release(&gone);
	assert_int_equal(programs_judge(&copy, &call, &err), -1);
	assert_int_equal(programs_judge(&copy, &link, &err), 0);
	/* another name of the one file */
	link.file = (struct programs_file){1, 2};
	assert_int_equal(programs_judge(&copy, &link, &err), -1);
	link.file.dev++;
	assert_int_equal(programs_judge(&copy, &link, &err), 0);
	assert_int_equal(programs_judge(&copy, &tool, &err), -1);
}
