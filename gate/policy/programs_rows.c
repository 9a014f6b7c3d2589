#include <string.h>

#include "core/base/log.h"
#include "gate/policy/programs_inner.h"

/* Bytes of an argument that a message shows. */
#define SHOWN_BYTES 80

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

const char programs_tools[] =
#define PACKAGE_TOOL(names, subcommand, order, flags, spelling) " " names
#include "gate/policy/programs.def"
	;

/* ---- names ---- */

struct str programs_base_name(const char *path)
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

bool programs_has_word(const char *words, struct str word)
{
	struct str rest = str_of(words);

	while (rest.n)
		if (str_eq(str_cut(&rest, ' '), word) && word.n)
			return true;
	return false;
}

bool programs_is_version(const char *path, const char *name)
{
	struct str base = programs_base_name(path);
	const char *const names[3] = {name, NULL, NULL};

	return str_is(base, name) ||
	       (programs_launcher(names) &&
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

bool programs_has_like(const char *words, struct str s)
{
	struct str rest = str_of(words);

	while (rest.n)
		if (is_like(str_cut(&rest, ' '), s) && s.n)
			return true;
	return false;
}

static bool is_name_of(const char *names, const char *path)
{
	return path &&
	       (programs_has_word(names, programs_base_name(path)) ||
		programs_has_word(names,
				  without_version(programs_base_name(path))));
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
const struct launcher *programs_launcher(const char *const name[3])
{
	const struct launcher *l = NULL;

	for (size_t k = 0; k < 3 && !l; k++)
		l = find_launcher(LAUNCHERS, name[k]);
	return l;
}

const struct launcher *programs_judged(const char *const name[3])
{
	const struct launcher *l = programs_launcher(name);

	return l && l->operand != OPERAND_SCRIPT ? l : NULL;
}

const struct launcher *programs_subcommand(const struct launcher *l,
					   const char *word)
{
	for (size_t i = 1; i < ARRAY_LEN(LAUNCHERS); i++)
		if (LAUNCHERS[i].parent == l &&
		    programs_has_word(LAUNCHERS[i].names, str_of(word)))
			return &LAUNCHERS[i];
	return NULL;
}

const struct launcher_option *programs_option(const struct launcher *l,
					      struct str name)
{
	bool is_operand = name.n && name.p[0] != '-' && name.p[0] != '+';

	for (; l; l = l->parent) {
		for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++)
			if (OPTIONS[i].launcher == l &&
			    programs_has_like(OPTIONS[i].names, name))
				return &OPTIONS[i];
		if (!is_operand && l->parent->order != ORDER_MIXED)
			return NULL;
	}
	return NULL;
}

const struct tool *programs_tool(const char *const name[3])
{
	/* npx leads to npx-cli.js: as it was called comes first */
	for (size_t k = 3; k-- > 0;)
		for (size_t i = 0; i < ARRAY_LEN(TOOLS); i++)
			if (is_name_of(TOOLS[i].names, name[k]))
				return &TOOLS[i];
	return NULL;
}

/* ---- sentences ---- */

/* An argument as it may stand in a message: short, nothing that moves. */
static const char *shown(const char *arg, struct buf *out)
{
	struct str s = str_first(str_of(arg), SHOWN_BYTES);

	buf_clear(out);
	log_visible(out, s, false);
	if (s.n < strlen(arg))
		buf_adds(out, "…");
	return buf_cstr(out);
}

void programs_add_list(struct buf *out, const struct strlist *list)
{
	AUTO(buf_release) struct buf one = BUF_INIT(BUF_UNBOUNDED);

	if (!list->n)
		buf_adds(out, "nothing");
	for (size_t i = 0; i < list->n; i++)
		buf_addf(out, "%s\"%s\"", i ? " " : "",
			 shown(list->item[i], &one));
}

int programs_refuse(const struct gate_program_rule *rule, const char *arg,
		    size_t at, const char *why, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!arg)
		return err_set(err, ERR_POLICY, "the rule for %s: %s",
			       rule->name, why);
	return err_set(err, ERR_POLICY,
		       "the rule for %s: argument %zu, "
		       "\"%s\", %s",
		       rule->name, at, shown(arg, &text), why);
}

int programs_refuse_cut(const struct gate_program_rule *rule, struct err *err)
{
	return programs_refuse(
		rule, NULL, 0,
		"it has more arguments than can be looked at; shorten "
		"them, or start it without a script between",
		err);
}
