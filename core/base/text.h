/*
 * Small alphabets that texts of the network are written in: hexadecimal
 * digits, UTF-8, Base64, tokens of HTTP, words of a shell. Pure.
 *
 * Base64 is written in one form, and only that form is read back: no spaces,
 * no line breaks, no bits set behind the last byte. Base64 that a server sent
 * is read by core/mcp/wire/content.h, which is more patient.
 *
 * source  RFC 4648 sections 4 and 5; RFC 9110 section 5.6.2; Unicode 15,
 *	   table 3-6
 */
#ifndef CORE_BASE_TEXT_H
#define CORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Letters and digits of ASCII. */
MUST_USE static inline bool text_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

MUST_USE static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

MUST_USE static inline bool text_is_alnum(char c)
{
	return text_is_alpha(c) || text_is_digit(c);
}

/* Value of a hexadecimal digit, 0 to 15; -1: another character. */
int text_hex_digit(char c) MUST_USE;
/* Value of the first n (1 to 7) digits of s; -1: fewer or others. */
int32_t text_hex(struct str s, size_t n) MUST_USE;
/* Append a code point, at most 0x10ffff, as UTF-8. */
void text_add_utf8(struct buf *out, uint32_t c);
/* Controls, separators of lines, and what turns the direction of a text. */
bool text_is_control(uint32_t c) MUST_USE;
/* Code point of the n bytes (1 to 4) of valid UTF-8 at p. */
uint32_t text_code_point(const char *p, size_t n) MUST_USE;
/*
 * Columns that a terminal needs for a text of one line. A byte that is not
 * UTF-8 counts as one; so does a control character, which log_visible() keeps
 * away.
 */
size_t text_columns(struct str s) MUST_USE;
/* The first characters, at most `max` columns. */
struct str text_first_columns(struct str s, size_t max) MUST_USE;
/* Append a part of a JSON pointer with its escapes, without the slash. */
void text_add_pointer(struct buf *out, struct str part);

enum base64 {
	BASE64_STANDARD, /* "+" and "/", filled up with "=" */
	BASE64_URL,	 /* "-" and "_", never filled up, as in JWS */
};

/* Append; the buffer grows at most once, so that no copy stays behind. */
void base64_encode(enum base64 kind, struct str bytes, struct buf *out);
/*
 * Append the bytes; nothing on failure. The buffer grows as above.
 * errors  ERR_SYNTAX  not of that form, with the place
 *	   ERR_LIMIT   the ceiling of `out`
 */
int base64_decode(enum base64 kind, struct str text, struct buf *out,
		  struct err *err) MUST_USE;

/*
 * Bytes of the HTTP token that a text begins with, as names of header fields,
 * methods and authentication schemes are; 0: none.
 */
size_t http_token_len(struct str text) MUST_USE;
/* Report whether all of a text is one HTTP token. */
bool http_is_token(struct str text) MUST_USE;

/* Report whether a text has a control character of ASCII. */
bool text_has_control(struct str s) MUST_USE;

/* Report whether a shell takes all of a text as one word, and nothing more. */
bool text_is_word(const char *s) MUST_USE;
/* Append a word of a command line, quoted where a shell would split it. */
void text_add_word(struct buf *out, const char *s);

/* Fill an array with hex digits that nobody can guess, and a NUL. */
void text_random(char *ret, size_t n);

#endif
