/*
 * Values that are scrubbed, as an automaton and filters over their heads.
 * Pure.
 */
#ifndef CORE_SECRET_SCRUB_VALUES_H
#define CORE_SECRET_SCRUB_VALUES_H

#include "core/base/limits.h"
#include "core/secret/scrub.h"

/* A *reading* of a text is the set of escapes that are undone. */

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

/* Characters of the longest escape: &VerticalLine; and \uXXXX\uXXXX. */
#define SCRUB_ESCAPE_CHARS 14

static inline struct str scrub_behind(struct str text, size_t n)
{
	return n < text.n ? str_skip(text, n) : (struct str){NULL, 0};
}

/* How a value may be spelled throughout; bits of a filter. */
enum scrub_coding {
	SCRUB_BASE64,
	SCRUB_BASE32,
	SCRUB_HEX,
	SCRUB_CODINGS, /* plain comes behind the codings */
	SCRUB_PLAIN = SCRUB_CODINGS,
	SCRUB_SPELLINGS,
	SCRUB_ANY = SCRUB_SPELLINGS,
};

struct scrub_code {
	unsigned bits; /* of one character */
	unsigned step; /* bits from one place where a byte can begin to the next
			*/
	unsigned step_shift; /* logarithm of step */
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
	uint8_t *byte;	/* byte that leads to a node; owned, wiped */
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
	/* at the head of a value, by spelling, and those of any; owned, but for
	   the empty ones of a filter that knows no value */
	scrub_grams *grams;
	bool (*go_on)(void *arg);
	void *go_on_arg;
	/* Borrowed; of those within one the first knows the next. */
	struct scrub *base, *first_within, *next_within;
};

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

/* Where a stage hides no value, it is undone in each reading. */
static inline unsigned scrub_always(const struct scrub *s, unsigned stages)
{
	unsigned always = SCRUB_STAGES & ~s->touched;

	return stages & SCRUB_ODD ? always & ~(unsigned)SCRUB_AGAIN : always;
}

#endif
