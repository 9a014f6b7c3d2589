/* Rows of `net`, targets of hostile programs, and who may reach whom. */

#include "tests/unit/test.h"

#include <arpa/inet.h>

#include "gate/policy/endpoint.h"

/* ---- rows ---- */

/* A row and how it reads when it is written again. */
static const struct row_case {
	const char *row;
	enum endpoint_kind kind;
	const char *text;
} ROWS[] = {
	{":443", ENDPOINT_PORT, ":443"},
	{"example.com", ENDPOINT_HOST, "example.com"},
	{"Example.COM.", ENDPOINT_HOST, "example.com"},
	{"api.example.com:8443", ENDPOINT_HOST, "api.example.com:8443"},
	{"db", ENDPOINT_HOST, "db"},
	{"my_host:1", ENDPOINT_HOST, "my_host:1"},
	{"xn--bcher-kva.example", ENDPOINT_HOST, "xn--bcher-kva.example"},
	{"1.example", ENDPOINT_HOST, "1.example"},
	{"*.example.org", ENDPOINT_BENEATH, "*.example.org"},
	{"*.Example.org:65535", ENDPOINT_BENEATH, "*.example.org:65535"},
	{"10.0.0.5:8080", ENDPOINT_ADDRESS, "10.0.0.5:8080"},
	{"203.0.113.9", ENDPOINT_ADDRESS, "203.0.113.9"},
	{"169.254.169.254:80", ENDPOINT_ADDRESS, "169.254.169.254:80"},
	{"[2001:DB8::1]:443", ENDPOINT_ADDRESS, "[2001:db8::1]:443"},
	{"[2001:db8::1]", ENDPOINT_ADDRESS, "[2001:db8::1]"},
	{"127.0.0.1:5432", ENDPOINT_FORWARD, "127.0.0.1:5432"},
	{"127.8.8.8:1", ENDPOINT_FORWARD, "127.8.8.8:1"},
	{"[::1]:99", ENDPOINT_FORWARD, "[::1]:99"},
};

static struct endpoint parse(const char *row)
{
	struct endpoint e = {.kind = ENDPOINT_PORT};
	struct err err = ERR_INIT;

	if (endpoint_parse(row, &e, &err) < 0)
		fail_msg("%s: %s", row, err.msg);
	return e;
}

TEST(row, good, has_kind_and_text)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(4096);
		struct endpoint e = parse(ROWS[i].row);

		endpoint_text(&e, &text);
		if (e.kind != ROWS[i].kind ||
		    strcmp(buf_cstr(&text), ROWS[i].text) != 0)
			fail_msg("%s: kind %d, \"%s\"", ROWS[i].row, e.kind,
				 buf_cstr(&text));
	}
}

/* A bad row and what the message says. */
static const struct bad_case {
	const char *row, *say;
} BAD[] = {
	{"", "1 to 65535"},
	{":", "1 to 65535"},
	{":0", "1 to 65535"},
	{":65536", "1 to 65535"},
	{":0443", "1 to 65535"},
	{":443x", "1 to 65535"},
	{"example.com:", "neither a host"},
	{"example.com:https", "1 to 65535"},
	{"example.com:0", "1 to 65535"},
	{"https://example.com", "not a URL"},
	{"443", "\":443\""},
	{"a.example,b.example", "a row holds one"},
	{"10.0.0.0/8", "a range of addresses"},
	{"fd00::/8", "a range of addresses"},
	{"example.com/path", "not a URL"},
	{"*", "*.example.com"},
	{"*:443", "\":443\""},
	{"*.", "*.example.com"},
	{"*.*.example.com", "*.example.com"},
	{"a.*.example.com", "neither a host"},
	{"*.1.2.3.4", "*.example.com"},
	{"exa mple.com", "neither a host"},
	{"example..com", "neither a host"},
	{".example.com", "neither a host"},
	{"example.com..", "neither a host"},
	{"-a.example", "neither a host"},
	{"a-.example", "neither a host"},
	{"b\xc3\xbc"
	 "cher.example",
	 "xn--"},
	{"ex%61mple.com", "neither a host"},
	{"user@example.com", "neither a host"},
	{"0x7f.1:80", "neither a host"},
	{"2130706433:80", "neither a host"},
	{"127.1:80", "neither a host"},
	{"0177.0.0.1:80", "neither a host"},
	{"1.2.3.04:80", "neither a host"},
	{"1.2.3.4.5:80", "neither a host"},
	{"256.1.1.1:80", "neither a host"},
	{"::1:80", "brackets"},
	{"2001:db8::1", "brackets"},
	{"[::1", "neither a host"},
	{"[::1]x", "neither a host"},
	{"[fe80::1%eth0]:80", "neither a host"},
	{"[example.com]:80", "neither a host"},
	{"[::ffff:10.0.0.1]:80", "\"10.0.0.1\""},
	{"[64:ff9b::a00:1]:80", "\"10.0.0.1\""},
	{"0.0.0.0:80", "no server can have this address"},
	{"255.255.255.255:80", "no server can have this address"},
	{"224.0.0.1:80", "no server can have this address"},
	{"[ff02::1]:80", "no server can have this address"},
	{"127.0.0.1", "\"127.0.0.1:8080\""},
	{"[::1]", "\"[::1]:8080\""},
	{"localhost:5432", "\"127.0.0.1:5432\""},
	{"a.localhost", "127.0.0.1"},
};

TEST(row, bad, says_what_is_right)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct err err = ERR_INIT;
		struct endpoint e;

		if (endpoint_parse(BAD[i].row, &e, &err) == 0)
			fail_msg("\"%s\" was accepted", BAD[i].row);
		assert_int_equal(err.kind, ERR_POLICY);
		if (!strstr(err.msg, BAD[i].say))
			fail_msg("\"%s\" lacks \"%s\"", err.msg, BAD[i].say);
	}
}

TEST(row, longest_name, is_accepted_and_one_more_refused)
{
	char row[300];
	struct err err = ERR_INIT;
	struct endpoint e;

	memset(row, 'a', sizeof(row));
	for (size_t i = 50; i < sizeof(row); i += 50)
		row[i] = '.';
	row[253] = '\0';
	parse(row);
	row[253] = 'a';
	row[254] = '\0';
	assert_int_equal(endpoint_parse(row, &e, &err), -1);
	memset(row, 'a', 64);
	row[64] = '\0';
	assert_int_equal(endpoint_parse(row, &e, &err), -1);
	row[63] = '\0';
	parse(row);
}

/* ---- two rows ---- */

static const struct meet_case {
	const char *a, *b;
	const char *both; /* NULL: nothing */
	bool public_only;
} MEETS[] = {
	{":443", ":443", ":443", false},
	{":443", ":80", NULL, false},
	{":443", "example.com", "example.com:443", false},
	{":8080", "example.com", NULL, false},
	{":443", "*.example.com:443", "*.example.com:443", false},
	{":5432", "127.0.0.1:5432", "127.0.0.1:5432", false},
	{":5432", "10.0.0.5:5432", "10.0.0.5:5432", false},
	{"example.com", "example.com", "example.com", false},
	{"example.com", "example.com:80", "example.com:80", false},
	{"example.com", "example.com:81", NULL, false},
	{"example.com", "example.org", NULL, false},
	{"*.example.com", "a.example.com:80", "a.example.com:80", true},
	{"*.example.com", "example.com", NULL, false},
	{"*.example.com", "badexample.com", NULL, false},
	{"*.example.com", "*.b.example.com:443", "*.b.example.com:443", false},
	{"*.a.example.com", "*.b.example.com", NULL, false},
	{"10.0.0.5", "10.0.0.5:80", "10.0.0.5:80", false},
	{"10.0.0.5", "10.0.0.6", NULL, false},
	{"127.0.0.1:1", "127.0.0.2:1", NULL, false},
	{"127.0.0.1:1", "[::1]:1", NULL, false},
};

TEST(meet, either_order, is_what_both_allow)
{
	for (size_t i = 0; i < 2 * ARRAY_LEN(MEETS); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(4096);
		const struct meet_case *m = &MEETS[i / 2];
		struct endpoint a = parse(i % 2 ? m->a : m->b);
		struct endpoint b = parse(i % 2 ? m->b : m->a), both;
		bool met = endpoint_meet(&a, &b, &both);

		if (met)
			endpoint_text(&both, &text);
		if (met != !!m->both ||
		    (met && (strcmp(buf_cstr(&text), m->both) != 0 ||
			     both.public_only != m->public_only)))
			fail_msg("%s and %s: \"%s\"", m->a, m->b,
				 buf_cstr(&text));
	}
}

TEST(covers, wider_and_narrower, is_true_of_the_wider_alone)
{
	struct endpoint wide = parse("*.example.com");
	struct endpoint deep = parse("*.a.example.com");
	struct endpoint name = parse("a.example.com");

	assert_true(endpoint_covers(&wide, &deep));
	assert_false(endpoint_covers(&deep, &wide));
	assert_true(endpoint_covers(&wide, &wide));
	/* by the domain alone a name may not lead into a private network */
	assert_false(endpoint_covers(&wide, &name));
}

/* ---- targets ---- */

static const struct target_case {
	const char *bytes;
	size_t n;
	const char *host; /* NULL: no host */
	bool is_address;
} TARGETS[] = {
#define T(s, host, is_address)                     \
	{                                          \
		s, sizeof(s) - 1, host, is_address \
	}
	T("example.com", "example.com", false),
	T("EXAMPLE.com.", "example.com", false),
	T("localhost", "localhost", false),
	T("10.0.0.1", "10.0.0.1", true),
	T("10.0.0.1.", "10.0.0.1", true),
	T("::1", "::1", true),
	T("2001:DB8:0:0::1", "2001:db8::1", true),
	T("::ffff:127.0.0.1", "::ffff:127.0.0.1", true),
	T("", NULL, false),
	T(".", NULL, false),
	T("example.com\0.granted.example", NULL, false),
	T("\0", NULL, false),
	T("a\nb", NULL, false),
	T("a b", NULL, false),
	T("a%00b", NULL, false),
	T("a/b", NULL, false),
	T("a@b", NULL, false),
	T("a..b", NULL, false),
	T("*.b", NULL, false),
	T("\x80.example", NULL, false),
	T("0x7f000001", NULL, false),
	T("0x7f.1", NULL, false),
	T("2130706433", NULL, false),
	T("127.1", NULL, false),
	T("0177.0.0.1", NULL, false),
	T("1.2.3.4.", "1.2.3.4", true),
	T("1.2.3", NULL, false),
	T("fe80::1%eth0", NULL, false),
	T("fe80::1%1", NULL, false),
	T("[::1]", NULL, false),
	T(":::", NULL, false),
#undef T
};

TEST(target, table, is_a_host_or_refused)
{
	for (size_t i = 0; i < ARRAY_LEN(TARGETS); i++) {
		const struct target_case *c = &TARGETS[i];
		struct endpoint_target t;
		int r = endpoint_target((struct str){c->bytes, c->n}, 80, &t);

		if ((r == 0) != !!c->host)
			fail_msg("row %zu (%s): %d", i, c->bytes, r);
		if (r == 0 && (strcmp(t.host, c->host) != 0 ||
			       t.is_address != c->is_address))
			fail_msg("row %zu: \"%s\"", i, t.host);
	}
}

static const struct authority_case {
	const char *text;
	uint16_t port;
	const char *want;
} AUTHORITIES[] = {
	{"a.example:80", 0, "a.example:80"},
	{"a.example", 80, "a.example:80"},
	{"a.example", 0, NULL},
	{"a.example:", 80, NULL},
	{"a.example:0", 80, NULL},
	{"a.example:080", 0, NULL},
	{"a.example:65536", 0, NULL},
	{"a.example:-1", 0, NULL},
	{"a.example: 1", 0, NULL},
	{"[::1]:443", 0, "[::1]:443"},
	{"[::1]", 80, "[::1]:80"},
	{"::1:443", 0, NULL},
	{"[a.example]:443", 0, NULL},
	{"[1.2.3.4]:443", 0, NULL},
	{"[::1]443", 0, NULL},
	{"[::1]:443:1", 0, NULL},
	{"u@a.example:443", 0, NULL},
	{":443", 0, NULL},
	{"", 80, NULL},
};

TEST(authority, table, is_a_target_or_refused)
{
	for (size_t i = 0; i < ARRAY_LEN(AUTHORITIES); i++) {
		const struct authority_case *c = &AUTHORITIES[i];
		char text[ENDPOINT_TEXT_BYTES] = "";
		struct endpoint_target t;
		int r = endpoint_target_authority(str_of(c->text), c->port, &t);

		if (r == 0)
			endpoint_target_text(&t, text);
		if ((r == 0) != !!c->want ||
		    (c->want && strcmp(text, c->want) != 0))
			fail_msg("%s: %d \"%s\"", c->text, r, text);
	}
}

/* ---- judging ---- */

static const struct judge_case {
	const char *row, *target;
	enum endpoint_grant want;
} JUDGES[] = {
	{"example.com", "example.com:443", ENDPOINT_PRIVATE},
	{"example.com", "example.com:80", ENDPOINT_PRIVATE},
	{"example.com", "example.com:8443", ENDPOINT_REFUSED},
	{"example.com:8443", "example.com:8443", ENDPOINT_PRIVATE},
	{"example.com:8443", "example.com:443", ENDPOINT_REFUSED},
	{"example.com", "a.example.com:443", ENDPOINT_REFUSED},
	{"example.com", "example.com.evil.com:443", ENDPOINT_REFUSED},
	{"example.com", "EXAMPLE.COM.:443", ENDPOINT_PRIVATE},
	{"*.example.com", "a.example.com:443", ENDPOINT_PUBLIC},
	{"*.example.com", "b.a.example.com:443", ENDPOINT_PUBLIC},
	{"*.example.com", "example.com:443", ENDPOINT_REFUSED},
	{"*.example.com", "badexample.com:443", ENDPOINT_REFUSED},
	{"*.example.com", "a.example.com:22", ENDPOINT_REFUSED},
	{":443", "anything.example:443", ENDPOINT_PUBLIC},
	{":443", "anything.example:80", ENDPOINT_REFUSED},
	{":443", "203.0.114.9:443", ENDPOINT_PUBLIC},
	{":443", "10.0.0.1:443", ENDPOINT_REFUSED},
	{":443", "127.0.0.1:443", ENDPOINT_REFUSED},
	{":443", "[::ffff:127.0.0.1]:443", ENDPOINT_REFUSED},
	{"10.0.0.5:8080", "10.0.0.5:8080", ENDPOINT_LITERAL},
	{"10.0.0.5:8080", "10.0.0.5:80", ENDPOINT_REFUSED},
	{"10.0.0.5:8080", "10.0.0.6:8080", ENDPOINT_REFUSED},
	{"10.0.0.5:8080", "[::ffff:10.0.0.5]:8080", ENDPOINT_REFUSED},
	{"example.com", "93.184.216.34:443", ENDPOINT_REFUSED},
	{"[2001:db8::1]:443", "[2001:db8:0::1]:443", ENDPOINT_LITERAL},
	{"127.0.0.1:5432", "127.0.0.1:5432", ENDPOINT_LITERAL},
	{"127.0.0.1:5432", "localhost:5432", ENDPOINT_REFUSED},
};

TEST(judge, table, finds_the_grant)
{
	for (size_t i = 0; i < ARRAY_LEN(JUDGES); i++) {
		const struct judge_case *c = &JUDGES[i];
		struct endpoint row = parse(c->row);
		struct endpoint_target t;
		enum endpoint_grant g;

		assert_int_equal(
			endpoint_target_authority(str_of(c->target), 0, &t), 0);
		g = endpoint_judge(&row, 1, &t);
		if (g != c->want)
			fail_msg("%s, %s: %d", c->row, c->target, g);
	}
}

TEST(judge, several_rows, takes_the_widest)
{
	struct endpoint rows[] = {parse(":443"), parse("*.example.com"),
				  parse("a.example.com")};
	struct endpoint_target t;

	assert_int_equal(endpoint_target(STR("a.example.com"), 443, &t), 0);
	assert_int_equal(endpoint_judge(rows, 2, &t), ENDPOINT_PUBLIC);
	assert_int_equal(endpoint_judge(rows, 3, &t), ENDPOINT_PRIVATE);
	assert_int_equal(endpoint_judge(rows, 0, &t), ENDPOINT_REFUSED);
	/* named exactly, but allowed by the leash only as one of a domain */
	rows[2].public_only = true;
	assert_int_equal(endpoint_judge(rows, 3, &t), ENDPOINT_PUBLIC);
}

static const struct {
	const char *address;
	enum endpoint_grant least; /* with which it is reached */
} REACHED[] = {
	{"93.184.216.34", ENDPOINT_PUBLIC},
	{"2606:2800:220:1::1", ENDPOINT_PUBLIC},
	{"::ffff:93.184.216.34", ENDPOINT_PUBLIC},
	{"10.0.0.1", ENDPOINT_PRIVATE},
	{"fd00::1", ENDPOINT_PRIVATE},
	{"::ffff:10.0.0.1", ENDPOINT_PRIVATE},
	{"::ffff:0:93.184.216.34", ENDPOINT_PRIVATE},
	{"127.0.0.1", ENDPOINT_LITERAL},
	{"::1", ENDPOINT_LITERAL},
	{"::ffff:127.0.0.1", ENDPOINT_LITERAL},
	{"::ffff:0:127.0.0.1", ENDPOINT_LITERAL},
	{"64:ff9b::7f00:1", ENDPOINT_LITERAL},
	{"fe80::1", ENDPOINT_LITERAL},
	{"0.0.0.0", ENDPOINT_LITERAL},
	/* metadata services, whatever network they lie in */
	{"169.254.169.254", ENDPOINT_LITERAL},
	{"100.100.100.200", ENDPOINT_LITERAL},
	{"168.63.129.16", ENDPOINT_LITERAL},
	{"fd00:ec2::254", ENDPOINT_LITERAL},
	{"::ffff:168.63.129.16", ENDPOINT_LITERAL},
	{"64:ff9b::a9fe:a9fe", ENDPOINT_LITERAL},
};

static struct address address(const char *text)
{
	struct address a = {.is_v6 = strchr(text, ':')};

	assert_int_equal(inet_pton(a.is_v6 ? AF_INET6 : AF_INET, text, a.bytes),
			 1);
	return a;
}

TEST(address, table, has_the_grant_that_reaches_it)
{
	for (size_t i = 0; i < ARRAY_LEN(REACHED); i++) {
		struct address a = address(REACHED[i].address);

		for (int g = ENDPOINT_REFUSED; g <= ENDPOINT_LITERAL; g++)
			if (endpoint_reaches((enum endpoint_grant)g, &a) !=
			    (g >= (int)REACHED[i].least))
				fail_msg("%s: %d", REACHED[i].address, g);
	}
}

/* By its port alone, and by its own row. */
TEST(metadata_service, by_port_or_by_row, is_refused_or_granted)
{
	static const char *const row[] = {"169.254.169.254", "168.63.129.16",
					  "100.100.100.200", "fd00:ec2::254"};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct endpoint by_port = parse(":80"), own;
		struct endpoint_target t;

		buf_addf(&text, strchr(row[i], ':') ? "[%s]:80" : "%s:80",
			 row[i]);
		own = parse(buf_cstr(&text));
		assert_int_equal(endpoint_target(str_of(row[i]), 80, &t), 0);
		assert_int_equal(endpoint_judge(&by_port, 1, &t),
				 ENDPOINT_REFUSED);
		assert_int_equal(endpoint_judge(&own, 1, &t), ENDPOINT_LITERAL);
	}
}
