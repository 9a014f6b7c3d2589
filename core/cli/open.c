#include "core/cli/open.h"

#include <sys/resource.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/args.h"
#include "core/config/leash.h"
#include "core/config/nest.h"
#include "core/run/advice_command.h"

int open_config(const struct args *args, struct config_options options,
		struct config_file *ret, struct err *err)
{
	options.path = args_get(args, "config");
	options.lax = args_has(args, "lax");
	options.sha256 = args_get(args, "sha256");
	return config_open(&options, ret, err);
}

/* Append to a copy: the list may be an option's own. */
static struct strlist join(const struct strlist *a, const struct strlist *b,
			   struct arena *arena)
{
	struct strlist all = {NULL, 0};

	list_add_all(&all, arena, a);
	if (b)
		list_add_all(&all, arena, b);
	return all;
}

int open_gate(const struct gate_wish *wish, struct arena *arena,
	      struct gate **ret, struct err *err)
{
	struct strlist named = join(&wish->named, wish->exec, arena);
	const char *state = state_dir_find(arena);
	struct gate_config config = {.state_dir = state};

	if (leash_find(wish->config, &named, arena, &config.leash, err) < 0)
		return -1;
	if (wish->is_trace)
		leash_open_for_trace(&config.leash);
	log_debug("leash: %s", config.leash.source);
	leash_guard(wish->config, state, wish->token_store, arena, &config);
	config.protect = wish->files;
	return gate_new(&config, ret, err);
}

int find_routine(const struct config *config, const char *name,
		 const struct routine **ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *names[256];
	size_t n = 0;

	*ret = config_routine(config, name);
	if (*ret)
		return 0;
	for (; n < config->n_routines && n < ARRAY_LEN(names); n++)
		names[n] = config->routines[n].name;
	return err_set(
		err, ERR_UNKNOWN_ROUTINE,
		"%s has no routine %s%s`matins list%s` lists its routines",
		config->path, name, args_meant_or(str_of(name), names, n).text,
		advice_config(config, &arena));
}

int find_server(const struct config *config, const char *name,
		const struct server **ret, struct err *err)
{
	enum { SHOWN = 4 };
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct strlist shown = {NULL, 0};
	const char *names[256];
	struct args_meant meant;
	size_t n = 0;

	*ret = config_server(config, name);
	if (*ret)
		return 0;
	for (; n < config->n_servers && n < ARRAY_LEN(names); n++)
		names[n] = config->servers[n].name;
	meant = args_meant(str_of(name), names, n);
	if (*meant.text || !n)
		return err_set(err, ERR_UNKNOWN_SERVER, "%s has no server %s%s",
			       config->path, name, meant.text);
	for (size_t i = 0; i < n && i < SHOWN; i++)
		list_add(&shown, &arena, names[i]);
	return err_set(
		err, ERR_UNKNOWN_SERVER, "%s has no server %s; it has %s%s",
		config->path, name, list_join(&shown, ", ", &arena),
		n > SHOWN ? " and others (`matins list --servers`)" : "");
}

int find_approvals(const struct config *config, const struct routine *routine,
		   const struct strlist *names, struct err *err)
{
	for (size_t i = 0; i < names->n; i++)
		if (!nest_has_approval(config, routine, str_of(names->item[i])))
			return err_set(err, ERR_USAGE,
				       "--approve %s: routine %s has no such "
				       "step of type approve; one of a routine "
				       "within is STEP/NAME",
				       names->item[i], routine->name);
	return 0;
}

void open_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		log_debug("the limit of open files stays as it is");
}
