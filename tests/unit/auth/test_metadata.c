#include "tests/unit/test.h"

#include "core/auth/flow_find.h"
#include "core/auth/words.h"

static struct arena arena;

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct url url_of(const char *text)
{
	struct err err = ERR_INIT;
	struct url u;

	if (url_parse(str_of(text), &arena, &u, &err) < 0)
		fail_msg("%s", err.msg);
	return u;
}

static void expect_list(const struct strlist *list, const char *const *want)
{
	size_t n = 0;

	for (; want[n]; n++) {
		assert_in_range(n, 0, list->n - 1);
		assert_string_equal(list->item[n], want[n]);
	}
	assert_int_equal(list->n, n);
}

#define W "https://h/.well-known/"

TEST(PR_2, candidates, below_the_path_then_at_the_root)
{
	static const struct {
		const char *endpoint, *want[3];
	} row[] = {
		{"https://h/mcp",
		 {W "oauth-protected-resource/mcp",
		  W "oauth-protected-resource"}},
		{"https://h", {W "oauth-protected-resource"}},
		{"https://h/", {W "oauth-protected-resource"}},
		{"https://h/a/mcp?x=1",
		 {W "oauth-protected-resource/a/mcp?x=1",
		  W "oauth-protected-resource?x=1"}},
	};
	struct strlist list;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct url u = url_of(row[i].endpoint);

		metadata_resource_urls(&u, NULL, &arena, &list);
		expect_list(&list, row[i].want);
	}
}

TEST(AS_1, candidates, in_this_order_and_no_others)
{
	static const struct {
		const char *issuer, *want[4];
	} row[] = {
		{"https://h",
		 {W "oauth-authorization-server", W "openid-configuration"}},
		{"https://h/",
		 {W "oauth-authorization-server", W "openid-configuration"}},
		{"https://h/t",
		 {W "oauth-authorization-server/t", W "openid-configuration/t",
		  "https://h/t/.well-known/openid-configuration"}},
	};
	struct err err = ERR_INIT;
	struct strlist list;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		assert_int_equal(metadata_server_urls(row[i].issuer, &arena,
						      &list, &err),
				 0);
		expect_list(&list, row[i].want);
	}
	assert_int_equal(
		metadata_server_urls("https://h/?q", &arena, &list, &err), -1);
	assert_int_equal(
		metadata_server_urls("https://h/#f", &arena, &list, &err), -1);
	assert_int_equal(metadata_server_urls("nothing", &arena, &list, &err),
			 -1);
}

TEST(PR_5, resource, same_origin_and_a_whole_prefix)
{
	static const struct {
		const char *endpoint, *resource;
		bool good;
	} row[] = {
		{"https://h/mcp", "https://h/mcp", true},
		{"https://h/mcp", "https://h/mcp/", true},
		{"https://h/mcp", "https://H:443/mcp", true},
		{"https://h/mcp", "https://h", true},
		{"https://h/mcp", "https://h/", true},
		{"https://h/a/mcp", "https://h/a", true},
		{"https://h/", "https://h", true},
		{"https://h/mcp", "https://h/mc", false},
		{"https://h/mcp", "https://h/mcp/x", false},
		{"https://h/mcp", "https://h/MCP", false},
		{"https://h/mcp", "http://h/mcp", false},
		{"https://h/mcp", "https://h:444/mcp", false},
		{"https://h/mcp", "https://h.evil/mcp", false},
		{"https://h/mcp", "https://h/mcp#f", false},
		{"https://h/mcp", "urn:x", false},
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct url u = url_of(row[i].endpoint);

		if ((metadata_is_for(&u, row[i].resource, &err) == 0) !=
		    row[i].good)
			fail_msg("%s for %s", row[i].resource, row[i].endpoint);
	}
}

TEST(PR_3, no_object, is_not_found)
{
	static const char *const body[] = {"",	    "<html>", "[]",
					   "\"x\"", "{} {}",  "{\"a\":"};
	static const struct metadata_rules rules = {0};
	struct metadata_resource r;
	struct metadata_server s;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(body); i++) {
		assert_int_equal(
			metadata_resource(str_of(body[i]), &arena, &r, &err),
			1);
		assert_int_equal(metadata_server(str_of(body[i]), "https://h",
						 &rules, &arena, &s, &err),
				 1);
	}
}

TEST(PR_6, resource, is_read_whole)
{
	struct metadata_resource r;
	struct err err = ERR_INIT;

	assert_int_equal(
		metadata_resource(
			STR("{\"resource\":\"https://h\",\"authorization_"
			    "servers\":[\"https://a\",7,\"https://b\"],"
			    "\"scopes_supported\":[\"x\",\"y\"],"
			    "\"dpop_bound_access_tokens_required\":true}"),
			&arena, &r, &err),
		0);
	assert_string_equal(r.resource, "https://h");
	assert_int_equal(r.servers.n, 2);
	assert_string_equal(r.scopes, "x y");
	assert_true(r.needs_dpop);
}

/* 0 or -1 for a document with this issuer. */
static int issuer(const char *found, const char *wanted, bool accept_slash)
{
	const struct metadata_rules rules = {.accept_slash = accept_slash};
	const char *body = arena_printf(
		&arena, "{\"issuer\":\"%s\",\"token_endpoint\":\"t\"}", found);
	struct metadata_server s;
	struct err err = ERR_INIT;

	return metadata_server(str_of(body), wanted, &rules, &arena, &s, &err);
}

TEST(AS_3, issuer, is_the_same_string)
{
	assert_int_equal(issuer("https://h", "https://h", false), 0);
	assert_int_equal(issuer("https://H", "https://h", false), -1);
	assert_int_equal(issuer("https://h:443", "https://h", false), -1);
	assert_int_equal(issuer("https://h/t", "https://h", false), -1);
}

TEST(AS_4, slash_of_an_empty_path, and_no_other)
{
	assert_int_equal(issuer("https://h/", "https://h", false), -1);
	assert_int_equal(issuer("https://h/", "https://h", true), 0);
	assert_int_equal(issuer("https://h", "https://h/", true), 0);
	assert_int_equal(issuer("https://h/t/", "https://h/t", true), -1);
	assert_int_equal(issuer("https://hh", "https://h", true), -1);
	assert_int_equal(issuer("https://h//", "https://h/", true), -1);
	assert_int_equal(issuer("https://h.evil/", "https://h", true), -1);
}

TEST(AS_7, server, is_read_whole)
{
	const struct metadata_rules rules = {.needs_code = true};
	struct metadata_server s;
	struct err err = ERR_INIT;

	assert_int_equal(
		metadata_server(
			STR("{\"issuer\":\"i\",\"authorization_endpoint\":"
			    "\"a\",\"token_endpoint\":\"t\",\"registration_"
			    "endpoint\":\"r\",\"code_challenge_methods_"
			    "supported\":[\"plain\",\"S256\"],"
			    "\"client_id_metadata_document_supported\":true,"
			    "\"authorization_response_iss_parameter_"
			    "supported\":\"true\"}"),
			"i", &rules, &arena, &s, &err),
		0);
	assert_string_equal(s.authorization, "a");
	assert_string_equal(s.registration, "r");
	assert_null(s.revocation);
	assert_true(s.takes_metadata_id);
	assert_false(s.sends_iss); /* a string is not true */
	assert_false(s.has_auth_methods);
}

TEST(PR_7, defaults, lie_at_the_origin)
{
	struct url u = url_of("https://h:8443/a/mcp");
	struct metadata_server s;

	metadata_server_default(&u, &arena, &s);
	assert_string_equal(s.issuer, "https://h:8443");
	assert_string_equal(s.authorization, "https://h:8443/authorize");
	assert_string_equal(s.token, "https://h:8443/token");
	assert_string_equal(s.registration, "https://h:8443/register");
}

TEST(SU_1, union, has_each_once)
{
	assert_string_equal(words_union("a b", " b  c a", &arena), "a b c");
	assert_string_equal(words_union(NULL, "x", &arena), "x");
	assert_string_equal(words_union("ab", "a", &arena), "ab a");
	assert_null(words_union(NULL, " ", &arena));
}

TEST_FILE(NULL, teardown);
