#include "tests/unit/test.h"

#include "core/auth/flow_grant.h"
#include "core/base/limits.h"

static struct arena arena;

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* ---- requests ---- */

static void form(const struct grant_request *r, const struct grant_client *c,
		 const char *body, const char *authorization)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf a = BUF_INIT(BUF_UNBOUNDED);

	grant_form(r, c, &b, &a);
	assert_string_equal(buf_cstr(&b), body);
	assert_string_equal(buf_cstr(&a), authorization);
}

TEST(TO_1, code, has_what_it_must)
{
	const struct grant_request r = {
		.type = GRANT_CODE,
		.code = "c&d",
		.redirect_uri = "http://127.0.0.1:1/callback",
		.verifier = "v",
		.resource = "https://h/mcp",
	};
	const struct grant_client c = {.method = GRANT_NONE, .id = "id"};

	form(&r, &c,
	     "grant_type=authorization_code&code=c%26d&redirect_uri=http%3A%2F"
	     "%2F127.0.0.1%3A1%2Fcallback&code_verifier=v&resource=https%3A%2F"
	     "%2Fh%2Fmcp&client_id=id",
	     "");
}

TEST(TO_2, methods, never_two_at_once)
{
	const struct grant_request r = {.type = GRANT_CLIENT};
	struct grant_client c = {
		.method = GRANT_BASIC, .id = "a:b", .secret = "c d"};

	/* "a%3Ab:c+d" */
	form(&r, &c, "grant_type=client_credentials", "Basic YSUzQWI6Yytk");
	c.method = GRANT_POST;
	form(&r, &c,
	     "grant_type=client_credentials&client_id=a%3Ab&client_secret=c+d",
	     "");
	c.method = GRANT_KEY;
	c.assertion = "x.y.z";
	form(&r, &c,
	     "grant_type=client_credentials&client_assertion_type=urn%3Aietf%"
	     "3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_"
	     "assertion=x.y.z",
	     "");
}

TEST(TO_5, refresh, names_no_scope)
{
	const struct grant_request r = {
		.type = GRANT_REFRESH, .refresh_token = "t", .resource = "r"};
	const struct grant_client c = {.method = GRANT_NONE, .id = "id"};

	form(&r, &c,
	     "grant_type=refresh_token&refresh_token=t&resource=r&client_id=id",
	     "");
}

TEST(CI_4, registration, is_that_of_a_native_client)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	grant_registration("http://127.0.0.1:1/callback", GRANT_NONE, "a b",
			   &b);
	assert_string_equal(
		buf_cstr(&b),
		"{\"client_name\":\"matins\",\"redirect_uris\":[\"http://"
		"127.0.0.1:1/callback\"],\"grant_types\":[\"authorization_"
		"code\",\"refresh_token\"],\"response_types\":[\"code\"],"
		"\"token_endpoint_auth_method\":\"none\",\"application_type\":"
		"\"native\",\"scope\":\"a b\"}");
}

TEST(CI_7, method_to_register, is_none_basic_or_post)
{
	static const char *all[] = {"client_secret_post", "client_secret_basic",
				    "none"};
	struct metadata_server s = {.auth_methods = {all, 3},
				    .has_auth_methods = true};

	assert_int_equal(grant_method_to_register(&s), GRANT_NONE);
	s.auth_methods.n = 2;
	assert_int_equal(grant_method_to_register(&s), GRANT_BASIC);
	s.auth_methods.n = 1;
	assert_int_equal(grant_method_to_register(&s), GRANT_POST);
	s.has_auth_methods = false;
	assert_int_equal(grant_method_to_register(&s), GRANT_BASIC);
	s.is_default = true;
	assert_int_equal(grant_method_to_register(&s), GRANT_NONE);
}

TEST(authorization_url, with_a_query, is_joined)
{
	struct grant_ask a = {.endpoint = "https://h/a?tenant=1",
			      .client_id = "id",
			      .redirect_uri = "u",
			      .challenge = "c",
			      .state = "s",
			      .resource = "r"};
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	grant_authorization_url(&a, &b);
	assert_string_equal(buf_cstr(&b),
			    "https://h/a?tenant=1&response_type=code&client_id="
			    "id&redirect_uri=u&code_challenge=c&code_challenge_"
			    "method=S256&state=s&resource=r");
}

/* ---- answers ---- */

TEST(TO_3, token, is_read_in_all_forms)
{
	struct answer_token t;
	struct err err = ERR_INIT;

	assert_int_equal(
		answer_token(200,
			     STR("{\"access_token\":\"a\",\"token_type\":"
				 "\"dPoP\",\"expires_in\":\"60\",\"scope\":"
				 "\"x\",\"refresh_token\":\"\"}"),
			     false, &arena, &t, &err),
		0);
	assert_string_equal(t.access_token, "a");
	assert_true(t.is_dpop);
	assert_int_equal(t.expires_in_s, 60);
	assert_null(t.refresh_token);
	assert_int_equal(answer_token(200, STR("{\"access_token\":\"a\"}"),
				      false, &arena, &t, &err),
			 0);
	assert_int_equal(t.expires_in_s, -1);
	assert_null(t.scope);
	assert_int_equal(answer_token(200, STR("access_token=a&expires_in=5"),
				      false, &arena, &t, &err),
			 0);
	assert_int_equal(t.expires_in_s, 5);
}

TEST(TO_3, what_is_no_token, is_refused)
{
	static const char *const body[] = {
		"",
		"<html>",
		"{}",
		"{\"access_token\":7}",
		"{\"access_token\":\"a b\"}",
		"{\"access_token\":\"a\\r\\nX: y\"}",
		"{\"access_token\":\"a\",\"error\":\"e\"}",
		"{\"access_token\":\"a\",\"token_type\":\"N_A\"}",
	};
	struct answer_token t;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(body); i++) {
		assert_int_equal(answer_token(200, str_of(body[i]), false,
					      &arena, &t, &err),
				 -1);
		assert_null(t.access_token);
	}
	assert_int_equal(answer_token(400, STR("{\"access_token\":\"secret\"}"),
				      false, &arena, &t, &err),
			 -1);
	assert_null(strstr(err.msg, "secret"));
}

TEST(token, longer_than_is_kept, is_refused)
{
	static const char *const names[] = {"access_token", "refresh_token"};
	struct answer_token t;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t more = 0; more < 2; more++) {
			AUTO(buf_release)
			struct buf b = BUF_INIT(BUF_UNBOUNDED);
			struct err err = ERR_INIT;

			buf_adds(&b, i ? "{\"access_token\":\"a\"," : "{");
			buf_addf(&b, "\"%s\":\"", names[i]);
			for (size_t k = 0; k < LIMIT_TOKEN_BYTES + more; k++)
				buf_addc(&b, 'a');
			buf_adds(&b, "\"}");
			assert_int_equal(answer_token(200, buf_str(&b), false,
						      &arena, &t, &err),
					 more ? -1 : 0);
			assert_true(!more || err.kind == ERR_LIMIT);
		}
}

TEST(EM_1, exchange, must_give_an_id_jag)
{
	static const char good[] =
		"{\"access_token\":\"j\",\"token_type\":\"n_a\","
		"\"issued_token_type\":"
		"\"urn:ietf:params:oauth:token-type:id-jag\"}";
	struct answer_token t;
	struct err err = ERR_INIT;

	assert_int_equal(
		answer_token(200, str_of(good), true, &arena, &t, &err), 0);
	assert_int_equal(
		answer_token(200,
			     STR("{\"access_token\":\"j\",\"token_type\":"
				 "\"Bearer\",\"issued_token_type\":"
				 "\"urn:ietf:params:oauth:token-type:"
				 "id-jag\"}"),
			     true, &arena, &t, &err),
		-1);
}

TEST(CI_7, registration, is_what_the_answer_says)
{
	static const struct {
		const char *body;
		int method; /* -1: refused */
	} row[] = {
		{"{\"client_id\":\"i\"}", GRANT_NONE},
		{"{\"client_id\":\"i\",\"client_secret\":\"s\"}", GRANT_BASIC},
		{"{\"client_id\":\"i\",\"client_secret\":\"s\","
		 "\"token_endpoint_auth_method\":\"client_secret_post\"}",
		 GRANT_POST},
		{"{\"client_id\":\"i\",\"client_secret\":\"s\","
		 "\"token_endpoint_auth_method\":\"none\"}",
		 GRANT_NONE},
		{"{\"client_id\":\"i\",\"token_endpoint_auth_method\":"
		 "\"client_secret_basic\"}",
		 -1},
		{"{\"client_secret\":\"s\"}", -1},
	};
	struct answer_client c;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		int r = answer_client(201, str_of(row[i].body), &arena, &c,
				      &err);

		assert_int_equal(r, row[i].method < 0 ? -1 : 0);
		if (r == 0)
			assert_int_equal((int)c.method, row[i].method);
	}
}

TEST(AZ_9, redirect, has_its_issuer_judged_first)
{
	static const struct {
		const char *query;
		bool sends_iss, good;
	} row[] = {
		{"code=c&state=s", false, true},
		{"code=c&state=s", true, false},
		{"code=c&state=s&iss=https%3A%2F%2Fa", true, true},
		{"code=c&state=s&iss=https%3A%2F%2Fa%2F", true, false},
		{"code=c&state=s&iss=https%3A%2F%2FA", false, false},
		{"code=c&state=s&iss=", false, false},
		{"code=c&state=t", false, false},
		{"code=c&state=t&iss=https%3A%2F%2FA", false, false},
		{"code=c&state=", false, false},
		{"code=c", false, false},
		{"state=s", false, false},
		{"code=&state=s", false, false},
		{"code=c%00d&state=s", false, false},
		{"state=s&error=e&code=c", false, false},
		{"", false, false},
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		AUTO(buf_release) struct buf code = BUF_INIT(BUF_UNBOUNDED);
		const struct answer_expect e = {.state = "s",
						.issuer = "https://a",
						.sends_iss = row[i].sends_iss};
		int r = answer_redirect(str_of(row[i].query), &e, &code, &err);

		bool is_ours = strstr(row[i].query, "state=s") != NULL;

		if ((r == 0) != row[i].good || (r > 0) == is_ours)
			fail_msg("%s", row[i].query);
		if (row[i].good)
			assert_string_equal(buf_cstr(&code), "c");
	}
}

TEST(AZ_2, state, is_compared_whole)
{
	static const char *const other[] = {"stat", "statf", "xtate", "states"};
	const struct answer_expect e = {.state = "state", .issuer = "i"};
	AUTO(buf_release) struct buf code = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		assert_int_equal(
			answer_redirect(
				str_of(arena_printf(&arena, "code=c&state=%s",
						    other[i])),
				&e, &code, &err),
			1);
	assert_int_equal(
		answer_redirect(STR("code=c&state=state"), &e, &code, &err), 0);
}

TEST(AZ_9, wrong_issuer, shows_nothing_of_the_redirect)
{
	AUTO(buf_release) struct buf code = BUF_INIT(BUF_UNBOUNDED);
	const struct answer_expect e = {.state = "s", .issuer = "https://a"};
	struct err err = ERR_INIT;

	assert_int_equal(answer_redirect(STR("state=s&iss=evil&error=click&"
					     "error_description=here"),
					 &e, &code, &err),
			 -1);
	assert_null(strstr(err.msg, "click"));
	assert_null(strstr(err.msg, "here"));
	assert_null(strstr(err.msg, "evil"));
}

TEST_FILE(NULL, teardown);
