/* `package`: the one package that npx, uvx and the like may fetch. */
#include <string.h>

#include "gate/policy/programs_inner.h"

static bool is_package(const struct tool *t, const char *package,
		       const char *arg)
{
	const char *at = strrchr(package, '@');
	size_t n = (size_t)(at - package);

	if (strcmp(arg, package) == 0)
		return true;
	return t->spelling == SPELLING_PYPI && strncmp(arg, package, n) == 0 &&
	       strncmp(arg + n, "==", 2) == 0 &&
	       strcmp(arg + n + 2, at + 1) == 0;
}

static int refuse_package(const struct gate_program_rule *rule,
			  const struct tool *t, const struct strlist *argv,
			  size_t at, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str sub = str_of(t->subcommand);

	sub = str_cut(&sub, ' ');
	buf_addf(&text, "%s; what `package` allows is %s%s%.*s [%s] %s ARGS…",
		 at < argv->n ? "is not the pinned package"
			      : "the package is missing",
		 rule->name, sub.n ? " " : "", STR_ARG(sub), t->flags,
		 rule->package);
	return programs_refuse(rule, at < argv->n ? argv->item[at] : NULL, at,
			       buf_cstr(&text), err);
}

/* Everything but the known flags, the subcommand and the package is refused. */
int programs_judge_package(const struct gate_program_rule *rule,
			   const struct tool *t, const struct programs_call *c,
			   struct err *err)
{
	const struct strlist *argv = &c->argv;
	bool has_subcommand = !*t->subcommand, has_package = false;
	size_t i = 1;

	for (; i < argv->n; i++) {
		const char *arg = argv->item[i];
		bool ends = strcmp(arg, "--") == 0;

		if (ends && has_subcommand && has_package)
			return 0;
		if ((ends && has_subcommand) ||
		    programs_has_word(t->flags, str_of(arg)))
			continue;
		if (!has_subcommand &&
		    programs_has_word(t->subcommand, str_of(arg))) {
			has_subcommand = true;
			continue;
		}
		/* npm reads its own options behind the package, too */
		if (has_package && arg[0] != '-')
			continue;
		if (!has_subcommand || has_package ||
		    !is_package(t, rule->package, arg))
			return refuse_package(rule, t, argv, i, err);
		if (t->order == ORDER_STOPS)
			return 0;
		has_package = true;
	}
	if (!has_package)
		return refuse_package(rule, t, argv, i, err);
	return c->is_cut ? programs_refuse_cut(rule, err) : 0;
}

/* A digit first, then what versions are made of; NPM: three numbers. */
static bool is_version(const char *s, enum spelling spelling)
{
	size_t dots = 0, n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789.+-_!");

	for (const char *p = s; *p && strchr("0123456789.", *p); p++)
		dots += *p == '.';
	return *s >= '0' && *s <= '9' && !s[n] &&
	       (spelling != SPELLING_NPM || dots == 2);
}

int programs_check_package(const struct gate_program_rule *rule,
			   struct err *err)
{
	const char *const name[3] = {rule->name, NULL, NULL};
	const struct tool *t = programs_tool(name);
	const char *at = rule->package ? strrchr(rule->package, '@') : NULL;

	if (!rule->package)
		return 0;
	if (!t)
		return err_set(err, ERR_POLICY,
			       "programs.%s: `package` is for%s", rule->name,
			       programs_tools);
	if (!at || at == rule->package || rule->package[0] == '-' ||
	    !is_version(at + 1, t->spelling))
		return err_set(err, ERR_POLICY,
			       "programs.%s: package \"%s\" is no pin; write "
			       "name@1.2.3, a whole version",
			       rule->name, rule->package);
	return 0;
}
