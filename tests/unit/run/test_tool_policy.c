/*
 * Which tools of a server may be called, as rows of data.
 *
 *	names TOOL | TABLE      by its name, and what the server may write
 *	asks TOOL | TABLE       is a person asked?
 *	hints ITEM | TABLE      by what the server says, JSON of tools/list
 *	off TABLE               are calls switched off?
 *
 * TABLE are words: tools:P deny:P confirm:P (each adds a pattern), write:PATH,
 * read_only, yes (a person agrees), enabled=false, mcp=false, env=off.
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/run/tool_policy.h"

struct table {
	struct config config;
	struct server server;
	struct strlist write;
	bool is_confirmed;
};

/* Take "NAME:VALUE"; false: the word begins otherwise. */
static bool take(const char *word, const char *name, struct strlist *list,
		 struct arena *arena)
{
	size_t n = strlen(name);

	if (strncmp(word, name, n) != 0 || word[n] != ':')
		return false;
	list_add(list, arena, word + n + 1);
	return true;
}

static struct table read_table(struct value_row *r, const char *text)
{
	const struct strlist words = value_words(text, &r->arena);
	struct table t = {.server = {.name = "s", .enabled = true}};

	unsetenv("MATINS_MCP");
	for (size_t i = 0; i < words.n; i++) {
		const char *w = words.item[i];

		if (take(w, "tools", &t.server.tools, &r->arena) ||
		    take(w, "deny", &t.server.deny_tools, &r->arena) ||
		    take(w, "confirm", &t.server.confirm, &r->arena) ||
		    take(w, "write", &t.write, &r->arena))
			continue;
		t.server.read_only |= strcmp(w, "read_only") == 0;
		t.is_confirmed |= strcmp(w, "yes") == 0;
		t.server.enabled &= strcmp(w, "enabled=false") != 0;
		t.config.mcp_is_off |= strcmp(w, "mcp=false") == 0;
		if (strcmp(w, "env=off") == 0)
			setenv("MATINS_MCP", "off", 1);
	}
	return t;
}

static int say(struct value_row *r, const char *why)
{
	buf_adds(&r->out, why ? why : "may be called");
	return 0;
}

static int read_names(struct value_row *r)
{
	struct table t = read_table(r, r->part[1]);

	return say(r, tool_policy_names(&t.server, r->part[0], &t.write,
					t.is_confirmed, &r->arena));
}

static int read_asks(struct value_row *r)
{
	struct table t = read_table(r, r->part[1]);

	return value_is(r, tool_policy_asks(&t.server, r->part[0], &t.write));
}

static int read_hints(struct value_row *r)
{
	struct table t = read_table(r, r->part[1]);

	return say(r,
		   tool_policy_hints(&t.server, str_of(r->part[0]), &r->arena));
}

static int read_off(struct value_row *r)
{
	struct table t = read_table(r, r->part[0]);
	int rc = say(r, tool_policy_off(&t.config, &t.server, &r->arena));

	unsetenv("MATINS_MCP");
	return rc;
}

static const struct value_reader READERS[] = {
	{"names", read_names},
	{"asks", read_asks},
	{"hints", read_hints},
	{"off", read_off},
};
TEST_VALUES(READERS, "tests/unit/run/values/tool_policy.transcript");
