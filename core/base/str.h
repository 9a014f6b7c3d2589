/*
 * Pointer and length, and strict readings of numbers and units.
 *
 * A struct str borrows its bytes; it need not end in NUL and may contain NUL.
 * STR("literal") makes one from a literal, str_of() from a C string.
 */
#ifndef CORE_BASE_STR_H
#define CORE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/attr.h"

struct str {
	const char *p; /* borrowed; NULL only when n is 0 */
	size_t n;      /* bytes */
};

/* A list of C strings; who owns them is said where it is a member. */
struct strlist {
	const char **item;
	size_t n;
};

/* Initializer of a list of literals. */
#define STRLIST(...)                                            \
	{                                                       \
		(const char *[]){__VA_ARGS__},                  \
			sizeof((const char *[]){__VA_ARGS__}) / \
				sizeof(const char *)            \
	}

#define STR(literal) ((struct str){("" literal), sizeof(literal) - 1})
/* For printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).n, (s).p

/* Inline, since every member of every message is compared. */

MUST_USE static inline struct str str_of(const char *s)
{
	return (struct str){s, s ? strlen(s) : 0};
}

MUST_USE static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

MUST_USE static inline bool str_is(struct str a, const char *s)
{
	return str_eq(a, str_of(s));
}

/* The text behind its first n bytes, of which it has as many. */
MUST_USE static inline struct str str_skip(struct str s, size_t n)
{
	/* nothing has no place, and none behind it */
	return (struct str){n ? s.p + n : s.p, s.n - n};
}

bool str_starts(struct str s, const char *prefix) MUST_USE;
bool str_ends(struct str s, const char *suffix) MUST_USE;
/* Does it fit a pattern, in which * stands for any text and ? for one byte? */
bool str_fits(struct str s, const char *pattern) MUST_USE;
/* Without leading and trailing spaces, tabs, CR and LF. */
struct str str_trim(struct str s) MUST_USE;
/* Index of the first byte c, or s.n. */
size_t str_find(struct str s, char c) MUST_USE;
/* How many bytes are c. */
size_t str_count(struct str s, char c) MUST_USE;
/*
 * Cut at the first `sep`: returns the part before it and moves *rest behind
 * it; without separator all is returned and *rest becomes {NULL, 0}.
 */
struct str str_cut(struct str *rest, char sep) MUST_USE;
/* Is the word in a list with spaces between them? The empty one never is. */
bool str_has_word(const char *words, struct str word) MUST_USE;

/* Strict decimal, no sign but '-', nothing around it. False: not a number. */
bool str_int64(struct str s, int64_t *ret_value) MUST_USE;
bool str_uint64(struct str s, uint64_t *ret_value) MUST_USE;
/*
 * "500ms", "30s", "5m", "2h", or a bare number of seconds; also "1.5s".
 * Milliseconds; false when it is none or over ten years.
 */
bool str_duration_ms(struct str s, uint64_t *ret_ms) MUST_USE;
/* "64KiB", "512MiB", "2GiB", or a bare number of bytes. */
bool str_size_bytes(struct str s, uint64_t *ret_bytes) MUST_USE;
/* Write a size as str_size_bytes() reads it, in the largest unit that leaves no
   rest; returns `text`. */
#define STR_SIZE_BYTES 32
const char *str_size_text(uint64_t bytes, char text[STR_SIZE_BYTES]) MUST_USE;

/*
 * Length of the valid UTF-8 sequence at the start of s, 1 to 4, or 0 when
 * there is none (overlong forms, surrogates and values over U+10FFFF are
 * invalid). Source: Unicode 15, table 3-7.
 */
size_t str_utf8_len(struct str s) MUST_USE;
/* The first bytes, at most max, that do not end inside of a character. */
struct str str_first(struct str s, size_t max) MUST_USE;
bool str_is_utf8(struct str s) MUST_USE;
/*
 * How many bytes at the start stand for themselves in a JSON string and need
 * no second look: printable ASCII but quote and backslash. Many at a time.
 */
size_t str_plain(struct str s) MUST_USE;
/* How many bytes at the start are valid UTF-8 of other than ASCII. */
size_t str_beyond_ascii(struct str s) MUST_USE;

/*
 * Edit distance with transpositions (Damerau, adjacent only), for "did you
 * mean": cost 0 is equal; strings over 64 bytes count as far away.
 */
size_t str_distance(struct str a, struct str b) MUST_USE;
/* Index of the first of n names that is the text; n: none is. */
size_t str_index(struct str s, const char *const *names, size_t n) MUST_USE;
/* Like str_index(), into an enum of the names; false: none is. */
bool str_choose(const char *s, const char *const *names, size_t n,
		unsigned *ret) MUST_USE;
/*
 * The nearest of n names, or NULL when none is near enough to offer (more
 * than a third of its length away).
 */
const char *str_nearest(struct str s, const char *const *names, size_t n)
	MUST_USE;

#endif
