#include "core/run/tool_policy.h"

#include <string.h>

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"

const char *tool_policy_off(const struct config *config,
			    const struct server *server, struct arena *arena)
{
	const char *mcp = env_text("MATINS_MCP");

	if (mcp && strcmp(mcp, "off") == 0)
		return "calls of MCP servers are switched off by "
		       "MATINS_MCP=off "
		       "in the environment; unset it to allow them";
	if (config && config->mcp_is_off)
		return "calls of MCP servers are switched off by enabled = "
		       "false in [mcp]; take it out to allow them";
	if (!server || server->enabled)
		return NULL;
	return arena_printf(arena,
			    "the server %s is switched off by enabled = false "
			    "in [servers.%s]; take it out to allow calls",
			    server->name, server->name);
}

const struct strlist *tool_policy_write(const struct config *config,
					const struct step *step)
{
	static const struct strlist none = {NULL, 0};
	const struct server *s = step->server;

	return s && s->url		 ? &none
	       : s && s->sandbox.write.n ? &s->sandbox.write
	       : step->sandbox.write.n	 ? &step->sandbox.write
					 : &config->sandbox.write;
}

/* The first pattern that the tool fits; NULL: none. */
static const char *fitting(const struct strlist *patterns, const char *tool)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (str_fits(str_of(tool), patterns->item[i]))
			return patterns->item[i];
	return NULL;
}

/* tools = ["a", "b"], as it would be written with one more. */
static const char *with_tool(const struct strlist *tools, const char *tool,
			     struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, "tools = [");
	for (size_t i = 0; i < tools->n; i++) {
		jw_quote(&out, str_of(tools->item[i]));
		buf_adds(&out, ", ");
	}
	jw_quote(&out, str_of(tool));
	buf_adds(&out, "]");
	return arena_strdup(arena, buf_cstr(&out));
}

/* Judge by all but `confirm`. */
static const char *forbids(const struct server *s, const char *tool,
			   const struct strlist *write, struct arena *arena)
{
	const char *pattern = fitting(&s->deny_tools, tool);

	if (pattern)
		return arena_printf(arena,
				    "the tool %s is forbidden by \"%s\" in "
				    "deny_tools of [servers.%s]; take that "
				    "out to allow it",
				    tool, pattern, s->name);
	if (s->tools.n && !fitting(&s->tools, tool))
		return arena_printf(arena,
				    "the tool %s is not among `tools` of "
				    "[servers.%s]; to allow it: %s",
				    tool, s->name,
				    with_tool(&s->tools, tool, arena));
	if (s->read_only && write->n)
		return arena_printf(arena,
				    "the tool %s is not called: [servers.%s] "
				    "says read_only = true, and its sandbox "
				    "grants writing %s, so that readOnlyHint "
				    "proves nothing; take out one of the two",
				    tool, s->name, write->item[0]);
	return NULL;
}

const char *tool_policy_listed(const struct server *server, struct str item,
			       const struct strlist *write, bool *ret_asks,
			       struct arena *arena)
{
	const struct str name =
		scan_decoded(scan_some(item, "name"), SIZE_MAX, arena);
	const char *tool = arena_strndup(arena, name.p, name.n);
	const char *why = tool_policy_names(server, tool, write, true, arena);

	if (!why)
		why = tool_policy_hints(server, item, arena);
	*ret_asks = false;
	if (why)
		return why;
	why = tool_policy_names(server, tool, write, false, arena);
	*ret_asks = why;
	return why;
}

const char *tool_policy_bound(const struct server *server)
{
	return server->deny_tools.n ? "deny_tools"
	       : server->tools.n    ? "tools"
	       : server->read_only  ? "read_only"
	       : server->confirm.n  ? "confirm"
				    : NULL;
}

bool tool_policy_asks(const struct server *server, const char *tool,
		      const struct strlist *write)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return fitting(&server->confirm, tool) &&
	       !forbids(server, tool, write, &arena);
}

const char *tool_policy_names(const struct server *server, const char *tool,
			      const struct strlist *write, bool is_confirmed,
			      struct arena *arena)
{
	const char *why = forbids(server, tool, write, arena), *pattern;

	if (why || is_confirmed || !(pattern = fitting(&server->confirm, tool)))
		return why;
	return arena_printf(arena,
			    "the tool %s is called only when a person agrees "
			    "(\"%s\" in confirm of [servers.%s]), and nobody "
			    "did; to agree beforehand: --yes",
			    tool, pattern, server->name);
}

const char *tool_policy_hints(const struct server *server, struct str item,
			      struct arena *arena)
{
	struct str hints, name;

	if (!server->read_only || (scan_get(item, "annotations", &hints) &&
				   scan_type(hints) == SCAN_OBJECT &&
				   scan_true(hints, "readOnlyHint")))
		return NULL;
	name = scan_decoded(scan_some(item, "name"), 200, arena);
	return arena_printf(arena,
			    "the tool %.*s does not say readOnlyHint, and "
			    "[servers.%s] says read_only = true; it was not "
			    "called; to allow it: read_only = false",
			    STR_ARG(name), server->name);
}
