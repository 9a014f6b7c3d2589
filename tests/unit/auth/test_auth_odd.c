/*
 * What servers get wrong about authorization: one row after the other.
 */
#include "tests/unit/auth/auth_fixture.h"

#define PRM "/.well-known/oauth-protected-resource"
#define ASM "/.well-known/oauth-authorization-server"

/* One call that fails and says this, without a token request. */
static void fails(const char *scenario, const char *part)
{
	struct world *w = world_begin(scenario);

	assert_int_equal(world_call(w), -1);
	world_expect(w, part);
	assert_int_equal(world_count(w, "POST /token"), 0);
	world_end(w);
}

/* The same before anything was registered or opened. */
static void stops(const char *scenario, const char *part)
{
	struct world *w = world_begin(scenario);

	assert_int_equal(world_call(w), -1);
	world_expect(w, part);
	assert_int_equal(world_count(w, "POST /register"), 0);
	assert_int_equal(w->pages, 0);
	world_end(w);
}

/* One call that works, with a line of the log that begins with or has this. */
static void works(const char *scenario, const char *line)
{
	struct world *w = world_begin(scenario);
	int status = world_call(w);

	if (status != 200)
		fail_msg("%d: %s", status, w->err.msg);
	if (!world_count(w, line)) {
		world_show();
		fail_msg("no \"%s\"", line);
	}
	world_end(w);
}

TEST(RW_120, issuer_with_a_slash, is_taken_only_when_allowed)
{
	static const char scenario[] = "{\"as\":{\"issuer\":\"{base}/\"}}";
	struct world *w = world_begin(scenario);
	char both[256];

	assert_int_equal(world_call(w), -1);
	snprintf(both, sizeof(both), "\"%s/\", expected \"%s\"", w->base,
		 w->base);
	world_expect(w, both);
	assert_int_equal(world_count(w, "POST /register"), 0);
	world_end(w);

	w = world_begin(scenario);
	w->options.accept_issuer_slash = true;
	assert_int_equal(world_call(w), 200);
	world_end(w);
}

TEST(RW_122, resource_of_the_origin, is_sent_as_it_is)
{
	struct world *w = world_begin("{\"prm\":{\"resource\":\"{base}\"}}");
	char line[96];

	assert_int_equal(world_call(w), 200);
	snprintf(line, sizeof(line), "*resource=%s ", w->base);
	assert_int_equal(world_count(w, line), 2);
	world_end(w);
}

#define TOKEN(answer)                                            \
	"{\"tokens\":[" answer "],\"mcp\":[{\"status\":401},{}," \
	"{},{}]}"

TEST(RW_128, token_answers_in_all_forms, are_read)
{
	works(TOKEN("{\"json\":{\"access_token\":\"t\",\"token_type\":"
		    "\"bearer\",\"expires_in\":\"3600\"}}"),
	      "*authorization=Bearer_t");
	works(TOKEN("{\"type\":\"application/x-www-form-urlencoded\",\"body\":"
		    "\"access_token=t%2B1&scope=a+b&token_type=bearer\"}"),
	      "*authorization=Bearer_t+1");
	for (int i = 0; i < 3; i++) {
		static const char *const answer[][2] = {
			{TOKEN("{\"json\":{\"error\":\"invalid_grant\","
			       "\"error_description\":\"used\"}}"),
			 "HTTP status 200, invalid_grant: used"},
			{TOKEN("{\"json\":{\"access_token\":\"t\","
			       "\"token_type\":\"mac\"}}"),
			 "\"mac\", neither Bearer nor DPoP"},
			{TOKEN("{\"status\":307,\"headers\":[[\"Location\","
			       "\"{base}/other\"]]}"),
			 "HTTP status 307"},
		};
		struct world *w = world_begin(answer[i][0]);

		assert_int_equal(world_call(w), -1);
		world_expect(w, answer[i][1]);
		assert_int_equal(world_count(w, "POST /other"), 0);
		world_end(w);
	}
}

static void leads_to(const char *address, const char *part)
{
	char scenario[256];

	snprintf(scenario, sizeof(scenario),
		 "{\"challenge\":[\"Bearer resource_metadata=\\\"%s\\\"\"]}",
		 address);
	stops(scenario, part);
	snprintf(scenario, sizeof(scenario),
		 "{\"as\":{\"token_endpoint\":"
		 "\"%s\"}}",
		 address);
	fails(scenario, part);
}

TEST(RW_136, addresses_of_others, are_not_asked)
{
	struct world *w;

	leads_to("http://169.254.169.254/latest", "only https");
	leads_to("https://169.254.169.254/latest", "169.254.169.254");
	leads_to("https://10.0.0.1/x", "10.0.0.1");
	leads_to("file:///etc/passwd", "file:///etc/passwd");
	leads_to("javascript:alert(1)", "javascript:alert(1)");
	stops("{\"as\":{\"authorization_endpoint\":\"javascript:alert(1)\","
	      "\"registration_endpoint\":\"javascript:alert(1)\"}}",
	      "javascript:alert(1)");

	/* loopback, where the server itself is a public one */
	w = world_begin("{\"prm\":{\"authorization_servers\":"
			"[\"http://localhost:1\"]}}");
	w->range = ADDRESS_PUBLIC;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "http://localhost:1/");
	world_expect(w, "loopback");
	assert_int_equal(world_count(w, "POST /register"), 0);
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
