#include "core/cli/routine_find.h"

#include "core/cli/args.h"

int find_routine(const struct config *config, const char *name,
		 const struct routine **ret, struct err *err)
{
	const char *names[256];
	size_t n = 0;

	*ret = config_routine(config, name);
	if (*ret)
		return 0;
	for (; n < config->n_routines && n < ARRAY_LEN(names); n++)
		names[n] = config->routines[n].name;
	return err_set(err, ERR_UNKNOWN_ROUTINE,
		       "%s has no routine %s%s`matins list` lists its routines",
		       config->path, name,
		       args_meant_or(str_of(name), names, n).text);
}
