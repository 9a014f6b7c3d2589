/*
 * Escapes undone, one place of a text at a time. Pure.
 *
 * A *reading* of a text is the set of escapes that are undone.
 */
#ifndef CORE_SECRET_SCRUB_UNIT_H
#define CORE_SECRET_SCRUB_UNIT_H

#include "core/base/limits.h"
#include "core/base/str.h"

/* Escapes that a reading undoes, from the inside out. */
enum scrub_stage {
	SCRUB_JSON = 1,	 /* also \xNN */
	SCRUB_AGAIN = 2, /* JSON undone twice */
	SCRUB_PERCENT = 4,
	SCRUB_ENTITY = 8,
	SCRUB_STAGES = 15,
	SCRUB_PLUS = 16,  /* percent: `+` is a space */
	SCRUB_ODD = 32,	  /* JSON: the first of several `\` stands for itself */
	SCRUB_WHOLE = 64, /* nothing follows: what is open is no escape */
};

/* The bytes that one place of the text stands for. */
struct scrub_unit {
	uint32_t bytes; /* the first one lowest */
	uint16_t n;	/* of bytes */
	uint16_t used;	/* of text; 0: the text ends inside */
};

/* Characters of the longest escape: &VerticalLine; and \uXXXX\uXXXX. */
#define SCRUB_ESCAPE_CHARS 14

/* Escapes of all stages begin with one of these. */
static inline bool scrub_is_lead(char c)
{
	return c == '\\' || c == '%' || c == '&';
}

/* A character that begins no valid escape stands for itself. */
struct scrub_unit scrub_read_unit(struct str text, unsigned stages) MUST_USE;
/*
 * Read an escape that holds no other one and is part of none, as most are, so
 * that the stage of its lead alone undoes it; or text that no stage undoes.
 *
 * returns  nothing used: another text
 */
struct scrub_unit scrub_read_alone(struct str text, unsigned stages) MUST_USE;
/*
 * Look for a mark here, or behind an escape that was cut.
 *
 * returns  1 with the bytes up to the mark, 0, or -1 when the text ends first
 */
int scrub_read_mark(struct str text, bool may_be_cut, size_t *ret) MUST_USE;

static inline struct str scrub_behind(struct str text, size_t n)
{
	return n < text.n ? (struct str){text.p + n, text.n - n}
			  : (struct str){NULL, 0};
}

#endif
