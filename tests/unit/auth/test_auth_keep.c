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

TEST_IN(temp_dir, store, second_process, asks_nobody)
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

TEST_IN(temp_dir, store, registration, is_used_again)
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
TEST_IN(temp_dir, RW_120, issuer_with_a_slash, keeps_its_tokens)
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

TEST_IN(temp_dir, token, of_one_server, is_not_sent_for_another_of_its_url)
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

TEST_IN(temp_dir, logout, of_a_stored_token, revokes_and_forgets)
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

TEST_IN(temp_dir, refresh, two_processes_at_once, is_one)
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

TEST(RW_133, ends_during_a_stream, next_one_refreshes)
{
	struct world *w = world_begin("{\"expires_in\":1}");
	struct http_headers headers = {0};
	struct authorizer *a = world_authorizer(w);

	assert_int_equal(world_call(w), 200);
	/* the stream goes on: nothing asks while it runs */
	assert_int_equal(world_count(w, "*grant_type=refresh"), 0);
	assert_int_equal(a->type->sign(a, "POST", w->url, &headers, &w->err),
			 AUTHORIZER_WAIT);
	while (!w->is_changed)
		world_turn(w);
	http_headers_release(&headers);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*grant_type=refresh_token"), 1);
	assert_int_equal(w->pages, 1);
	world_end(w);
}

/* ---- servers without discovery ---- */

#define NOWHERE                                                    \
	"\"docs\":{\"/.well-known/oauth-protected-resource/mcp\":" \
	"null,\"/.well-known/oauth-authorization-server\":null}"

/* Endpoints of the options; texts live as long as the arena. */
static struct world *begin_named(const char *scenario, const char *authorize,
				 struct arena *arena)
{
	struct world *w = world_begin(scenario);

	w->options.client_id = "me";
	w->options.token_endpoint = arena_printf(arena, "%s/token", w->base);
	if (authorize)
		w->options.authorization_endpoint =
			arena_printf(arena, "%s%s", w->base, authorize);
	return w;
}

TEST(endpoints, that_are_named, need_no_document)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_named("{" NOWHERE "}", "/authorize", &arena);

	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "GET /.well-known"), 0);
	assert_int_equal(world_count(w, "GET /authorize client_id=me"), 1);
	assert_int_equal(world_count(w, "POST /token client_id=me"), 1);
	assert_int_equal(world_count(w, "POST /register"), 0);
	world_end(w);
}

TEST(endpoints, secret, is_sent_to_the_one_that_is_named)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_named("{" NOWHERE "}", NULL, &arena);

	w->options.grant = AUTH_CLIENT_CREDENTIALS;
	w->options.client_secret = "s3cret";
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /token grant_type=client"), 1);
	world_end(w);
}

/* ---- a refresh token of the configuration ---- */

static struct world *begin_seeded(const char *scenario, const char *dir,
				  struct arena *arena)
{
	struct world *w = begin_named(scenario, NULL, arena);

	open_store(w, dir);
	w->context.person.open = NULL;
	w->options.refresh_token = "seed-token";
	return w;
}

static void begin_again(struct world *w)
{
	auth_free(w->auth);
	w->auth = NULL;
}

TEST_IN(temp_dir, seed, refresh_token, brings_tokens_without_a_person)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_seeded("{\"seed\":\"seed-token\"," NOWHERE "}",
				       *state, &arena);

	assert_int_equal(world_call(w), 200);
	begin_again(w);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*refresh_token=seed-token"), 1);
	assert_int_equal(world_count(w, "POST /token"), 1);
	assert_int_equal(world_count(w, "GET"), 0);
	assert_non_null(strstr(buf_cstr(&w->secrets), "seed-token"));
	world_end(w);
}

/* The server gives a new one: the first is used up, the second kept. */
TEST_IN(temp_dir, seed, rotated_token, is_the_one_that_is_used)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_seeded(
		"{\"seed\":\"seed-token\",\"expires_in\":1," NOWHERE "}",
		*state, &arena);

	assert_int_equal(world_call(w), 200);
	begin_again(w);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*refresh_token=seed-token"), 1);
	assert_int_equal(world_count(w, "*refresh_token=refresh-1"), 1);
	world_end(w);
}

TEST_IN(temp_dir, seed, server_that_does_not_rotate, keeps_it)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_seeded("{\"seed\":\"seed-token\",\"rotate\":"
				       "false,\"expires_in\":1," NOWHERE "}",
				       *state, &arena);

	assert_int_equal(world_call(w), 200);
	begin_again(w);
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*refresh_token=seed-token"), 2);
	world_end(w);
}

TEST_IN(temp_dir, seed, refused_one, is_not_sent_again_until_it_is_another)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_seeded("{\"seed\":\"second\"," NOWHERE "}",
				       *state, &arena);

	assert_int_equal(world_call(w), -1);
	world_expect(w, "refresh_token of the configuration");
	begin_again(w);
	assert_int_equal(world_call(w), -1);
	world_expect(w, "put a new one in its place");
	assert_int_equal(world_count(w, "POST /token"), 1);
	begin_again(w);
	w->options.refresh_token = "second";
	assert_int_equal(world_call(w), 200);
	world_end(w);
}

/* Tokens that came by another one are another person's, perhaps. */
TEST_IN(temp_dir, seed, another_one, replaces_the_tokens_of_the_first)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_seeded("{\"seed\":\"seed-token\",\"rotate\":"
				       "false," NOWHERE "}",
				       *state, &arena);

	assert_int_equal(world_call(w), 200);
	begin_again(w);
	w->options.refresh_token = "second";
	assert_int_equal(world_call(w), -1);
	assert_int_equal(world_count(w, "*refresh_token=second"), 1);
	begin_again(w);
	assert_int_equal(world_call(w), -1);
	world_expect(w, "put a new one in its place");
	world_end(w);
}

/* Two processes begin at once: the later one takes the tokens of the first. */
TEST_IN(temp_dir, seed, used_by_another_process, is_not_sent_twice)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = begin_seeded("{\"seed\":\"seed-token\"," NOWHERE "}",
				       *state, &arena);
	struct authorizer *a = world_authorizer(w);
	struct http_headers headers = {0};
	struct auth *first = w->auth;

	assert_int_equal(a->type->sign(a, "POST", w->url, &headers, &w->err),
			 AUTHORIZER_GO);
	http_headers_release(&headers);
	w->auth = NULL;
	assert_int_equal(world_call(w), 200);
	auth_free(w->auth);
	w->auth = first;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /token"), 1);
	world_end(w);
}

TEST_IN(temp_dir, seed, server_with_discovery, is_found_by_it)
{
	struct world *w = world_begin("{\"seed\":\"seed-token\"}");

	open_store(w, *state);
	w->context.person.open = NULL;
	w->options.client_id = "me";
	w->options.refresh_token = "seed-token";
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*refresh_token=seed-token"), 1);
	world_end(w);
}

/* A server may name any issuer: the token goes to none that is not named. */
TEST(seed, issuer_elsewhere, does_not_get_it)
{
	struct world *w = world_begin(
		"{\"prm\":{\"authorization_servers\":[\"{other}\"]},"
		"\"as\":{\"issuer\":\"{other}\","
		"\"token_endpoint\":\"{other}/token\"}}");

	w->context.person.open = NULL;
	w->options.client_id = "me";
	w->options.refresh_token = "seed-token";
	assert_int_equal(world_call(w), -1);
	world_expect(w, "nothing says that refresh_token may be sent there");
	assert_int_equal(world_count(w, "POST /token"), 0);
	world_end(w);
}

TEST_FILE(authority_start, authority_stop);
