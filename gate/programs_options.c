/*
 * `deny`: how the options of a program are read; programs.h says what a word
 * means, programs.def how each program reads its own.
 */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/mem.h"
#include "gate/programs_inner.h"

static bool is_long(const char *arg)
{
	return arg[0] == '-' && arg[1] == '-' && arg[2];
}

/* node takes --a_b for --a-b */
static bool same_letter(char a, char b)
{
	return a == b || (a == '_' && b == '-') || (a == '-' && b == '_');
}

/* `name` is `word`, or what is left of it when letters at its end are cut. */
static bool is_cut_of(struct str name, const char *word)
{
	for (size_t i = 0; i < name.n; i++)
		if (!word[i] || !same_letter(name.p[i], word[i]))
			return false;
	return name.n > 0;
}

static bool matches_long(const struct launcher *l, const char *word,
			 const char *arg)
{
	struct str rest = str_of(arg + 1), name;
	bool whole;

	if (arg[0] != '-')
		return false;
	if (rest.n && rest.p[0] == '-')
		rest = str_of(arg + 2);
	name = str_cut(&rest, '=');
	whole = name.n == strlen(word + 2);
	if (!is_cut_of(name, word + 2))
		return false;
	/* an option of its own is no shorter form of another */
	return whole ||
	       (is_long(arg) && !programs_has_word(l->long_flags, str_of(arg)));
}

/* "ext::*": the argument, or the value of an option, begins so. */
static bool matches_begin(const char *word, const char *arg)
{
	struct str begin = {word, strlen(word) - 1};
	const char *value = arg[0] == '-' ? strchr(arg, '=') : NULL;

	return strncmp(arg, begin.p, begin.n) == 0 ||
	       (value && strncmp(value + 1, begin.p, begin.n) == 0);
}

static bool matches_word(const char *word, const char *arg)
{
	size_t n = strlen(word);

	/* "-exec" also as Go's --exec and -exec=x */
	if (arg[0] == '-' && arg[1] == '-')
		arg++;
	return strncmp(arg, word, n) == 0 && (!arg[n] || arg[n] == '=');
}

/* npm takes `exe` for exec. */
static bool matches_subcommand(const struct launcher *l, const char *word,
			       const char *arg)
{
	if (strcmp(word, arg) == 0)
		return true;
	return l->style == STYLE_DASHES && strlen(arg) > 2 &&
	       is_cut_of(str_of(arg), word);
}

static bool is_shell(const struct launcher *l)
{
	return programs_has_word(l->names, STR("bash"));
}

/* Letters of options; shells take +c for -c. */
static bool is_cluster(const struct launcher *l, const char *arg)
{
	return (arg[0] == '-' && arg[1] != '-') ||
	       (arg[0] == '+' && is_shell(l));
}

/* tar takes the letters of its first argument without a dash, too. */
static bool matches_bare(const struct launcher *l, const char *word,
			 const char *arg)
{
	return programs_has_word(l->names, STR("tar")) && arg[0] != '-' &&
	       strlen(word) == 2 && word[0] == '-' && strchr(arg, word[1]);
}

static bool matches(const struct launcher *l, const char *word, const char *arg)
{
	size_t n = strlen(word);

	if (n > 1 && word[n - 1] == '*')
		return matches_begin(word, arg);
	if (word[0] != '-' || n < 2)
		return matches_subcommand(l, word, arg);
	if (is_long(word))
		return matches_long(l, word, arg);
	if (n == 2 && word[1] != '-')
		return is_cluster(l, arg) && strchr(arg + 1, word[1]);
	return matches_word(word, arg);
}

/* May the next argument be the value of this option? */
static bool may_take_value(const struct launcher *l, const char *arg)
{
	if (arg[0] == '-' && arg[1] == '-')
		return !strchr(arg, '=') &&
		       !programs_has_word(l->long_flags, str_of(arg));
	for (const char *p = arg + 1; *p; p++) {
		if (strchr(l->values, *p))
			return !p[1];
		if (!strchr(l->flags, *p))
			return true;
	}
	return false;
}

static bool is_option(const struct launcher *l, const char *arg)
{
	return (arg[0] == '-' && arg[1]) || (arg[0] == '+' && is_shell(l));
}

/* Without empty parts and ".", which lead nowhere else. */
static void add_plain(struct buf *out, const char *path)
{
	struct str rest = str_of(path);

	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (part.n && !str_is(part, "."))
			buf_addf(out, "/%.*s", STR_ARG(part));
	}
}

/* Names under which a program finds its own standard input. */
static bool is_stdin(const char *arg)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	add_plain(&plain, arg);
	return strcmp(arg, "-") == 0 || str_ends(buf_str(&plain), "/stdin") ||
	       strstr(buf_cstr(&plain), "/fd/0");
}

/*
 * Which arguments are the program's own: how many are looked at, and which one
 * is surely its first operand.
 */
struct extent {
	size_t end;	/* arguments from 1 to end - 1 */
	size_t operand; /* 0: none that is surely one */
	size_t maybe;	/* one that may be a value instead; 0: none */
	bool is_sure;	/* what comes behind them is none of its own */
};

static struct extent find_extent(const struct launcher *l,
				 const struct strlist *argv)
{
	struct extent x = {.end = argv->n};
	bool may_be_value = false;

	for (size_t i = 1; i < argv->n; i++) {
		const char *arg = argv->item[i];
		bool ends = strcmp(arg, "--") == 0 ||
			    (is_shell(l) && strcmp(arg, "-") == 0);

		if (ends && !may_be_value) {
			if (l->style != STYLE_ALL)
				x.end = i + (l->style == STYLE_SCRIPT ? 2 : 0);
			x.is_sure = x.end <= argv->n && l->style != STYLE_ALL;
			if (!x.operand && i + 1 < argv->n)
				x.operand = i + 1;
			break;
		}
		if (is_option(l, arg) && !ends) {
			may_be_value = may_take_value(l, arg);
			continue;
		}
		if (!may_be_value && !x.operand) {
			x.operand = i;
			if (l->style != STYLE_SCRIPT)
				continue;
			x.end = i + 1;
			x.is_sure = true;
			break;
		}
		x.maybe = i;
		may_be_value = false;
	}
	if (x.end > argv->n)
		x.end = argv->n;
	return x;
}

/* Options after which no program is read. */
static bool only_asks(const struct strlist *argv)
{
	return argv->n == 2 && (strcmp(argv->item[1], "--version") == 0 ||
				strcmp(argv->item[1], "--help") == 0);
}

static int refuse_stdin(const struct gate_program_rule *rule, const char *arg,
			size_t at, struct err *err)
{
	return programs_refuse(
		rule, arg, at,
		"is standard input, which `deny` does not let it run; "
		"name a file",
		err);
}

/* Where it is not known which word is the script: bun run -, deno run -. */
static int judge_any_stdin(const struct gate_program_rule *rule,
			   const struct strlist *argv, const struct extent *x,
			   struct err *err)
{
	for (size_t i = 1; i < x->end; i++)
		if (is_stdin(argv->item[i]))
			return refuse_stdin(rule, argv->item[i], i, err);
	return 0;
}

static int judge_stdin(const struct gate_program_rule *rule,
		       const struct launcher *l, const struct strlist *argv,
		       const struct extent *x, struct err *err)
{
	size_t at = x->operand ? x->operand : x->maybe;

	if (l->operand == OPERAND_WORD)
		return judge_any_stdin(rule, argv, x, err);
	if (l->operand != OPERAND_FILE)
		return 0;
	if (at && is_stdin(argv->item[at]))
		return refuse_stdin(rule, argv->item[at], at, err);
	if (x->operand || only_asks(argv))
		return 0;
	return programs_refuse(
		rule, NULL, 0,
		"without a script it runs its standard input, which "
		"`deny` refuses; name a file",
		err);
}

static int judge_word(const struct gate_program_rule *rule,
		      const struct launcher *l, const struct strlist *argv,
		      const struct extent *x, const char *word, const char *as,
		      struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (strcmp(word, "-") == 0)
		return judge_stdin(rule, l, argv, x, err);
	for (size_t i = 1; i < x->end; i++) {
		const char *arg = argv->item[i];

		/* behind a sure operand only where options stand anywhere;
		   a script may have any name */
		if ((!matches(l, word, arg) &&
		     !(i == 1 && matches_bare(l, word, arg))) ||
		    (l->operand == OPERAND_FILE && i == x->operand &&
		     word[0] == '-'))
			continue;
		buf_addf(&text, "is refused by \"%s\" in `deny`%s%s%s",
			 as ? as : word, as ? " (" : "", as ? word : "",
			 as ? ")" : "");
		return programs_refuse(rule, arg, i, buf_cstr(&text), err);
	}
	return 0;
}

/*
 * The first letter with a value is f: what follows is its name, or "" when it
 * is the next argument. NULL: another option.
 */
static const char *file_option(const struct launcher *l, const char *arg)
{
	if (arg[0] != '-' || is_long(arg)) {
		if (strncmp(arg, "--file=", 7) == 0)
			return arg + 7;
		return strcmp(arg, "--file") == 0 ? "" : NULL;
	}
	for (const char *p = arg + 1; *p; p++)
		if (!strchr(l->flags, *p))
			return *p == 'f' ? p + 1 : NULL;
	return NULL;
}

static bool has_file_option(const struct launcher *l,
			    const struct strlist *argv, size_t end)
{
	for (size_t i = 1; i < end; i++)
		if (file_option(l, argv->item[i]))
			return true;
	return false;
}

/* The program text, too, may come from standard input: awk -f - */
static int judge_file_option(const struct gate_program_rule *rule,
			     const struct launcher *l,
			     const struct strlist *argv, size_t end,
			     struct err *err)
{
	for (size_t i = 1; i < end; i++) {
		const char *name = file_option(l, argv->item[i]);
		size_t at = i;

		if (name && !*name && i + 1 < argv->n)
			name = argv->item[at = i + 1];
		if (name && is_stdin(name))
			return refuse_stdin(rule, argv->item[at], at, err);
	}
	return 0;
}

/* make expands variables at once: 'x:=$(shell ...)', and in its recipes. */
static int judge_variables(const struct gate_program_rule *rule,
			   const struct strlist *argv, struct err *err)
{
	for (size_t i = 1; i < argv->n; i++)
		if (argv->item[i][0] != '-' && strchr(argv->item[i], '='))
			return programs_refuse(
				rule, argv->item[i], i,
				"sets a variable, whose value make can "
				"run; \"@eval\" in `deny` refuses it",
				err);
	return 0;
}

/* NAME=VALUE of env(1) */
static bool is_assignment(const struct launcher *l, const char *arg)
{
	return programs_has_word(l->names, STR("env")) && strchr(arg, '=');
}

static int judge_operand(const struct gate_program_rule *rule,
			 const struct launcher *l, const struct strlist *argv,
			 const struct extent *x, struct err *err)
{
	size_t at = x->operand ? x->operand : x->maybe;

	if (l->operand == OPERAND_CODE && at &&
	    !has_file_option(l, argv, x->end))
		return programs_refuse(
			rule, argv->item[at], at,
			"is a program text, which \"@eval\" in `deny` "
			"refuses; it may stand in a file: -f FILE",
			err);
	if (l->operand == OPERAND_CODE)
		return judge_file_option(rule, l, argv, x->end, err);
	if (programs_has_word(l->names, STR("make")))
		return judge_variables(rule, argv, err);
	if (l->operand != OPERAND_PROGRAM || !at)
		return 0;
	while (at < argv->n && is_assignment(l, argv->item[at]))
		at++;
	if (at == argv->n)
		return 0;
	return programs_refuse(
		rule, argv->item[at], at,
		"is a program that it would start, which \"@eval\" in "
		"`deny` refuses",
		err);
}

static int judge_eval(const struct gate_program_rule *rule,
		      const struct launcher *l, const struct strlist *argv,
		      const struct extent *x, struct arena *arena,
		      struct err *err)
{
	struct str rest = str_of(l->eval);

	while (rest.n) {
		struct str word = str_cut(&rest, ' ');

		if (word.n && judge_word(rule, l, argv, x,
					 arena_strndup(arena, word.p, word.n),
					 "@eval", err) < 0)
			return -1;
	}
	return judge_operand(rule, l, argv, x, err);
}

int programs_judge_deny(const struct gate_program_rule *rule,
			const struct launcher *l, const struct programs_call *c,
			struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct extent x = find_extent(l, &c->argv);

	for (size_t i = 0; i < rule->deny.n; i++) {
		const char *word = rule->deny.item[i];
		int r = strcmp(word, "@eval") == 0
				? judge_eval(rule, l, &c->argv, &x, &arena, err)
				: judge_word(rule, l, &c->argv, &x, word, NULL,
					     err);

		if (r < 0)
			return -1;
	}
	return c->is_cut && !x.is_sure ? programs_refuse_cut(rule, err) : 0;
}
