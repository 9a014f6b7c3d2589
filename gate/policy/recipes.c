#include "gate/policy/recipes.h"

#include "core/base/buf.h"
#include "core/base/limits.h"
#include "gate/gate.h"

const struct recipe RECIPES[] = {
#define RECIPE(name, markers, exec, folders, read, help) \
	{#name, markers, exec, folders, read, help},
#include "gate/policy/recipes.def"
	{.name = NULL},
};

const char *gate_recipe(size_t turn, const char **ret_help)
{
	if (RECIPES[turn].name)
		*ret_help = RECIPES[turn].help;
	return RECIPES[turn].name;
}

const struct recipe *recipe_find(const char *name)
{
	for (const struct recipe *r = RECIPES; r->name; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}

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
		if (strcmp(names->item[i], RECIPE_NONE) != 0 &&
		    !recipe_find(names->item[i]))
			return refuse(names->item[i], err);
	return 0;
}
