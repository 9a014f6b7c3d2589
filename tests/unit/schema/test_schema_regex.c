#include "tests/unit/test.h"

#include "core/schema/regex.h"

static int found(const char *pattern, struct str text)
{
	uint64_t steps = 1000000;
	struct err err = ERR_INIT;
	struct regex *r;
	int rc;

	if (regex_new(str_of(pattern), &r, &err) < 0)
		fail_msg("%s: %s", pattern, err.msg);
	rc = regex_search(r, text, &steps);
	regex_free(r);
	return rc;
}

struct row {
	const char *pattern, *text;
	int found;
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (found(rows[i].pattern, str_of(rows[i].text)) !=
		    rows[i].found)
			fail_msg("%s on %s", rows[i].pattern, rows[i].text);
}

TEST(search, classes, are_those_of_ecma_262)
{
	static const struct row rows[] = {
		{"^\\d$", "7", 1},
		{"^\\d$", "\u09ea", 0}, /* a digit of Bengali */
		{"^\\D$", "\u09ea", 1},
		{"^\\w$", "\u00e9", 0},
		{"^\\W$", "\u00e9", 1},
		{"^[\\w]$", "\u00e9", 0},
		{"^\\s$", "\u00a0", 1},
		{"^\\s$", "\ufeff", 1},
		{"^[\\s]$", "\u2003", 1},
		{"^\\S$", "\u2029", 0},
		{"^\\S$", "x", 1},
		{"^[^\\s]$", "\u2003", 0},
		{"^.$", "\u2028", 0},
		{"^.$", "\r", 0},
		{"^.$", "\U0001f432", 1},
		{"^[\\s\\S]$", "\n", 1},
		{"^[^]$", "\n", 1},
		{"[]", "x", 0},
		{"^[[]$", "[", 1},
		{"^[\\w-.]+$", "a-.", 1},
		{"^[\\w-]+$", "a-", 1},
		{"^[\\s-z]$", "y", 0},
		{"^[[:alpha:]]$", ":]", 1},
	};

	check(rows, ARRAY_LEN(rows));
}

TEST(search, anchors, whole_text_only)
{
	static const struct row rows[] = {
		{"^abc$", "abc\n", 0},	 {"^abc$", "x\nabc", 0},
		{"b", "abc", 1},	 {"", "", 1},
		{"\\bx\\b", "a x b", 1}, {"\\bx\\b", "axb", 0},
	};

	check(rows, ARRAY_LEN(rows));
}

TEST(search, escapes, are_those_of_ecma_262)
{
	static const struct row rows[] = {
		{"^\\cA$", "\x01", 1},
		{"^\\cc$", "\x03", 1},
		{"^\\x41\\u0042\\u{43}$", "ABC", 1},
		{"^\\ud83d\\udc32$", "\U0001f432", 1},
		{"^[\\ud83d\\udc32]$", "\U0001f432", 1},
		{"^\\v\\f\\t$", "\v\f\t", 1},
		{"^[\\b]$", "\b", 1},
		{"^\\/\\-\\.\\_$", "/-._", 1},
		{"^(?<q>['\"])x\\k<q>$", "'x'", 1},
		{"^(a)\\1$", "aa", 1},
		{"^(?:(a)|b)\\1$", "b", 1}, /* a group without match is "" */
		{"^\\p{L}\\p{Lu}\\P{Letter}$", "xX1", 1},
		{"^\\p{Script=Greek}$", "\u03b1", 1},
		{"^\\p{General_Category=Decimal_Number}$", "\u09ea", 1},
		{"^[\\p{Letter}-]$", "-", 1},
		{"^a{,2}$", "a{,2}", 1},
		{"^a{2,3}?b{$", "aaab{", 1},
	};

	check(rows, ARRAY_LEN(rows));
}

TEST(search, nul_and_long_text, found)
{
	assert_int_equal(found("^a\\0b$", (struct str){"a\0b", 3}), 1);
	assert_int_equal(found("b", (struct str){"a\0b", 3}), 1);
	assert_int_equal(found("^$", (struct str){NULL, 0}), 1);
}

TEST(new, not_ecma_262, refused)
{
	static const char *const bad[] = {
		"(",
		")",
		"[a",
		"a**",
		"a++",
		"*a",
		"^*",
		"a{2}{3}",
		"\\",
		"\\A",
		"\\Z",
		"\\R",
		"\\K",
		"\\Qa\\E",
		"(?i)a",
		"(?>a)",
		"(?P<n>a)",
		"(*UTF8)a",
		"(?R)",
		"(?#c)",
		"\\u12",
		"\\u{110000}",
		"\\u{}",
		"\\x4",
		"\\c1",
		"\\01",
		"\\p{",
		"\\pL",
		"\\p{Nope}",
		"\\2",
		"\\k<n>",
		"[\\1]",
		"[b-a]",
		"a{3,2}",
		"(?<n>a)(?<n>b)",
		"\\ud800",
		"\\p{^L}",
		"[\\B]",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;
		struct regex *r;

		if (regex_new(str_of(bad[i]), &r, &err) == 0)
			fail_msg("compiled: %s", bad[i]);
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_true(err.msg[0]);
	}
}

TEST(new, too_long, limit)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct regex *r;

	for (int i = 0; i < LIMIT_REGEX_BYTES; i++)
		buf_addc(&text, 'a');
	assert_int_equal(regex_new(buf_str(&text), &r, &err), 0);
	regex_free(r);
	buf_addc(&text, 'a');
	assert_int_equal(regex_new(buf_str(&text), &r, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_release(&text);
}

/* Each would take longer than anybody waits. */
TEST(search, catastrophic, steps_run_out)
{
	static const char *const bad[] = {
		"^(a+)+$",	   "^(a|a)*$",		 "^(.*a){20}$",
		"(x+x+)+y|(a*)*b", "(a?){40}a{40}(b|c)", "^(a|aa)+$",
		"[a-z]+\\d",
	};
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 100000; i++)
		buf_addc(&text, 'a');
	buf_addc(&text, '!');
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (found(bad[i], buf_str(&text)) != -1)
			fail_msg("%s has a verdict", bad[i]);
	buf_release(&text);
}

TEST(search, long_text, a_plain_pattern_is_cheap)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 10 * 1024 * 1024; i++)
		buf_addc(&text, 'a');
	assert_int_equal(found("^[A-Za-z0-9+/]*={0,2}$", buf_str(&text)), 1);
	assert_int_equal(found("^https?://", buf_str(&text)), 0);
	buf_release(&text);
}
