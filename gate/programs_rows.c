#include <string.h>

#include "core/base/log.h"
#include "gate/programs_inner.h"

/* Bytes of an argument that a message shows. */
#define SHOWN_BYTES 80

static const struct launcher LAUNCHERS[] = {
#define LAUNCHER(names, style, operand, flags, values, long_flags, eval) \
	{names,	     STYLE_##style, OPERAND_##operand, flags, values,    \
	 long_flags, eval},
#include "gate/programs.def"
};

static const struct tool TOOLS[] = {
#define PACKAGE_TOOL(names, subcommand, style, flags, spelling) \
	{names, subcommand, STYLE_##style, flags, SPELLING_##spelling},
#include "gate/programs.def"
};

const char programs_tools[] =
#define PACKAGE_TOOL(names, subcommand, style, flags, spelling) " " names
#include "gate/programs.def"
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

bool programs_is_name_of(const char *names, const char *path)
{
	return path &&
	       (programs_has_word(names, programs_base_name(path)) ||
		programs_has_word(names,
				  without_version(programs_base_name(path))));
}

/* By any of the names that the program goes by; the file's own comes first. */
const struct launcher *programs_launcher(const char *const name[3])
{
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < ARRAY_LEN(LAUNCHERS); i++)
			if (programs_is_name_of(LAUNCHERS[i].names, name[k]))
				return &LAUNCHERS[i];
	return NULL;
}

const struct tool *programs_tool(const char *const name[3])
{
	/* npx leads to npx-cli.js: as it was called comes first */
	for (size_t k = 3; k-- > 0;)
		for (size_t i = 0; i < ARRAY_LEN(TOOLS); i++)
			if (programs_is_name_of(TOOLS[i].names, name[k]))
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
