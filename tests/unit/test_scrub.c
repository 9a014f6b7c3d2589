#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/secret/scrub.h"

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

static void apply__plain__stars(void **state)
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

static void add__short_value__is_refused(void **state)
{
	struct fixture *f = *state;

	assert_false(scrub_add(f->scrub, STR("12345")));
	assert_true(scrub_is_empty(f->scrub));
	assert_string_equal(apply(f, "12345"), "12345");
	assert_true(scrub_add(f->scrub, STR("123456")));
	assert_false(scrub_is_empty(f->scrub));
	assert_string_equal(apply(f, "123456"), "***");
}

static void apply__no_set__copies(void **state)
{
	struct fixture *f = *state;

	assert_true(scrub_is_empty(NULL));
	assert_int_equal(scrub_apply(NULL, STR("abc"), &f->out), 0);
	assert_string_equal(buf_cstr(&f->out), "abc");
	assert_false(scrub_finds(NULL, STR("abc")));
}

static void apply__json_escapes__stars(void **state)
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

static void apply__percent__stars(void **state)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("a/b c?d=e"));
	assert_string_equal(apply(f, "x=a%2Fb%20c%3Fd%3De&"), "x=***&");
	assert_string_equal(apply(f, "x=a%2fb%20c%3fd%3de&"), "x=***&");
	assert_string_equal(apply(f, "x=a%2fb+c%3fd%3de&"), "x=***&");
	assert_string_equal(apply(f, "%61%2f%62%20%63%3f%64%3D%65"), "***");
	assert_string_equal(apply(f, "a%2fb%21c"), "a%2fb%21c");
}

static void apply__value_with_percent__stars(void **state)
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

static void apply__base64__all_alignments(void **state)
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

static void apply__base64_escaped_and_wrapped__stars(void **state)
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

static void apply__overlap__nothing_is_left(void **state)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("abcdefgh"));
	scrub_add(f->scrub, STR("ghijklmn"));
	scrub_add(f->scrub, STR("abcdefghij"));
	assert_string_equal(apply(f, "<abcdefghijklmn>"), "<***>");
	assert_string_equal(apply(f, "<abcdefghi>"), "<***i>");
	assert_string_equal(apply(f, "<abcdefabcdefgh>"), "<abcdef***>");
}

static void apply__bytes__nul_and_invalid_utf8(void **state)
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

static void json__escape_before_value__stays_valid(void **state)
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

static void json__backslash_at_the_end__stays_valid(void **state)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("abcdef\\"));
	assert_string_equal(apply_json(f, "[\"abcdef\\\"\",\"abcdef\\\\\"]"),
			    "[\"abcdef\\\"\",\"***\"]");
}

static void json__number__becomes_a_string(void **state)
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

static void json__value_is_json__becomes_a_string(void **state)
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

static void json__value_over_strings__nothing_is_left(void **state)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("alpha\",\"omega"));
	assert_string_equal(apply_json(f, "[\"alpha\",\"omega\"]"), "\"***\"");
	assert_string_equal(apply_json(f, "[\"alpha\",\"omicron\"]"),
			    "[\"alpha\",\"omicron\"]");
}

static void json__untouched__byte_for_byte(void **state)
{
	struct fixture *f = *state;
	const char *text = " { \"k\" : [ 1.50e+3 , \"\\u0000\\ud83d\\ude00\" "
			   ", true , null ] , \"k\" : \"\xc3\xa9\" } ";

	scrub_add(f->scrub, STR("nothing of it"));
	assert_string_equal(apply_json(f, text), text);
	assert_int_equal(f->hits, 0);
}

/* Cut at every byte, the same comes out. */
static void stream__every_cut__as_in_one_piece(void **state)
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

static void stream__byte_by_byte__holds_little(void **state)
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

static void stream__no_set__passes_on(void **state)
{
	struct fixture *f = *state;
	struct scrub_stream st;

	scrub_stream_init(&st, NULL);
	scrub_stream_feed(&st, STR("abc"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "abc");
	scrub_stream_end(&st, &f->out);
}

static void finds__each_form__true(void **state)
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

static void mark__beginning_of_a_value__stars(void **state)
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

static void cut__beginning_of_a_value_at_the_end__stars(void **state)
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

static void stream_cut__beginning_of_a_value__stars(void **state)
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
static void stream__hostile_text__is_passed_on(void **state)
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

static void apply__behind_many_backslashes__stars(void **state)
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
static void stream__long_value_in_bytes__is_held_and_found(void **state)
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

static void apply__base64__two_line_breaks_at_most(void **state)
{
	struct fixture *f = *state;

	scrub_add(f->scrub, STR("s3cret"));
	assert_string_equal(apply(f, "czNj\r\ncmV0"), "***");
	assert_string_equal(apply(f, "c\nz\n\nN\nj\ncmV0"), "***");
	assert_string_equal(apply(f, "czNj\n\n\ncmV0"), "czNj\n\n\ncmV0");
}

static void log_filter__line__is_scrubbed(void **state)
{
	struct fixture *f = *state;
	struct buf line = BUF_INIT(BUF_UNBOUNDED);

	scrub_add(f->scrub, STR("token/1"));
	buf_adds(&line, "using token/1 now");
	scrub_log_filter(&line, f->scrub);
	assert_string_equal(buf_cstr(&line), "using *** now");
	buf_release(&line);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(apply__plain__stars),
		TEST(add__short_value__is_refused),
		TEST(apply__no_set__copies),
		TEST(apply__json_escapes__stars),
		TEST(apply__percent__stars),
		TEST(apply__value_with_percent__stars),
		TEST(apply__base64__all_alignments),
		TEST(apply__base64_escaped_and_wrapped__stars),
		TEST(apply__overlap__nothing_is_left),
		TEST(apply__bytes__nul_and_invalid_utf8),
		TEST(json__escape_before_value__stays_valid),
		TEST(json__backslash_at_the_end__stays_valid),
		TEST(json__number__becomes_a_string),
		TEST(json__value_is_json__becomes_a_string),
		TEST(json__value_over_strings__nothing_is_left),
		TEST(json__untouched__byte_for_byte),
		TEST(stream__every_cut__as_in_one_piece),
		TEST(stream__byte_by_byte__holds_little),
		TEST(stream__no_set__passes_on),
		TEST(finds__each_form__true),
		TEST(mark__beginning_of_a_value__stars),
		TEST(cut__beginning_of_a_value_at_the_end__stars),
		TEST(stream_cut__beginning_of_a_value__stars),
		TEST(stream__hostile_text__is_passed_on),
		TEST(apply__behind_many_backslashes__stars),
		TEST(stream__long_value_in_bytes__is_held_and_found),
		TEST(apply__base64__two_line_breaks_at_most),
		TEST(log_filter__line__is_scrubbed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
