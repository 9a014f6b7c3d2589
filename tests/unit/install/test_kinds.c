/* Names and words of servers that are installed. */
#include "tests/unit/test.h"

#include "core/install/kinds.h"

TEST(install_name, every_source, loses_what_all_servers_have)
{
	static const struct {
		enum install_kind kind;
		const char *source, *name;
	} rows[] = {
		{INSTALL_URL, "https://mcp.example.com/mcp", "example"},
		{INSTALL_URL, "https://api.www.example.com:8443", "example"},
		{INSTALL_URL, "http://localhost:3000/sse", "localhost"},
		{INSTALL_URL, "https://mcp", "mcp"},
		{INSTALL_NPM, "@scope/server-files@1.2.3", "files"},
		{INSTALL_NPM, "@scope/mcp-server", "server"},
		{INSTALL_NPM, "weather_mcp@latest", "weather"},
		{INSTALL_NPM, "./dist/acme-server-x2-1.0.0-rc.1.tgz",
		 "acme-server-x2"},
		{INSTALL_NPM, "-x", "server"},
		{INSTALL_PYTHON, "mcp_server_time==1.2", "time"},
		{INSTALL_PYTHON, "weather[extra]", "weather"},
		{INSTALL_PYTHON, "w/mcp_server_tiny-1.0-py3-none-any.whl",
		 "tiny"},
		{INSTALL_CUSTOM, "/srv/mcp-server-files/", "files"},
		{INSTALL_CUSTOM, "my notes", "my-notes"},
		{INSTALL_CUSTOM, "a/weather-mcp-server", "weather"},
		{INSTALL_CUSTOM, "mcp-", "mcp-"},
		{INSTALL_CUSTOM, "/", "server"},
		{INSTALL_CUSTOM, "..", "server"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(
			install_name(rows[i].kind, rows[i].source, &arena),
			rows[i].name);
	arena_release(&arena);
}

TEST(install_newest, a_name, loses_its_version)
{
	struct arena arena = ARENA_INIT;

	assert_string_equal(install_newest("@a/b@1.2", &arena), "@a/b");
	assert_string_equal(install_newest("b@^1", &arena), "b");
	assert_string_equal(install_newest("/x/b-1.tgz", &arena), "/x/b-1.tgz");
	arena_release(&arena);
}

TEST(install_is_inside, a_path_that_leads_out, is_not)
{
	assert_true(install_is_inside("a/b..c"));
	assert_true(install_is_inside("./a"));
	assert_false(install_is_inside("a/../b"));
	assert_false(install_is_inside(".."));
	assert_false(install_is_inside("/a"));
	assert_false(install_is_inside(""));
}

static bool is_server(void *arg, const char *path)
{
	return strcmp(path, arg) == 0;
}

TEST(install_words, files_of_the_folder, become_those_of_the_copy)
{
	const char *const words[] = {"python3",	  "./a/s.py", "a/s.py",
				     "-a/s.py",	  "x",	      "/a/s.py",
				     "../a/s.py", NULL};
	static const char *const wanted[] = {
		"python3", "/t/a/s.py", "/t/a/s.py", "-a/s.py",
		"x",	   "/a/s.py",	"../a/s.py"};
	struct arena arena = ARENA_INIT;
	struct strlist all =
		install_words(words, "/t", is_server, (void *)"a/s.py", &arena);

	assert_int_equal(all.n, ARRAY_LEN(wanted));
	for (size_t i = 0; i < all.n; i++)
		assert_string_equal(all.item[i], wanted[i]);
	arena_release(&arena);
}

TEST(install_kind_find, an_unknown_word, is_told_the_nearest)
{
	struct err err = ERR_INIT;
	enum install_kind kind;

	assert_int_equal(install_kind_find("url", &kind, &err), 0);
	assert_int_equal(kind, INSTALL_URL);
	assert_int_equal(install_kind_find("custm", &kind, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.msg, "did you mean custom"));
}
