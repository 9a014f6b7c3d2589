/* How programs read their arguments, by the rows of programs.def. */
#include <string.h>

#include "gate/policy/programs_inner.h"

static bool is_option(const struct launcher *l, const char *arg)
{
	return (arg[0] == '-' ||
		(arg[0] == '+' && l->syntax == SYNTAX_SHELL)) &&
	       arg[1];
}

static bool is_long(const char *arg)
{
	return arg[0] == '-' && arg[1] == '-' && arg[2];
}

static void set_first(size_t *at, size_t i)
{
	if (!*at)
		*at = i;
}

/* value  NULL: there is none */
static void note(struct programs_reading *x, const struct launcher_option *o,
		 size_t at, const char *value)
{
	if (o->runs == RUNS_NO ||
	    (value && programs_has_like(o->values, str_of(value))))
		return;
	set_first(&x->code, at);
	x->has_program |= o->runs == RUNS_PROGRAM;
}

/* Read one whole argument; *at moves to the last one that was read. */
static void read_word(struct programs_reading *x, const struct strlist *argv,
		      size_t *at)
{
	const char *arg = argv->item[*at], *value = NULL;
	size_t i = *at, n = is_long(arg) ? strcspn(arg, "=") : strlen(arg);
	const struct launcher_option *o =
		programs_option(x->launcher, (struct str){arg, n});

	if (!o ||
	    (arg[n] ? o->takes == TAKES_NOTHING : o->takes == TAKES_ATTACHED)) {
		set_first(&x->unknown, i);
		return;
	}
	if (arg[n])
		value = arg + n + 1;
	else if (o->takes == TAKES_VALUE && i + 1 < argv->n)
		value = argv->item[++*at];
	note(x, o, i, value);
}

/* Read the letters of one argument; *at moves to the last one that was read. */
static void read_cluster(struct programs_reading *x, const struct strlist *argv,
			 size_t *at)
{
	bool is_shell = x->launcher->syntax == SYNTAX_SHELL;
	size_t i = *at;

	for (const char *p = argv->item[i] + 1; *p; p++) {
		const char name[] = {'-', *p}, *value = NULL;
		const struct launcher_option *o = programs_option(
			x->launcher, (struct str){name, sizeof(name)});

		if (!o) {
			set_first(&x->unknown, i);
			return;
		}
		if (o->takes != TAKES_NOTHING && !is_shell && p[1])
			value = p + 1;
		else if (o->takes == TAKES_VALUE && *at + 1 < argv->n)
			value = argv->item[++*at];
		note(x, o, i, value);
		if (o->takes != TAKES_NOTHING && !is_shell)
			return;
	}
}

/* bash takes -norc for --norc; as letters it reads otherwise. */
static bool is_ambiguous(const struct launcher *l, const char *arg)
{
	char name[64];

	if (l->syntax != SYNTAX_SHELL || arg[0] != '-' || strlen(arg) < 3)
		return false;
	snprintf(name, sizeof(name), "-%s", arg);
	return programs_option(l, str_of(name)) != NULL;
}

static void read_option(struct programs_reading *x, const struct strlist *argv,
			size_t *at)
{
	const char *arg = argv->item[*at];

	if (is_ambiguous(x->launcher, arg))
		set_first(&x->unknown, *at);
	else if (is_long(arg) || x->launcher->syntax == SYNTAX_WORDS)
		read_word(x, argv, at);
	else
		read_cluster(x, argv, at);
}

/* A subcommand has its own options; nothing else is known of one without. */
static void read_subcommand(struct programs_reading *x, const char *word,
			    size_t at)
{
	const struct launcher *sub = programs_subcommand(x->launcher, word);

	if (sub)
		x->launcher = sub;
	else
		set_first(&x->unknown, at);
}

static void read_operand(struct programs_reading *x, const struct strlist *argv,
			 size_t at)
{
	const char *word = argv->item[at];
	const struct launcher_option *o =
		word[0] == '-' ? NULL
			       : programs_option(x->launcher, str_of(word));

	if (o) {
		note(x, o, at, NULL);
		if (o->runs == RUNS_NO)
			return;
	}
	if (x->operand)
		return;
	x->operand = at;
	if (x->launcher->operand == OPERAND_SUBCOMMAND) {
		read_subcommand(x, word, at);
	} else if (x->launcher->order == ORDER_STOPS) {
		x->end = at + 1;
		x->is_sure = true;
	}
}

static bool is_end(const struct launcher *l, const char *arg)
{
	return strcmp(arg, "--") == 0 ||
	       (l->syntax == SYNTAX_SHELL && strcmp(arg, "-") == 0);
}

/* Behind "--" there are operands only. */
static void read_end(struct programs_reading *x, const struct strlist *argv,
		     size_t at)
{
	x->end = at;
	if (!x->operand && at + 1 < argv->n) {
		read_operand(x, argv, at + 1);
		x->end = at + 2;
	}
	x->is_sure = true;
}

struct programs_reading programs_read(const struct launcher *l,
				      const struct strlist *argv)
{
	struct programs_reading x = {.launcher = l, .end = argv->n};

	for (size_t i = 1; l && i < x.end && !x.unknown; i++) {
		const char *arg = argv->item[i];

		if (is_end(x.launcher, arg)) {
			read_end(&x, argv, i);
			break;
		}
		if (is_option(x.launcher, arg))
			read_option(&x, argv, &i);
		else
			read_operand(&x, argv, i);
	}
	if (x.unknown) {
		x.end = argv->n;
		x.is_sure = false;
	}
	return x;
}

size_t programs_script(const char *asked, const char *path,
		       const struct strlist *argv)
{
	const char *const name[3] = {path, asked, NULL};
	const struct launcher *l = programs_launcher(name);
	struct programs_reading x = programs_read(l, argv);
	bool is_file = l && (l->operand == OPERAND_FILE ||
			     l->operand == OPERAND_SCRIPT);

	return is_file && !x.has_program && !x.unknown ? x.operand : 0;
}
