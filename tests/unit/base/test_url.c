/* URLs: parsed, refused, resolved (RFC 3986, 5.4), compared, encoded. */

#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/base/url.h"

static struct url parse(const char *text, struct arena *arena)
{
	struct err err = ERR_INIT;
	struct url u;

	if (url_parse(str_of(text), arena, &u, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return u;
}

static void assert_str(struct str s, const char *expected)
{
	if (!str_is(s, expected))
		fail_msg("\"%.*s\" is not \"%s\"", STR_ARG(s), expected);
}

TEST(query_and_fragment, of_a_url, are_absent_or_empty)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url u;

	u = parse("https://h/p", &arena);
	assert_null(u.query.p);
	assert_null(u.fragment.p);
	u = parse("https://h/p?#", &arena);
	assert_non_null(u.query.p);
	assert_non_null(u.fragment.p);
	assert_int_equal(u.query.n + u.fragment.n, 0);
	u = parse("https://h/p?a#b?c#d", &arena);
	assert_str(u.query, "a");
	assert_str(u.fragment, "b?c#d");
}

TEST(a_url, with_a_zero_byte_or_too_long, is_refused)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct url u;

	assert_int_equal(url_parse(STR("https://h/\0x"), &arena, &u, &err), -1);
	buf_adds(&text, "https://h/");
	while (text.n < LIMIT_URL_BYTES)
		buf_addc(&text, 'a');
	assert_int_equal(url_parse(buf_str(&text), &arena, &u, &err), 0);
	buf_addc(&text, 'a');
	assert_int_equal(url_parse(buf_str(&text), &arena, &u, &err), -1);
	assert_non_null(strstr(err.msg, "bytes; at most"));
}

TEST(resolve, port_address_and_tls_of_the_base, are_kept)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url base = parse("wss://[::1]:81", &arena), u;
	struct err err = ERR_INIT;

	assert_int_equal(url_resolve(&base, STR("x"), &arena, &u, &err), 0);
	assert_str(u.text, "wss://[::1]:81/x");
	assert_int_equal(url_resolve(&base, STR("//h"), &arena, &u, &err), 0);
	assert_str(u.text, "wss://h/");
}

/* ---- encoding ---- */

TEST(form, all_but_unreserved, is_written_in_percent)
{
	AUTO(buf_release) struct buf out = BUF_INIT(4096);

	url_form_add(&out, "x", STR("aZ09-._~ /?&=+%\0\xff"));
	assert_str(buf_str(&out), "x=aZ09-._~+%2F%3F%26%3D%2B%25%00%FF");
}

TEST(form, members, are_written_and_read_back)
{
	AUTO(buf_release) struct buf form = BUF_INIT(4096);
	AUTO(buf_release) struct buf value = BUF_INIT(4096);

	url_form_add(&form, "grant type", STR("a b+c"));
	url_form_add(&form, "x", STR("1&x=2"));
	url_form_add(&form, "empty", STR(""));
	assert_str(buf_str(&form), "grant+type=a+b%2Bc&x=1%26x%3D2&empty=");
	assert_true(url_form_get(buf_str(&form), "grant type", &value));
	assert_str(buf_str(&value), "a b+c");
	buf_clear(&value);
	assert_true(url_form_get(buf_str(&form), "x", &value));
	assert_str(buf_str(&value), "1&x=2");
	buf_clear(&value);
	assert_true(url_form_get(buf_str(&form), "empty", &value));
	assert_false(url_form_get(buf_str(&form), "grant", &value));
	assert_false(url_form_get(buf_str(&form), "y", &value));
	assert_int_equal(value.n, 0);
}

TEST(form_get, odd_texts, finds_the_first_whole_name)
{
	AUTO(buf_release) struct buf value = BUF_INIT(4096);

	assert_true(
		url_form_get(STR("&&=z&code%65=1&codee=2"), "codee", &value));
	assert_str(buf_str(&value), "1");
	buf_clear(&value);
	assert_true(url_form_get(STR("a=100%&b"), "a", &value));
	assert_str(buf_str(&value), "100%");
	buf_clear(&value);
	assert_true(url_form_get(STR("a=1&b"), "b", &value));
	assert_int_equal(value.n, 0);
	assert_false(url_form_get(STR(""), "a", &value));
	assert_false(url_form_get((struct str){NULL, 0}, "a", &value));
}
