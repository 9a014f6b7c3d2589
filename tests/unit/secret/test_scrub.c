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

TEST_IN(fixture, apply, no_set, text_is_copied)
{
	struct fixture *f = *state;

	assert_true(scrub_is_empty(NULL));
	assert_int_equal(scrub_apply(NULL, STR("abc"), &f->out), 0);
	assert_string_equal(buf_cstr(&f->out), "abc");
	assert_false(scrub_finds(NULL, STR("abc")));
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

TEST_IN(fixture, stream, without_a_set, passes_everything_on)
{
	struct fixture *f = *state;
	struct scrub_stream st;

	scrub_stream_init(&st, NULL);
	scrub_stream_feed(&st, STR("abc"), &f->out);
	assert_string_equal(buf_cstr(&f->out), "abc");
	scrub_stream_end(&st, &f->out);
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

/* ---- forms beside JSON, percent and Base64 ---- */

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

/* ---- transcripts ---- */

/* The bytes of a line, in which {0A} is one that cannot stand there. */
static void add_bytes(struct buf *out, const char *text)
{
	unsigned byte;
	int n;

	for (; *text; text++) {
		n = 0;
		if (sscanf(text, "{%2X}%n", &byte, &n) == 1 && n == 4) {
			buf_addc(out, (char)byte);
			text += 3;
		} else
			buf_addc(out, *text);
	}
}

struct play {
	struct fixture f;
	struct scrub_stream st;
	bool is_streaming;
};

/* What comes out of a valid document is a valid document. */
static size_t apply_json(struct fixture *f, struct str text)
{
	size_t hits = scrub_json(f->scrub, text, &f->out);
	struct err err = ERR_INIT;
	struct str value;

	if (scan_document(buf_str(&f->out), NULL, &value, &err) < 0)
		fail_msg("%s: %s", err.msg, buf_cstr(&f->out));
	return hits;
}

static void feed(struct play *p, struct str text)
{
	if (!p->is_streaming) {
		buf_clear(&p->f.out);
		scrub_stream_init(&p->st, p->f.scrub);
	}
	p->is_streaming = true;
	scrub_stream_feed(&p->st, text, &p->f.out);
}

static void end_stream(struct play *p, bool is_cut)
{
	if (is_cut)
		scrub_stream_cut(&p->st, &p->f.out);
	else
		scrub_stream_end(&p->st, &p->f.out);
	p->f.hits = p->st.hits;
	p->is_streaming = false;
}

static void play_line(struct play *p, const char *op, struct str text)
{
	struct fixture *f = &p->f;
	bool is_try = !strcmp(op, "text") || !strcmp(op, "json") ||
		      !strcmp(op, "cut");

	if (is_try)
		buf_clear(&f->out);
	if (!strcmp(op, "secret")) {
		assert_true(scrub_add(f->scrub, text));
		assert_false(scrub_is_empty(f->scrub));
	} else if (!strcmp(op, "refused")) {
		assert_false(scrub_add(f->scrub, text));
		assert_true(scrub_is_empty(f->scrub));
	} else if (is_try)
		f->hits = *op == 't'   ? scrub_apply(f->scrub, text, &f->out)
			  : *op == 'j' ? apply_json(f, text)
				       : scrub_cut(f->scrub, text, &f->out);
	else if (!strcmp(op, ">")) {
		if (!str_eq(buf_str(&f->out), text))
			fail_msg("%s is not %.*s", buf_cstr(&f->out),
				 STR_ARG(text));
	} else if (!strcmp(op, "hits"))
		assert_int_equal(f->hits, strtoul(text.p, NULL, 10));
	else if (!strcmp(op, "finds") || !strcmp(op, "finds_not")) {
		if (scrub_finds(f->scrub, text) != !op[5])
			fail_msg("%s %.*s", op, STR_ARG(text));
	} else if (!strcmp(op, "feed"))
		feed(p, text);
	else if (!strcmp(op, "end") || !strcmp(op, "end_cut"))
		end_stream(p, op[3]);
	else
		fail_msg("no line begins with \"%s\"", op);
}

/*
 * Each line of tests/unit/secret/transcripts is a step:
 *
 *	secret TEXT, refused TEXT	a value that is added, or cannot be
 *	text TEXT, json TEXT, cut TEXT	scrubbed by the function for these
 *	feed TEXT, end, end_cut		one stream, a piece at a time
 *	> TEXT, hits N			what came of it
 *	finds TEXT, finds_not TEXT	told without scrubbing
 */
static void play(UNUSED const char *file, UNUSED const char *name,
		 const char *lines)
{
	struct play p = {
		.f = {.scrub = scrub_new(), .out = BUF_INIT(BUF_UNBOUNDED)}};
	struct str rest = str_of(lines);

	while (rest.n) {
		struct str words = str_cut(&rest, '\n');
		AUTO(mem_freep) char *line = mem_strndup(words.p, words.n);
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		size_t n = strcspn(line, " ");

		if (!*line || *line == '#')
			continue;
		add_bytes(&text, line + n + (line[n] != 0));
		line[n] = '\0';
		play_line(&p, line, (struct str){buf_cstr(&text), text.n});
	}
	if (p.is_streaming)
		scrub_stream_release(&p.st);
	scrub_free(p.f.scrub);
	buf_release(&p.f.out);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/secret/transcripts/*.transcript");
