#include "core/doctor/drift.h"

#include <sys/stat.h>

#include "core/install/depot.h"
#include "core/run/plan.h"

void drift_open(struct drift *d, const struct config *config,
		const char *state_dir)
{
	struct stat st;

	*d = (struct drift){.config = config, .state_dir = state_dir};
	if (config->path && stat(config->path, &st) == 0)
		clock_format(st.st_mtim.tv_sec * (int64_t)NS_PER_S +
				     st.st_mtim.tv_nsec,
			     d->written);
}

void drift_release(struct drift *d)
{
	if (d->server)
		catalogue_release(&d->catalogue);
	d->server = NULL;
}

/* Say that a tool is not in the list, and which one is near. */
static const char *missing(const struct drift *d, const struct step *step,
			   struct arena *arena)
{
	const struct strlist names = catalogue_tools(
		d->state_dir, d->config->path, step->server->name, arena);
	const char *near = str_nearest(str_of(step->tool), names.item, names.n);

	return arena_printf(arena,
			    "%s has no tool %s, as it was listed on "
			    "%.10s%s%s%s",
			    step->server->name, step->tool, d->catalogue.synced,
			    near ? "; did you mean " : "", near ? near : "",
			    near ? "?" : "");
}

const char *drift_of(struct drift *d, const struct step *step,
		     struct arena *arena)
{
	const struct catalogue_entry *e;

	if (!step->server || !step->tool || !*step->tool || !step->enabled)
		return NULL;
	if (d->server != step->server) {
		drift_release(d);
		d->server = step->server;
		(void)catalogue_read_heads(d->state_dir, d->config->path,
					   d->server->name, &d->catalogue);
	}
	e = catalogue_find(&d->catalogue, LISTING_TOOLS, str_of(step->tool));
	if (!e)
		return d->catalogue.synced ? missing(d, step, arena) : NULL;
	if (e->deprecated)
		return arena_printf(
			arena, "%s has no tool %s since %.10s%s%s",
			step->server->name, step->tool, e->deprecated,
			e->renamed_to ? "; it seems to be called " : "",
			e->renamed_to ? e->renamed_to : "");
	if (e->updated && strcmp(e->updated, d->written) > 0)
		return arena_printf(arena,
				    "the tool %s of %s changed on %.10s, after "
				    "this file was written",
				    step->tool, step->server->name, e->updated);
	return NULL;
}

const char *drift_of_action(struct drift *d, const struct action *action,
			    struct arena *arena)
{
	const struct step step = {
		.server = config_server(d->config, action->server_name),
		.tool = action->tool,
		.enabled = true,
	};

	return drift_of(d, &step, arena);
}

int drift_check_files(const struct config *config, const struct server *server,
		      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_request request = {.program = server->command};
	struct strlist argv = {NULL, 0};

	if (!server->command || !server->enabled ||
	    strcmp(server->integrity, "on") != 0)
		return 0;
	list_add(&argv, &arena, server->command);
	for (size_t i = 0; i < server->args.n; i++)
		list_add(&argv, &arena, server->args.item[i]);
	list_add(&argv, &arena, NULL);
	request.argv = argv.item;
	plan_cwd(&request, server->cwd, config);
	return depot_check(&request, err);
}
