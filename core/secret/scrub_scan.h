/*
 * Values found in every reading of a text.
 *
 * Each file is a layer that calls down:
 *
 *	scrub.c, scrub_json.c  rewrite bytes, documents
 *	scrub_scan.c	       undoes escapes, finds values in every reading
 *	scrub_values.c	       the values, as an automaton and a filter
 *
 * A value is found where it stands in one of the readings of the whole text,
 * and in the Base64, Base32 or hex that stands in the reading which undoes all
 * escapes. Pure.
 */
#ifndef CORE_SECRET_SCRUB_SCAN_H
#define CORE_SECRET_SCRUB_SCAN_H

#include "core/secret/scrub_values.h"

/* ---- one place of a text; also for the plain model in tests ---- */

/* The bytes that one place of the text stands for. */
struct scrub_unit {
	uint32_t bytes; /* the first one lowest */
	uint16_t n;	/* of bytes */
	uint16_t used;	/* of text; 0: the text ends inside */
};

/* Escapes of all stages begin with one of these. */
static inline bool scrub_is_lead(char c)
{
	return c == '\\' || c == '%' || c == '&';
}

/*
 * Look for a mark here, or behind an escape that was cut.
 *
 * returns  1 with the bytes up to the mark, 0, or -1 when the text ends first
 */
int scrub_read_mark(struct str text, bool may_be_cut, size_t *ret) MUST_USE;

/* ---- all of it ---- */

/* Knowledge about the end of a piece of text. */
enum scrub_end {
	SCRUB_MORE, /* more follows: what is open has to wait */
	SCRUB_LAST, /* nothing follows: what is open does not match */
	SCRUB_CUT,  /* as if a mark followed */
};

/* Offsets count from the beginning of the whole text. */
struct scrub_range {
	size_t from, end;
};

struct scrub_scanner;

struct scrub_scan {
	const struct scrub *scrub;	/* borrowed */
	struct scrub_scanner *scanners; /* owned; the first undoes all */
	size_t n;
	struct scrub_range *found; /* owned; sorted by where they begin */
	size_t n_found, cap_found;
};

/* Where a text stands, which decides how it can be read; bits. */
enum scrub_place {
	SCRUB_BYTES = 1,
	SCRUB_STRING = 2,  /* of JSON, where `\` is never literal */
	SCRUB_LITERAL = 4, /* nothing is undone, no coding is looked for */
};

void scrub_scan_init(struct scrub_scan *scan, const struct scrub *s,
		     enum scrub_place place);
void scrub_scan_release(struct scrub_scan *scan);
/* Begin another text, whose first byte has the offset `at`. */
void scrub_scan_clear(struct scrub_scan *scan, size_t at);
/* Forget the first n ranges. */
void scrub_scan_drop(struct scrub_scan *scan, size_t n);
/*
 * Go on to `limit`; what lies behind it is looked at where a decision needs
 * it. Ranges that were found are added to scan->found.
 *
 * text     from offset `base` on; what was undecided is part of it
 * returns  the offset up to which the text is decided: no range that is yet
 *	    to be found begins before
 */
size_t scrub_scan_run(struct scrub_scan *scan, struct str text, size_t base,
		      size_t limit, enum scrub_end end);
/* Report quickly that no value begins in a text; false: maybe one does. */
bool scrub_scan_is_clean(const struct scrub *s, struct str text) MUST_USE;

/* ---- texts rewritten piece by piece, by scrub.c and scrub_json.c ---- */

/* Text put in place of a value. */
#define SCRUB_STARS "***"

/* Text that is read before what was found is replaced, bytes. */
#define SCRUB_PIECE_BYTES ((size_t)1024 * 1024)

static inline size_t scrub_next_piece(size_t at, size_t n)
{
	return n - at > SCRUB_PIECE_BYTES ? at + SCRUB_PIECE_BYTES : n;
}

/* Progress in a text; offsets. */
struct scrub_given {
	size_t at; /* given, or replaced */
	size_t decided;
	size_t hits;
};

/*
 * Rewrite a whole text.
 * returns  false when it was given up, see scrub_set_patience()
 */
bool scrub_rewrite(struct scrub_scan *scan, struct str text, enum scrub_end end,
		   struct buf *out, size_t *hits) MUST_USE;
/* Ask the owner whether another piece may be read. */
MUST_USE static inline bool scrub_goes_on(const struct scrub *s)
{
	return !s->go_on || s->go_on(s->go_on_arg);
}

#endif
