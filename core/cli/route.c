#include "core/cli/route.h"

#include "core/base/state_dir.h"
#include "core/cli/open.h"
#include "core/client/catalogue.h"
#include "core/mcp/wire/merged_name.h"

/* Find the tool whose name is merged with a hash. */
static const char *hashed_tool(const struct config *config,
			       const struct server *server, const char *word,
			       struct arena *arena)
{
	AUTO(catalogue_release) struct catalogue c;
	const struct catalogue_list *l = &c.list[LISTING_TOOLS];
	char name[MERGED_NAME_BYTES + 1];

	(void)catalogue_read_heads(state_dir_find(arena), config->path,
				   server->name, &c);
	for (size_t i = 0; i < l->n; i++) {
		merged_name(str_of(server->name), l->entry[i].name, name);
		if (strcmp(name, word) == 0)
			return arena_strndup(arena, l->entry[i].name.p,
					     l->entry[i].name.n);
	}
	return NULL;
}

/* Find the servers with a tool whose name is merged with a hash: one counts. */
static bool find_hashed(const struct config *config, const char *word,
			struct arena *arena, const struct server **ret_server,
			const char **ret_tool)
{
	const struct server *found = NULL;

	for (size_t i = 0; i < config->n_servers; i++) {
		const struct server *s = &config->servers[i];
		const char *tool = hashed_tool(config, s, word, arena);

		if (tool && found) {
			*ret_tool = arena_printf(arena, "%s.%s and %s.%s",
						 found->name, *ret_tool,
						 s->name, tool);
			return false;
		}
		if (!tool)
			continue;
		found = s;
		*ret_server = s;
		*ret_tool = tool;
	}
	return found;
}

bool route_find(const struct config *config, const char *word,
		struct arena *arena, const struct server **ret_server,
		const char **ret_tool)
{
	size_t best = 0;
	struct str tool;

	*ret_tool = NULL;
	for (size_t i = 0; i < config->n_servers; i++) {
		const struct server *s = &config->servers[i];
		const size_t n = strlen(s->name);

		if (merged_name_tool(str_of(word), str_of(s->name), &tool)) {
			*ret_server = s;
			*ret_tool = tool.p;
			return true;
		}
		/* a name may hold dots: the longest one counts */
		if (n < best || strncmp(word, s->name, n) != 0 ||
		    word[n] != '.' || !word[n + 1])
			continue;
		best = n;
		*ret_server = s;
		*ret_tool = word + n + 1;
	}
	return best || (strncmp(word, "mcp__", 5) == 0 &&
			find_hashed(config, word, arena, ret_server, ret_tool));
}

/* "; notes.search, web.search have that name": servers with such a tool. */
static void add_owners(const struct config *config, const char *tool,
		       struct arena *arena, struct buf *out)
{
	const char *state_dir = state_dir_find(arena);
	size_t n = 0;

	for (size_t i = 0; i < config->n_servers && n < 5; i++) {
		const char *server = config->servers[i].name;
		struct strlist names =
			catalogue_tools(state_dir, config->path, server, arena);

		if (!list_has(&names, tool))
			continue;
		buf_addf(out, "%s%s.%s", n++ ? ", " : "; there is ", server,
			 tool);
	}
}

/* errors  always: a word that names no server of the configuration */
static int say_unknown(const struct config *config, const char *word,
		       struct arena *arena, struct err *err)
{
	AUTO(buf_release) struct buf owners = BUF_INIT(BUF_UNBOUNDED);
	const size_t dot = strcspn(word, ".");
	const struct server *found;

	if (config->path && strncmp(word, "mcp__", 5) == 0)
		return err_set(err, ERR_UNKNOWN_SERVER,
			       "%s has no server, or no tool that was listed, "
			       "of the name %s; `matins tools` lists them",
			       config->path, word);
	if (config->path && dot && word[dot] && word[dot + 1])
		return find_server(config, arena_strndup(arena, word, dot),
				   &found, err);
	add_owners(config, word, arena, &owners);
	return err_set(err, ERR_USAGE,
		       "name a server: SERVER.TOOL, --server NAME of the "
		       "configuration, --url URL, or -- PROGRAM ARGS…%s",
		       buf_cstr(&owners));
}

int route_word(const struct args *args, const char *word, struct arena *arena,
	       const char **ret_server, const char **ret_tool, struct err *err)
{
	const struct config_options options = {.names_only = true,
					       .passive = true,
					       .quiet = true,
					       .optional = true};
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct server *server;
	const char *tool = NULL;

	if (open_config(args, options, &file, err) < 0)
		return -1;
	if (file.path &&
	    route_find(&file.config, word, arena, &server, &tool)) {
		*ret_server = arena_strdup(arena, server->name);
		*ret_tool = arena_strdup(arena, tool);
		return 0;
	}
	return tool ? err_set(err, ERR_USAGE,
			      "%s names two tools, %s: name one of them", word,
			      tool)
		    : say_unknown(&file.config, word, arena, err);
}
