#include "core/mcp/wire/merged_name.h"

#include "core/base/sha256.h"
#include "core/base/text.h"

#define HEAD "mcp__"
/* Digits of a hash behind its "_": 64 bits, as a server chooses the names of
   its tools, and could try those of 32 until one is another tool's. */
#define HASH_DIGITS 16
/* A name of a tool (MCP 2025-11-25, server/tools). */
#define TOOL_BYTES 128

static bool is_plain(char c)
{
	return text_is_alnum(c) || c == '_' || c == '-';
}

static bool is_all_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_plain(s.p[i]))
			return false;
	return s.n;
}

/* Does the first "__" behind such a server end it, whatever follows? */
static bool ends_itself(struct str server)
{
	return is_all_plain(server) && !str_ends(server, "_") &&
	       !memmem(server.p, server.n, "__", 2);
}

/* Could the end of a tool's name be taken for a hash? */
static bool ends_in_hash(struct str tool)
{
	const struct str before = str_first(
		tool, tool.n > HASH_DIGITS ? tool.n - HASH_DIGITS : 0);
	size_t n = before.n;

	while (n < tool.n && text_hex_digit(tool.p[n]) >= 0)
		n++;
	return n == before.n + HASH_DIGITS &&
	       (!before.n || str_ends(before, "_"));
}

/* Can the parts stand in the name as they are? */
static bool is_exact(struct str server, struct str tool)
{
	return ends_itself(server) && is_all_plain(tool) &&
	       !ends_in_hash(tool) &&
	       strlen(HEAD) + server.n + 2 + tool.n <= MERGED_NAME_BYTES;
}

/* Append as much as fits before `end`, with "_" for other characters. */
static char *add_plain(char *at, const char *end, struct str s)
{
	for (size_t i = 0; i < s.n && at < end; i++)
		*at++ = is_plain(s.p[i]) ? s.p[i] : '_';
	return at;
}

static void add_hash(struct str server, struct str tool,
		     char out[HASH_DIGITS + 2])
{
	char hex[SHA256_HEX_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, server.p, server.n);
	sha256_add(&s, "\n", 1);
	sha256_add(&s, tool.p, tool.n);
	sha256_end_text(&s, hex);
	snprintf(out, HASH_DIGITS + 2, "_%.*s", HASH_DIGITS, hex);
}

void merged_name(struct str server, struct str tool,
		 char out[MERGED_NAME_BYTES + 1])
{
	const bool exact = is_exact(server, tool);
	const char *end =
		out + MERGED_NAME_BYTES - (exact ? 0 : HASH_DIGITS + 1);
	char *at = add_plain(out, end, STR(HEAD));

	at = add_plain(at, end, server);
	at = add_plain(at, end, STR("__"));
	at = add_plain(at, end, tool);
	*at = '\0';
	if (!exact)
		add_hash(server, tool, at);
}

void headed_name(const char *head, struct str name,
		 char out[MERGED_NAME_BYTES + 1])
{
	const bool exact = is_all_plain(name) && !ends_in_hash(name) &&
			   strlen(head) + name.n <= MERGED_NAME_BYTES;
	const char *end =
		out + MERGED_NAME_BYTES - (exact ? 0 : HASH_DIGITS + 1);
	char *at = add_plain(out, end, str_of(head));

	at = add_plain(at, end, name);
	*at = '\0';
	if (!exact)
		add_hash(str_of(head), name, at);
}

bool merged_name_tool(struct str name, struct str server, struct str *ret_tool)
{
	const size_t before = strlen(HEAD) + server.n;
	struct str tool;

	if (!str_starts(name, HEAD) || name.n <= before + 2 ||
	    !str_eq(str_first(str_skip(name, strlen(HEAD)), server.n),
		    server) ||
	    !str_starts(str_skip(name, before), "__"))
		return false;
	tool = str_skip(name, before + 2);
	if (!is_exact(server, tool))
		return false;
	*ret_tool = tool;
	return true;
}

bool tool_name_is_word(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!text_is_alnum(name.p[i]) && !memchr("_-./:", name.p[i], 5))
			return false;
	return name.n && name.n <= TOOL_BYTES && name.p[0] != '-';
}
