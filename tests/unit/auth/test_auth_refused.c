/*
 * What is done about refusals, and when it is enough.
 */
#include "tests/unit/auth/auth_fixture.h"

#define PRM "/.well-known/oauth-protected-resource"
#define ASM "/.well-known/oauth-authorization-server"

TEST(RW_129, refresh_tokens, rotate_or_stay)
{
	struct world *w;

	for (int rotates = 0; rotates < 2; rotates++) {
		w = world_begin(rotates ? "{\"expires_in\":30}"
					: "{\"expires_in\":30,"
					  "\"rotate\":false}");
		for (int i = 0; i < 3; i++)
			assert_int_equal(world_call(w), 200);
		assert_int_equal(w->pages, 1);
		assert_int_equal(world_count(w, "*refresh_token=refresh-1 "),
				 rotates ? 1 : 2);
		assert_int_equal(world_count(w, "*refresh_token=refresh-2 "),
				 rotates ? 1 : 0);
		world_end(w);
	}
}

TEST(RW_131, one_more_scope_each_time, ends_after_two)
{
	struct world *w = world_begin(
		"{\"needs\":[[\"a\"],[\"b\"],[\"c\"],[\"d\"]],\"challenge\":"
		"[\"Bearer scope=\\\"x\\\"\"]}");

	/* the union holds what was asked for before, so this ends well */
	assert_int_equal(world_call(w), -1);
	world_expect(w, "again and again");
	assert_int_equal(w->pages, 3);
	assert_int_equal(world_count(w, "*scope=x a\n") +
				 world_count(w, "GET /authorize"),
			 3);
	assert_true(world_count(w, "*scope=x a b") == 1);
	world_end(w);
}

/* The second time the resource names another issuer. */
#define MOVES                                                                  \
	"{\"mcp\":[true,{},{\"status\":401}],\"docs\":{\"" PRM "/mcp\":[true," \
	"{\"json\":{\"resource\":\"{base}/mcp\",\"authorization_servers\":["   \
	"\"{base}/b\"]}}],\"" ASM "/b\":{\"json\":{\"issuer\":\"{base}/b\","   \
	"\"authorization_endpoint\":\"{base}/authorize\",\"token_endpoint\":"  \
	"\"{base}/token\",\"registration_endpoint\":\"{base}/register\","      \
	"\"code_challenge_methods_supported\":[\"S256\"]}}}}"

TEST(RW_132, moves_to_another_issuer, registers_there)
{
	struct world *w = world_begin(MOVES);

	assert_int_equal(world_call(w), 200);
	if (world_call(w) != 200)
		fail_msg("%s", w->err.msg);
	assert_int_equal(world_count(w, "POST /register"), 2);
	/* what the old one gave is shown to neither */
	assert_int_equal(world_count(w, "*grant_type=refresh"), 0);
	world_end(w);

	w = world_begin(MOVES);
	w->options.client_id = "mine";
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_call(w), -1);
	world_expect(w, "the server moved from the authorization server");
	assert_int_equal(w->pages, 1);
	world_end(w);

	w = world_begin(MOVES);
	w->options.client_id = "mine";
	w->options.issuer = w->base;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_call(w), -1);
	world_expect(w, "the configured client is for http://127");
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

TEST_FILE(authority_start, authority_stop);
