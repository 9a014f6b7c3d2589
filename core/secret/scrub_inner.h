/*
 * What the files behind scrub.h share: scrub.c keeps the values and rewrites
 * bytes, scrub_match.c finds values however the text spells them, scrub_json.c
 * rewrites documents.
 *
 * Pure.
 */
#ifndef CORE_SECRET_SCRUB_INNER_H
#define CORE_SECRET_SCRUB_INNER_H

#include <string.h>

#include "core/base/limits.h"
#include "core/secret/scrub.h"

/* What stands in for a value. */
#define SCRUB_STARS "***"
/* First bytes of a pattern that are looked up at once; none is shorter. */
#define SCRUB_HEAD_BYTES LIMIT_SECRET_SCRUB_MIN

/* Bytes to find: a value, or one of its forms that have to be spelled out. */
struct scrub_pattern {
	char *bytes; /* owned, wiped */
	size_t n;
	bool wraps;   /* base64: line breaks may stand inside */
	bool special; /* holds `\` or `%`, which may also begin an escape */
	struct scrub_pattern *next; /* with the same first byte */
};

struct scrub {
	struct scrub_pattern *by_first[256]; /* owned */
	bool first[256];	 /* a match may begin with this byte */
	uint8_t pair[65536 / 8]; /* ... and with these two */
	uint8_t head[65536 / 8]; /* hashes of first SCRUB_HEAD_BYTES */
	size_t backslashes;	 /* at most, in front of a pattern */
	bool has_quote;		 /* a value holds `"` */
	size_t n;		 /* patterns */
};

/* The text that is read. */
struct scrub_reading {
	bool in_json; /* inside of a JSON string, where `"` ends it */
	bool cut;     /* its end counts as a mark */
};

/* What patterns make of one place. */
struct scrub_found {
	size_t n;  /* bytes of the longest match; 0: none */
	bool open; /* the text ends in what may become one */
};

/* The longest value that begins with the text. */
struct scrub_found scrub_match(const struct scrub *s, struct str text,
			       const struct scrub_reading *r) MUST_USE;
/*
 * Let a match grow over values that overlap with it: abcdef and defghi in
 * abcdefghi.
 */
void scrub_grow(const struct scrub *s, struct str text,
		const struct scrub_reading *r, struct scrub_found *f);
/*
 * From `at` to where a match may begin; most of a large text is passed here.
 * In JSON also to the next quote or escape.
 */
size_t scrub_skip(const struct scrub *s, struct str in, size_t at, bool in_json)
	MUST_USE;
/* Bytes that stand together at a place of a JSON string; else 1. */
size_t scrub_step_of(struct str text, bool in_json) MUST_USE;

/* Neither an escape nor what stands for something else inside of a match. */
static inline bool scrub_is_plain(char c)
{
	static const bool special[256] = {
		['\\'] = true, ['%'] = true,  ['+'] = true,
		['"'] = true,  ['\n'] = true, ['\r'] = true,
	};

	return !special[(unsigned char)c];
}

/* Of the first SCRUB_HEAD_BYTES bytes; a bit of scrub.head. */
static inline size_t scrub_head_hash(const char *p)
{
	uint64_t key = 0;

	memcpy(&key, p, SCRUB_HEAD_BYTES);
	return key * 0x9e3779b97f4a7c15 >> 48;
}

static inline struct str scrub_behind(struct str text, size_t n)
{
	return n < text.n ? (struct str){text.p + n, text.n - n}
			  : (struct str){NULL, 0};
}

#endif
