/*
 * A second scrubber, slow and plain, to compare the real one with: it writes
 * each reading out in full and looks for every value at every place.
 */
#ifndef TESTS_UNIT_SCRUB_NAIVE_H
#define TESTS_UNIT_SCRUB_NAIVE_H

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/secret/scrub_scan.h"

struct naive_symbol {
	unsigned char byte;
	size_t from, end; /* of the text */
};

struct naive_text {
	struct naive_symbol at[8192];
	size_t n;
};

struct naive {
	const struct str *values;
	size_t n_values;
	struct str text;
	bool cut;
	bool begins[8192]; /* a range begins here */
	bool is_hit[8192]; /* the byte before is in a range that goes on */
};

static size_t naive_hex(const char *p, size_t n, size_t want, unsigned long *v)
{
	char digits[9] = "";

	if (n < want)
		return 0;
	memcpy(digits, p, want);
	if (strspn(digits, "0123456789abcdefABCDEF") != want)
		return 0;
	*v = strtoul(digits, NULL, 16);
	return want;
}

static size_t naive_utf8(unsigned long c, char *out)
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Characters of `p` that are one escape; 0: none. */
static size_t naive_json(const char *p, size_t n, char *out, size_t *n_out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned long a, b;
	const char *c;

	*n_out = 1;
	if (n < 2 || p[0] != '\\')
		return 0;
	c = p[1] ? strchr(from, p[1]) : NULL;
	if (c) {
		out[0] = to[c - from];
		return 2;
	}
	if (p[1] == 'x' && naive_hex(p + 2, n - 2, 2, &a)) {
		out[0] = (char)a;
		return 4;
	}
	if (p[1] != 'u' || !naive_hex(p + 2, n - 2, 4, &a))
		return 0;
	if (a >= 0xd800 && a <= 0xdbff && n >= 12 && p[6] == '\\' &&
	    p[7] == 'u' && naive_hex(p + 8, n - 8, 4, &b) && b >= 0xdc00 &&
	    b <= 0xdfff) {
		*n_out = naive_utf8(
			0x10000 + ((a - 0xd800) << 10) + (b - 0xdc00), out);
		return 12;
	}
	*n_out = naive_utf8(a, out);
	return 6;
}

static size_t naive_percent(const char *p, size_t n, char *out, size_t *n_out)
{
	unsigned long a;

	*n_out = 1;
	if (n < 3 || p[0] != '%' || !naive_hex(p + 1, n - 1, 2, &a))
		return 0;
	out[0] = (char)a;
	return 3;
}

static size_t naive_entity(const char *p, size_t n, char *out, size_t *n_out)
{
	static const struct {
		const char *text;
		char c;
	} rows[] = {
#define ENTITY(name, c) {"&" name ";", c},
#include "core/secret/scrub_entities.def"
#undef ENTITY
	};
	char number[SCRUB_ESCAPE_CHARS + 1] = "", *end;
	bool is_hex;

	*n_out = 1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len = strlen(rows[i].text);

		out[0] = rows[i].c;
		if (n >= len && !memcmp(p, rows[i].text, len))
			return len;
	}
	if (n < 4 || p[0] != '&' || p[1] != '#')
		return 0;
	memcpy(number, p, n < SCRUB_ESCAPE_CHARS ? n : SCRUB_ESCAPE_CHARS);
	is_hex = number[2] == 'x' || number[2] == 'X';
	end = number + (is_hex ? 3 : 2);
	if (is_hex && *end == '0' && (end[1] | 32) == 'x')
		return 0;
	if (!memchr(is_hex ? "0123456789abcdefABCDEF" : "0123456789", *end,
		    is_hex ? 22 : 10))
		return 0;
	*n_out = naive_utf8(strtoul(end, &end, is_hex ? 16 : 10), out);
	return *end == ';' ? (size_t)(end + 1 - number) : 0;
}

/* One stage over the whole of what the one below made. */
static void naive_stage(struct naive_text *t, unsigned stage, unsigned stages)
{
	static struct naive_text done;
	static char flat[8192];

	done.n = 0;
	for (size_t i = 0; i < t->n; i++)
		flat[i] = (char)t->at[i].byte;
	for (size_t i = 0; i < t->n;) {
		bool is_odd = stage == SCRUB_JSON && (stages & SCRUB_ODD) &&
			      flat[i] == '\\' && i + 1 < t->n &&
			      flat[i + 1] == '\\' &&
			      (!i || flat[i - 1] != '\\');
		size_t n_out = 1, n = 0;
		char out[4] = "";

		if (stage == SCRUB_ENTITY)
			n = naive_entity(flat + i, t->n - i, out, &n_out);
		else if (stage == SCRUB_PERCENT)
			n = naive_percent(flat + i, t->n - i, out, &n_out);
		else if (!is_odd)
			n = naive_json(flat + i, t->n - i, out, &n_out);
		if (!n) {
			n = n_out = 1;
			out[0] = flat[i];
			if (stage == SCRUB_PERCENT && (stages & SCRUB_PLUS) &&
			    out[0] == '+')
				out[0] = ' ';
		}
		for (size_t k = 0; k < n_out; k++)
			done.at[done.n++] = (struct naive_symbol){
				(unsigned char)out[k], t->at[i].from,
				t->at[i + n - 1].end};
		i += n;
	}
	*t = done;
}

static void naive_read(struct naive_text *t, struct str text, unsigned stages)
{
	t->n = 0;
	for (size_t i = 0; i < text.n; i++)
		t->at[t->n++] = (struct naive_symbol){(unsigned char)text.p[i],
						      i, i + 1};
	for (unsigned s = SCRUB_JSON; s <= SCRUB_ENTITY; s <<= 1)
		if (stages & s)
			naive_stage(t, s, stages);
}

static void naive_hit(struct naive *v, size_t from, size_t end)
{
	v->begins[from] = true;
	/* a range that begins where another one goes on is part of it */
	for (size_t i = from + 1; i < end; i++)
		v->is_hit[i] = true;
}

/* Does a mark stand at `at`, or count as standing there? Where it ends. */
static bool naive_mark(const struct naive *v, const struct naive_text *t,
		       size_t at, size_t *ret)
{
	struct str rest = scrub_behind(v->text, at);
	size_t n, i = 0;
	int got;

	if (at == v->text.n) {
		*ret = at;
		return v->cut;
	}
	while (i < t->n && t->at[i].from != at)
		i++;
	if (i == t->n)
		return false;
	got = scrub_read_mark(rest, scrub_is_lead((char)t->at[i].byte), &n);
	*ret = got > 0 ? at + n : v->text.n;
	return got > 0 || (got < 0 && v->cut);
}

static void naive_plain(struct naive *v, const struct naive_text *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < v->n_values; k++) {
			struct str value = v->values[k];
			size_t n = 0, end;

			while (n < value.n && i + n < t->n &&
			       t->at[i + n].byte == (unsigned char)value.p[n]) {
				n++;
				if (n >= LIMIT_SECRET_SCRUB_MIN &&
				    n < value.n &&
				    (i + n == t->n ||
				     t->at[i + n].from !=
					     t->at[i + n - 1].from) &&
				    naive_mark(v, t, t->at[i + n - 1].end,
					       &end))
					naive_hit(v, t->at[i].from, end);
			}
			if (n == value.n)
				naive_hit(v, t->at[i].from,
					  t->at[i + n - 1].end);
		}
}

static bool naive_bit(const char *p, size_t i)
{
	return (unsigned char)p[i / 8] >> (7 - i % 8) & 1;
}

/* One run of characters of a coding; `bits` holds one bit a byte. */
static void naive_run(struct naive *v, const struct naive_text *t,
		      const struct naive_symbol *chars, size_t n,
		      const char *bits, const struct scrub_code *code)
{
	for (size_t from = 0; from < n * code->bits; from += code->step)
		for (size_t k = 0; k < v->n_values; k++) {
			struct str value = v->values[k];
			size_t first = (from + code->bits - 1) / code->bits;
			size_t i = 0, end;

			while (from + i < n * code->bits && i < 8 * value.n &&
			       bits[from + i] == naive_bit(value.p, i))
				i++;
			if (i == 8 * value.n)
				naive_hit(
					v, chars[first].from,
					chars[(from + i) / code->bits - 1].end);
			/* behind each character that leaves whole bytes */
			for (size_t c = 0; c < n; c++) {
				size_t have = (c + 1) * code->bits;
				size_t bytes =
					have > from ? (have - from) / 8 : 0;
				bool last = c + 1 == n;
				size_t at = chars[c].end, until;

				if (bytes < LIMIT_SECRET_SCRUB_MIN ||
				    bytes >= value.n || 8 * bytes > i)
					continue;
				until = last ? chars[n].from
					     : chars[c + 1].from;
				for (; at <= until; at++)
					if (naive_mark(v, t, at, &end))
						naive_hit(v, chars[first].from,
							  end);
			}
		}
}

static void naive_coded(struct naive *v, const struct scrub *s,
			const struct naive_text *t, size_t coding)
{
	static struct naive_symbol chars[8192];
	static char bits[8192 * 8];
	const struct scrub_code *code = &scrub_codes[coding];
	size_t n = 0, breaks = 0;

	for (size_t i = 0; i <= t->n; i++) {
		unsigned char c = i < t->n ? t->at[i].byte : ' ';
		int value = s->value_of[coding][c];

		if (i < t->n && (c == '\n' || c == '\r') && ++breaks <= 2)
			continue;
		if (value < 0 || c == '\n' || c == '\r') {
			/* where a mark may stand at the latest */
			chars[n].from = i < t->n ? t->at[i].from : v->text.n;
			naive_run(v, t, chars, n, bits, code);
			n = 0;
			if (c != '\n' && c != '\r')
				breaks = 0;
			continue;
		}
		breaks = 0;
		chars[n] = t->at[i];
		for (unsigned b = 0; b < code->bits; b++)
			bits[n * code->bits + b] =
				value >> (code->bits - 1 - b) & 1;
		n++;
	}
}

static void naive_readings(struct naive *v, const struct scrub *s,
			   const unsigned *stages, size_t n)
{
	static struct naive_text t;

	for (size_t i = 0; i < n; i++) {
		if ((stages[i] & SCRUB_PLUS) && !s->has_space)
			continue;
		naive_read(&t, v->text, stages[i]);
		naive_plain(v, &t);
		naive_read(&t, v->text, stages[i] | scrub_always(s, stages[i]));
		naive_plain(v, &t);
	}
	naive_read(&t, v->text, SCRUB_STAGES);
	for (size_t c = 0; c < SCRUB_CODINGS; c++)
		naive_coded(v, s, &t, c);
}

/* What scrub_apply(), or scrub_cut(), is to give. */
static size_t naive_scrub(const struct scrub *s, const struct str *values,
			  size_t n_values, struct str text, bool in_string,
			  bool cut, struct buf *out)
{
	enum { J = SCRUB_JSON, P = SCRUB_PERCENT, PLUS = SCRUB_PLUS };
	static const unsigned bytes[] = {SCRUB_STAGES,
					 SCRUB_STAGES | PLUS,
					 J,
					 J | SCRUB_AGAIN,
					 J | P,
					 J | P | PLUS,
					 J | SCRUB_ODD,
					 P,
					 P | PLUS,
					 SCRUB_ENTITY,
					 0};
	static const unsigned string[] = {
		SCRUB_STAGES, SCRUB_STAGES | PLUS, J, J | SCRUB_AGAIN, J | P,
		J | P | PLUS, J | SCRUB_ENTITY};
	static struct naive v;
	size_t hits = 0;

	v = (struct naive){values, n_values, text, cut, {0}, {0}};
	naive_readings(&v, s, in_string ? string : bytes,
		       in_string ? ARRAY_LEN(string) : ARRAY_LEN(bytes));
	for (size_t i = 0; i < text.n; i++) {
		if (v.begins[i] && !v.is_hit[i]) {
			buf_adds(out, "***");
			hits++;
		} else if (!v.is_hit[i]) {
			buf_addc(out, text.p[i]);
		}
	}
	return hits;
}

#endif
