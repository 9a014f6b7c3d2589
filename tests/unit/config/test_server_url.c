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

/* ---- what may be a secret: by its name, or because nobody would write it ----
 */

static const struct {
	const char *url, *text, *shown;
} secrets[] = {
	{"https://h/p?api_key=abcdefgh&mode=reading", "abcdefgh in reading",
	 "*** in reading"},
	{"https://h/p?Access-Token=abcdefgh", "abcdefgh", "***"},
	{"https://h/p?x=1&X-Amz-Signature=abcdefgh", "abcdefgh", "***"},
	/* made by chance */
	{"https://h/p?k=0123456789abcdefghij", "0123456789abcdefghij", "***"},
	{"https://h/p?k=a-sentence-of-many-words-is-none",
	 "a-sentence-of-many-words-is-none",
	 "a-sentence-of-many-words-is-none"},
	/* encoded, and decoded */
	{"https://h/p?key=ab%2Fcd%2Bef", "ab/cd+ef ab%2Fcd%2Bef", "*** ***"},
	/* no query, or an odd one */
	{"https://h/path", "h path", "h path"},
	{"https://h/path?", "h path", "h path"},
	{"https://h/path?&&key&=&key=", "key path", "key path"},
};

TEST(url, secrets_in_a_query, are_hidden)
{
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct scrub *scrub = scrub_new();
		struct err err = ERR_INIT;
		struct url u;

		assert_int_equal(
			url_parse(str_of(secrets[i].url), &arena, &u, &err), 0);
		server_url_hide(&u, scrub);
		(void)scrub_apply(scrub, str_of(secrets[i].text), &out);
		scrub_free(scrub);
		assert_string_equal(buf_cstr(&out), secrets[i].shown);
	}
}
