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

/* ---- good ones ---- */

static const struct good {
	const char *url, *text, *origin, *host, *path;
	uint16_t port;
	bool is_tls, is_ipv6;
} GOOD[] = {
	{"https://example.com", "https://example.com/", "https://example.com",
	 "example.com", "/", 443, true, false},
	{"HTTP://Example.COM:80/a/../b?q#f", "http://example.com/a/../b?q",
	 "http://example.com", "example.com", "/a/../b", 80, false, false},
	{"http://h:8080?x=1", "http://h:8080/?x=1", "http://h:8080", "h", "/",
	 8080, false, false},
	{"https://h:/p", "https://h/p", "https://h", "h", "/p", 443, true,
	 false},
	{"https://h:00443/", "https://h/", "https://h", "h", "/", 443, true,
	 false},
	{"wss://h.example./ws", "wss://h.example/ws", "wss://h.example",
	 "h.example", "/ws", 443, true, false},
	{"ws://h:443/", "ws://h:443/", "ws://h:443", "h", "/", 443, false,
	 false},
	{"http://127.0.0.1:3000/mcp", "http://127.0.0.1:3000/mcp",
	 "http://127.0.0.1:3000", "127.0.0.1", "/mcp", 3000, false, false},
	{"https://[2001:DB8:0:0::1]:8443/", "https://[2001:db8::1]:8443/",
	 "https://[2001:db8::1]:8443", "2001:db8::1", "/", 8443, true, true},
	{"https://a_b-c.example/%7e;x=1,2(3)*'!$&+=:@",
	 "https://a_b-c.example/%7e;x=1,2(3)*'!$&+=:@", "https://a_b-c.example",
	 "a_b-c.example", "/%7e;x=1,2(3)*'!$&+=:@", 443, true, false},
	{"https://h/?a[]=1/2?3", "https://h/?a[]=1/2?3", "https://h", "h", "/",
	 443, true, false},
};

TEST(a_good_url, is_parsed, into_all_parts)
{
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf origin = BUF_INIT(4096);
		struct url u = parse(GOOD[i].url, &arena);

		url_origin(&u, &origin);
		assert_str(u.text, GOOD[i].text);
		assert_str(buf_str(&origin), GOOD[i].origin);
		assert_str(u.host, GOOD[i].host);
		assert_str(u.path, GOOD[i].path);
		assert_int_equal(u.port, GOOD[i].port);
		assert_int_equal(u.is_tls, GOOD[i].is_tls);
		assert_int_equal(u.is_ipv6, GOOD[i].is_ipv6);
	}
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

/* ---- bad ones ---- */

static const struct bad {
	const char *url, *say;
} BAD[] = {
	{"", "write https://"},
	{"example.com/x", "write https://"},
	{"//example.com/", "write https://"},
	{"ftp://h/", "\"ftp\""},
	{"javascript:alert(1)", "\"javascript\""},
	{"file:///etc/passwd", "\"file\""},
	{"https:example.com", "without \"//\""},
	{"https:/example.com", "without \"//\""},
	{"https://", "without a host"},
	{"https:///x", "without a host"},
	{"https://:443/", "must be a name"},
	{"https://user@h/", "user name"},
	{"https://u:p@h/", "user name"},
	{"https://h:0/", "1 to 65535"},
	{"https://h:65536/", "1 to 65535"},
	{"https://h:-1/", "1 to 65535"},
	{"https://h:x/", "1 to 65535"},
	{"https://h:000443/", "1 to 65535"},
	{"https://h\\x/", "0x5c"},
	{"https://h/a b", "0x20"},
	{"https://h/\t", "0x09"},
	{"https://h/\r\nX: y", "0x0d"},
	{"https://h/\x7f", "0x7f"},
	{"https://b\xc3\xbc"
	 "cher.example/",
	 "0xc3"},
	{"https://h/<x>", "0x3c"},
	{"https://h/%zz", "hexadecimal"},
	{"https://h/%4", "hexadecimal"},
	{"https://h/%", "hexadecimal"},
	{"https://%68/", "must be a name"},
	{"https://a..b/", "must be a name"},
	{"https://.a/", "must be a name"},
	{"https://a../", "must be a name"},
	{"https://./", "must be a name"},
	{"https://a!b/", "must be a name"},
	{"https://127.1/", "192.0.2.1"},
	{"https://2130706433/", "192.0.2.1"},
	{"https://0x7f000001/", "192.0.2.1"},
	{"https://0X7F.0.0.1/", "192.0.2.1"},
	{"https://a.0x1/", "192.0.2.1"},
	{"https://0177.0.0.1/", "192.0.2.1"},
	{"https://127.0.0.256/", "192.0.2.1"},
	{"https://1.2.3.4.5/", "192.0.2.1"},
	{"https://[::1/", "without \"]\""},
	{"https://[::1]x/", "between"},
	{"https://[::1]]/", "between"},
	{"https://[]/", "IPv6 address"},
	{"https://[fe80::1%25eth0]/", "IPv6 address"},
	{"https://[v1.x]/", "IPv6 address"},
	{"https://[1.2.3.4]/", "IPv6 address"},
	{"https://::1/", "must be a name"},
};

TEST(a_bad_url, is_parsed, and_refused_with_a_reason)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct url u;

		if (url_parse(str_of(BAD[i].url), &arena, &u, &err) == 0)
			fail_msg("%s is taken", BAD[i].url);
		assert_int_equal(err.kind, ERR_SYNTAX);
		if (!strstr(err.msg, BAD[i].say))
			fail_msg("%s: %s", BAD[i].url, err.msg);
	}
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

/* ---- references ---- */

/* RFC 3986, 5.4.1 and 5.4.2, and what differs for absolute ones. */
static const struct reference {
	const char *reference, *text, *fragment;
} REFERENCES[] = {
	{"g", "http://a/b/c/g", NULL},
	{"./g", "http://a/b/c/g", NULL},
	{"g/", "http://a/b/c/g/", NULL},
	{"/g", "http://a/g", NULL},
	{"//g", "http://g/", NULL},
	{"?y", "http://a/b/c/d;p?y", NULL},
	{"g?y", "http://a/b/c/g?y", NULL},
	{"#s", "http://a/b/c/d;p?q", "s"},
	{"g#s", "http://a/b/c/g", "s"},
	{"g?y#s", "http://a/b/c/g?y", "s"},
	{";x", "http://a/b/c/;x", NULL},
	{"g;x", "http://a/b/c/g;x", NULL},
	{"g;x?y#s", "http://a/b/c/g;x?y", "s"},
	{"", "http://a/b/c/d;p?q", NULL},
	{".", "http://a/b/c/", NULL},
	{"./", "http://a/b/c/", NULL},
	{"..", "http://a/b/", NULL},
	{"../", "http://a/b/", NULL},
	{"../g", "http://a/b/g", NULL},
	{"../..", "http://a/", NULL},
	{"../../", "http://a/", NULL},
	{"../../g", "http://a/g", NULL},
	{"../../../g", "http://a/g", NULL},
	{"../../../../g", "http://a/g", NULL},
	{"/./g", "http://a/g", NULL},
	{"/../g", "http://a/g", NULL},
	{"g.", "http://a/b/c/g.", NULL},
	{".g", "http://a/b/c/.g", NULL},
	{"g..", "http://a/b/c/g..", NULL},
	{"..g", "http://a/b/c/..g", NULL},
	{"./../g", "http://a/b/g", NULL},
	{"./g/.", "http://a/b/c/g/", NULL},
	{"g/./h", "http://a/b/c/g/h", NULL},
	{"g/../h", "http://a/b/c/h", NULL},
	{"g;x=1/./y", "http://a/b/c/g;x=1/y", NULL},
	{"g;x=1/../y", "http://a/b/c/y", NULL},
	{"g?y/./x", "http://a/b/c/g?y/./x", NULL},
	{"g?y/../x", "http://a/b/c/g?y/../x", NULL},
	{"g#s/./x", "http://a/b/c/g", "s/./x"},
	{"g#s/../x", "http://a/b/c/g", "s/../x"},
	{"https://h/x/../y?z", "https://h/y?z", NULL},
	{"//h:81/x/./y", "http://h:81/x/y", NULL},
	{"/a//b/", "http://a/a//b/", NULL},
};

TEST(resolve, table_of_the_rfc, gives_what_the_rfc_lists)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url base = parse("http://a/b/c/d;p?q", &arena), u;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(REFERENCES); i++) {
		const struct reference *r = &REFERENCES[i];

		if (url_resolve(&base, str_of(r->reference), &arena, &u, &err))
			fail_msg("%s: %s", r->reference, err.msg);
		if (!str_is(u.text, r->text))
			fail_msg("%s: %s", r->reference, u.text.p);
		if (r->fragment)
			assert_str(u.fragment, r->fragment);
		else
			assert_null(u.fragment.p);
	}
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

TEST(resolve, no_url_of_ours, refuses_urls_of_other_schemes)
{
	static const char *const bad[] = {
		"g:h", "http:g", "javascript:x", "//",	 "//u@h/",
		"a b", "\\\\h",	 "/%",		 "///x", "http:///x",
	};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url base = parse("http://a/b/c/d;p?q", &arena), u;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (!url_resolve(&base, str_of(bad[i]), &arena, &u, &err))
			fail_msg("%s becomes %s", bad[i], u.text.p);
}

/* ---- compared ---- */

static const struct pair {
	const char *a, *b;
	bool is_same;
} PAIRS[] = {
	{"https://h/a", "https://H:443/b?c", true},
	{"https://h/", "wss://h/", true},
	{"http://h/", "ws://h:80/", true},
	{"http://[::1]/", "http://[0:0::1]/", true},
	{"https://h/", "http://h/", false},
	{"https://h/", "https://h:444/", false},
	{"https://h/", "https://www.h/", false},
	{"https://h:80/", "http://h:80/", false},
};

TEST(same_origin, of_each_pair, is_as_listed)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(PAIRS); i++) {
		struct url a = parse(PAIRS[i].a, &arena);
		struct url b = parse(PAIRS[i].b, &arena);

		if (url_same_origin(&a, &b) != PAIRS[i].is_same)
			fail_msg("%s, %s", PAIRS[i].a, PAIRS[i].b);
	}
}

static const struct loopback {
	const char *url;
	bool is_loopback;
} LOOPBACK[] = {
	{"http://localhost/", true},
	{"http://LOCALHOST:3000/", true},
	{"http://localhost./", true},
	{"http://a.localhost/", true},
	{"http://127.0.0.1/", true},
	{"http://127.255.255.254/", true},
	{"http://[::1]/", true},
	{"http://[::ffff:127.0.0.1]/", true},
	{"http://localhost.example/", false},
	{"http://127.0.0.1.example/", false},
	{"http://notlocalhost/", false},
	{"http://128.0.0.1/", false},
	{"http://0.0.0.0/", false},
	{"http://[::]/", false},
	{"http://[::2]/", false},
	{"http://[::ffff:10.0.0.1]/", false},
};

TEST(is_loopback, of_each_name_and_address, is_as_listed)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(LOOPBACK); i++) {
		struct url u = parse(LOOPBACK[i].url, &arena);

		if (url_is_loopback(&u) != LOOPBACK[i].is_loopback)
			fail_msg("%s", LOOPBACK[i].url);
	}
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
