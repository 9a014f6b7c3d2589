/* `deny`: programs.h says how a word is compared. */
#include <string.h>

#include "core/base/arena.h"
#include "core/base/mem.h"
#include "gate/policy/programs_inner.h"

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
	       (is_long(arg) && !(l && programs_option(l, str_of(arg))));
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
	return l && l->order == ORDER_MIXED && strlen(arg) > 2 &&
	       is_cut_of(str_of(arg), word);
}

static bool is_shell(const struct launcher *l)
{
	return l && l->syntax == SYNTAX_SHELL;
}

/* Letters of options; shells take +c for -c. */
static bool is_cluster(const struct launcher *l, const char *arg)
{
	return (arg[0] == '-' && arg[1] != '-') ||
	       (arg[0] == '+' && is_shell(l));
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

static int refuse_no_file(const struct gate_program_rule *rule, struct err *err)
{
	return programs_refuse(
		rule, NULL, 0,
		"without a script it runs its standard input, which "
		"`deny` refuses; name a file",
		err);
}

static int refuse_word(const struct gate_program_rule *rule, const char *arg,
		       size_t at, const char *word, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&text, "is refused by \"%s\" in `deny`", word);
	return programs_refuse(rule, arg, at, buf_cstr(&text), err);
}

/*
 * Where nothing is known of the program: any name of its standard input, or
 * no argument that could be another file.
 */
static int judge_any_stdin(const struct gate_program_rule *rule,
			   const struct strlist *argv, struct err *err)
{
	bool has_file = false;

	for (size_t i = 1; i < argv->n; i++) {
		if (is_stdin(argv->item[i]))
			return refuse_stdin(rule, argv->item[i], i, err);
		has_file |= argv->item[i][0] != '-';
	}
	return has_file || only_asks(argv) ? 0 : refuse_no_file(rule, err);
}

static int judge_stdin(const struct gate_program_rule *rule,
		       const struct strlist *argv,
		       const struct programs_reading *x, struct err *err)
{
	size_t at = x->operand;

	if (!x->launcher || x->unknown)
		return judge_any_stdin(rule, argv, err);
	if (x->launcher->operand != OPERAND_FILE &&
	    x->launcher->operand != OPERAND_PACKAGE)
		return 0;
	/* node reads it for an empty name, too */
	if (at && (is_stdin(argv->item[at]) || !*argv->item[at]))
		return refuse_stdin(rule, argv->item[at], at, err);
	return at || only_asks(argv) ? 0 : refuse_no_file(rule, err);
}

static int judge_word(const struct gate_program_rule *rule,
		      const struct strlist *argv,
		      const struct programs_reading *x, const char *word,
		      struct err *err)
{
	const struct launcher *l = x->launcher;
	bool is_file = l && l->operand == OPERAND_FILE;

	if (strcmp(word, "-") == 0)
		return judge_stdin(rule, argv, x, err);
	for (size_t i = 1; i < x->end; i++) {
		/* a script may have any name */
		if (!matches(l, word, argv->item[i]) ||
		    (is_file && i == x->operand && word[0] == '-'))
			continue;
		return refuse_word(rule, argv->item[i], i, word, err);
	}
	return 0;
}

/* ---- "@eval" ---- */

/* NAME=VALUE of env(1) stands before the program. */
static int judge_program(const struct gate_program_rule *rule,
			 const struct strlist *argv, size_t at, struct err *err)
{
	while (at < argv->n && strchr(argv->item[at], '='))
		at++;
	if (at == argv->n)
		return 0;
	return programs_refuse(
		rule, argv->item[at], at,
		"is a program that it would start, which \"@eval\" in "
		"`deny` refuses",
		err);
}

static int judge_operand(const struct gate_program_rule *rule,
			 const struct strlist *argv,
			 const struct programs_reading *x, struct err *err)
{
	size_t at = x->operand;

	switch (x->launcher->operand) {
	case OPERAND_FILE:
	case OPERAND_PACKAGE:
		return judge_stdin(rule, argv, x, err);
	case OPERAND_PROGRAM:
		return at ? judge_program(rule, argv, at, err) : 0;
	case OPERAND_SUBCOMMAND:
	case OPERAND_SCRIPT:
	case OPERAND_DATA:
		break;
	}
	return 0;
}

static int judge_eval(const struct gate_program_rule *rule,
		      const struct strlist *argv,
		      const struct programs_reading *x, struct err *err)
{
	if (x->code && (!x->unknown || x->code < x->unknown))
		return refuse_word(rule, argv->item[x->code], x->code, "@eval",
				   err);
	if (x->unknown)
		return programs_refuse(
			rule, argv->item[x->unknown], x->unknown,
			"is not known to be harmless, so \"@eval\" in "
			"`deny` refuses it; leave it out, or list what is to "
			"be denied in place of \"@eval\"",
			err);
	return judge_operand(rule, argv, x, err);
}

int programs_judge_deny(const struct gate_program_rule *rule,
			const struct launcher *l, const struct programs_call *c,
			struct err *err)
{
	struct programs_reading x = programs_read(l, &c->argv);

	for (size_t i = 0; i < rule->deny.n; i++) {
		const char *word = rule->deny.item[i];
		int r = strcmp(word, "@eval") == 0
				? judge_eval(rule, &c->argv, &x, err)
				: judge_word(rule, &c->argv, &x, word, err);

		if (r < 0)
			return -1;
	}
	return c->is_cut && !x.is_sure ? programs_refuse_cut(rule, err) : 0;
}
