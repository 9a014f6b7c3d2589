#include "core/config/routine.h"

#include <string.h>

#include "core/config/load.h"

/* Both spellings share one array, whose items must not move. */
static void make_servers(struct loader *l, const struct toml_value *root)
{
	const struct toml_value *a = toml_get(root, "servers");
	const struct toml_value *b = toml_get(root, "mcp_servers");
	size_t n = (a && a->type == TOML_TABLE ? a->table.n : 0) +
		   (b && b->type == TOML_TABLE ? b->table.n : 0);

	l->config->servers = ARENA_ARRAY(l->arena, struct server, n);
}

/* ---- what can be said when everything is read ---- */

static void unknown_server(struct loader *l, const struct step *s)
{
	const struct config *c = l->config;
	const char **names = ARENA_ARRAY(l->arena, const char *, c->n_servers);
	const char *near;

	for (size_t i = 0; i < c->n_servers; i++)
		names[i] = c->servers[i].name;
	near = str_nearest(str_of(s->server_name), names, c->n_servers);
	if (near)
		load_error(l, s->server_line, s->server_col,
			   "there is no server \"%s\"; did you mean \"%s\"?",
			   s->server_name, near);
	else
		load_error(l, s->server_line, s->server_col,
			   "there is no server \"%s\"; define it as "
			   "[servers.%s]",
			   s->server_name, s->server_name);
}

static void link_step(struct loader *l, struct step *s)
{
	if (!s->server_name)
		return;
	s->server = config_server(l->config, s->server_name);
	if (!s->server)
		unknown_server(l, s);
	else if (s->server->url && !s->tool)
		load_error(l, s->line, s->col,
			   "\"tool\" is missing: server \"%s\" has a url, "
			   "there is no stdout to read",
			   s->server_name);
	else if (s->params && !s->tool)
		load_warning(l, s->line, s->col,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

/* ---- the whole ---- */

static struct loader loader_of(bool lax, struct arena *arena,
			       struct config *config, struct findings *findings)
{
	return (struct loader){
		.arena = arena,
		.config = config,
		.findings = findings,
		.lax = lax,
		.tail = &config->expansions,
	};
}

int routine_load(const struct toml_value *root, bool lax, struct arena *arena,
		 struct config *ret_config, struct findings *findings)
{
	struct loader l = loader_of(lax, arena, ret_config, findings);

	*ret_config = (struct config){0};
	make_servers(&l, root);
	load_table(&l, root, SECTION_top, SECTION_top, ret_config);
	for (size_t i = 0; i < ret_config->n_routines; i++)
		for (size_t j = 0; j < ret_config->routines[i].n_steps; j++)
			link_step(&l, &ret_config->routines[i].steps[j]);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

int routine_load_policy(const struct toml_value *root, bool lax,
			struct arena *arena, struct config *ret_config,
			struct findings *findings)
{
	struct loader l = loader_of(lax, arena, ret_config, findings);

	if (toml_get(root, "sandbox"))
		return routine_load(root, lax, arena, ret_config, findings);
	*ret_config = (struct config){0};
	load_sandbox(&l, root, &ret_config->sandbox);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

/* ---- looking things up ---- */

const struct routine *config_routine(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_routines; i++)
		if (!strcmp(c->routines[i].name, name))
			return &c->routines[i];
	return NULL;
}

const struct server *config_server(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_servers; i++)
		if (!strcmp(c->servers[i].name, name))
			return &c->servers[i];
	return NULL;
}

struct server server_by_default(void)
{
	struct server s = {0};

	load_defaults(SECTION_server, SECTION_server, &s);
	return s;
}

const struct env_ref *server_reference(const struct server *s, size_t nth)
{
	const struct env_ref *const all[SERVER_REFERENCES] = {
		&s->token,
		&s->api_key,
#define AUTH_SECRET(key, ...) &s->auth.key,
#include "core/auth/auth.def"
	};

	return all[nth];
}
