/*
 * One reading of a text and what is followed in it; a part of scrub_scan.c.
 *
 * Pure.
 */
#ifndef CORE_SECRET_SCRUB_SCANNER_H
#define CORE_SECRET_SCRUB_SCANNER_H

#include "core/secret/scrub_scan.h"

/* Symbols that are kept, for what has to be followed from before. */
#define RECENT 8
/* Places at which a byte can begin in the bits of a coding. */
#define MAX_LANES 8

/* A byte that came out of a reading, and the text it stands for. */
struct symbol {
	size_t from;
	uint32_t used; /* bytes of the text */
	uint8_t byte;
};

/* Where the last symbols began: as many as the longest beginning found. */
struct origins {
	size_t *at; /* ring, owned */
	size_t cap; /* power of two */
	size_t n;   /* symbols so far */
};

/* Values as they are. */
struct plain {
	struct origins origins;
	uint32_t node;
	unsigned calm;
	bool is_active;
};

/* Values in a coding. */
struct coded {
	struct origins origins; /* of characters of this run */
	size_t end, end_before; /* of the last two characters */
	uint64_t bits;		/* the last of them lowest */
	uint32_t node[MAX_LANES];
	size_t deepest;
	unsigned calm;
	bool is_active;
};

/* The last symbols, for what has to be followed from a little before. */
struct recent {
	struct symbol symbol[RECENT];
	size_t n;
	uint32_t window; /* the last four */
};

struct scrub_scanner {
	unsigned stages;
	size_t leader; /* index of the one that reads for it, or its own */
	bool is_coded; /* codings are looked for as well */
	bool is_asleep;
	size_t at; /* next unit */
	size_t awake_until;
	size_t plain_units; /* units in a row that stand for themselves */
	size_t last;	    /* index in found, of this block; SIZE_MAX: none */
	size_t breaks;	    /* in a row */
	char before;	    /* byte of the text before `at` */
	char special[8];    /* not plain for it; ends in NUL */
	size_t next[8];	    /* of each: none stands before this offset */
	struct recent all, unbroken;
	struct plain plain;
	struct coded coded[SCRUB_CODINGS];
};

/* The text that is read. */
struct piece {
	struct scrub_scan *scan;
	const struct scrub *s;
	struct str text;
	size_t base, limit; /* offsets of its begin, and up to where to go on */
	enum scrub_end end;
};

/* Read up to piece->limit, or to what cannot be told yet. */
void scanner_go_on(const struct piece *p, struct scrub_scanner *sc);
/* The offset before which nothing more can be found to begin. */
size_t scanner_decided(const struct piece *p, const struct scrub_scanner *sc)
	MUST_USE;
/* Ready for another text. */
void scanner_clear(struct scrub_scanner *sc);
/* Be where `from` is, which has read the same so far. */
void scanner_follow(const struct piece *p, struct scrub_scanner *sc,
		    const struct scrub_scanner *from);
void scanner_release(struct scrub_scanner *sc);
/* The next place at which four characters are among those of heads. */
size_t scrub_next_gram(const scrub_grams grams, struct str text, size_t at,
		       size_t limit) MUST_USE;

#endif
