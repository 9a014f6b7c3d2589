#include "core/base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int text_hex_digit(char c)
{
	if (text_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int32_t text_hex(struct str s, size_t n)
{
	int32_t value = 0;

	if (s.n < n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int digit = text_hex_digit(s.p[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

void text_add_utf8(struct buf *out, uint32_t c)
{
	char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		b[i] = (char)(0x80 | (c & 0x3f));
	/* the lead byte of n bytes has n ones at its top, of one byte none */
	b[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
	buf_add(out, b, n);
}

bool text_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

uint32_t text_code_point(const char *p, size_t n)
{
	uint32_t c = (unsigned char)p[0] & (n == 1 ? 0x7f : 0xff >> (n + 1));

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* Columns of the character at the start, and its bytes. */
static size_t first_columns(struct str s, size_t *ret_bytes)
{
	static const struct {
		uint32_t first, last;
		size_t columns;
	} rows[] = {
#include "gen/columns.inc"
	};
	size_t n = str_utf8_len(s), low = 0, high = ARRAY_LEN(rows);
	uint32_t c;

	*ret_bytes = n ? n : 1;
	if (n < 2)
		return 1;
	c = text_code_point(s.p, n);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c > rows[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ARRAY_LEN(rows) && c >= rows[low].first ? rows[low].columns
							     : 1;
}

size_t text_columns(struct str s)
{
	size_t columns = 0, n;

	for (; s.n; s = str_skip(s, n))
		columns += first_columns(s, &n);
	return columns;
}

struct str text_first_columns(struct str s, size_t max)
{
	struct str rest = s;

	while (rest.n) {
		size_t n, columns = first_columns(rest, &n);

		if (columns > max)
			break;
		max -= columns;
		rest = str_skip(rest, n);
	}
	return (struct str){s.p, s.n - rest.n};
}

void text_add_pointer(struct buf *out, struct str part)
{
	for (size_t i = 0; i < part.n; i++) {
		char c = part.p[i];

		if (c == '~' || c == '/')
			buf_adds(out, c == '~' ? "~0" : "~1");
		else
			buf_addc(out, c);
	}
}

static const char *letters(enum base64 kind)
{
	return kind == BASE64_URL ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789-_"
				  : "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";
}

void base64_encode(enum base64 kind, struct str bytes, struct buf *out)
{
	const char *alphabet = letters(kind);
	char *p = buf_room(out, (bytes.n + 2) / 3 * 4);
	size_t n = 0, have = 0;
	uint32_t bits = 0;

	assert(p); /* our own output is not bounded */
	for (size_t i = 0; i < bytes.n; i++) {
		bits = bits << 8 | (unsigned char)bytes.p[i];
		for (have += 8; have >= 6; have -= 6)
			p[n++] = alphabet[bits >> (have - 6) & 63];
	}
	if (have)
		p[n++] = alphabet[bits << (6 - have) & 63];
	while (kind == BASE64_STANDARD && n % 4)
		p[n++] = '=';
	p[n] = '\0';
	out->n += n;
}

/* Cut off the padding, which must be complete where the kind has it. */
static int cut_padding(enum base64 kind, struct str *text, struct err *err)
{
	size_t n = text->n;
	bool is_cut = kind == BASE64_STANDARD && n % 4;

	while (!is_cut && kind == BASE64_STANDARD && text->n - n < 2 && n &&
	       text->p[n - 1] == '=')
		n--;
	if (is_cut || n % 4 == 1)
		return err_set(err, ERR_SYNTAX,
			       "it ends in the middle of a Base64 group: %zu "
			       "characters",
			       n);
	text->n = n;
	return 0;
}

/* p: room for text.n * 6 / 8 bytes */
static int decode(struct str text, const char *alphabet, char *p,
		  struct err *err)
{
	uint32_t bits = 0;
	size_t have = 0;

	for (size_t i = 0; i < text.n; i++) {
		const char *at = text.p[i] ? strchr(alphabet, text.p[i]) : NULL;

		if (!at)
			return err_set(err, ERR_SYNTAX,
				       "invalid Base64 at character %zu",
				       i + 1);
		bits = bits << 6 | (uint32_t)(at - alphabet);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		*p++ = (char)(bits >> have);
	}
	if (bits & ((1U << have) - 1))
		return err_set(err, ERR_SYNTAX,
			       "invalid Base64: bits are set behind the last "
			       "byte");
	return 0;
}

int base64_decode(enum base64 kind, struct str text, struct buf *out,
		  struct err *err)
{
	size_t n;
	char *p;
	int r;

	if (cut_padding(kind, &text, err) < 0)
		return -1;
	n = text.n * 6 / 8;
	p = buf_room(out, n);
	if (!p)
		return err_set(err, ERR_LIMIT, "Base64 of more than %zu bytes",
			       out->max);
	r = decode(text, letters(kind), p, err);
	if (r == 0)
		out->n += n;
	out->p[out->n] = '\0';
	return r;
}

size_t http_token_len(struct str text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] > ' ' && text.p[n] <= '~' &&
	       !strchr("\"(),/:;<=>?@[\\]{}", text.p[n]))
		n++;
	return n;
}

bool http_is_token(struct str text)
{
	return text.n > 0 && http_token_len(text) == text.n;
}

bool text_has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return true;
	return false;
}

bool text_is_word(const char *s)
{
	return *s && !strpbrk(s, " \t\n'\"\\$`*?[]{}()<>|&;~#!^");
}

void text_add_word(struct buf *out, const char *s)
{
	if (text_is_word(s)) {
		buf_adds(out, s);
		return;
	}
	buf_addc(out, '\'');
	for (; *s; s++)
		buf_adds(out, *s == '\'' ? "'\\''" : (char[]){*s, 0});
	buf_addc(out, '\'');
}

void text_random(char *ret, size_t n)
{
	unsigned char byte;

	for (size_t i = 0; i + 1 < n; i += 2) {
		while (getrandom(&byte, 1, 0) != 1)
			;
		snprintf(ret + i, n - i < 3 ? n - i : 3, "%02x", byte);
	}
}
