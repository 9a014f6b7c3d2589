/*
 * Grants without a person.
 */
#include "tests/unit/auth/auth_fixture.h"

#include <fcntl.h>
#include <limits.h>

#include "core/auth/crypto.h"
#include "tests/unit/temp_dir.h"

/* A key of P-256 for the tests, made anew. */
static void make_key(struct buf *pem)
{
	AUTO(crypto_key_freep) struct crypto_key *key = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(crypto_key_make(&key, &err), 0);
	assert_int_equal(crypto_key_write(key, pem, &err), 0);
}

static struct world *begin_credentials(const char *scenario)
{
	struct world *w = world_begin(scenario);

	w->context.person.open = NULL;
	w->options.grant = AUTH_CLIENT_CREDENTIALS;
	w->options.client_id = "robot";
	return w;
}

/* The authorization server is of another origin, which the server names. */
static const char ELSEWHERE[] =
	"{\"prm\":{\"authorization_servers\":[\"{other}\"]},"
	"\"as\":{\"issuer\":\"{other}\",\"token_endpoint\":\"{other}/token\","
	"\"revocation_endpoint\":\"{other}/revoke\"}}";

static void name_issuer(struct world *w, char issuer[96])
{
	snprintf(issuer, 96, "http://localhost%s", strrchr(w->base, ':'));
	w->options.issuer = issuer;
}

enum credential { SECRET, KEY, ASSERTION, CREDENTIALS };

static void set_credential(struct world *w, enum credential which,
			   const char *pem, const char *file)
{
	w->context.person.open = NULL;
	w->options.client_id = "robot";
	w->options.grant =
		which == ASSERTION ? AUTH_JWT_BEARER : AUTH_CLIENT_CREDENTIALS;
	w->options.client_secret = which == SECRET ? "s3cret" : NULL;
	w->options.private_key = which == KEY ? pem : NULL;
	w->options.assertion_file = which == ASSERTION ? file : NULL;
}

/* In the folder of the test; static. */
static const char *write_statement(const char *dir)
{
	static char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/jwt", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_not_equal(fd, -1);
	assert_int_equal(fd_write_all(fd, "a.b.c", 5), 0);
	close(fd);
	return path;
}

TEST_IN(temp_dir, credential, to_an_issuer_that_only_the_server_names, refused)
{
	AUTO(buf_wipe) struct buf pem = BUF_INIT(BUF_UNBOUNDED);

	make_key(&pem);
	for (int i = 0; i < CREDENTIALS; i++) {
		struct world *w = world_begin(ELSEWHERE);

		set_credential(w, (enum credential)i, buf_cstr(&pem),
			       write_statement(*state));
		assert_int_equal(world_call(w), -1);
		assert_int_equal(w->err.kind, ERR_ISSUER);
		/* the line to add, for the user to judge */
		world_expect(w, "issuer = \"http://localhost:");
		assert_int_equal(world_count(w, "POST /token"), 0);
		world_end(w);
	}
}

TEST_IN(temp_dir, credential, to_the_issuer_that_is_configured, sent)
{
	AUTO(buf_wipe) struct buf pem = BUF_INIT(BUF_UNBOUNDED);
	char issuer[96];

	make_key(&pem);
	for (int i = 0; i < CREDENTIALS; i++) {
		struct world *w = world_begin(ELSEWHERE);

		set_credential(w, (enum credential)i, buf_cstr(&pem),
			       write_statement(*state));
		name_issuer(w, issuer);
		assert_int_equal(world_call(w), 200);
		assert_int_equal(world_count(w, "POST /token"), 1);
		world_end(w);
	}
}

/* A version that trusted the server left a token there. */
TEST_IN(temp_dir, credential, of_a_stored_token, goes_to_no_other_issuer)
{
	char issuer[96];
	struct err err = ERR_INIT;

	for (int is_gone = 0; is_gone < 2; is_gone++) {
		struct world *w = world_begin(ELSEWHERE);

		assert_int_equal(store_open(*state, STORE_KEY_FILE,
					    &w->context.store, &err),
				 0);
		set_credential(w, SECRET, NULL, NULL);
		name_issuer(w, issuer);
		assert_int_equal(world_call(w), 200);
		/* its text is borrowed: the configuration names another now */
		snprintf(issuer, sizeof(issuer), "https://other.example");
		if (is_gone) {
			/* or none, in the next process */
			auth_free(w->auth);
			w->auth = NULL;
			w->options.issuer = NULL;
			(void)!world_authorizer(w);
		}
		auth_logout(w->auth, world_done, w);
		while (!w->is_done)
			world_turn(w);
		assert_true(w->has_failed);
		world_expect(w, "not revoked");
		assert_int_equal(world_count(w, "POST /revoke"), 0);
		world_end(w);
	}
}

TEST(CC_2, private_key, signs_for_the_issuer)
{
	AUTO(buf_wipe) struct buf pem = BUF_INIT(BUF_UNBOUNDED);
	struct world *w;
	char line[128];

	make_key(&pem);
	for (int endpoint = 0; endpoint < 2; endpoint++) {
		w = begin_credentials(
			"{\"as\":{\"token_endpoint_auth_signing_alg_values_"
			"supported\":[\"ES256\"]}}");
		w->options.private_key = buf_cstr(&pem);
		w->options.audience_is_token_endpoint = endpoint;
		assert_int_equal(world_call(w), 200);
		snprintf(line, sizeof(line), "*aud=%s%s sub=robot", w->base,
			 endpoint ? "/token" : "");
		assert_int_equal(world_count(w, line), 1);
		assert_int_equal(world_count(w, "*client_id="), 0);
		world_end(w);
	}
	w = begin_credentials("{\"as\":{\"token_endpoint_auth_signing_alg_"
			      "values_supported\":[\"RS256\"]}}");
	w->options.private_key = buf_cstr(&pem);
	assert_int_equal(world_call(w), -1);
	world_expect(w, "private key of the client");
	world_end(w);
}

static void write_file(const char *path, const char *text)
{
	AUTO(fd_closep)
	int fd = fd_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

TEST_IN(temp_dir, WI_1, statement_of_a_file, is_read_each_time)
{
	struct world *w = begin_credentials("{\"expires_in\":30}");
	AUTO(mem_freep) char *path = mem_printf("%s/jwt", (char *)*state);

	w->options.grant = AUTH_JWT_BEARER;
	w->options.assertion_file = path;
	write_file(path, "first.jwt\n");
	assert_int_equal(world_call(w), 200);
	write_file(path, "second.jwt\n");
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "*assertion=first.jwt client_id=robot "
					"grant_type=urn:ietf:params:oauth:"
					"grant-type:jwt-bearer resource="),
			 1);
	assert_int_equal(world_count(w, "*assertion=second.jwt"), 1);
	world_end(w);
}

TEST_IN(temp_dir, WI_2, refused_statement, is_not_tried_again)
{
	struct world *w = begin_credentials(
		"{\"tokens\":[{\"status\":400,\"json\":{\"error\":"
		"\"invalid_grant\"}}]}");
	AUTO(mem_freep) char *path = mem_printf("%s/jwt", (char *)*state);

	w->options.grant = AUTH_JWT_BEARER;
	w->options.assertion_file = path;
	write_file(path, "first.jwt\n");
	assert_int_equal(world_call(w), -1);
	world_expect(w, "invalid_grant");
	assert_int_equal(world_count(w, "POST /token"), 1);
	world_end(w);
}

static struct world *begin_enterprise(const char *scenario, const char *file)
{
	struct world *w = begin_credentials(scenario);

	w->options.grant = AUTH_ID_JAG;
	w->options.client_secret = "s3cret";
	w->options.idp_client_id = "at-idp";
	w->options.idp_id_token_file = file;
	return w;
}

TEST_IN(temp_dir, EM_1, id_token, becomes_a_token_of_the_server)
{
	AUTO(mem_freep) char *path = mem_printf("%s/id", (char *)*state);
	struct world *w = begin_enterprise("{}", path);
	char idp[96];

	write_file(path, "id.token");
	snprintf(idp, sizeof(idp), "%s/idp", w->base);
	w->options.idp_token_endpoint = idp;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /idp audience=http://127.0.0.1"),
			 1);
	assert_int_equal(
		world_count(w, "*requested_token_type=urn:ietf:params:oauth:"
			       "token-type:id-jag resource=http"),
		1);
	assert_int_equal(
		world_count(w, "*subject_token=id.token subject_token_type="
			       "urn:ietf:params:oauth:token-type:id_token"),
		1);
	assert_int_equal(world_count(w, "POST /token assertion=id-jag-1"), 1);
	assert_int_equal(world_count(w, "GET /authorize"), 0);
	world_end(w);
}

TEST_IN(temp_dir, EM_1, provider_by_its_issuer, is_found)
{
	AUTO(mem_freep) char *path = mem_printf("%s/id", (char *)*state);
	struct world *w = begin_enterprise(
		"{\"docs\":{\"/.well-known/openid-configuration/org\":{\"json\""
		":{\"issuer\":\"{base}/org\",\"token_endpoint\":\"{base}/idp\""
		"}}}}",
		path);
	char idp[96];

	write_file(path, "id.token");
	snprintf(idp, sizeof(idp), "%s/org", w->base);
	w->options.idp_issuer = idp;
	assert_int_equal(world_call(w), 200);
	assert_int_equal(world_count(w, "POST /idp"), 1);
	world_end(w);
}

TEST_IN(temp_dir, EM_1, provider_gives_another_token, is_refused)
{
	AUTO(mem_freep) char *path = mem_printf("%s/id", (char *)*state);
	struct world *w = begin_enterprise(
		"{\"tokens\":[{\"json\":{\"access_token\":\"t\","
		"\"token_type\":\"Bearer\"}}]}",
		path);
	char idp[96];

	write_file(path, "id.token");
	snprintf(idp, sizeof(idp), "%s/idp", w->base);
	w->options.idp_token_endpoint = idp;
	assert_int_equal(world_call(w), -1);
	world_expect(w, "no ID-JAG");
	assert_int_equal(world_count(w, "POST /token"), 0);
	world_end(w);
}

/* ---- options ---- */

static void refuses(const struct auth_options *o, const char *part)
{
	struct auth_context context = {0};
	struct err err = ERR_INIT;
	struct auth *a;

	assert_int_equal(auth_new(&context, o, &a, &err), -1);
	if (!strstr(err.msg, part))
		fail_msg("no \"%s\" in: %s", part, err.msg);
}

TEST(options, that_contradict, are_told_first)
{
	struct auth_options o = {.url = "https://example.com/mcp"};

	o.client_secret = "a";
	o.private_key = "b";
	refuses(&o, "not both");
	o.private_key = NULL;
	o.grant = AUTH_JWT_BEARER;
	refuses(&o, "needs a client id");
	o.client_id = "c";
	refuses(&o, "jwt-bearer needs an assertion file");
	o.grant = AUTH_ID_JAG;
	refuses(&o, "needs idp_client_id");
	o.grant = AUTH_CLIENT_CREDENTIALS;
	o.client_secret = NULL;
	refuses(&o, "a secret or a private key");
	o.grant = AUTH_CODE;
	o.redirect_uri = "http://example.com/back";
	refuses(&o, "http on loopback");
	o.redirect_uri = NULL;
	o.client_metadata_url = "https://example.com";
	refuses(&o, "have a path");
	o.client_metadata_url = NULL;
	o.url = "ftp://example.com";
	refuses(&o, "");
}

TEST(options, of_a_server_without_discovery, are_whole)
{
	struct auth_options o = {.url = "https://example.com/mcp"};

	o.token_endpoint = "https://example.com/token";
	refuses(&o, "token_endpoint needs a client id");
	o.client_id = "c";
	refuses(&o, "authorization_endpoint or refresh_token");
	o.refresh_token = "r";
	o.grant = AUTH_CLIENT_CREDENTIALS;
	o.client_secret = "s";
	refuses(&o, "and the grant authorization_code");
	o.grant = AUTH_CODE;
	o.token_endpoint = "no url";
	refuses(&o, "token_endpoint");
	o.token_endpoint = NULL;
	o.authorization_endpoint = "https://example.com/authorize";
	refuses(&o, "authorization_endpoint needs token_endpoint");
	o.authorization_endpoint = NULL;
	o.client_id = NULL;
	refuses(&o, "refresh_token needs the client id");
}

TEST(grants, words, are_found)
{
	enum auth_grant g;

	assert_true(auth_grant_find("id-jag", &g));
	assert_int_equal(g, AUTH_ID_JAG);
	assert_string_equal(auth_grant_word(g), "id-jag");
	assert_false(auth_grant_find("password", &g));
}

TEST_FILE(authority_start, authority_stop);
