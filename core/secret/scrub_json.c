/*
 * Rewrites JSON documents, so that what comes out is one as well.
 *
 * Inside of strings values are replaced where they stand. A value that holds a
 * quote, a brace, a number can reach over the bounds of a string as well: it
 * is looked for in the bytes of the whole document, and the smallest JSON
 * value around it is replaced.
 */

#include "core/base/mem.h"
#include "core/secret/scrub_scan.h"

#define STARS_VALUE "\"" SCRUB_STARS "\""

/* An open object or array. */
struct level {
	size_t out_from;  /* of out */
	bool is_replaced; /* when it is closed */
};

struct document {
	const struct scrub *s;
	struct str in;
	struct buf *out;
	size_t given; /* of `in` */
	size_t hits;
	bool gave_up;
	struct scrub_scan strings;
	/* the document as bytes, up to `limit` */
	struct scrub_scan bytes;
	size_t limit, decided, taken;
	/* a value that is in no one string: its end, and the level around it */
	size_t cross_end, cross_level;
	struct level *levels; /* owned; [0] is the document itself */
	size_t depth, cap;
};

/* ---- output ---- */

/* Passed bytes are given when other ones are to follow. */
static void give_up_to(struct document *d, size_t at)
{
	buf_add(d->out, d->in.p + d->given, at - d->given);
	d->given = at;
}

static void give_stars(struct document *d, size_t from, size_t end)
{
	give_up_to(d, from);
	buf_adds(d->out, STARS_VALUE);
	d->given = end;
	d->hits++;
}

static void replace_level(struct document *d, size_t level, size_t end)
{
	size_t from = d->levels[level].out_from;

	give_up_to(d, end);
	mem_wipe(d->out->p + from, d->out->n - from);
	d->out->n = from;
	buf_adds(d->out, STARS_VALUE);
	d->hits++;
}

/* ---- the document as bytes ---- */

/* The next range, NULL when none begins before `end`. */
static const struct scrub_range *next_range(struct document *d, size_t end)
{
	while (d->taken == d->bytes.n_found ||
	       d->bytes.found[d->taken].from >= d->decided) {
		if (d->decided >= end || d->limit == d->in.n)
			return NULL;
		scrub_scan_drop(&d->bytes, d->taken);
		d->taken = 0;
		d->gave_up |= d->limit && !scrub_goes_on(d->s);
		d->limit = scrub_next_piece(d->limit, d->in.n);
		d->decided = scrub_scan_run(&d->bytes, d->in, 0, d->limit,
					    SCRUB_LAST);
	}
	return d->bytes.found[d->taken].from < end ? &d->bytes.found[d->taken]
						   : NULL;
}

/*
 * Values that begin in the token from `from` to `end`.
 *
 * returns  true when one of them is inside of it: a scalar, to be replaced
 */
static bool take_ranges(struct document *d, size_t from, size_t end,
			bool is_scalar)
{
	const struct scrub_range *r;
	bool is_string = d->in.p[from] == '"', is_hit = false;

	while ((r = next_range(d, end))) {
		d->taken++;
		/* inside of a string its escapes decide */
		if (is_string && r->from > from && r->end < end)
			continue;
		if (is_scalar && r->end <= end) {
			is_hit = true;
			continue;
		}
		if (!d->cross_end || d->cross_level > d->depth)
			d->cross_level = d->depth;
		if (r->end > d->cross_end)
			d->cross_end = r->end;
	}
	return is_hit;
}

/* The level around what crosses bounds is known when that has ended. */
static void settle(struct document *d, size_t end)
{
	if (!d->cross_end || d->cross_end > end)
		return;
	d->levels[d->cross_level].is_replaced = true;
	d->cross_end = 0;
}

/* ---- tokens ---- */

static void open_level(struct document *d, size_t from)
{
	d->depth++;
	d->levels =
		mem_grow(d->levels, d->depth + 1, &d->cap, sizeof(*d->levels));
	d->levels[d->depth] = (struct level){
		.out_from = d->out->n + (from - d->given),
	};
	(void)take_ranges(d, from, from + 1, false);
	settle(d, from + 1);
}

static void close_level(struct document *d, size_t from)
{
	(void)take_ranges(d, from, from + 1, false);
	settle(d, from + 1);
	if (d->cross_end && d->cross_level == d->depth)
		d->cross_level--;
	if (d->levels[d->depth].is_replaced)
		replace_level(d, d->depth, from + 1);
	d->depth--;
}

/* The closing quote. */
static size_t end_of_string(struct str in, size_t from)
{
	for (size_t at = from + 1;; at++) {
		size_t n = 0;

		at += str_find(scrub_behind(in, at), '"');
		while (in.p[at - 1 - n] == '\\')
			n++;
		if (n % 2 == 0)
			return at + 1;
	}
}

static void take_string(struct document *d, size_t from, size_t end)
{
	struct str inside = {d->in.p + from + 1, end - from - 2};

	if (take_ranges(d, from, end, true)) {
		give_stars(d, from, end);
	} else if (!scrub_scan_is_clean(d->s, inside)) {
		give_up_to(d, from + 1);
		scrub_scan_clear(&d->strings, 0);
		d->gave_up |= !scrub_rewrite(&d->strings, inside, SCRUB_LAST,
					     d->out, &d->hits);
		d->given = end - 1;
	}
	settle(d, end);
}

static bool ends_scalar(char c)
{
	return c == ',' || c == ':' || c == ']' || c == '}' || c == ' ' ||
	       c == '\n' || c == '\r' || c == '\t';
}

/* returns  where the next token begins */
static size_t take_token(struct document *d, size_t from)
{
	char c = d->in.p[from];
	size_t end = from + 1;
	struct str word;

	if (c == '{' || c == '[') {
		open_level(d, from);
	} else if (c == '}' || c == ']') {
		close_level(d, from);
	} else if (c == '"') {
		end = end_of_string(d->in, from);
		take_string(d, from, end);
	} else if (ends_scalar(c)) {
		(void)take_ranges(d, from, end, false);
		settle(d, end);
	} else {
		while (end < d->in.n && !ends_scalar(d->in.p[end]))
			end++;
		/* numbers and words, in which no escapes stand */
		word = (struct str){d->in.p + from, end - from};
		if (take_ranges(d, from, end, true) || scrub_finds(d->s, word))
			give_stars(d, from, end);
		settle(d, end);
	}
	return end;
}

static size_t rewrite_document(const struct scrub *s, struct str in,
			       struct buf *out)
{
	struct document d = {.s = s, .in = in, .out = out};

	d.levels = mem_grow(NULL, 1, &d.cap, sizeof(*d.levels));
	d.levels[0] = (struct level){.out_from = out->n};
	scrub_scan_init(&d.strings, s, SCRUB_STRING);
	scrub_scan_init(&d.bytes, s, SCRUB_LITERAL);
	for (size_t at = 0; at < in.n && !d.gave_up;)
		at = take_token(&d, at);
	if (d.levels[0].is_replaced)
		replace_level(&d, 0, in.n);
	else if (!d.gave_up)
		give_up_to(&d, in.n);
	scrub_scan_release(&d.strings);
	scrub_scan_release(&d.bytes);
	free(d.levels);
	return d.hits;
}

/* A sink may have passed on what has to be taken back. */
size_t scrub_json(const struct scrub *s, struct str in, struct buf *out)
{
	AUTO(buf_wipe) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	size_t hits;

	if (scrub_is_empty(s)) {
		buf_add_str(out, in);
		return 0;
	}
	if (!out->sink)
		return rewrite_document(s, in, out);
	hits = rewrite_document(s, in, &whole);
	buf_add_str(out, buf_str(&whole));
	return hits;
}
