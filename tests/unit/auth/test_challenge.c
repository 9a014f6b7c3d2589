#include "tests/unit/test.h"

#include "core/auth/challenge.h"

/* What is read of one header; NULL: not there. */
static void reads(const char *header, const char *metadata, const char *scope,
		  const char *error)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct challenge c = {0};
	const char *want[] = {metadata, scope, error};
	const char *got[3];

	challenge_add(&c, str_of(header), &arena);
	got[0] = c.resource_metadata;
	got[1] = c.scope;
	got[2] = c.error;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		if (want[i])
			assert_non_null(got[i]);
		if (want[i])
			assert_string_equal(got[i], want[i]);
		else
			assert_null(got[i]);
	}
}

TEST(AU_3, challenges_in_any_form, are_read)
{
	reads("Bearer resource_metadata=\"https://a/b\", scope=\"x y\"",
	      "https://a/b", "x y", NULL);
	reads("bearer ERROR=invalid_token,Scope=\"x\"", NULL, "x",
	      "invalid_token");
	reads("Bearer", NULL, NULL, NULL);
	reads("", NULL, NULL, NULL);
	/* others before, between and behind */
	reads("Basic realm=\"scope=\\\"no\\\", Bearer scope=no\", Bearer "
	      "scope=\"yes\"",
	      NULL, "yes", NULL);
	reads("Negotiate dG9rZW4=, Bearer error=\"e\", Digest scope=\"no\"",
	      NULL, NULL, "e");
	/* escapes, blanks around "=", no commas, open quotes, URLs bare */
	reads("Bearer scope = \"a\\\"b\\\\c\"", NULL, "a\"b\\c", NULL);
	reads("Bearer scope=\"a\" error=\"b\"", NULL, "a", "b");
	reads("Bearer scope=\"open", NULL, "open", NULL);
	reads("Bearer resource_metadata=https://a/b?c, error=x",
	      "https://a/b?c", NULL, "x");
	/* the first counts */
	reads("Bearer scope=a, Bearer scope=b", NULL, "a", NULL);
	reads("Bearer , ,, @ scope=a", NULL, "a", NULL);
}

TEST(AU_3, several_headers, are_one)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
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
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct challenge c = {0};

	challenge_add(&c, STR("Bearer error=use_dpop_nonce"), &arena);
	assert_false(c.wants_nonce);
	assert_string_equal(c.error, "use_dpop_nonce");
}
