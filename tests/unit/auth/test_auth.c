#include "tests/unit/auth/auth_fixture.h"

/* ---- the whole way ---- */

TEST(AU_2, first_401, authorizes_and_sends_again)
{
	struct world *w = world_begin("{}");

	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 1);
	assert_int_equal(w->page, 200);
	assert_int_equal(world_count(w, "POST /mcp"), 2);
	assert_int_equal(world_count(w, "POST /register method=none "
					"type=native grants=authorization_"
					"code,refresh_token uri=http://"
					"127.0.0.1:"),
			 1);
	assert_int_equal(world_count(w, "*grant_type=authorization_code"), 1);
	assert_int_equal(world_count(w, "*authorization=Bearer_access-1"), 1);
	/* and no credentials where documents were asked */
	assert_int_equal(world_count(w, "GET /.well-known"), 2);
	assert_int_equal(world_count(w, "*version= authorization=\n") +
				 world_count(w, "*version= authorization="),
			 2);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 1);
	world_end(w);
}

TEST(secrets, of_a_flow, are_told_for_the_scrubber)
{
	struct world *w = world_begin("{}");
	const char *secrets;

	assert_int_equal(world_call(w), 200);
	secrets = buf_cstr(&w->secrets);
	assert_non_null(strstr(secrets, "access-1\n"));
	assert_non_null(strstr(secrets, "refresh-1\n"));
	assert_non_null(strstr(secrets, "code-1\n"));
	world_end(w);
}

TEST(AZ_1, authorization_request, has_what_it_must)
{
	struct world *w =
		world_begin("{\"prm\":{\"scopes_supported\":[\"a\",\"b\"]}}");

	assert_int_equal(world_call(w), 200);
	assert_non_null(strstr(w->opened, "response_type=code"));
	assert_non_null(strstr(w->opened, "code_challenge_method=S256"));
	assert_non_null(strstr(w->opened, "&state="));
	assert_non_null(strstr(w->opened, "client_id=registered"));
	assert_int_equal(world_count(w, "*scope=a b"), 1);
	assert_int_equal(world_count(w, "*resource=http://127.0.0.1"), 2);
	world_end(w);
}

TEST(fixed_header, refused, is_surfaced_without_a_flow)
{
	struct world *w = world_begin("{}");
	struct http_headers fixed = {0};
	struct err err = ERR_INIT;

	assert_int_equal(http_headers_set(&fixed, "Authorization",
					  STR("Bearer mine"), &err),
			 0);
	w->options.headers = &fixed;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "the token that was given");
	assert_int_equal(world_count(w, "*authorization=Bearer_mine"), 1);
	assert_int_equal(world_count(w, "GET "), 0);
	world_end(w);
	http_headers_release(&fixed);
}

TEST(nobody_there, flow_is_needed, says_what_to_run)
{
	struct world *w = world_begin("{}");

	w->context.person.open = NULL;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "run `matins auth login files`");
	assert_int_equal(world_count(w, "GET "), 0);
	w->context.server_name = NULL;
	auth_free(w->auth);
	w->auth = NULL;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "run `matins auth login --url http://127.0.0.1:");
	world_end(w);
}

TEST(person, does_not_answer, ends_in_time)
{
	struct world *w = world_begin("{}");

	w->is_away = true;
	w->context.person.timeout_ms = 50;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "nobody answered");
	/* no second page for what comes right after */
	assert_int_equal(world_call(w), -1);
	assert_int_equal(w->pages, 1);
	world_end(w);
}

/* Whose clocks stand still for a person has to hear of it. */
TEST(person, is_asked, who_waits_is_told)
{
	struct world *w = world_begin("{}");
	struct authorizer *a = world_authorizer(w);
	struct http_headers headers = {0};

	w->is_away = true;
	world_send(w, &headers);
	assert_int_equal(w->verdict, AUTHORIZER_WAIT);
	assert_false(a->type->is_person(a));
	while (!w->is_changed)
		world_turn(w);
	assert_int_equal(a->type->sign(a, "POST", w->url, &headers, &w->err),
			 AUTHORIZER_WAIT);
	assert_true(a->type->is_person(a));
	assert_int_equal(w->pages, 1);
	http_headers_release(&headers);
	world_end(w);
}

/* The redirect address of the page that is open, with an answer of ours. */
static void send_answer(struct world *w, const char *answer)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	const char *page = strstr(w->opened, "redirect_uri=");
	struct str uri;

	assert_non_null(page);
	page += strlen("redirect_uri=");
	uri = (struct str){page, strcspn(page, "&")};
	while (uri.n) { /* "http%3A%2F%2F127.0.0.1%3A1%2Fcallback" */
		bool escaped = uri.p[0] == '%';
		char hex[3] = {uri.p[escaped], uri.p[2 * escaped], '\0'};

		buf_addc(&b, escaped ? (char)strtoul(hex, NULL, 16) : uri.p[0]);
		uri.p += escaped ? 3 : 1;
		uri.n -= escaped ? 3 : 1;
	}
	buf_addf(&b, "?%s", answer);
	w->page = 0;
	browser_get(w, buf_cstr(&b));
	while (!w->page && !w->is_done)
		world_turn(w);
}

static void begin_away(struct world *w)
{
	w->is_away = true;
	(void)!world_authorizer(w);
	auth_login(w->auth, world_done, w);
	while (!w->pages)
		world_turn(w);
}

TEST(AZ_2, answer_with_another_state, does_not_end_the_login)
{
	static const char *const answers[] = {
		"code=theirs&state=x",
		"code=theirs&state=",
		"code=theirs",
		"error=access_denied&state=x",
		"error=access_denied",
		"code=theirs&state=x&iss=https%3A%2F%2Fevil.example",
		"",
	};
	struct world *w = world_begin("{}");

	begin_away(w);
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		send_answer(w, answers[i]);
		assert_int_equal(w->page, 400);
		assert_false(w->is_done);
	}
	assert_int_equal(world_count(w, "POST /token"), 0);
	/* the person comes back from the page */
	browser_get(w, w->opened);
	while (!w->is_done)
		world_turn(w);
	assert_false(w->has_failed);
	assert_int_equal(world_count(w, "POST /token"), 1);
	world_end(w);
}

TEST(AZ_2, a_flood_of_other_states, ends_in_an_error)
{
	struct world *w = world_begin("{}");
	unsigned n = 0;

	begin_away(w);
	while (!w->is_done && n++ < 1000)
		send_answer(w, "code=theirs&state=x");
	assert_true(w->has_failed);
	assert_in_range(n, 50, 500);
	world_expect(w, "(their state differs)");
	assert_int_equal(world_count(w, "POST /token"), 0);
	world_end(w);
}

TEST(paste, of_the_address, goes_on)
{
	struct world *w = world_begin("{}");
	AUTO(buf_release) struct buf address = BUF_INIT(BUF_UNBOUNDED);
	const char *sent;

	w->is_away = true;
	w->options.redirect_uri = "https://example.com/back";
	(void)!world_authorizer(w);
	auth_login(w->auth, world_done, w);
	while (!w->pages)
		world_turn(w);
	browser_get(w, w->opened); /* only so that the code is known there */
	while (!world_count(w, "GET /authorize"))
		world_turn(w);
	sent = strstr(w->opened, "state=") + 6;
	buf_addf(&address, "https://example.com/back?code=code-1&state=%.*s",
		 (int)strcspn(sent, "&"), sent);
	assert_true(auth_redirected(w->auth, buf_str(&address)));
	while (!w->is_done)
		world_turn(w);
	assert_false(w->has_failed);
	assert_false(auth_redirected(w->auth, buf_str(&address)));
	world_end(w);
}

TEST(PR_7, older_revision, is_named_to_the_metadata)
{
	struct world *w = world_begin("{}");
	struct authorizer *a = world_authorizer(w);

	a->type->spoke(a, "2025-03-26");
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*version=2025-03-26 "), 2);
	world_end(w);
}

TEST(login, without_a_token, asks_the_server_first)
{
	struct world *w =
		world_begin("{\"challenge\":[\"Bearer scope=\\\"x\\\"\"]}");

	/* nothing was connected to before, so the probe finds the range */
	w->context.server_range = NULL;
	(void)!world_authorizer(w);
	auth_login(w->auth, world_done, w);
	while (!w->is_done)
		world_turn(w);
	assert_false(w->has_failed);
	assert_int_equal(world_count(w, "POST /mcp authorization="), 1);
	assert_int_equal(world_count(w, "*scope=x"), 1);
	assert_int_equal(world_call(w), 200);
	world_end(w);
}

TEST(flow, given_up_in_the_middle, leaves_nothing)
{
	struct world *w = world_begin("{}");

	w->is_away = true;
	(void)!world_authorizer(w);
	auth_login(w->auth, world_done, w);
	while (!w->pages)
		world_turn(w);
	assert_true(auth_authorizer(w->auth)->type->is_person(
		auth_authorizer(w->auth)));
	world_end(w);
}

static bool only_443(void *arg, struct str host, uint16_t port, struct err *err)
{
	(void)arg;
	if (port == 443)
		return true;
	err_set(err, ERR_LEASH, "%.*s:%u is not allowed", STR_ARG(host), port);
	return false;
}

TEST(leash, that_leaves_the_server_out, stops_each_request)
{
	struct world *w = world_begin("{}");

	w->context.may_use = only_443;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "is not allowed");
	assert_int_equal(w->err.kind, ERR_LEASH);
	assert_int_equal(world_count(w, "GET "), 0);
	world_end(w);
}

TEST_FILE(authority_start, authority_stop);
