/* What may be a secret in a URL: by its name, or because nobody would write
   it. */
#include "tests/unit/test.h"

#include "core/config/server_url.h"

/* The text with the secrets of the URL taken out. */
static void assert_shown(const char *url, const char *text, const char *shown)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scrub *scrub = scrub_new();
	struct err err = ERR_INIT;
	struct url u;

	assert_int_equal(url_parse(str_of(url), &arena, &u, &err), 0);
	server_url_hide(&u, scrub);
	(void)scrub_apply(scrub, str_of(text), &out);
	scrub_free(scrub);
	assert_string_equal(buf_cstr(&out), shown);
}

TEST(url_secrets, name_says_so, are_hidden)
{
	assert_shown("https://h/p?api_key=abcdefgh&mode=reading",
		     "abcdefgh in reading", "*** in reading");
	assert_shown("https://h/p?Access-Token=abcdefgh", "abcdefgh", "***");
	assert_shown("https://h/p?x=1&X-Amz-Signature=abcdefgh", "abcdefgh",
		     "***");
}

TEST(url_secrets, made_by_chance, are_hidden)
{
	assert_shown("https://h/p?k=0123456789abcdefghij",
		     "0123456789abcdefghij", "***");
	assert_shown("https://h/p?k=a-sentence-of-many-words-is-none",
		     "a-sentence-of-many-words-is-none",
		     "a-sentence-of-many-words-is-none");
}

TEST(url_secrets, encoded, are_hidden_decoded)
{
	assert_shown("https://h/p?key=ab%2Fcd%2Bef", "ab/cd+ef ab%2Fcd%2Bef",
		     "*** ***");
}

TEST(url_secrets, no_query_or_odd_one, are_none)
{
	assert_shown("https://h/path", "h path", "h path");
	assert_shown("https://h/path?", "h path", "h path");
	assert_shown("https://h/path?&&key&=&key=", "key path", "key path");
}
