#include "gate/policy/recipes.h"

#include "core/base/buf.h"
#include "gate/policy/programs.h"
#include "gate/policy/shell_words.h"

const struct recipe RECIPES[] = {
#define RECIPE(name, programs, subcommands, finds, markers, at, made, exec, \
	       folders, read, env, says, help)                              \
	{name, programs, subcommands, RECIPE_##finds, markers,              \
	 at,   made,	 exec,	      folders,	      read,                 \
	 env,  says,	 help},
#include "gate/policy/recipes.def"
	{.name = NULL},
};

static const struct {
	const char *programs, *folders;
} HELPED[] = {
#define HELPERS(programs, folders) {programs, folders},
#include "gate/policy/recipes.def"
};

const char *gate_recipe(size_t turn, const char **ret_help)
{
	if (RECIPES[turn].name)
		*ret_help = RECIPES[turn].help;
	return RECIPES[turn].name;
}

static bool is_known(const char *name)
{
	for (const struct recipe *r = RECIPES; r->name; r++)
		if (strcmp(r->name, name) == 0)
			return true;
	return strcmp(name, RECIPE_NONE) == 0;
}

/* ---- calls ---- */

/* Options whose value is the next argument, before operands of these. */
static bool takes_value(const char *arg)
{
	return strcmp(arg, "-c") == 0 || strcmp(arg, "-C") == 0 ||
	       strcmp(arg, "--prefix") == 0;
}

/* Index of the first operand. */
static size_t find_operand(const struct strlist *argv)
{
	size_t i = 1;

	while (i < argv->n && argv->item[i][0] == '-')
		i += takes_value(argv->item[i]) ? 2 : 1;
	return i < argv->n ? i : argv->n;
}

const char *recipe_operand(const struct strlist *argv)
{
	size_t i = find_operand(argv);

	return i < argv->n ? argv->item[i] : NULL;
}

const char *recipe_place(const struct recipe *r, const struct strlist *argv)
{
	const size_t n = find_operand(argv);

	for (size_t i = 1; *r->at && i + 1 < n; i++)
		if (strcmp(argv->item[i], r->at) == 0)
			return argv->item[i + 1];
	return NULL;
}

const char *recipe_helpers(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(HELPED); i++)
		if (programs_is_one(HELPED[i].programs, path))
			return HELPED[i].folders;
	return NULL;
}

/* ---- names ---- */

static int refuse(const char *name, struct err *err)
{
	const char *names[ARRAY_LEN(RECIPES)];
	AUTO(buf_release) struct buf all = BUF_INIT(LIMIT_ERR_MSG);
	const char *near;
	size_t n = 0;

	for (; RECIPES[n].name; n++) {
		names[n] = RECIPES[n].name;
		buf_addf(&all, "%s, ", names[n]);
	}
	names[n++] = RECIPE_NONE;
	near = str_nearest(str_of(name), names, n);
	if (near)
		return err_set(err, ERR_POLICY,
			       "preset: \"%s\" is not known; did you mean "
			       "\"%s\"?",
			       name, near);
	return err_set(err, ERR_POLICY,
		       "preset: \"%s\" is not known; use one of %s%s", name,
		       buf_cstr(&all), RECIPE_NONE);
}

int recipes_check(const struct strlist *names, struct err *err)
{
	for (size_t i = 0; i < names->n; i++)
		if (!is_known(names->item[i]))
			return refuse(names->item[i], err);
	return 0;
}

const char *gate_recipe_of(const char *program)
{
	static const char chains[] = "build cc";
	const char *slash = strrchr(program, '/');
	struct str name = str_of(slash ? slash + 1 : program);

	for (const struct recipe *r = RECIPES; r->name; r++)
		if (str_has_word(chains, str_of(r->name)) &&
		    str_has_word(r->programs, name))
			return r->name;
	return NULL;
}

struct strlist gate_shell_words(struct str text, struct arena *arena)
{
	return shell_words(text, arena);
}
