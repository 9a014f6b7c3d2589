/* Which servers of a configuration share a URL. */

#include "tests/unit/test.h"

#include "core/config/server_url.h"

#define URL "https://mcp.example.com/mcp"

static bool is_only_one(const char *const *urls, const char *name)
{
	static const char *const names[] = {"a", "b", "c"};
	struct server servers[3] = {{0}};
	struct config config = {.servers = servers};

	for (; urls[config.n_servers]; config.n_servers++) {
		servers[config.n_servers].name = names[config.n_servers];
		servers[config.n_servers].url = urls[config.n_servers];
	}
	return server_url_is_single(&config, name, URL);
}

TEST(url, of_one_server_or_of_several, told_apart)
{
	static const struct {
		const char *urls[4];
		const char *name; /* NULL: the URL was given */
		bool only;
	} row[] = {
		{{NULL}, NULL, true},
		{{URL}, "a", true},
		{{URL}, NULL, false},
		{{URL, URL}, "a", false},
		{{URL, "https://mcp.example.com:443/mcp"}, "a", false},
		{{URL, "https://mcp.example.com/other"}, "a", true},
		{{URL, "https://other.example.com/mcp"}, "b", false},
		{{"https://other.example.com/mcp"}, NULL, true},
		/* may come to anything */
		{{URL, "${ELSEWHERE}/mcp"}, "a", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		if (is_only_one(row[i].urls, row[i].name) != row[i].only)
			fail_msg("row %zu", i);
	assert_true(server_url_is_single(NULL, NULL, URL));
}
