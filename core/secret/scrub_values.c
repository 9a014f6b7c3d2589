/* The values: an automaton that finds them, a filter for where they begin. */
#include <assert.h>

#include "core/base/mem.h"
#include "core/secret/scrub_values.h"

/* Characters of a value that the filter knows. */
#define HEAD LIMIT_SECRET_SCRUB_MIN
/* Of one gram. */
#define GRAM 4

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static_assert(HEAD - GRAM + 1 == SCRUB_STRIDE,
	      "one of the places that are looked at is in each head");

const struct scrub_code scrub_codes[SCRUB_CODINGS] = {
	[SCRUB_BASE64] = {6, 2, 1},
	[SCRUB_BASE32] = {5, 1, 0},
	[SCRUB_HEX] = {4, 4, 2},
};

/* RFC 4648, sections 4 and 5, 6, 8; characters may be mixed. */
static const char *const alphabets[SCRUB_CODINGS][2] = {
	[SCRUB_BASE64] = {UPPER LOWER "0123456789+/",
			  UPPER LOWER "0123456789-_"},
	[SCRUB_BASE32] = {UPPER "234567", LOWER "234567"},
	[SCRUB_HEX] = {"0123456789abcdef", "0123456789ABCDEF"},
};

/* Pages that nothing touches. */
static scrub_grams no_grams[SCRUB_ANY + 1];

struct scrub *scrub_new(void)
{
	struct scrub *s = mem_zalloc(sizeof(*s));

	s->grams = no_grams;
	memset(s->value_of, -1, sizeof(s->value_of));
	for (size_t c = 0; c < SCRUB_CODINGS; c++)
		for (size_t i = 0; i < ARRAY_LEN(alphabets[c]); i++)
			for (size_t k = 0; alphabets[c][i][k]; k++) {
				unsigned char ch = alphabets[c][i][k];

				s->value_of[c][ch] = (int8_t)k;
			}
	return s;
}

void scrub_free(struct scrub *s)
{
	struct scrub **at;

	if (!s)
		return;
	if (s->base) {
		for (at = &s->base->first_within; *at != s;)
			at = &(*at)->next_within;
		*at = s->next_within;
	}
	for (struct scrub *w = s->first_within; w; w = w->next_within)
		w->base = NULL;
	mem_wipe(s->byte, s->n);
	free(s->byte);
	free(s->info);
	free(s->fail);
	free(s->out);
	free(s->branches);
	free(s->chains);
	if (s->grams != no_grams) {
		mem_wipe(s->grams, sizeof(no_grams));
		free(s->grams);
	}
	mem_wipe(s, sizeof(*s));
	free(s);
}

bool scrub_is_empty(const struct scrub *s)
{
	return !s || !s->n_values;
}

/* ---- the filter ---- */

static void add_gram(struct scrub *s, size_t spelling, const char *p)
{
	uint32_t gram = scrub_gram(scrub_window(p));

	if (s->grams == no_grams)
		s->grams = mem_zalloc(sizeof(no_grams));
	s->grams[spelling][gram / 64] |= (uint64_t)1 << gram % 64;
	s->grams[SCRUB_ANY][gram / 64] |= (uint64_t)1 << gram % 64;
}

/* Bits of a value as one character. */
static unsigned bits_at(struct str value, size_t bit, unsigned n)
{
	unsigned v = 0;

	for (; n--; bit++)
		v = v << 1 |
		    ((unsigned char)value.p[bit / 8] >> (7 - bit % 8) & 1);
	return v;
}

/* The characters that the value alone determines, from bit `first` on. */
static void add_coded_head(struct scrub *s, size_t coding, struct str value,
			   size_t first)
{
	unsigned bits = scrub_codes[coding].bits;

	for (size_t at = 0; at < SCRUB_STRIDE; at++)
		for (unsigned sets = 0; sets < 1u << GRAM; sets++) {
			char gram[GRAM];

			for (size_t i = 0; i < GRAM; i++) {
				unsigned v = bits_at(
					value, first + (at + i) * bits, bits);

				gram[i] = alphabets[coding][sets >> i & 1][v];
			}
			add_gram(s, coding, gram);
		}
}

static void add_heads(struct scrub *s, struct str value)
{
	unsigned char first = (unsigned char)value.p[0];

	for (size_t at = 0; at < SCRUB_STRIDE; at++)
		add_gram(s, SCRUB_PLAIN, value.p + at);
	for (size_t c = 0; c < SCRUB_CODINGS; c++)
		for (unsigned at = 0; at < scrub_codes[c].bits;
		     at += scrub_codes[c].step)
			add_coded_head(s, c, value, at);
	for (unsigned bits = 1; bits <= 8; bits++)
		s->begins[bits][first >> (8 - bits)] = true;
}

/* Stages that can hide the value as it is, see scrub_scan.c. */
static unsigned stages_touched(struct str value)
{
	bool is_hex =
		strchr("0123456789abcdefABCDEF", value.p[0]) && value.p[0];
	unsigned touched = 0;

	if (is_hex || strchr("\"/nrtux", value.p[0]) || !value.p[0] ||
	    str_find(value, '\\') < value.n)
		touched |= SCRUB_JSON | SCRUB_AGAIN;
	if (is_hex || str_find(value, '%') < value.n)
		touched |= SCRUB_PERCENT;
	if (str_find(value, '&') < value.n || str_find(value, ';') < value.n ||
	    value.n < SCRUB_ESCAPE_CHARS)
		touched |= SCRUB_ENTITY;
	if (str_find(value, '+') < value.n)
		touched |= SCRUB_PLUS;
	return touched;
}

/* ---- the automaton ---- */

static struct scrub_branch *find_branch(const struct scrub *s, uint32_t node,
					uint8_t byte)
{
	size_t mask = s->cap_branches - 1;
	size_t i = (node * 0x9e3779b1u ^ byte * 0x85ebca6bu) & mask;

	while (s->branches[i].child && (s->branches[i].node != node ||
					s->byte[s->branches[i].child] != byte))
		i = (i + 1) & mask;
	return &s->branches[i];
}

uint32_t scrub_child(const struct scrub *s, uint32_t node, uint8_t byte)
{
	uint32_t next = node + 1;

	if (!node)
		return s->root[byte];
	if ((s->info[node] & SCRUB_NODE_NEXT) && s->byte[next] == byte)
		return next;
	if (!(s->info[node] & SCRUB_NODE_BRANCHES))
		return 0;
	return find_branch(s, node, byte)->child;
}

static void grow_branches(struct scrub *s)
{
	struct scrub_branch *old = s->branches;
	size_t n = s->cap_branches;

	s->cap_branches = n ? 2 * n : 16;
	s->branches = mem_zalloc(s->cap_branches * sizeof(*s->branches));
	for (size_t i = 0; i < n; i++)
		if (old[i].child)
			*find_branch(s, old[i].node, s->byte[old[i].child]) =
				old[i];
	free(old);
}

static void add_branch(struct scrub *s, uint32_t node, uint32_t child)
{
	if (!node) {
		s->root[s->byte[child]] = child;
		return;
	}
	if (2 * (s->n_branches + 1) > s->cap_branches)
		grow_branches(s);
	*find_branch(s, node, s->byte[child]) =
		(struct scrub_branch){node, child};
	s->n_branches++;
	s->info[node] |= SCRUB_NODE_BRANCHES;
}

/* No copy of a value is left behind. */
static void grow_nodes(struct scrub *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 64;
	uint8_t *bytes;

	if (n <= s->cap)
		return;
	while (cap < n)
		cap *= 2;
	bytes = mem_zalloc(cap);
	if (s->n)
		memcpy(bytes, s->byte, s->n);
	mem_wipe(s->byte, s->n);
	free(s->byte);
	s->byte = bytes;
	s->info = mem_realloc(s->info, cap * sizeof(*s->info));
	s->fail = mem_realloc(s->fail, cap * sizeof(*s->fail));
	s->out = mem_realloc(s->out, cap * sizeof(*s->out));
	s->cap = cap;
	if (!s->n) {
		s->info[0] = s->fail[0] = s->out[0] = 0;
		s->n = 1;
	}
}

/* The rest of a value that is on no path yet becomes a chain. */
static void add_chain(struct scrub *s, uint32_t parent, struct str rest)
{
	uint32_t first = (uint32_t)s->n;
	size_t depth = scrub_depth(s, parent);

	for (size_t i = 0; i < rest.n; i++) {
		s->byte[s->n] = (uint8_t)rest.p[i];
		s->info[s->n] = (uint32_t)(depth + i + 1);
		if (i + 1 < rest.n)
			s->info[s->n] |= SCRUB_NODE_NEXT;
		s->fail[s->n] = s->out[s->n] = 0;
		s->n++;
	}
	add_branch(s, parent, first);
	s->chains = mem_grow(s->chains, s->n_chains + 1, &s->cap_chains,
			     sizeof(*s->chains));
	s->chains[s->n_chains++] = (struct scrub_chain){
		parent, first, (uint32_t)rest.n, (uint32_t)depth + 1};
}

bool scrub_add(struct scrub *s, struct str value)
{
	uint32_t node = 0, next;
	size_t i = 0;

	if (value.n < LIMIT_SECRET_SCRUB_MIN)
		return false;
	grow_nodes(s, s->n + value.n + 1);
	while (i < value.n && (next = scrub_child(s, node, value.p[i]))) {
		node = next;
		i++;
	}
	if (i < value.n) {
		add_chain(s, node, scrub_behind(value, i));
		node = (uint32_t)s->n - 1;
	} else if (s->info[node] & SCRUB_NODE_ENDS) {
		return true;
	}
	s->info[node] |= SCRUB_NODE_ENDS;
	s->fail[0] = 1;
	s->n_values++;
	if (value.n > s->longest)
		s->longest = value.n;
	s->touched |= stages_touched(value);
	s->has_space |= str_find(value, ' ') < value.n;
	s->has_quote |= str_find(value, '"') < value.n;
	add_heads(s, value);
	for (struct scrub *w = s->first_within; w; w = w->next_within)
		(void)scrub_add(w, value);
	return true;
}

/* ---- values of another ---- */

static uint32_t parent_of(const struct scrub *s, uint32_t node)
{
	size_t i = 0;

	if (s->info[node - 1] & SCRUB_NODE_NEXT)
		return node - 1;
	while (s->chains[i].first != node)
		i++;
	return s->chains[i].parent;
}

struct scrub *scrub_new_within(struct scrub *base)
{
	AUTO(buf_wipe) struct buf value = BUF_INIT(BUF_UNBOUNDED);
	char *room = buf_room(&value, base->longest);
	struct scrub *s = scrub_new();

	value.n = base->longest;
	for (uint32_t end = 1; end < base->n; end++) {
		size_t n = scrub_depth(base, end);

		if (!(base->info[end] & SCRUB_NODE_ENDS))
			continue;
		for (uint32_t node = end; node; node = parent_of(base, node))
			room[scrub_depth(base, node) - 1] =
				(char)base->byte[node];
		(void)scrub_add(s, (struct str){room, n});
	}
	s->base = base;
	s->next_within = base->first_within;
	base->first_within = s;
	return s;
}

/* ---- failure links ---- */
