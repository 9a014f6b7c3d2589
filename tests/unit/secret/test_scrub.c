#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/secret/scrub.h"
#include "tests/unit/secret/scrub_naive.h"

struct fixture {
	struct scrub *scrub;
	struct buf out;
	size_t hits;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.scrub = scrub_new(),
			     .out = BUF_INIT(BUF_UNBOUNDED)};
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	scrub_free(f->scrub);
	buf_release(&f->out);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static const char *apply(struct fixture *f, const char *text)
{
	buf_clear(&f->out);
	f->hits = scrub_apply(f->scrub, str_of(text), &f->out);
	return buf_cstr(&f->out);
}

/* What comes out of a valid document is a valid document. */
static const char *apply_json(struct fixture *f, const char *text)
{
	struct err err = ERR_INIT;
	struct str value;

	buf_clear(&f->out);
	f->hits = scrub_json(f->scrub, str_of(text), &f->out);
	if (scan_document(buf_str(&f->out), NULL, &value, &err) < 0)
		fail_msg("%s: %s", err.msg, buf_cstr(&f->out));
	return buf_cstr(&f->out);
}

TEST_IN(fixture, apply, value_as_it_is, becomes_stars)
{
	struct fixture *f = *state;

	assert_true(scrub_add(f->scrub, STR("s3cret!")));
	assert_string_equal(apply(f, "a s3cret! b s3cret!"), "a *** b ***");
	assert_int_equal(f->hits, 2);
	assert_string_equal(apply(f, "a s3cret b"), "a s3cret b");
	assert_int_equal(f->hits, 0);
	assert_string_equal(apply(f, ""), "");
	assert_string_equal(apply(f, "s3cret!"), "***");
}

/* Longer than what the readings go on by, so that they part and meet again. */
TEST_IN(fixture, apply, forms_far_apart, each_form_is_found)
{
	static const struct {
		const char *lead;
		int digits;
		const char *end;
	} forms[] = {{"\\u", 4, ""},
		     {"%", 2, ""},
		     {"&#x", 2, ";"},
		     {"\\x", 2, ""},
		     {"\\\\u", 4, ""}};
	static const char value[] = "abc%d&e\\f+g";
	struct fixture *f = *state;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t due = 0;

	assert_true(scrub_add(f->scrub, str_of(value)));
	for (size_t k = 0; k < 2 * ARRAY_LEN(forms); k++)
		for (size_t i = 0; i < 90; i++, due++) {
			size_t form = k % ARRAY_LEN(forms);

			buf_addf(&text, "%*s", 997, "");
			for (const char *c = value; *c; c++)
				buf_addf(&text, "%s%0*x%s", forms[form].lead,
					 forms[form].digits, (unsigned)*c,
					 forms[form].end);
		}
	(void)apply(f, buf_cstr(&text));
	assert_int_equal(f->hits, due);
	assert_int_equal(f->out.n, due * (997 + strlen("***")));
	buf_release(&text);
}

/* ---- within another ---- */

TEST_IN(fixture, set_within_another, knows_all_of_its_base,
	and_gives_nothing_back)
{
	struct fixture *f = *state;
	struct scrub *base = f->scrub, *w;
	const char *const values[] = {"secret-one", "secret-two", "secret",
				      "other-value", "secret-one-and-more"};

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_true(scrub_add(base, str_of(values[i])));
	w = scrub_new_within(base);
	assert_true(scrub_add(w, STR("chosen-by-peer")));
	assert_true(scrub_add(base, STR("added-later")));
	assert_string_equal(apply(f, "chosen-by-peer added-later"),
			    "chosen-by-peer ***");
	f->scrub = w;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_string_equal(apply(f, values[i]), "***");
	assert_string_equal(apply(f, "chosen-by-peer added-later secrex"),
			    "*** *** secrex");
	f->scrub = base;
	scrub_free(w);
	assert_true(scrub_add(base, STR("after-its-end")));
}

TEST_IN(fixture, set_within_another, for_the_log, has_the_values_of_all)
{
	struct fixture *f = *state;
	struct scrub *a = scrub_new_within(f->scrub);
	struct scrub *b = scrub_new_within(f->scrub);
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	(void)scrub_add(a, STR("of-the-first"));
	(void)scrub_add(b, STR("of-the-second"));
	buf_adds(&line, "of-the-first of-the-second");
	scrub_log_filter(&line, f->scrub);
	assert_string_equal(buf_cstr(&line), "*** ***");
	scrub_free(a);
	scrub_free(f->scrub);
	scrub_free(b);
	f->scrub = NULL;
}

TEST_IN(fixture, add, short_value, is_refused)
{
	struct fixture *f = *state;

	assert_false(scrub_add(f->scrub, STR("12345")));
	assert_true(scrub_is_empty(f->scrub));
	assert_string_equal(apply(f, "12345"), "12345");
	assert_true(scrub_add(f->scrub, STR("123456")));
	assert_false(scrub_is_empty(f->scrub));
	assert_string_equal(apply(f, "123456"), "***");
}

TEST_IN(fixture, apply, no_set, text_is_copied)
{
	struct fixture *f = *state;

	assert_true(scrub_is_empty(NULL));
	assert_int_equal(scrub_apply(NULL, STR("abc"), &f->out), 0);
	assert_string_equal(buf_cstr(&f->out), "abc");
	assert_false(scrub_finds(NULL, STR("abc")));
}

TEST_IN(fixture, apply, value_in_json_escapes, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("pa/ss\"w\\d\nx\xc3\xa9\xf0\x9f\x98\x80"));
	assert_string_equal(apply(f, "\"pa/ss\\\"w\\\\d\\nx\xc3\xa9"
				     "\xf0\x9f\x98\x80\""),
			    "\"***\"");
	assert_string_equal(apply(f, "\"pa\\/ss\\\"w\\\\d\\u000ax\\u00e9"
				     "\\ud83d\\ude00\""),
			    "\"***\"");
	assert_string_equal(apply(f, "\"\\u0070\\u0061\\u002F\\u0073s\\u0022"
				     "w\\u005Cd\\u000Ax\\u00E9\\uD83D\\uDE00"),
			    "\"***");
	/* quoted twice: JSON text inside a JSON string */
	assert_string_equal(apply(f, "pa/ss\\\\\\\"w\\\\\\\\d\\\\nx\xc3\xa9"
				     "\xf0\x9f\x98\x80"),
			    "***");
	assert_string_equal(apply(f, "pa\\\\/ss\\\\\\\"w\\\\\\\\d\\\\u000Ax"
				     "\\\\u00e9\\\\ud83d\\u005cude00"),
			    "***");
	/* one character off is another text */
	assert_string_equal(apply(f, "pa\\/ss\\\"w\\\\d\\u000bx\\u00e9"),
			    "pa\\/ss\\\"w\\\\d\\u000bx\\u00e9");
}

TEST_IN(fixture, apply, value_in_percent_escapes, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("a/b c?d=e"));
	assert_string_equal(apply(f, "x=a%2Fb%20c%3Fd%3De&"), "x=***&");
	assert_string_equal(apply(f, "x=a%2fb%20c%3fd%3de&"), "x=***&");
	assert_string_equal(apply(f, "x=a%2fb+c%3fd%3de&"), "x=***&");
	assert_string_equal(apply(f, "%61%2f%62%20%63%3f%64%3D%65"), "***");
	assert_string_equal(apply(f, "a%2fb%21c"), "a%2fb%21c");
}

TEST_IN(fixture, apply, value_with_percent, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("50%41off\\n"));
	assert_string_equal(apply(f, "<50%41off\\n>"), "<***>");
	assert_string_equal(apply(f, "<50%2541off%5Cn>"), "<***>");
	assert_string_equal(apply(f, "<50%41off\\\\n>"), "<***>");
	assert_string_equal(apply(f, "<50%2541off\\u005cn>"), "<***>");
}

/* RFC 4648, written out independently of the code under test */
static void encode(const char *in, size_t n, const char *alphabet,
		   struct buf *out)
{
	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned char)in[i] << 16;

		v |= i + 1 < n ? (unsigned char)in[i + 1] << 8 : 0;
		v |= i + 2 < n ? (unsigned char)in[i + 2] : 0;
		buf_addc(out, alphabet[v >> 18]);
		buf_addc(out, alphabet[v >> 12 & 63]);
		buf_addc(out, i + 1 < n ? alphabet[v >> 6 & 63] : '=');
		buf_addc(out, i + 2 < n ? alphabet[v & 63] : '=');
	}
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static void check_base64(struct fixture *f, const char *alphabet,
			 const char *before, struct str value,
			 const char *after)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct buf code = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&text, before);
	buf_add_str(&text, value);
	buf_adds(&text, after);
	encode(text.p, text.n, alphabet, &code);
	apply(f, code.p);
	if (f->hits != 1)
		fail_msg("%s stays %s", code.p, buf_cstr(&f->out));
	/* what is left is less than two bytes on each side can tell */
	assert_true(f->out.n <=
		    strlen(before) / 3 * 4 + 4 + 3 + strlen(after) / 3 * 4 + 8);
	buf_release(&text);
	buf_release(&code);
}

TEST_IN(fixture, apply, value_in_base64, is_found_at_each_alignment)
{
	struct fixture *f = *state;
	static const char *const before[] = {"", "u", "us", "usr", "user:"};
	static const char *const after[] = {"", "x", "xy", "xyz"};
	static const char *const values[] = {
		"s3cret", "s3cret!", "\xff\xfe\xfb\xef\xbe\xff~?>", "12345678"};

	for (size_t v = 0; v < ARRAY_LEN(values); v++)
		scrub_add(f->scrub, str_of(values[v]));
	for (size_t v = 0; v < ARRAY_LEN(values); v++)
		for (size_t b = 0; b < ARRAY_LEN(before); b++)
			for (size_t a = 0; a < ARRAY_LEN(after); a++) {
				check_base64(f, LETTERS "+/", before[b],
					     str_of(values[v]), after[a]);
				check_base64(f, LETTERS "-_", before[b],
					     str_of(values[v]), after[a]);
			}
}

TEST_IN(fixture, apply, base64_escaped_and_wrapped, becomes_stars)
{
	struct fixture *f = *state;

	/* //79++++/w== */
	scrub_add(f->scrub, STR("\xff\xfe\xfd\xfb\xef\xbe\xff"));
	assert_string_equal(apply(f, "//79++++/w=="), "***w==");
	assert_string_equal(apply(f, "\\/\\/79++++\\/w=="), "***w==");
	assert_string_equal(apply(f, "%2F%2F79%2B%2B%2B%2B%2Fw%3D%3D"),
			    "***w%3D%3D");
	assert_string_equal(apply(f, "//79\n++++\r\n/w=="), "***w==");
}

TEST_IN(fixture, apply, overlapping_values, leave_nothing_behind)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("abcdefgh"));
	scrub_add(f->scrub, STR("ghijklmn"));
	scrub_add(f->scrub, STR("abcdefghij"));
	assert_string_equal(apply(f, "<abcdefghijklmn>"), "<***>");
	assert_string_equal(apply(f, "<abcdefghi>"), "<***i>");
	assert_string_equal(apply(f, "<abcdefabcdefgh>"), "<abcdef***>");
}

TEST_IN(fixture, apply, nul_and_invalid_utf8, are_found)
{
	struct fixture *f = *state;
	const char text[] = "\0\xff\xfetoken-1\0\xc3";

	scrub_add(f->scrub, STR("token-1"));
	f->hits = scrub_apply(f->scrub, (struct str){text, sizeof(text) - 1},
			      &f->out);
	assert_int_equal(f->hits, 1);
	assert_int_equal(f->out.n, 8);
	assert_memory_equal(f->out.p, "\0\xff\xfe***\0\xc3", 8);
}

TEST_IN(fixture, json, escape_before_value, stays_valid)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("nabcdef"));
	/* \n and abcdef: the value is not there */
	assert_string_equal(apply_json(f, "\"\\nabcdef\""), "\"\\nabcdef\"");
	assert_int_equal(f->hits, 0);
	assert_string_equal(apply_json(f, "\"\\\\nabcdef\""), "\"\\\\***\"");
	assert_int_equal(f->hits, 1);
	/* as plain bytes it is there */
	assert_string_equal(apply(f, "\\nabcdef"), "\\***");
}

TEST_IN(fixture, json, backslash_at_the_end, stays_valid)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("abcdef\\"));
	assert_string_equal(apply_json(f, "[\"abcdef\\\"\",\"abcdef\\\\\"]"),
			    "[\"abcdef\\\"\",\"***\"]");
}

TEST_IN(fixture, json, number, becomes_a_string)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("123456789"));
	assert_string_equal(
		apply_json(f, "{\"a\":91234567890,\"b\":-123456789.5,"
			      "\"c\":12345678,\"123456789\":\"n123456789\"}"),
		"{\"a\":\"***\",\"b\":\"***\",\"c\":12345678,"
		"\"***\":\"n***\"}");
	assert_int_equal(f->hits, 4);
}

TEST_IN(fixture, json, value_is_json, becomes_a_string)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("{\"type\":\"key\",\"id\":[1,2]}"));
	assert_string_equal(
		apply_json(f, "[{\"type\":\"key\",\"id\":[1,2]},3]"),
		"[\"***\",3]");
	assert_string_equal(
		apply_json(f, "[\"{\\\"type\\\":\\\"key\\\",\\\"id\\\":"
			      "[1,2]}\",3]"),
		"[\"***\",3]");
}

TEST_IN(fixture, json, value_over_strings, leaves_nothing_behind)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("alpha\",\"omega"));
	assert_string_equal(apply_json(f, "[\"alpha\",\"omega\"]"), "\"***\"");
	assert_string_equal(apply_json(f, "[\"alpha\",\"omicron\"]"),
			    "[\"alpha\",\"omicron\"]");
}

TEST_IN(fixture, json, text_without_values, stays_byte_for_byte)
{
	struct fixture *f = *state;
	const char *text = " { \"k\" : [ 1.50e+3 , \"\\u0000\\ud83d\\ude00\" "
			   ", true , null ] , \"k\" : \"\xc3\xa9\" } ";

	scrub_add(f->scrub, STR("nothing of it"));
	assert_string_equal(apply_json(f, text), text);
	assert_int_equal(f->hits, 0);
}

/* Cut at every byte, the same comes out. */
TEST_IN(fixture, stream, every_cut, gives_what_one_piece_gives)
{
	struct fixture *f = *state;
	const char *text = "x token-1/2 y tok%65n-1%2F2 \\u0074oken-1\\/2 "
			   "dG9rZW4tMS8y token-1 token-1/2token-1/";
	struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	size_t hits, n = strlen(text);

	scrub_add(f->scrub, STR("token-1/2"));
	hits = scrub_apply(f->scrub, str_of(text), &whole);
	assert_int_equal(hits, 5);
	assert_string_equal(buf_cstr(&whole),
			    "x *** y *** *** *** token-1 ***token-1/");
	for (size_t a = 0; a <= n; a++) {
		for (size_t b = a; b <= n; b += 7) {
			struct scrub_stream st;

			buf_clear(&f->out);
			scrub_stream_init(&st, f->scrub);
			scrub_stream_feed(&st, (struct str){text, a}, &f->out);
			scrub_stream_feed(&st, (struct str){text + a, b - a},
					  &f->out);
			scrub_stream_feed(&st, str_of(text + b), &f->out);
			scrub_stream_end(&st, &f->out);
			assert_string_equal(buf_cstr(&f->out), whole.p);
			assert_int_equal(st.hits, hits);
		}
	}
	buf_release(&whole);
}

TEST_IN(fixture, stream, byte_by_byte, holds_little_back)
{
	struct fixture *f = *state;
	struct scrub_stream st;

	scrub_add(f->scrub, STR("password"));
	scrub_stream_init(&st, f->scrub);
	scrub_stream_feed(&st, STR("the pass"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "the ");
	scrub_stream_feed(&st, STR("age"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "the passage");
	scrub_stream_feed(&st, STR(" passwor"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "the passage ");
	scrub_stream_feed(&st, STR("d"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "the passage ***");
	scrub_stream_feed(&st, STR("pass"), &f->out);
	scrub_stream_end(&st, &f->out);
	assert_string_equal(buf_cstr(&f->out), "the passage ***pass");
	/* released in the middle: nothing is given, nothing leaks */
	scrub_stream_init(&st, f->scrub);
	scrub_stream_feed(&st, STR("pass"), &f->out);
	scrub_stream_release(&st);
}

TEST_IN(fixture, stream, without_a_set, passes_everything_on)
{
	struct fixture *f = *state;
	struct scrub_stream st;

	scrub_stream_init(&st, NULL);
	scrub_stream_feed(&st, STR("abc"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "abc");
	scrub_stream_end(&st, &f->out);
}

TEST_IN(fixture, finds, value_in_each_form, is_found)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("token/1"));
	assert_true(scrub_finds(f->scrub, STR("a token/1")));
	assert_true(scrub_finds(f->scrub, STR("a token\\/1")));
	assert_true(scrub_finds(f->scrub, STR("a token%2f1")));
	assert_true(scrub_finds(f->scrub, STR("dG9rZW4vMQ==")));
	assert_false(scrub_finds(f->scrub, STR("a token 1")));
	assert_false(scrub_finds(f->scrub, STR("a token/")));
}

static const char *cut(struct fixture *f, const char *text)
{
	buf_clear(&f->out);
	f->hits = scrub_cut(f->scrub, str_of(text), &f->out);
	return buf_cstr(&f->out);
}

TEST_IN(fixture, mark, beginning_of_a_value, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret/t\xc3\xb6k en"));
	/* at every place a value can be cut, in every form */
	assert_string_equal(apply(f, "<s3cret…>"), "<***…>");
	assert_string_equal(apply(f, "<s3cret/t\xc3\xb6k e…"), "<***…");
	assert_string_equal(apply(f, "s3cret\\/t\\u00f6k…"), "***…");
	assert_string_equal(apply(f, "s3cret%2Ft%C3%B6k+e…"), "***…");
	assert_string_equal(apply(f, "czNjcmV0L3TD…"), "***…");
	/* also within an escape */
	assert_string_equal(apply(f, "s3cret%2…"), "***…");
	assert_string_equal(apply(f, "s3cret%…"), "***…");
	assert_string_equal(apply(f, "s3cret\\…"), "***…");
	assert_string_equal(apply(f, "s3cret/t\\u00…"), "***…");
	assert_string_equal(apply(f, "s3cret/t\\\\u00f…"), "***…");
	/* too little to know, or no mark, or more than the beginning */
	assert_string_equal(apply(f, "s3cre…"), "s3cre…");
	assert_string_equal(apply(f, "s3cret/t"), "s3cret/t");
	assert_string_equal(apply(f, "s3cret/ …"), "s3cret/ …");
	assert_string_equal(apply(f, "s3cret/t\xe2\x80"), "s3cret/t\xe2\x80");
	/* a line break behind the mark changes nothing */
	assert_string_equal(apply(f, "a s3cret/…\nb"), "a ***…\nb");
	assert_string_equal(apply_json(f, "[\"s3cret…\",\"s3cret\"]"),
			    "[\"***…\",\"s3cret\"]");
	assert_string_equal(apply_json(f, "\"s3cret\\/\\u2026\""),
			    "\"***\\u2026\"");
}

TEST_IN(fixture, cut, beginning_of_a_value_at_the_end, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret/token"));
	assert_string_equal(cut(f, "a s3cret/toke"), "a ***");
	assert_string_equal(cut(f, "a s3cret"), "a ***");
	assert_int_equal(f->hits, 1);
	assert_string_equal(cut(f, "a s3cret%2"), "a ***");
	assert_string_equal(cut(f, "a s3cret\\"), "a ***");
	assert_string_equal(cut(f, "a s3cret/\xe2\x80"), "a ***");
	assert_string_equal(cut(f, "a s3cre"), "a s3cre");
	assert_string_equal(cut(f, "a s3cret b"), "a s3cret b");
	assert_string_equal(cut(f, "s3cret/token s3cret"), "*** ***");
	assert_int_equal(f->hits, 2);
}

TEST_IN(fixture, stream_cut, beginning_of_a_value, becomes_stars)
{
	struct fixture *f = *state;
	struct scrub_stream st;

	scrub_add(f->scrub, STR("s3cret/token"));
	scrub_stream_init(&st, f->scrub);
	scrub_stream_feed(&st, STR("a s3cr"), &f->out);
	scrub_stream_feed(&st, STR("et/t"), &f->out);
	scrub_stream_cut(&st, &f->out);
	assert_string_equal(buf_cstr(&f->out), "a ***");
	assert_int_equal(st.hits, 1);
}

/* Every text that makes a careless reader wait or look again and again. */
TEST_IN(fixture, stream, hostile_text, is_passed_on)
{
	static const char *const pieces[] = {
		"\n", /* between characters of base64 */
		"\r\n",
		"\\n",
		"\\",
		"\\\\u005c",
		"\\u005c",
		"\\u00",
		"\\\\u00\xc3\xa9",
		"\\ud800",
		"%5",
		"%",
		"czN\n",
		"s3cre",
		"s3cret\\",
		"s3cret%",
		"\xe2\x80",
		"s3cret/\xe2",
	};
	enum { TIMES = 20000, LONGEST = 12 * 12 * 6 };
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret/token"));
	scrub_add(f->scrub, STR("\\\\server\\share"));
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		size_t n = strlen("czN") + TIMES * strlen(pieces[i]);
		struct scrub_stream st;

		buf_clear(&f->out);
		scrub_stream_init(&st, f->scrub);
		scrub_stream_feed(&st, STR("czN"), &f->out);
		for (size_t k = 0; k < TIMES; k++) {
			scrub_stream_feed(&st, str_of(pieces[i]), &f->out);
			if (st.held.n > LONGEST)
				fail_msg("%s: %zu bytes are held", pieces[i],
					 st.held.n);
		}
		scrub_stream_end(&st, &f->out);
		assert_int_equal(f->out.n, n);
	}
}

TEST_IN(fixture, apply, value_behind_many_backslashes, becomes_stars)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	scrub_add(f->scrub, STR("\\\\server\\share"));
	scrub_add(f->scrub, STR("\n\nsecret"));
	for (size_t n = 1; n < 300; n++) {
		buf_addc(&text, '\\');
		buf_adds(&text, "\\\\server\\share");
		assert_null(strstr(apply(f, text.p), "server"));
		assert_int_equal(f->hits, 1);
		text.n -= strlen("\\\\server\\share");
		buf_adds(&text, "\\n\\nsecret");
		apply(f, text.p);
		assert_int_equal(f->hits, 1);
		text.n -= strlen("\\n\\nsecret");
	}
	/* a value of nothing else */
	scrub_add(f->scrub, STR("\\\\\\\\\\\\"));
	apply(f, buf_cstr(&text));
	assert_true(f->hits > 0);
	buf_release(&text);
}

/* A long value byte by byte: held, but not read again for each of them. */
TEST_IN(fixture, stream, long_value_in_bytes, is_held_and_found)
{
	struct fixture *f = *state;
	struct buf value = BUF_INIT(BUF_UNBOUNDED);
	struct scrub_stream st;

	for (unsigned i = 0; value.n < LIMIT_SECRET_BYTES; i++)
		buf_addf(&value, "%u,", i * 2654435761u);
	scrub_add(f->scrub, buf_str(&value));
	scrub_stream_init(&st, f->scrub);
	for (size_t i = 0; i < value.n; i++)
		scrub_stream_feed(&st, (struct str){value.p + i, 1}, &f->out);
	scrub_stream_feed(&st, STR("behind"), &f->out);
	scrub_stream_end(&st, &f->out);
	assert_string_equal(buf_cstr(&f->out), "***behind");
	buf_release(&value);
}

TEST_IN(fixture, apply, value_in_base64, may_be_broken_by_two_line_ends)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret"));
	assert_string_equal(apply(f, "czNj\r\ncmV0"), "***");
	assert_string_equal(apply(f, "c\nz\n\nN\nj\ncmV0"), "***");
	assert_string_equal(apply(f, "czNj\n\n\ncmV0"), "czNj\n\n\ncmV0");
}

/* ---- forms beside JSON, percent and Base64 ---- */

TEST_IN(fixture, apply, value_in_hex, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret/token"));
	assert_string_equal(apply(f, "<7333637265742f746f6b656e>"), "<***>");
	assert_string_equal(apply(f, "<7333637265742F746F6B656E>"), "<***>");
	assert_string_equal(apply(f, "07333637265742F746f6B656E0"), "0***0");
	assert_string_equal(apply(f, "7333637265742f746f\n6b656e"), "***");
	assert_string_equal(apply(f, "<7333637265742f746f6b656f>"),
			    "<7333637265742f746f6b656f>");
}

TEST_IN(fixture, apply, value_in_backslash_x_escapes, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret/t\xc3\xb6ken"));
	assert_string_equal(apply(f, "b's3cret/t\\xc3\\xb6ken'"), "b'***'");
	assert_string_equal(apply(f, "\\x733cret\\x2Ft\\xC3\\xB6ken"), "***");
	assert_string_equal(apply_json(f, "\"s3cret/t\\\\xc3\\\\xb6ken\""),
			    "\"***\"");
	assert_string_equal(apply(f, "s3cret/t\\xc4\\xb6ken"),
			    "s3cret/t\\xc4\\xb6ken");
}

TEST_IN(fixture, apply, value_in_entities, becomes_stars)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("a<b>&\"c'/d"));
	assert_string_equal(apply(f, "(a&lt;b&gt;&amp;&quot;c&#39;/d)"),
			    "(***)");
	assert_string_equal(apply(f, "(a&#60;b&#x3E;&AMP;&#X22;c&apos;&sol;d)"),
			    "(***)");
	assert_string_equal(apply(f, "(&#97;&#000060;b>&\"c'/d)"), "(***)");
	/* as programs write it in JSON */
	assert_string_equal(
		apply_json(f, "\"a\\u0026lt;b\\u003e\\u0026amp;\\\"c'/d\""),
		"\"***\"");
	assert_string_equal(apply(f, "(a&lt;b&gt;&amp;&quot;c&#40;/d)"),
			    "(a&lt;b&gt;&amp;&quot;c&#40;/d)");
}

TEST_IN(fixture, apply, value_in_base32, is_found_at_each_alignment)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret-9"));
	/* what stands before it and behind it is another byte each time */
	assert_string_equal(apply(f, "OMZWG4TFOQWTS==="), "***S===");
	assert_string_equal(apply(f, "omzwg4tfoqwts==="), "***s===");
	assert_string_equal(apply(f, "PBZTGY3SMV2C2OI="), "PB***I=");
	assert_string_equal(apply(f, "PB4HGM3DOJSXILJZ"), "PB4H***");
	assert_string_equal(apply(f, "PB4HQ4ZTMNZGK5BNHE======"),
			    "PB4HQ***E======");
	assert_string_equal(apply(f, "PB4HQ6DTGNRXEZLUFU4Q===="),
			    "PB4HQ6D***Q====");
	assert_string_equal(apply(f, "PB4HQ6DYOMZWG4TFOQWTS==="),
			    "PB4HQ6DY***S===");
	assert_string_equal(apply(f, "OMZWG4TFOQWTQ==="), "OMZWG4TFOQWTQ===");
}

/* ---- large texts ---- */

static bool twice_more(void *arg)
{
	return (*(int *)arg)-- > 0;
}

/* What asks whether to go on is heard, and what was not read is not given. */
TEST_IN(fixture, patience, of_the_search, ends_with_incomplete_text)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	int left = 2;

	scrub_add(f->scrub, STR("s3cret/token"));
	buf_addc(&text, '"');
	while (text.n < 8u << 20)
		buf_adds(&text, "nothing of it ");
	buf_adds(&text, "s3cret/token\"");
	assert_int_equal(scrub_apply(f->scrub, buf_str(&text), &f->out), 1);
	assert_true(f->out.n > 8u << 20);
	scrub_set_patience(f->scrub, twice_more, &left);
	buf_clear(&f->out);
	assert_true(scrub_apply(f->scrub, buf_str(&text), &f->out) > 0);
	assert_true(f->out.n <= 3u << 20);
	left = 2;
	assert_true(scrub_finds(f->scrub, buf_str(&text)));
	left = 2;
	buf_clear(&f->out);
	scrub_json(f->scrub, buf_str(&text), &f->out);
	assert_true(f->out.n <= 3u << 20);
	assert_true(left < 0);
	/* a short text asks nobody */
	assert_string_equal(apply(f, "a s3cret/token"), "a ***");
	buf_release(&text);
}

/* A value that begins in one JSON string and ends in another, or in none. */
TEST_IN(fixture, json, value_over_bounds, becomes_the_smallest_value_around)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("one\",\"two"));
	scrub_add(f->scrub, STR("[1,2,3,4]"));
	scrub_add(f->scrub, STR("\"k\":9}]"));
	scrub_add(f->scrub, STR("\"whole\""));
	assert_string_equal(
		apply_json(f, "{\"a\":[\"one\",\"two\"],\"b\":[\"three\"]}"),
		"{\"a\":\"***\",\"b\":[\"three\"]}");
	assert_string_equal(apply_json(f, "{\"a\":[1,2,3,4],\"b\":[1,2,3]}"),
			    "{\"a\":\"***\",\"b\":[1,2,3]}");
	assert_string_equal(apply_json(f, "[0,[{\"j\":1},{\"k\":9}],[8]]"),
			    "[0,\"***\",[8]]");
	assert_string_equal(
		apply_json(f, "[{\"whole\":\"whole\"},\"wholesome\"]"),
		"[{\"***\":\"***\"},\"wholesome\"]");
	assert_string_equal(apply_json(f, " [\"one\",\"two\"] "), " \"***\" ");
}

/* ---- against the plain scrubber ---- */

/* Numbers that are the same in each run. */
static unsigned random_below(unsigned n)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void random_value(struct buf *out)
{
	static const char *const sets[] = {"ab", "a\\%&+ ;\"", "nbt0f1\\u",
					   "0123456789abcdef",
					   "s3cret/\xc3\xa9\n -<&>;x"};
	const char *set = sets[random_below(ARRAY_LEN(sets))];

	for (unsigned n = 6 + random_below(20); n; n--)
		buf_addc(out, set[random_below((unsigned)strlen(set))]);
}

static void add_escaped(struct buf *out, unsigned char c, unsigned how)
{
	switch (how) {
	case 0:
		buf_addf(out, "\\u%04x", c);
		break;
	case 1:
		buf_addf(out, "\\x%02X", c);
		break;
	case 2:
		buf_addf(out, "%%%02x", c);
		break;
	case 3:
		buf_addf(out, "&#%u;", c);
		break;
	case 4:
		buf_addf(out, "\\\\u00%02X", c);
		break;
	case 5:
		buf_addf(out, "\\u0026#x%x;", c);
		break;
	default:
		buf_addc(out, (char)c);
	}
}

static void add_in_bits(struct buf *out, struct str value, unsigned bits,
			const char *alphabet)
{
	unsigned have = random_below(bits);
	unsigned long acc = random_below(256);

	for (size_t i = 0; i < value.n; i++) {
		acc = acc << 8 | (unsigned char)value.p[i];
		for (have += 8; have >= bits; have -= bits) {
			buf_addc(out, alphabet[acc >> (have - bits) &
					       ((1u << bits) - 1)]);
			if (!random_below(15))
				buf_adds(out, random_below(2) ? "\n" : "\\n");
		}
	}
	buf_addc(out, alphabet[acc << (bits - have) & ((1u << bits) - 1)]);
}

/* A value in some form, perhaps cut. */
static void add_spelled(struct buf *out, struct str value)
{
	unsigned how = random_below(12);

	if (!random_below(3))
		value.n = random_below((unsigned)value.n + 1);
	if (how == 8)
		add_in_bits(out, value, 6, LETTERS "+_");
	else if (how == 9)
		add_in_bits(out, value, 5, "abcdefghIJKLMNOPQRSTUVWXYZ234567");
	else if (how == 10)
		add_in_bits(out, value, 4, "0123456789aBcDeF");
	else
		for (size_t i = 0; i < value.n; i++)
			add_escaped(out, (unsigned char)value.p[i],
				    how == 11	      ? random_below(9)
				    : random_below(2) ? how
						      : 7);
}

static void random_text(struct buf *out, const struct buf *values, size_t n)
{
	static const char *const between[] = {
		"\\", "\\\\", "%", "%4", "&", "&#", "…", "\\u2026", "\\u00",
		"\n", "\r\n", "a", "b",	 " ", "+",  "n", "\xe2",    "\xe2\x80"};

	for (unsigned k = random_below(12); k; k--) {
		if (random_below(2))
			add_spelled(
				out,
				buf_str(&values[random_below((unsigned)n)]));
		else
			buf_adds(out,
				 between[random_below(ARRAY_LEN(between))]);
	}
}

static void check_split(const struct scrub *s, struct str text, size_t at,
			struct str due, size_t hits)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scrub_stream st;

	scrub_stream_init(&st, s);
	scrub_stream_feed(&st, (struct str){text.p, at}, &out);
	scrub_stream_feed(&st, scrub_behind(text, at), &out);
	scrub_stream_end(&st, &out);
	if (!str_eq(buf_str(&out), due) || st.hits != hits)
		fail_msg("cut at %zu: %.*s\n%s\ndue:\n%.*s", at, STR_ARG(text),
			 buf_cstr(&out), STR_ARG(due));
	buf_release(&out);
}

static void check_bytes(const struct scrub *s, struct str text, struct str due,
			size_t hits)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scrub_stream st;

	if (scrub_finds(s, text) != (hits > 0) ||
	    scrub_apply(s, text, &out) != hits || !str_eq(buf_str(&out), due))
		fail_msg("%.*s\n%s\ndue:\n%.*s", STR_ARG(text), buf_cstr(&out),
			 STR_ARG(due));
	buf_clear(&out);
	scrub_stream_init(&st, s);
	for (size_t i = 0; i < text.n; i++)
		scrub_stream_feed(&st, (struct str){text.p + i, 1}, &out);
	scrub_stream_end(&st, &out);
	if (!str_eq(buf_str(&out), due) || st.hits != hits)
		fail_msg("byte by byte: %.*s\n%s\ndue:\n%.*s", STR_ARG(text),
			 buf_cstr(&out), STR_ARG(due));
	for (size_t i = 1; i < text.n; i++)
		check_split(s, text, i, due, hits);
	buf_release(&out);
}

static void check_one(const struct scrub *s, const struct str *values, size_t n,
		      struct str text)
{
	struct buf due = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct buf document = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str whole;
	size_t hits;

	hits = naive_scrub(s, values, n, text, false, false, &due);
	check_bytes(s, text, buf_str(&due), hits);
	buf_clear(&due);
	hits = naive_scrub(s, values, n, text, false, true, &due);
	if (scrub_cut(s, text, &out) != hits ||
	    !str_eq(buf_str(&out), buf_str(&due)))
		fail_msg("cut: %.*s\n%s\ndue:\n%s", STR_ARG(text),
			 buf_cstr(&out), buf_cstr(&due));
	buf_clear(&due);
	buf_clear(&out);
	buf_addf(&document, "\"%.*s\"", STR_ARG(text));
	if (!s->has_quote &&
	    scan_document(buf_str(&document), NULL, &whole, &err) == 0) {
		buf_addc(&due, '"');
		hits = naive_scrub(s, values, n, text, true, false, &due);
		buf_addc(&due, '"');
		if (scrub_json(s, buf_str(&document), &out) != hits ||
		    !str_eq(buf_str(&out), buf_str(&due)))
			fail_msg("json: %s\n%s\ndue:\n%s", document.p,
				 buf_cstr(&out), buf_cstr(&due));
	}
	buf_release(&due);
	buf_release(&out);
	buf_release(&document);
}

/* In every form, split at every byte: what is found is what is there. */
TEST_IN(fixture, apply, random_text, gives_what_the_plain_scrubber_gives)
{
	enum { ROUNDS = 1500, VALUES = 4 };

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct scrub *s = scrub_new();
		struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct buf values[VALUES];
		struct str strs[VALUES];

		for (size_t i = 0; i < VALUES; i++) {
			values[i] = (struct buf)BUF_INIT(BUF_UNBOUNDED);
			random_value(&values[i]);
			strs[i] = buf_str(&values[i]);
			scrub_add(s, strs[i]);
		}
		random_text(&text, values, VALUES);
		check_one(s, strs, VALUES, buf_str(&text));
		for (size_t i = 0; i < VALUES; i++)
			buf_release(&values[i]);
		buf_release(&text);
		scrub_free(s);
	}
}

TEST_IN(fixture, log_filter, line, is_scrubbed)
{
	struct fixture *f = *state;
	struct buf line = BUF_INIT(BUF_UNBOUNDED);

	scrub_add(f->scrub, STR("token/1"));
	buf_adds(&line, "using token/1 now");
	scrub_log_filter(&line, f->scrub);
	assert_string_equal(buf_cstr(&line), "using *** now");
	buf_release(&line);
}
