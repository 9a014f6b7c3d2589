#include "tests/unit/auth/auth_fixture.h"

/* ---- the whole way ---- */

static void AU_2__first_401__authorizes_and_sends_again(void **state)
{
	struct world *w = world_begin("{}");

	(void)state;
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

static void secrets__of_a_flow__are_told_for_the_scrubber(void **state)
{
	struct world *w = world_begin("{}");
	const char *secrets;

	(void)state;
	assert_int_equal(world_call(w), 200);
	secrets = buf_cstr(&w->secrets);
	assert_non_null(strstr(secrets, "access-1\n"));
	assert_non_null(strstr(secrets, "refresh-1\n"));
	assert_non_null(strstr(secrets, "code-1\n"));
	world_end(w);
}

static void AZ_1__authorization_request__has_what_it_must(void **state)
{
	struct world *w =
		world_begin("{\"prm\":{\"scopes_supported\":[\"a\",\"b\"]}}");

	(void)state;
	assert_int_equal(world_call(w), 200);
	assert_non_null(strstr(w->opened, "response_type=code"));
	assert_non_null(strstr(w->opened, "code_challenge_method=S256"));
	assert_non_null(strstr(w->opened, "&state="));
	assert_non_null(strstr(w->opened, "client_id=registered"));
	assert_int_equal(world_count(w, "*scope=a b"), 1);
	assert_int_equal(world_count(w, "*resource=http://127.0.0.1"), 2);
	world_end(w);
}

static void AZ_5__offline_access__where_the_server_has_it(void **state)
{
	struct world *w = world_begin(
		"{\"prm\":{\"scopes_supported\":[\"a\"]},"
		"\"as\":{\"scopes_supported\":[\"a\",\"offline_access\"]}}");

	(void)state;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*scope=a offline_access"), 1);
	world_end(w);
}

static void fixed_header__refused__is_surfaced_without_a_flow(void **state)
{
	struct world *w = world_begin("{}");
	struct http_headers fixed = {0};
	struct err err = ERR_INIT;

	(void)state;
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

static void nobody_there__flow_is_needed__says_what_to_run(void **state)
{
	struct world *w = world_begin("{}");

	(void)state;
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

static void person__does_not_answer__ends_in_time(void **state)
{
	struct world *w = world_begin("{}");

	(void)state;
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
static void person__is_asked__who_waits_is_told(void **state)
{
	struct world *w = world_begin("{}");
	struct authorizer *a = world_authorizer(w);
	struct http_headers headers = {0};

	(void)state;
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

static void AZ_10__access_denied__is_surfaced_once(void **state)
{
	struct world *w = world_begin(
		"{\"authorize\":{\"code\":null,\"error\":\"access_denied\","
		"\"error_description\":\"not \\u001b[1mtoday\"}}");

	(void)state;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "access_denied: not \\x1b[1mtoday");
	assert_int_equal(w->pages, 1);
	assert_int_equal(world_count(w, "POST /token"), 0);
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

static void AZ_2__answer_with_another_state__does_not_end_the_login(
	void **state)
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

	(void)state;
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

static void AZ_2__a_flood_of_other_states__ends_in_an_error(void **state)
{
	struct world *w = world_begin("{}");
	unsigned n = 0;

	(void)state;
	begin_away(w);
	while (!w->is_done && n++ < 1000)
		send_answer(w, "code=theirs&state=x");
	assert_true(w->has_failed);
	assert_in_range(n, 50, 500);
	world_expect(w, "(state)");
	assert_int_equal(world_count(w, "POST /token"), 0);
	world_end(w);
}

static void paste__of_the_address__goes_on(void **state)
{
	struct world *w = world_begin("{}");
	AUTO(buf_release) struct buf address = BUF_INIT(BUF_UNBOUNDED);
	const char *sent;

	(void)state;
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

static void CI_3__document_of_the_client__is_its_name(void **state)
{
	static const char url[] = "https://example.com/client.json";
	struct world *w = world_begin(
		"{\"as\":{\"client_id_metadata_document_supported\":true}}");

	(void)state;
	w->options.client_metadata_url = url;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /register"), 0);
	assert_int_equal(world_count(w, "*client_id=https://example.com/"
					"client.json"),
			 2);
	world_end(w);

	w = world_begin("{}");
	w->options.client_metadata_url = url;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /register"), 1);
	world_end(w);
}

static void CI_2__configured_client__comes_first(void **state)
{
	struct world *w = world_begin(
		"{\"as\":{\"client_id_metadata_document_supported\":true}}");

	(void)state;
	w->options.client_metadata_url = "https://example.com/client.json";
	w->options.client_id = "mine";
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /register"), 0);
	assert_int_equal(world_count(w, "*client_id=mine"), 2);
	world_end(w);
}

static void PR_7__older_revision__is_named_to_the_metadata(void **state)
{
	struct world *w = world_begin("{}");
	struct authorizer *a = world_authorizer(w);

	(void)state;
	a->type->spoke(a, "2025-03-26");
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*version=2025-03-26 "), 2);
	world_end(w);
}

static void login__asks_the_server_first(void **state)
{
	struct world *w =
		world_begin("{\"challenge\":[\"Bearer scope=\\\"x\\\"\"]}");

	(void)state;
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

static void flow__given_up_in_the_middle__leaves_nothing(void **state)
{
	struct world *w = world_begin("{}");

	(void)state;
	w->is_away = true;
	(void)!world_authorizer(w);
	auth_login(w->auth, world_done, w);
	while (!w->pages)
		world_turn(w);
	assert_true(auth_authorizer(w->auth)->type->is_person(
		auth_authorizer(w->auth)));
	world_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(AU_2__first_401__authorizes_and_sends_again),
		cmocka_unit_test(secrets__of_a_flow__are_told_for_the_scrubber),
		cmocka_unit_test(AZ_1__authorization_request__has_what_it_must),
		cmocka_unit_test(AZ_5__offline_access__where_the_server_has_it),
		cmocka_unit_test(
			fixed_header__refused__is_surfaced_without_a_flow),
		cmocka_unit_test(
			nobody_there__flow_is_needed__says_what_to_run),
		cmocka_unit_test(person__does_not_answer__ends_in_time),
		cmocka_unit_test(person__is_asked__who_waits_is_told),
		cmocka_unit_test(AZ_10__access_denied__is_surfaced_once),
		cmocka_unit_test(
			AZ_2__answer_with_another_state__does_not_end_the_login),
		cmocka_unit_test(
			AZ_2__a_flood_of_other_states__ends_in_an_error),
		cmocka_unit_test(paste__of_the_address__goes_on),
		cmocka_unit_test(CI_3__document_of_the_client__is_its_name),
		cmocka_unit_test(CI_2__configured_client__comes_first),
		cmocka_unit_test(
			PR_7__older_revision__is_named_to_the_metadata),
		cmocka_unit_test(login__asks_the_server_first),
		cmocka_unit_test(flow__given_up_in_the_middle__leaves_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, authority_start, authority_stop);
}
