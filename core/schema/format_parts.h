/*
 * Small readers that the forms of strings are made of. Each takes what it
 * recognizes from the front of the text.
 */
#ifndef CORE_SCHEMA_FORMAT_PARTS_H
#define CORE_SCHEMA_FORMAT_PARTS_H

#include <stdbool.h>

#include "core/base/str.h"

static inline bool is_digit_char(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_hex_char(char c)
{
	return is_digit_char(c) || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

static inline bool take_char(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = (struct str){s->p + 1, s->n - 1};
	return true;
}

/* Exactly n decimal digits. */
static inline bool take_digits(struct str *s, size_t n, unsigned *ret)
{
	unsigned v = 0;

	if (s->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit_char(s->p[i]))
			return false;
		v = v * 10 + (unsigned)(s->p[i] - '0');
	}
	*s = (struct str){s->p + n, s->n - n};
	*ret = v;
	return true;
}

/* How many characters of the kind there were. */
static inline size_t take_while(struct str *s, bool (*is)(char))
{
	size_t n = 0;

	while (n < s->n && is(s->p[n]))
		n++;
	*s = (struct str){s->p + n, s->n - n};
	return n;
}

/* The forms, one function for each row of formats.def. */
#define FORMAT(id, name, phrase) bool is_##id(struct str s);
#include "core/schema/formats.def"
#undef FORMAT

#endif
