#include "tests/unit/test.h"

#include "core/auth/challenge.h"
#include "core/auth/flow_find.h"
#include "core/auth/words.h"
#include "tests/unit/values.h"

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

TEST(AU_3, several_headers, are_one)
{
	struct challenge c = {0};

	challenge_add(&c, STR("Basic realm=x, scope=y"), &arena);
	assert_null(c.scope);
	challenge_add(&c, STR("Bearer scope=x"), &arena);
	challenge_add(&c, STR("DPoP error=\"use_dpop_nonce\""), &arena);
	assert_string_equal(c.scope, "x");
	assert_true(c.wants_nonce);
	assert_null(c.error);
}

TEST(nonce, asked_for_by_bearer, is_an_error)
{
	struct challenge c = {0};

	challenge_add(&c, STR("Bearer error=use_dpop_nonce"), &arena);
	assert_false(c.wants_nonce);
	assert_string_equal(c.error, "use_dpop_nonce");
}

/* ---- rows of tests/unit/auth/values ---- */

static int add_list(struct value_row *r, const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		buf_addf(&r->out, "%s%s", i ? " " : "", list->item[i]);
	return 0;
}

/* resource_urls ENDPOINT: where its metadata may lie */
static int read_resource_urls(struct value_row *r)
{
	struct url u = url_of(r->part[0]);
	struct strlist list;

	metadata_resource_urls(&u, NULL, &r->arena, &list);
	return add_list(r, &list);
}

/* server_urls ISSUER: likewise */
static int read_server_urls(struct value_row *r)
{
	struct strlist list;

	if (metadata_server_urls(r->part[0], &r->arena, &list, &r->err) < 0)
		return -1;
	return add_list(r, &list);
}

/* is_for ENDPOINT | RESOURCE */
static int read_is_for(struct value_row *r)
{
	struct url u = url_of(r->part[0]);

	return metadata_is_for(&u, r->part[1], &r->err);
}

static int take_issuer(struct value_row *r, bool accept_slash)
{
	const struct metadata_rules rules = {.accept_slash = accept_slash};
	const char *body = arena_printf(
		&r->arena, "{\"issuer\":\"%s\",\"token_endpoint\":\"t\"}",
		r->part[0]);
	struct metadata_server s;

	return metadata_server(str_of(body), r->part[1], &rules, &r->arena, &s,
			       &r->err);
}

/* issuer FOUND | WANTED */
static int read_issuer(struct value_row *r)
{
	return take_issuer(r, false);
}

/* issuer_slash FOUND | WANTED, where a slash may be missing */
static int read_issuer_slash(struct value_row *r)
{
	return take_issuer(r, true);
}

/* union SCOPES | SCOPES */
static int read_union(struct value_row *r)
{
	const char *a = *r->part[0] ? r->part[0] : NULL;
	const char *all =
		words_union(a, value_bytes(r, r->part[1]).p, &r->arena);

	buf_adds(&r->out, all ? all : "none");
	return 0;
}

/* challenge HEADER: metadata, scope and error */
static int read_challenge(struct value_row *r)
{
	struct challenge c = {0};

	challenge_add(&c, value_bytes(r, r->part[0]), &r->arena);
	buf_addf(&r->out, "%s | %s | %s",
		 c.resource_metadata ? c.resource_metadata : "none",
		 c.scope ? c.scope : "none", c.error ? c.error : "none");
	return 0;
}

static void play(const char *file, const char *name, const char *text)
{
	static const struct value_reader readers[] = {
		{"resource_urls", read_resource_urls},
		{"server_urls", read_server_urls},
		{"is_for", read_is_for},
		{"issuer", read_issuer},
		{"issuer_slash", read_issuer_slash},
		{"union", read_union},
		{"challenge", read_challenge},
	};

	values_play(readers, ARRAY_LEN(readers), file, name, text);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/auth/values/*.transcript");

TEST_FILE(NULL, teardown);
