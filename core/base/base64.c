#include "core/base/base64.h"

#include <assert.h>
#include <stdint.h>

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

static int value_of(char c, const char *alphabet)
{
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* The text without what fills it up, which must be as it is written. */
static int without_fill(enum base64 kind, struct str *text, struct err *err)
{
	size_t n = text->n;

	if (kind == BASE64_STANDARD) {
		if (n % 4)
			return err_set(err, ERR_SYNTAX,
				       "%zu characters are no whole Base64", n);
		while (text->n - n < 2 && n && text->p[n - 1] == '=')
			n--;
	}
	if (n % 4 == 1)
		return err_set(err, ERR_SYNTAX,
			       "%zu characters are no whole Base64", n);
	text->n = n;
	return 0;
}

/* p: room for all of it */
static int decode(struct str text, const char *alphabet, char *p,
		  struct err *err)
{
	uint32_t bits = 0;
	size_t have = 0;

	for (size_t i = 0; i < text.n; i++) {
		int value = value_of(text.p[i], alphabet);

		if (value < 0)
			return err_set(err, ERR_SYNTAX,
				       "character %zu is no Base64", i + 1);
		bits = bits << 6 | (uint32_t)value;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		*p++ = (char)(bits >> have);
	}
	if (bits & ((1U << have) - 1))
		return err_set(err, ERR_SYNTAX,
			       "the last character of the Base64 says more "
			       "than there are bytes");
	return 0;
}

int base64_decode(enum base64 kind, struct str text, struct buf *out,
		  struct err *err)
{
	size_t n;
	char *p;
	int r;

	if (without_fill(kind, &text, err) < 0)
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
