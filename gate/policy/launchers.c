#include "gate/policy/launchers.h"

#include <string.h>

enum {
	NO_LAUNCHER,
#define LAUNCHER(id, parent, names, syntax, order, operand) id,
#include "gate/policy/programs.def"
};

/* The first row is the parent of those that are programs. */
static const struct launcher LAUNCHERS[] = {
	{.names = ""},
#define LAUNCHER(id, parent, names, syntax, order, operand)         \
	{&LAUNCHERS[parent], names, SYNTAX_##syntax, ORDER_##order, \
	 OPERAND_##operand},
#include "gate/policy/programs.def"
};

static const struct launcher_option OPTIONS[] = {
#define OPTION(launcher, names, takes, runs, values) \
	{&LAUNCHERS[launcher], names, TAKES_##takes, RUNS_##runs, values},
#include "gate/policy/programs.def"
};

static const struct tool TOOLS[] = {
#define PACKAGE_TOOL(names, subcommand, order, flags, spelling) \
	{names, subcommand, ORDER_##order, flags, SPELLING_##spelling},
#include "gate/policy/programs.def"
};

const char tool_names[] =
#define PACKAGE_TOOL(names, subcommand, order, flags, spelling) " " names
#include "gate/policy/programs.def"
	;

/* ---- names ---- */

static struct str base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return str_of(slash ? slash + 1 : path);
}

/* python3.11 and lua5.4 are python and lua. */
static struct str without_version(struct str name)
{
	while (name.n > 1 && strchr("0123456789.-", name.p[name.n - 1]))
		name.n--;
	return name;
}

bool launcher_has_word(const char *words, struct str word)
{
	struct str rest = str_of(words);

	while (rest.n)
		if (str_eq(str_cut(&rest, ' '), word) && word.n)
			return true;
	return false;
}

bool launcher_is_version(const char *path, const char *name)
{
	struct str base = base_name(path);
	const char *const names[3] = {name, NULL, NULL};

	return str_is(base, name) ||
	       (launcher_find(names) &&
		str_eq(without_version(base), without_version(str_of(name))));
}

/* A star in the pattern stands for anything. */
static bool is_like(struct str pattern, struct str s)
{
	while (pattern.n && pattern.p[0] != '*') {
		if (!s.n || pattern.p[0] != s.p[0])
			return false;
		pattern = (struct str){pattern.p + 1, pattern.n - 1};
		s = (struct str){s.p + 1, s.n - 1};
	}
	if (!pattern.n)
		return !s.n;
	pattern = (struct str){pattern.p + 1, pattern.n - 1};
	for (; s.n; s = (struct str){s.p + 1, s.n - 1})
		if (is_like(pattern, s))
			return true;
	return is_like(pattern, s);
}

/* Is it like one of the patterns? They stand in one text, apart by spaces. */
static bool is_like_one(const char *patterns, struct str s)
{
	struct str rest = str_of(patterns);

	while (s.n && rest.n)
		if (is_like(str_cut(&rest, ' '), s))
			return true;
	return false;
}

static bool is_name_of(const char *names, const char *path)
{
	return path &&
	       (launcher_has_word(names, base_name(path)) ||
		launcher_has_word(names, without_version(base_name(path))));
}

static const struct launcher *find_launcher(const struct launcher *parent,
					    const char *name)
{
	for (size_t i = 1; i < ARRAY_LEN(LAUNCHERS); i++)
		if (LAUNCHERS[i].parent == parent &&
		    is_name_of(LAUNCHERS[i].names, name))
			return &LAUNCHERS[i];
	return NULL;
}

/* By any of the names that the program goes by; the file's own comes first. */
const struct launcher *launcher_find(const char *const name[3])
{
	const struct launcher *l = NULL;

	for (size_t k = 0; k < 3 && !l; k++)
		l = find_launcher(LAUNCHERS, name[k]);
	return l;
}

const struct launcher *launcher_find_judged(const char *const name[3])
{
	const struct launcher *l = launcher_find(name);

	return l && l->operand != OPERAND_SCRIPT ? l : NULL;
}

static const struct launcher *find_subcommand(const struct launcher *l,
					      const char *word)
{
	for (size_t i = 1; i < ARRAY_LEN(LAUNCHERS); i++)
		if (LAUNCHERS[i].parent == l &&
		    launcher_has_word(LAUNCHERS[i].names, str_of(word)))
			return &LAUNCHERS[i];
	return NULL;
}

const struct launcher_option *launcher_find_option(const struct launcher *l,
						   struct str name)
{
	bool is_operand = name.n && name.p[0] != '-' && name.p[0] != '+';

	for (; l; l = l->parent) {
		for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++)
			if (OPTIONS[i].launcher == l &&
			    is_like_one(OPTIONS[i].names, name))
				return &OPTIONS[i];
		if (!is_operand && l->parent->order != ORDER_MIXED)
			return NULL;
	}
	return NULL;
}

const struct tool *tool_find(const char *const name[3])
{
	/* npx leads to npx-cli.js: as it was called comes first */
	for (size_t k = 3; k-- > 0;)
		for (size_t i = 0; i < ARRAY_LEN(TOOLS); i++)
			if (is_name_of(TOOLS[i].names, name[k]))
				return &TOOLS[i];
	return NULL;
}

/* ---- reading of arguments ---- */

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
static void note(struct launcher_reading *x, const struct launcher_option *o,
		 size_t at, const char *value)
{
	if (o->runs == RUNS_NO ||
	    (value && is_like_one(o->values, str_of(value))))
		return;
	set_first(&x->code, at);
	x->has_program |= o->runs == RUNS_PROGRAM;
}

/* Read one whole argument; *at moves to the last one that was read. */
static void read_word(struct launcher_reading *x, const struct strlist *argv,
		      size_t *at)
{
	const char *arg = argv->item[*at], *value = NULL;
	size_t i = *at, n = is_long(arg) ? strcspn(arg, "=") : strlen(arg);
	const struct launcher_option *o =
		launcher_find_option(x->launcher, (struct str){arg, n});

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
static void read_cluster(struct launcher_reading *x, const struct strlist *argv,
			 size_t *at)
{
	bool is_shell = x->launcher->syntax == SYNTAX_SHELL;
	size_t i = *at;

	for (const char *p = argv->item[i] + 1; *p; p++) {
		const char name[] = {'-', *p}, *value = NULL;
		const struct launcher_option *o = launcher_find_option(
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
	return launcher_find_option(l, str_of(name)) != NULL;
}

static void read_option(struct launcher_reading *x, const struct strlist *argv,
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
static void read_subcommand(struct launcher_reading *x, const char *word,
			    size_t at)
{
	const struct launcher *sub = find_subcommand(x->launcher, word);

	if (sub)
		x->launcher = sub;
	else
		set_first(&x->unknown, at);
}

static void read_operand(struct launcher_reading *x, const struct strlist *argv,
			 size_t at)
{
	const char *word = argv->item[at];
	const struct launcher_option *o =
		word[0] == '-'
			? NULL
			: launcher_find_option(x->launcher, str_of(word));

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
static void read_end(struct launcher_reading *x, const struct strlist *argv,
		     size_t at)
{
	x->end = at;
	if (!x->operand && at + 1 < argv->n) {
		read_operand(x, argv, at + 1);
		x->end = at + 2;
	}
	x->is_sure = true;
}

struct launcher_reading launcher_read(const struct launcher *l,
				      const struct strlist *argv)
{
	struct launcher_reading x = {.launcher = l, .end = argv->n};

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
