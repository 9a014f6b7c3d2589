/*
 * Tokens over time: refreshed, kept, shared by processes, forgotten.
 */
#include "tests/unit/auth/auth_fixture.h"

#include "tests/unit/temp_dir.h"

static void open_store(struct world *w, const char *dir)
{
	struct err err = ERR_INIT;

	if (store_open(dir, STORE_KEY_FILE, &w->context.store, &err) < 0)
		fail_msg("%s", err.msg);
}

/* ---- refresh ---- */

static void TO_5__token_about_to_end__is_refreshed_before(void **state)
{
	struct world *w = world_begin("{\"expires_in\":30}");

	(void)state;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 1);
	assert_true(world_count(w,
				"*grant_type=refresh_token "
				"refresh_token=refresh-1 resource=http") == 1);
	assert_int_equal(world_count(w, "*Bearer_access-2"), 1);
	world_end(w);
}

static void TO_5__invalid_grant__forgets_and_begins_anew(void **state)
{
	struct world *w = world_begin(
		"{\"expires_in\":30,\"tokens\":[true,{\"status\":400,"
		"\"json\":{\"error\":\"invalid_grant\"}}]}");

	(void)state;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 2);
	assert_int_equal(world_count(w, "*grant_type=refresh_token"), 1);
	assert_int_equal(world_count(w, "POST /register"), 1);
	world_end(w);
}

static void TO_6__no_refresh_token__asks_the_person_again(void **state)
{
	struct world *w = world_begin(
		"{\"tokens\":[{\"json\":{\"access_token\":\"one\"}}],"
		"\"mcp\":[true,{},true,true]}");

	(void)state;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 2);
	assert_int_equal(world_count(w, "*grant_type=refresh"), 0);
	world_end(w);
}

static void CI_10__client_forgotten_by_the_server__is_made_anew(void **state)
{
	struct world *w =
		world_begin("{\"tokens\":[{\"status\":401,\"json\":{\"error\":"
			    "\"invalid_client\"}}]}");
	struct world *again;

	(void)state;
	/* one that was registered just now is not registered once more */
	assert_int_equal(world_call(w), -1);
	world_expect(w, "invalid_client");
	assert_int_equal(world_count(w, "POST /register"), 1);
	world_end(w);

	again = world_begin("{\"expires_in\":30,\"tokens\":[true,{\"status\":"
			    "401,\"json\":{\"error\":\"invalid_client\"}}]}");
	assert_int_equal(world_call(again), 200);
	assert_int_equal(world_call(again), 200);
	assert_int_equal(world_count(again, "POST /register"), 2);
	assert_int_equal(again->pages, 2);
	world_end(again);
}

/* ---- what is kept ---- */

static void store__second_process__asks_nobody(void **state)
{
	struct world *w = world_begin("{}");

	open_store(w, *state);
	assert_int_equal(world_call(w), 200);
	auth_free(w->auth);
	w->auth = NULL;
	w->context.person.open = NULL;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /token"), 1);
	world_end(w);
}

static void store__registration__is_used_again(void **state)
{
	struct world *w = world_begin("{}");

	open_store(w, *state);
	for (int i = 0; i < 2; i++) {
		(void)!world_authorizer(w);
		w->is_done = false;
		auth_login(w->auth, world_done, w);
		while (!w->is_done)
			world_turn(w);
		assert_false(w->has_failed);
	}
	assert_int_equal(world_count(w, "POST /register"), 1);
	assert_int_equal(w->pages, 2);
	world_end(w);
}

/* What is kept has the issuer as its own document spells it. */
static void RW_120__issuer_with_a_slash__keeps_its_tokens(void **state)
{
	struct world *w = world_begin("{\"as\":{\"issuer\":\"{base}/\"}}");

	w->options.accept_issuer_slash = true;
	w->options.client_id = "me";
	w->options.issuer = w->base;
	open_store(w, *state);
	assert_int_equal(world_call(w), 200);
	auth_free(w->auth);
	w->auth = NULL;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 1);
	world_end(w);
}

/* The same endpoint under another name, or under none. */
static struct auth *stranger(struct world *w, const char *name)
{
	struct auth_context context = w->context;
	struct err err = ERR_INIT;
	struct auth *a;

	context.server_name = name;
	context.person.open = NULL;
	if (auth_new(&context, &w->options, &a, &err) < 0)
		fail_msg("%s", err.msg);
	return a;
}

static void token__of_one_server__is_not_sent_for_another_of_its_url(
	void **state)
{
	static const char *const names[] = {"bob", NULL};
	struct world *w = world_begin("{}");
	struct auth *alice;

	w->context.server_name = "alice";
	open_store(w, *state);
	assert_int_equal(world_call(w), 200);
	alice = w->auth;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		w->auth = stranger(w, names[i]);
		assert_int_equal(world_call(w), -1);
		world_expect(w, i ? "auth login --url" : "auth login bob");
		/* whose logout revokes nothing of hers */
		w->is_done = false;
		auth_logout(w->auth, world_done, w);
		while (!w->is_done)
			world_turn(w);
		auth_free(w->auth);
	}
	assert_int_equal(world_count(w, "POST /revoke"), 0);
	assert_int_equal(world_count(w, "*Bearer_access-1"), 1);
	w->auth = alice;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(w->pages, 1);
	world_end(w);
}

static void logout__revokes_and_forgets(void **state)
{
	struct world *w = world_begin("{}");
	struct auth_status status;
	struct err err = ERR_INIT;

	open_store(w, *state);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(auth_status(w->auth, &status, &err), 0);
	assert_true(status.has_token && status.has_refresh_token);
	assert_string_equal(status.issuer, w->base);
	assert_string_equal(status.client_id, "registered");
	auth_logout(w->auth, world_done, w);
	while (!w->is_done)
		world_turn(w);
	assert_false(w->has_failed);
	assert_int_equal(world_count(w, "POST /revoke token=refresh-1&"
					"token_type_hint=refresh_token&"
					"client_id=registered"),
			 1);
	assert_int_equal(auth_status(w->auth, &status, &err), 0);
	assert_false(status.has_token || status.has_client);
	world_end(w);
}

/* One of two processes; its exit status is 0 when its request was answered. */
static pid_t client_of(const struct world *w, const char *dir)
{
	pid_t pid = fork();
	struct world *own;
	struct err err = ERR_INIT;
	bool good;

	if (pid)
		return pid;
	own = mem_zalloc(sizeof(*own));
	memcpy(own->url, w->url, sizeof(own->url));
	own->options.url = own->url;
	own->range = ADDRESS_LOOPBACK;
	own->secrets.max = BUF_UNBOUNDED;
	good = loop_init(&own->loop, clock_system(), &err) == 0 &&
	       http_new(&(struct http_options){.loop = &own->loop,
					       .user_agent = "test"},
			&own->http, &err) == 0 &&
	       store_open(dir, STORE_KEY_FILE, &own->context.store, &err) == 0;
	own->context.loop = &own->loop;
	own->context.http = own->http;
	own->context.server_range = &own->range;
	own->context.server_name = w->context.server_name;
	_exit(good && world_call(own) == 200 ? 0 : 1);
}

static void refresh__two_processes_at_once__is_one(void **state)
{
	struct world *w = world_begin(
		"{\"tokens\":[{\"json\":{\"access_token\":\"access-1\","
		"\"refresh_token\":\"first\",\"expires_in\":30}},"
		"{\"json\":{\"access_token\":\"second\",\"refresh_token\":"
		"\"r\",\"expires_in\":3600}}],\"delay\":0.2,"
		"\"mcp\":[true,{},{},{}]}");
	int status[2] = {-1, -1};
	pid_t pid[2];

	open_store(w, *state);
	assert_int_equal(world_call(w), 200);
	for (int i = 0; i < 2; i++)
		pid[i] = client_of(w, *state);
	for (int i = 0; i < 2; i++)
		assert_int_equal(waitpid(pid[i], &status[i], 0), pid[i]);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], 0);
	assert_int_equal(world_count(w, "*grant_type=refresh_token"), 1);
	assert_int_equal(world_count(w, "*Bearer_second"), 2);
	world_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(TO_5__token_about_to_end__is_refreshed_before),
		cmocka_unit_test(TO_5__invalid_grant__forgets_and_begins_anew),
		cmocka_unit_test(TO_6__no_refresh_token__asks_the_person_again),
		cmocka_unit_test(
			CI_10__client_forgotten_by_the_server__is_made_anew),
		cmocka_unit_test_setup_teardown(
			store__second_process__asks_nobody, temp_dir_make,
			temp_dir_remove),
		cmocka_unit_test_setup_teardown(
			store__registration__is_used_again, temp_dir_make,
			temp_dir_remove),
		cmocka_unit_test_setup_teardown(
			RW_120__issuer_with_a_slash__keeps_its_tokens,
			temp_dir_make, temp_dir_remove),
		cmocka_unit_test_setup_teardown(
			token__of_one_server__is_not_sent_for_another_of_its_url,
			temp_dir_make, temp_dir_remove),
		cmocka_unit_test_setup_teardown(logout__revokes_and_forgets,
						temp_dir_make, temp_dir_remove),
		cmocka_unit_test_setup_teardown(
			refresh__two_processes_at_once__is_one, temp_dir_make,
			temp_dir_remove),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, authority_start, authority_stop);
}
