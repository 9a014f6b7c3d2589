/*
 * What the files behind scrub.h share, each a layer that calls down:
 *
 *	scrub.c, scrub_json.c  rewrite bytes, documents
 *	scrub_scan.c	       finds values in every reading of a text
 *	scrub_scanner.c	       finds values in one of them
 *	scrub_unit.c	       undoes escapes: one character at a time
 *	scrub_values.c	       the values, as an automaton and a filter
 *
 * A *reading* is a set of escapes that are undone. A value is found where it
 * stands in one of the readings of the whole text, and in the Base64, Base32
 * or hex that stands in the reading which undoes all escapes.
 *
 * Pure.
 */
#ifndef CORE_SECRET_SCRUB_INNER_H
#define CORE_SECRET_SCRUB_INNER_H

#include "core/base/limits.h"
#include "core/secret/scrub.h"

/* What stands in for a value. */
#define SCRUB_STARS "***"

/* ---- values ---- */

/* How a value may be spelled throughout; bits of a filter. */
enum scrub_coding {
	SCRUB_BASE64,
	SCRUB_BASE32,
	SCRUB_HEX,
	SCRUB_CODINGS, /* plain comes behind the codings */
	SCRUB_PLAIN = SCRUB_CODINGS,
	SCRUB_SPELLINGS,
};

struct scrub_code {
	unsigned bits; /* of one character */
	unsigned step; /* between the places where a byte can begin, bits */
	unsigned step_shift; /* its logarithm */
};

extern const struct scrub_code scrub_codes[SCRUB_CODINGS];

/* Four characters in a row, letters in lower case: 18 bits of hash. */
#define SCRUB_GRAM_BITS 18
typedef uint64_t scrub_grams[(1u << SCRUB_GRAM_BITS) / 64];
/* A look at each such place meets every head. */
#define SCRUB_STRIDE 3

#define SCRUB_NODE_NEXT (1u << 31)     /* the next node is a child */
#define SCRUB_NODE_BRANCHES (1u << 30) /* there are children elsewhere */
#define SCRUB_NODE_ENDS (1u << 29)     /* a value ends here */
#define SCRUB_NODE_DEPTH (SCRUB_NODE_ENDS - 1)

/* Nodes that follow each other, the rest of one value. */
struct scrub_chain {
	uint32_t parent, first, n;
	uint32_t depth; /* of the first */
};

struct scrub_branch {
	uint32_t node, child; /* child 0: free */
};

/*
 * An automaton after Aho and Corasick. A value is a path from the root (node
 * 0); values share what they begin with. Nodes keep their number when values
 * are added.
 */
struct scrub {
	uint8_t *byte;	/* that leads to a node; owned, wiped */
	uint32_t *info; /* depth and SCRUB_NODE_...; owned */
	/*
	 * Longest end of it that is a beginning; owned. The root's, which has
	 * none, is 1 while these and `out` are those of fewer values.
	 */
	uint32_t *fail;
	uint32_t *out; /* bytes of the longest value that ends here; owned */
	size_t n, cap;
	uint32_t root[256];	       /* children of the root */
	struct scrub_branch *branches; /* hash table; owned */
	size_t n_branches, cap_branches;
	struct scrub_chain *chains; /* owned */
	size_t n_chains, cap_chains;

	size_t n_values, longest;
	int8_t value_of[SCRUB_CODINGS][256]; /* of a character; -1: none */
	unsigned touched; /* stages whose escapes values may begin or contain */
	bool has_space, has_quote;
	/* beginnings of values, by their first bits: [bits][value] */
	bool begins[9][256];
	scrub_grams grams[SCRUB_SPELLINGS]; /* at the head of a value */
	scrub_grams any_gram;
	bool (*go_on)(void *arg);
	void *go_on_arg;
	/* Borrowed; of those within one the first knows the next. */
	struct scrub *base, *first_within, *next_within;
};

/* Make `fail` and `out` whole; a scan begins with this. */
void scrub_prepare(const struct scrub *s);
/* Where a byte leads, without falling back; 0: nowhere. */
uint32_t scrub_child(const struct scrub *s, uint32_t node, uint8_t byte)
	MUST_USE;

static inline size_t scrub_depth(const struct scrub *s, uint32_t node)
{
	return s->info[node] & SCRUB_NODE_DEPTH;
}

static inline uint32_t scrub_step(const struct scrub *s, uint32_t node,
				  uint8_t byte)
{
	uint32_t to;

	while (node) {
		if ((s->info[node] & SCRUB_NODE_NEXT) &&
		    s->byte[node + 1] == byte)
			return node + 1;
		if (s->info[node] & SCRUB_NODE_BRANCHES) {
			to = scrub_child(s, node, byte);
			if (to)
				return to;
		}
		node = s->fail[node];
	}
	return s->root[byte];
}

static inline uint32_t scrub_window(const char *p)
{
	const unsigned char *c = (const unsigned char *)p;

	return (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 |
	       (uint32_t)c[2] << 8 | c[3];
}

/* `window` holds four characters, the last one lowest. */
static inline uint32_t scrub_gram(uint32_t window)
{
	return (window | 0x20202020u) * 0x9e3779b1u >> (32 - SCRUB_GRAM_BITS);
}

static inline bool scrub_has_gram(const scrub_grams grams, uint32_t gram)
{
	return grams[gram / 64] >> gram % 64 & 1;
}

/* ---- units ---- */

/* Escapes that a reading undoes, from the inside out. */
enum scrub_stage {
	SCRUB_JSON = 1,	 /* also \xNN */
	SCRUB_AGAIN = 2, /* the same in what came out of it */
	SCRUB_PERCENT = 4,
	SCRUB_ENTITY = 8,
	SCRUB_STAGES = 15,
	SCRUB_PLUS = 16,  /* percent: `+` is a space */
	SCRUB_ODD = 32,	  /* JSON: the first of several `\` stands for itself */
	SCRUB_WHOLE = 64, /* nothing follows: what is open is no escape */
};

/* Where a stage hides no value, it is undone in each reading. */
static inline unsigned scrub_always(const struct scrub *s, unsigned stages)
{
	unsigned always = SCRUB_STAGES & ~s->touched;

	return stages & SCRUB_ODD ? always & ~(unsigned)SCRUB_AGAIN : always;
}

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
 * An escape as most are: it holds no other one and is part of none, so that
 * the stage of its lead alone undoes it; or what no stage undoes.
 *
 * returns  nothing used when it is no such escape
 */
struct scrub_unit scrub_read_alone(struct str text, unsigned stages) MUST_USE;
/*
 * Does a mark stand here, or behind an escape that was cut?
 *
 * returns  1 with the bytes up to the mark, 0, or -1 when the text ends first
 */
int scrub_read_mark(struct str text, bool may_be_cut, size_t *ret) MUST_USE;

static inline struct str scrub_behind(struct str text, size_t n)
{
	return n < text.n ? (struct str){text.p + n, text.n - n}
			  : (struct str){NULL, 0};
}

/* ---- scans ---- */

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

/* Where a text stands decides in which ways it can be read; bits. */
enum scrub_place {
	SCRUB_BYTES = 1,
	SCRUB_STRING = 2,  /* of JSON, where `\` is never literal */
	SCRUB_LITERAL = 4, /* nothing is undone, no coding is looked for */
};

void scrub_scan_init(struct scrub_scan *scan, const struct scrub *s,
		     enum scrub_place place);
void scrub_scan_release(struct scrub_scan *scan);
/* Ready for another text, of which the first byte has the offset `at`. */
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
/* True: no value at all begins in the text; quick, and may say false. */
bool scrub_scan_is_clean(const struct scrub *s, struct str text) MUST_USE;

/* ---- rewriting ---- */

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
/* May another piece be read? */
bool scrub_goes_on(const struct scrub *s) MUST_USE;

#endif
