/*
 * Finds values in every reading of a text, in time linear in the text. Readings
 * that the escapes in sight do not tell apart are one, and one scanner, their
 * leader, reads.
 *
 * One reading of a text. The scanner sleeps over what cannot begin a value: it
 * looks at every third place whether four characters there are among those
 * that values begin with, and wakes up for them and for escapes. Awake it
 * reads unit by unit, and from the first four characters of a value on it
 * follows the automaton: once for values as they are, and for each coding
 * (Base64, Base32, hex) once per bit at which a byte can begin. These are the
 * lanes.
 */
#include "core/secret/scrub_scan.h"

#include <assert.h>

#include "core/base/mem.h"
#include "core/base/text.h"

/*
 * Units that are looked at again: by a scanner that wakes up, a head with an
 * escape in it, and the character before that shares a byte with it; by one
 * that falls asleep, a gram that is not whole yet.
 */
#define WAKE_BACK (LIMIT_SECRET_SCRUB_MIN + 1)
#define LOOK_BACK 4
/* Line breaks that may follow each other inside of a coding. */
#define WRAP_BYTES 2
/* Symbols for which values are followed after too little of one was left. */
#define CALM 8
/*
 * So little, bytes: in a coding they are less than four characters. The four
 * are yet to come, then, and begin it again.
 */
#define LITTLE_PLAIN 3
#define LITTLE_CODED 1
/* A mark begins with it. */
#define MARK_LEAD '\xe2'

/* Text that all scanners read before any of them goes on, bytes. */
#define BLOCK_BYTES (64 * 1024)

/* Put by whoever cuts a text, directly behind what is left of it. */
static const char *const marks[] = {"…", "\\u2026"};
/* An escape that was cut before a mark is shorter than this, bytes. */
#define CUT_ESCAPE_BYTES 24

/* Result of a stage for the characters at the start of an escape. */
enum verdict { NO_ESCAPE, ESCAPE, NEEDS_MORE };

/* ---- numbers ---- */

/* Exactly n hex digits. */
static enum verdict read_hex(struct str text, size_t n, uint32_t *ret)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		int digit;

		if (i >= text.n)
			return NEEDS_MORE;
		digit = text_hex_digit(text.p[i]);
		if (digit < 0)
			return NO_ESCAPE;
		v = v << 4 | (uint32_t)digit;
	}
	*ret = v;
	return ESCAPE;
}

static enum verdict is_byte(struct scrub_unit *u, uint32_t c, size_t used)
{
	*u = (struct scrub_unit){c, 1, (uint16_t)used};
	return ESCAPE;
}

/* As UTF-8; what is no character is U+FFFD. */
static enum verdict is_character(struct scrub_unit *u, uint32_t c, size_t used)
{
	uint32_t bytes = 0;
	uint16_t n;

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (unsigned i = n; i-- > 1; c >>= 6)
		bytes = (bytes | 0x80 | (c & 0x3f)) << 8;
	bytes |= n == 1 ? c : (0xf00u >> n & 0xff) | c;
	*u = (struct scrub_unit){bytes, n, (uint16_t)used};
	return ESCAPE;
}

/* ---- stages ---- */

/* \uXXXX, or two of them for one character. */
static enum verdict read_u(struct str text, struct scrub_unit *u)
{
	uint32_t high = 0, low = 0;
	struct str rest = scrub_behind(text, 6);
	enum verdict got = read_hex(scrub_behind(text, 2), 4, &high);

	if (got != ESCAPE)
		return got;
	if (high < 0xd800 || high > 0xdbff)
		return is_character(u, high, 6);
	if (rest.n < 2 && (!rest.n || rest.p[0] == '\\'))
		return NEEDS_MORE;
	got = str_starts(rest, "\\u") ? read_hex(scrub_behind(rest, 2), 4, &low)
				      : NO_ESCAPE;
	if (got == NEEDS_MORE)
		return got;
	if (got == ESCAPE && low >= 0xdc00 && low <= 0xdfff)
		return is_character(
			u, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
			12);
	return is_character(u, high, 6);
}

static enum verdict read_json(struct str text, struct scrub_unit *u)
{
	static const char meaning[256] = {
		['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
		['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
	};
	uint32_t v = 0;
	enum verdict got;

	if (text.n < 2)
		return NEEDS_MORE;
	if (text.p[1] == 'u')
		return read_u(text, u);
	if (text.p[1] == 'x') {
		got = read_hex(scrub_behind(text, 2), 2, &v);
		return got == ESCAPE ? is_byte(u, v, 4) : got;
	}
	v = (uint32_t)meaning[(unsigned char)text.p[1]];
	return v ? is_byte(u, v, 2) : NO_ESCAPE;
}

static enum verdict read_percent(struct str text, struct scrub_unit *u)
{
	uint32_t v = 0;
	enum verdict got = read_hex(scrub_behind(text, 1), 2, &v);

	return got == ESCAPE ? is_byte(u, v, 3) : got;
}

/* &#NN; and &#xNN; */
static enum verdict read_number(struct str text, struct scrub_unit *u)
{
	unsigned base = text.n > 2 && (text.p[2] | 0x20) == 'x' ? 16 : 10;
	size_t i = base == 16 ? 3 : 2;
	uint32_t v = 0;

	if (i + 1 >= text.n)
		return NO_ESCAPE;
	for (; i + 1 < text.n; i++) {
		int digit = text_hex_digit(text.p[i]);

		if (digit < 0 || digit >= (int)base)
			return NO_ESCAPE;
		if (v <= 0x10ffff)
			v = v * base + (uint32_t)digit;
	}
	return is_character(u, v, text.n);
}

static enum verdict read_entity(struct str text, struct scrub_unit *u)
{
	static const struct {
		struct str text;
		char c;
	} rows[] = {
#define ENTITY(name, c) {{"&" name ";", sizeof(name) + 1}, c},
#include "core/secret/scrub_entities.def"
#undef ENTITY
	};
	size_t n = text.n > 1 && text.p[1] == '#' ? 2 : 1;

	while (n < text.n && (text_is_alnum(text.p[n])))
		n++;
	if (n >= SCRUB_ESCAPE_CHARS)
		return NO_ESCAPE;
	if (n == text.n)
		return NEEDS_MORE;
	if (text.p[n] != ';')
		return NO_ESCAPE;
	text.n = n + 1;
	if (text.p[1] == '#')
		return read_number(text, u);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eq(text, rows[i].text))
			return is_byte(u, (unsigned char)rows[i].c, text.n);
	return NO_ESCAPE;
}

static const struct stage {
	enum scrub_stage stage;
	char lead;
	enum verdict (*read)(struct str text, struct scrub_unit *u);
} stage_rows[] = {
	{SCRUB_ENTITY, '&', read_entity},
	{SCRUB_PERCENT, '%', read_percent},
	{SCRUB_AGAIN, '\\', read_json},
	{SCRUB_JSON, '\\', read_json},
};

static struct scrub_unit read_below(struct str text, unsigned todo, size_t row);

static struct scrub_unit plain_unit(struct str text)
{
	return (struct scrub_unit){(uint8_t)text.p[0], 1, 1};
}

/*
 * The escape whose lead `first` is; it stays when there is none. No more is
 * read than decides it: runs of leads are long.
 */
static struct scrub_unit read_escape(struct str text, unsigned todo, size_t row,
				     struct scrub_unit first)
{
	char chars[SCRUB_ESCAPE_CHARS];
	size_t end[SCRUB_ESCAPE_CHARS]; /* of each, in the text */
	struct scrub_unit u = first;
	enum verdict got = NEEDS_MORE;

	chars[0] = stage_rows[row].lead;
	end[0] = first.used;
	for (size_t n = 1; got == NEEDS_MORE && n < SCRUB_ESCAPE_CHARS; n++) {
		struct str rest = scrub_behind(text, end[n - 1]);
		struct scrub_unit c = {.used = 0};

		if (rest.n)
			c = read_below(rest, todo, row + 1);
		if (!c.used)
			return todo & SCRUB_WHOLE ? first : c;
		/* of several bytes the first shows that it does not fit */
		chars[n] = (char)c.bytes;
		end[n] = end[n - 1] + c.used;
		got = stage_rows[row].read((struct str){chars, n + 1}, &u);
	}
	if (got != ESCAPE)
		return first;
	u.used = (uint16_t)end[u.used - 1];
	return u;
}

/* By the stages from `row` on. */
static struct scrub_unit read_below(struct str text, unsigned todo, size_t row)
{
	struct scrub_unit u;

	if (!scrub_is_lead(text.p[0]) && text.p[0] != '+')
		return plain_unit(text);
	while (row < ARRAY_LEN(stage_rows) && !(todo & stage_rows[row].stage))
		row++;
	if (row == ARRAY_LEN(stage_rows))
		return plain_unit(text);
	if (!(todo & (stage_rows[row].stage - 1) & SCRUB_STAGES) &&
	    text.p[0] == stage_rows[row].lead) {
		/* the characters of an escape are those of the text */
		u = plain_unit(text);
		if (stage_rows[row].read(text, &u) == NEEDS_MORE &&
		    !(todo & SCRUB_WHOLE))
			u.used = 0;
		return u;
	}
	u = read_below(text, todo, row + 1);
	if (u.n == 1 && u.bytes == '+' && (todo & SCRUB_PLUS) &&
	    stage_rows[row].stage == SCRUB_PERCENT)
		u.bytes = ' ';
	if (u.n != 1 || !u.used || u.bytes != (uint8_t)stage_rows[row].lead)
		return u;
	return read_escape(text, todo, row, u);
}

/*
 * Read an escape that holds no other one and is part of none, as most are, so
 * that the stage of its lead alone undoes it; or text that no stage undoes.
 *
 * returns  nothing used: another text
 */
static struct scrub_unit read_alone(struct str text, unsigned todo)
{
	struct scrub_unit u = {.used = 0};
	size_t row = ARRAY_LEN(stage_rows);

	assert(text.n);
	while (row-- > 0)
		if (stage_rows[row].lead == text.p[0] &&
		    (todo & stage_rows[row].stage))
			break;
	if (row >= ARRAY_LEN(stage_rows) && text.p[0] != '+')
		return plain_unit(text);
	if (row >= ARRAY_LEN(stage_rows) ||
	    stage_rows[row].read(text, &u) != ESCAPE)
		return u;
	if (u.bytes == '+' && (todo & SCRUB_PLUS))
		u.used = 0;
	while (row-- > 0)
		if (u.bytes == (uint8_t)stage_rows[row].lead &&
		    (todo & stage_rows[row].stage))
			u.used = 0;
	return u;
}

/* A character that begins no valid escape stands for itself. */
static struct scrub_unit read_unit(struct str text, unsigned todo)
{
	struct scrub_unit u = read_alone(text, todo);

	return u.used ? u : read_below(text, todo, 0);
}

/* ---- marks ---- */

/*
 * A text that was cut may end within an escape: its lead and some characters,
 * and then the mark. May c be one of them?
 */
static bool may_be_in_escape(char lead, char c)
{
	if (c == lead || text_hex_digit(c) >= 0)
		return true;
	if (lead == '&')
		return c == '#' || text_is_alnum(c);
	return c == '\\' || c == '%' || c == 'u' || c == 'x';
}

static int read_mark_here(struct str text)
{
	if (!text.n)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		size_t n = strlen(marks[i]);

		if (!memcmp(text.p, marks[i], text.n < n ? text.n : n))
			return text.n < n ? -1 : 1;
	}
	return 0;
}

int scrub_read_mark(struct str text, bool may_be_cut, size_t *ret)
{
	size_t at = 0;
	int got = read_mark_here(text);

	if (may_be_cut && text.n && scrub_is_lead(text.p[0]))
		while (!got && at < CUT_ESCAPE_BYTES &&
		       may_be_in_escape(text.p[0], text.p[at]))
			got = read_mark_here(scrub_behind(text, ++at));
	*ret = at;
	return got;
}

/* ---- one reading ---- */

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

static struct str rest_of(const struct piece *p, size_t at)
{
	return str_skip(p->text, (at - p->base));
}

static size_t end_of(const struct piece *p)
{
	return p->base + p->text.n;
}

/* ---- what was found ---- */

static void add_range(const struct piece *p, struct scrub_scanner *sc,
		      size_t from, size_t end)
{
	struct scrub_scan *scan = p->scan;
	struct scrub_range *last =
		sc->last < scan->n_found ? &scan->found[sc->last] : NULL;

	if (last && from < last->end && end > last->from) {
		last->from = from < last->from ? from : last->from;
		last->end = end > last->end ? end : last->end;
		return;
	}
	scan->found = mem_grow(scan->found, scan->n_found + 1, &scan->cap_found,
			       sizeof(*scan->found));
	sc->last = scan->n_found;
	scan->found[scan->n_found++] = (struct scrub_range){from, end};
}

/* ---- origins ---- */

static void origins_add(struct origins *o, size_t at, size_t needed)
{
	size_t cap = o->cap ? o->cap : 64;
	size_t *grown;

	while (cap < needed + RECENT)
		cap *= 2;
	if (cap > o->cap) {
		grown = mem_alloc(cap * sizeof(*grown));
		for (size_t i = o->n > o->cap ? o->n - o->cap : 0; i < o->n;
		     i++)
			grown[i & (cap - 1)] = o->at[i & (o->cap - 1)];
		free(o->at);
		o->at = grown;
		o->cap = cap;
	}
	o->at[o->n++ & (cap - 1)] = at;
}

static size_t origin_of(const struct origins *o, size_t i)
{
	return o->at[i & (o->cap - 1)];
}

/* Bytes that may yet become a value: behind a whole one there are fewer. */
static size_t open_depth(const struct scrub *s, uint32_t node)
{
	while (node &&
	       !(s->info[node] & (SCRUB_NODE_NEXT | SCRUB_NODE_BRANCHES)))
		node = s->fail[node];
	return scrub_depth(s, node);
}

/* ---- values as they are ---- */

/* Where the last `depth` symbols began. */
static size_t plain_from(const struct plain *plain, size_t depth)
{
	return origin_of(&plain->origins, plain->origins.n - depth);
}

static void plain_feed(const struct piece *p, struct scrub_scanner *sc,
		       struct symbol y)
{
	struct plain *plain = &sc->plain;
	size_t out;

	origins_add(&plain->origins, y.from, scrub_depth(p->s, plain->node));
	plain->node = scrub_step(p->s, plain->node, y.byte);
	out = p->s->out[plain->node];
	if (out)
		add_range(p, sc, plain_from(plain, out), y.from + y.used);
	if (scrub_depth(p->s, plain->node) > LITTLE_PLAIN)
		plain->calm = 0;
	else if (++plain->calm > CALM)
		plain->is_active = false;
}

/* ---- codings ---- */

static void coded_clear(struct coded *c)
{
	c->origins.n = 0;
	c->bits = 0;
	c->deepest = 0;
	memset(c->node, 0, sizeof(c->node));
}

/* The lane whose last byte ends `behind` bits before the last character. */
static size_t lane_of(const struct coded *c, const struct scrub_code *code,
		      unsigned behind)
{
	return (c->origins.n * code->bits - behind) % 8 >> code->step_shift;
}

/*
 * Bytes that end `behind` bits before the last character. Characters are
 * found that they alone determine.
 */
static size_t first_char(const struct coded *c, const struct scrub_code *code,
			 unsigned behind, size_t bytes)
{
	size_t bit = c->origins.n * code->bits - behind - 8 * bytes;

	return (bit + code->bits - 1) / code->bits;
}

/* The lane has read one more byte. Returns the bytes it has of a value. */
static size_t lane_step(const struct piece *p, struct scrub_scanner *sc,
			struct coded *c, const struct scrub_code *code,
			unsigned behind)
{
	uint32_t *node = &c->node[lane_of(c, code, behind)];
	uint8_t byte = (uint8_t)(c->bits >> behind);
	size_t out;

	if (!*node) {
		*node = p->s->root[byte];
		return *node ? 1 : 0;
	}
	*node = scrub_step(p->s, *node, byte);
	if (!*node)
		return 0;
	out = p->s->out[*node];
	if (out)
		add_range(p, sc,
			  origin_of(&c->origins,
				    first_char(c, code, behind, out)),
			  behind ? c->end_before : c->end);
	return scrub_depth(p->s, *node);
}

static void coded_step(const struct piece *p, struct scrub_scanner *sc,
		       struct coded *c, const struct scrub_code *code)
{
	size_t bits = c->origins.n * code->bits, deepest = 0;

	for (unsigned behind = 0; behind < code->bits && behind + 8 <= bits;
	     behind += code->step) {
		size_t depth = lane_step(p, sc, c, code, behind);

		deepest = depth > deepest ? depth : deepest;
	}
	c->deepest = deepest > c->deepest ? deepest : c->deepest;
	c->calm = deepest > LITTLE_CODED ? 0 : c->calm + 1;
}

static void coded_feed(const struct piece *p, struct scrub_scanner *sc,
		       size_t coding, struct symbol y)
{
	const struct scrub_code *code = &scrub_codes[coding];
	struct coded *c = &sc->coded[coding];
	int8_t value = p->s->value_of[coding][y.byte];

	if (value < 0) {
		coded_clear(c);
		c->calm++;
	} else {
		origins_add(&c->origins, y.from,
			    c->deepest * 8 / code->bits + RECENT);
		c->end_before = c->end;
		c->end = y.from + y.used;
		c->bits = c->bits << code->bits | (uint8_t)value;
		coded_step(p, sc, c, code);
	}
	if (c->calm > CALM)
		c->is_active = false;
}

/*
 * Where the earliest of what may become a value begins. At the root of a lane
 * it is a character whose bits do not make a byte yet.
 */
static size_t coded_from(const struct piece *p, size_t coding,
			 const struct coded *c, size_t from)
{
	const struct scrub_code *code = &scrub_codes[coding];

	for (unsigned behind = 0; behind < 8; behind += code->step) {
		size_t open, first;

		if (c->origins.n * code->bits < behind)
			break;
		open = open_depth(p->s, c->node[lane_of(c, code, behind)]);
		if (!open &&
		    !p->s->begins[behind][c->bits & ((1u << behind) - 1)])
			continue;
		first = first_char(c, code, behind, open);
		if (first < c->origins.n &&
		    origin_of(&c->origins, first) < from)
			from = origin_of(&c->origins, first);
	}
	return from;
}

/* ---- beginnings of values ---- */

/* Enough of a value was read to know it by its beginning. */
static bool is_known(const struct piece *p, uint32_t node)
{
	return scrub_depth(p->s, node) >= LIMIT_SECRET_SCRUB_MIN &&
	       open_depth(p->s, node) >= LIMIT_SECRET_SCRUB_MIN;
}

static void add_known_coded(const struct piece *p, struct scrub_scanner *sc,
			    size_t coding, size_t end)
{
	const struct scrub_code *code = &scrub_codes[coding];
	const struct coded *c = &sc->coded[coding];

	for (unsigned behind = 0; behind < 8; behind += code->step) {
		uint32_t node;
		size_t first;

		if (c->origins.n * code->bits < behind)
			break;
		node = c->node[lane_of(c, code, behind)];
		first = first_char(c, code, behind, open_depth(p->s, node));
		if (is_known(p, node))
			add_range(p, sc, origin_of(&c->origins, first), end);
	}
}

/* ---- symbols ---- */

static void recent_add(struct recent *r, struct symbol y)
{
	r->symbol[r->n++ % RECENT] = y;
	r->window = r->window << 8 | y.byte;
}

static void begin_plain(const struct piece *p, struct scrub_scanner *sc)
{
	const struct recent *r = &sc->all;

	sc->plain.is_active = true;
	sc->plain.calm = 0;
	sc->plain.node = 0;
	for (size_t i = r->n > RECENT ? r->n - RECENT : 0; i < r->n; i++)
		plain_feed(p, sc, r->symbol[i % RECENT]);
	sc->plain.is_active = true;
}

static void begin_coded(const struct piece *p, struct scrub_scanner *sc,
			size_t coding)
{
	const struct recent *r = &sc->unbroken;
	struct coded *c = &sc->coded[coding];

	coded_clear(c);
	for (size_t i = r->n > RECENT ? r->n - RECENT : 0; i < r->n; i++)
		coded_feed(p, sc, coding, r->symbol[i % RECENT]);
	c->calm = 0;
	c->is_active = true;
}

static void end_run(struct scrub_scanner *sc)
{
	sc->unbroken = (struct recent){.n = 0};
	for (size_t i = 0; i < SCRUB_CODINGS; i++)
		coded_clear(&sc->coded[i]);
}

static void feed_coded(const struct piece *p, struct scrub_scanner *sc,
		       struct symbol y)
{
	const struct scrub *s = p->s;
	uint32_t gram;
	bool any;

	if (y.byte == '\n' || y.byte == '\r') {
		if (++sc->breaks > WRAP_BYTES)
			end_run(sc);
		return;
	}
	sc->breaks = 0;
	recent_add(&sc->unbroken, y);
	gram = scrub_gram(sc->unbroken.window);
	any = scrub_has_gram(s->grams[SCRUB_ANY], gram);
	for (size_t i = 0; i < SCRUB_CODINGS; i++)
		if (sc->coded[i].is_active)
			coded_feed(p, sc, i, y);
		else if (any && scrub_has_gram(s->grams[i], gram))
			begin_coded(p, sc, i);
}

static void feed(const struct piece *p, struct scrub_scanner *sc,
		 struct symbol y)
{
	recent_add(&sc->all, y);
	if (sc->plain.is_active)
		plain_feed(p, sc, y);
	else if (scrub_has_gram(p->s->grams[SCRUB_PLAIN],
				scrub_gram(sc->all.window)))
		begin_plain(p, sc);
	if (sc->is_coded)
		feed_coded(p, sc, y);
}

/* ---- marks ---- */

static bool knows_any(const struct piece *p, const struct scrub_scanner *sc)
{
	if (sc->plain.is_active && is_known(p, sc->plain.node))
		return true;
	for (size_t i = 0; sc->is_coded && i < SCRUB_CODINGS; i++)
		for (size_t k = 0; sc->coded[i].is_active && k < MAX_LANES; k++)
			if (is_known(p, sc->coded[i].node[k]))
				return true;
	return false;
}

/* The text was cut: beginnings of values reach up to `end`. */
static void add_known(const struct piece *p, struct scrub_scanner *sc,
		      size_t end)
{
	if (is_known(p, sc->plain.node))
		add_range(p, sc,
			  plain_from(&sc->plain,
				     open_depth(p->s, sc->plain.node)),
			  end);
	for (size_t i = 0; sc->is_coded && i < SCRUB_CODINGS; i++)
		add_known_coded(p, sc, i, end);
}

/* False: the text ends where it cannot be told. */
static bool look_for_mark(const struct piece *p, struct scrub_scanner *sc,
			  bool may_be_cut)
{
	size_t before;
	int got;

	if (!knows_any(p, sc))
		return true;
	got = scrub_read_mark(rest_of(p, sc->at), may_be_cut, &before);
	if (got > 0)
		add_known(p, sc, sc->at + before);
	else if (got < 0 && p->end == SCRUB_CUT)
		add_known(p, sc, end_of(p));
	return got >= 0 || p->end != SCRUB_MORE;
}

/* ---- units ---- */

/* False: more of the text is needed. */
static bool read_special(const struct piece *p, struct scrub_scanner *sc,
			 char c)
{
	struct str rest = rest_of(p, sc->at);
	unsigned whole = p->end == SCRUB_MORE ? 0 : SCRUB_WHOLE;
	bool is_odd = (sc->stages & SCRUB_ODD) && c == '\\' &&
		      sc->before != '\\' && rest.n > 1 && rest.p[1] == '\\';
	struct scrub_unit u =
		is_odd ? plain_unit(rest) : read_unit(rest, sc->stages | whole);

	if (!u.used)
		return false;
	/* an escape that was cut leaves its lead as such */
	if ((scrub_is_lead(c) || c == MARK_LEAD) &&
	    !look_for_mark(p, sc, scrub_is_lead((char)u.bytes)))
		return false;
	for (; u.n; u.n--, u.bytes >>= 8)
		feed(p, sc, (struct symbol){sc->at, u.used, (uint8_t)u.bytes});
	sc->plain_units = strchr(sc->special, c) ? 0 : sc->plain_units + 1;
	sc->before = rest.p[u.used - 1];
	sc->at += u.used;
	return true;
}

static bool read_one(const struct piece *p, struct scrub_scanner *sc)
{
	static const bool special[256] = {
		['\\'] = true, ['%'] = true,  ['&'] = true,  ['+'] = true,
		['\n'] = true, ['\r'] = true, [0xe2] = true,
	};
	uint8_t c = (uint8_t)p->text.p[sc->at - p->base];

	if (special[c])
		return read_special(p, sc, (char)c);
	feed(p, sc, (struct symbol){sc->at, 1, c});
	sc->plain_units++;
	sc->before = (char)c;
	sc->at++;
	return true;
}

/* ---- asleep ---- */

static bool may_sleep(const struct piece *p, const struct scrub_scanner *sc)
{
	bool follows = sc->plain.is_active;

	for (size_t i = 0; sc->is_coded && i < SCRUB_CODINGS; i++)
		follows |= sc->coded[i].is_active;
	return sc->at >= sc->awake_until && sc->plain_units >= LOOK_BACK &&
	       sc->at - p->base >= LOOK_BACK && !follows;
}

static void wake(struct scrub_scanner *sc, const struct piece *p, size_t at,
		 size_t until)
{
	size_t back = sc->at;

	if (at > back + WAKE_BACK)
		back = at - WAKE_BACK;
	sc->plain_units += back - sc->at;
	sc->is_asleep = false;
	sc->awake_until = until;
	sc->before = back > p->base ? p->text.p[back - p->base - 1] : '\0';
	sc->at = back;
	sc->breaks = 0;
	sc->all = (struct recent){.n = 0};
	end_run(sc);
}

/* Where something other than plain characters stands, at most p->limit. */
static size_t next_special(const struct piece *p, struct scrub_scanner *sc)
{
	const char *text = p->text.p;
	size_t from = sc->at - p->base, limit = p->limit - p->base;

	for (size_t i = 0; sc->special[i]; i++) {
		size_t *next = &sc->next[i];
		size_t at = *next > sc->at ? *next - p->base : from;
		const char *hit;

		if (at >= limit)
			continue;
		hit = memchr(text + at, sc->special[i], limit - at);
		at = hit ? (size_t)(hit - text) : limit;
		*next = p->base + at;
		limit = at;
	}
	return p->base + limit;
}

/* The next place where four characters may be those of a head. */
static size_t next_gram(const scrub_grams grams, struct str text, size_t at,
			size_t limit)
{
	for (; at < limit && at + 4 <= text.n; at += SCRUB_STRIDE)
		if (scrub_has_gram(grams,
				   scrub_gram(scrub_window(text.p + at))))
			return at;
	return SIZE_MAX;
}

static void sleep_on(const struct piece *p, struct scrub_scanner *sc)
{
	size_t special = next_special(p, sc);
	size_t gram = next_gram(sc->is_coded ? p->s->grams[SCRUB_ANY]
					     : p->s->grams[SCRUB_PLAIN],
				p->text, sc->at - p->base, special - p->base);

	if (gram != SIZE_MAX)
		wake(sc, p, p->base + gram, p->base + gram + RECENT);
	else if (special < p->limit)
		wake(sc, p, special, special + 1);
	else if (p->end == SCRUB_MORE || p->limit < end_of(p))
		wake(sc, p, p->limit, p->limit + 1);
	else
		sc->at = p->limit;
}

/* ---- one reading ---- */

/* Read up to piece->limit, or to what cannot be told yet. */
static void scanner_go_on(const struct piece *p, struct scrub_scanner *sc)
{
	bool can = true;

	while (can && sc->at < p->limit) {
		if (sc->is_asleep) {
			sleep_on(p, sc);
		} else if (may_sleep(p, sc)) {
			/* a head may have begun: look at them once more */
			sc->is_asleep = true;
			sc->at -= LOOK_BACK;
			sc->plain_units -= LOOK_BACK;
		} else {
			can = read_one(p, sc);
		}
	}
	if (sc->at == end_of(p) && p->end == SCRUB_CUT)
		add_known(p, sc, sc->at);
	if (sc->at == end_of(p) && p->end != SCRUB_MORE)
		return;
	/* a beginning too short to be followed decides as well */
	if (!sc->plain.is_active)
		begin_plain(p, sc);
	for (size_t i = 0; sc->is_coded && i < SCRUB_CODINGS; i++)
		if (!sc->coded[i].is_active)
			begin_coded(p, sc, i);
}

/* Nothing that begins before can be found any more. */
static size_t scanner_decided(const struct piece *p,
			      const struct scrub_scanner *sc)
{
	size_t from = sc->at, open;

	if (sc->at == end_of(p) && p->end != SCRUB_MORE)
		return from;
	open = open_depth(p->s, sc->plain.node);
	if (open && plain_from(&sc->plain, open) < from)
		from = plain_from(&sc->plain, open);
	for (size_t i = 0; sc->is_coded && i < SCRUB_CODINGS; i++)
		from = coded_from(p, i, &sc->coded[i], from);
	return from;
}

/* Ready for another text. */
static void scanner_clear(struct scrub_scanner *sc)
{
	sc->is_asleep = false;
	sc->at = sc->awake_until = sc->plain_units = sc->breaks = 0;
	sc->before = '\0';
	sc->all = (struct recent){.n = 0};
	memset(sc->next, 0, sizeof(sc->next));
	sc->plain.node = 0;
	sc->plain.is_active = false;
	sc->plain.origins.n = 0;
	end_run(sc);
	for (size_t i = 0; i < SCRUB_CODINGS; i++)
		sc->coded[i].is_active = false;
}

/* Be where `from` is, which has read the same so far. */
static void scanner_follow(const struct piece *p, struct scrub_scanner *sc,
			   const struct scrub_scanner *from)
{
	size_t depth = scrub_depth(p->s, from->plain.node);

	scanner_clear(sc);
	sc->is_asleep = from->is_asleep;
	sc->at = from->at;
	sc->awake_until = from->awake_until;
	sc->plain_units = from->plain_units;
	sc->before = from->before;
	sc->all = from->all;
	sc->plain.node = from->plain.node;
	sc->plain.calm = from->plain.calm;
	sc->plain.is_active = from->plain.is_active;
	for (size_t k = depth; k > 0; k--)
		origins_add(&sc->plain.origins, plain_from(&from->plain, k),
			    depth);
}

/* ---- all readings ---- */

/* Stages that have something to do with the lead of a text. */
static unsigned stages_of_lead(struct str text, size_t *used)
{
	static const unsigned backslash = SCRUB_JSON | SCRUB_AGAIN | SCRUB_ODD;
	struct scrub_unit u;
	char c = text.n ? text.p[0] : '\0';

	*used = 1;
	if (str_starts(text, "\\\\\\\\"))
		return backslash;
	u = read_alone(text, SCRUB_STAGES | SCRUB_PLUS);
	if (u.used)
		*used = u.used;
	if (c == '+')
		return SCRUB_PLUS;
	if (u.used)
		return c == '\\'  ? SCRUB_JSON
		       : c == '%' ? SCRUB_PERCENT
				  : SCRUB_ENTITY;
	if (c == '\\')
		u = read_unit(text, SCRUB_JSON | SCRUB_AGAIN);
	return u.used && u.bytes != '%' && u.bytes != '&' && u.bytes != '+'
		       ? backslash
		       : ~0u;
}

/* Readings that differ in no other stage read the same. */
static unsigned stages_at_work(const struct piece *p, size_t from)
{
	size_t at = from - p->base, limit = p->limit - p->base, used;
	const char *text = p->text.p + at;
	unsigned work = 0;

	if (at >= limit ||
	    !(memchr(text, '\\', limit - at) || memchr(text, '%', limit - at) ||
	      memchr(text, '&', limit - at) ||
	      (p->s->has_space && memchr(text, '+', limit - at))))
		return 0;
	for (; at < limit && work != ~0u; at += used) {
		char c = p->text.p[at];

		used = 1;
		if (scrub_is_lead(c) || c == '+')
			work |= stages_of_lead(scrub_behind(p->text, at),
					       &used);
	}
	return work;
}

static bool is_leader(const struct scrub_scan *scan, size_t i)
{
	return scan->scanners[i].leader == i;
}

static void lead(struct scrub_scan *scan, size_t old, size_t leader,
		 unsigned work)
{
	unsigned stages = scan->scanners[leader].stages;

	for (size_t i = leader; i < scan->n; i++)
		if (scan->scanners[i].leader == old &&
		    !((scan->scanners[i].stages ^ stages) & work))
			scan->scanners[i].leader = leader;
}

/* Go on apart from a leader that would read something else. */
static void part(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;
	struct scrub_scanner *all = scan->scanners;
	size_t from = all[0].at;
	unsigned work;

	for (size_t i = 1; i < scan->n; i++)
		if (is_leader(scan, i) && all[i].at < from)
			from = all[i].at;
	work = stages_at_work(p, from);
	for (size_t i = 1; i < scan->n; i++) {
		size_t old = all[i].leader;

		if (!((all[i].stages ^ all[old].stages) & work) || old == i)
			continue;
		scanner_follow(p, &all[i], &all[old]);
		lead(scan, old, i, work);
	}
}

/* Scanners that read plain text for as long as what they follow. */
static bool is_same(const struct piece *p, const struct scrub_scanner *a,
		    const struct scrub_scanner *b)
{
	size_t needed = scrub_depth(p->s, a->plain.node) + RECENT;

	return a->at == b->at && a->plain.node == b->plain.node &&
	       a->is_asleep == b->is_asleep && a->plain_units >= needed &&
	       b->plain_units >= needed;
}

static void join(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;

	for (size_t i = 1; i < scan->n; i++)
		for (size_t k = 0; is_leader(scan, i) && k < i; k++)
			if (is_leader(scan, k) &&
			    is_same(p, &scan->scanners[k], &scan->scanners[i]))
				lead(scan, i, k, 0);
}

static int by_begin(const void *a, const void *b)
{
	const struct scrub_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

size_t scrub_scan_run(struct scrub_scan *scan, struct str text, size_t base,
		      size_t limit, enum scrub_end end)
{
	struct piece p = {scan, scan->scrub, text, base, 0, end};
	size_t decided;

	for (size_t i = 0; i < scan->n; i++)
		scan->scanners[i].last = SIZE_MAX;
	for (size_t at = base; at < limit; at = p.limit) {
		p.limit = limit - at > BLOCK_BYTES ? at + BLOCK_BYTES : limit;
		part(&p);
		for (size_t i = 0; i < scan->n; i++)
			if (is_leader(scan, i))
				scanner_go_on(&p, &scan->scanners[i]);
		join(&p);
	}
	decided = scanner_decided(&p, &scan->scanners[0]);
	for (size_t i = 1; i < scan->n; i++) {
		size_t own = is_leader(scan, i)
				     ? scanner_decided(&p, &scan->scanners[i])
				     : decided;

		decided = own < decided ? own : decided;
	}
	if (scan->n_found > 1)
		qsort(scan->found, scan->n_found, sizeof(*scan->found),
		      by_begin);
	return decided;
}

bool scrub_scan_is_clean(const struct scrub *s, struct str text)
{
	static const bool special[256] = {
		['\\'] = true, ['%'] = true,  ['&'] = true,
		['+'] = true,  ['\n'] = true, ['\r'] = true,
	};

	if (text.n < LIMIT_SECRET_SCRUB_MIN)
		return true;
	if (next_gram(s->grams[SCRUB_ANY], text, 0, text.n) != SIZE_MAX)
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (special[(unsigned char)text.p[i]])
			return false;
	return true;
}

/* ---- which readings ---- */

/* A reading that is there already is not added. */
static void add_scanner(struct scrub_scan *scan, unsigned stages, bool is_coded)
{
	static const struct {
		unsigned stage;
		char c;
	} specials[] = {
		{SCRUB_JSON, '\\'},
		{SCRUB_PERCENT, '%'},
		{SCRUB_ENTITY, '&'},
		{SCRUB_PLUS, '+'},
	};
	struct scrub_scanner *sc = &scan->scanners[scan->n];
	size_t n = 0;

	for (size_t i = 0; i < scan->n; i++)
		if (scan->scanners[i].stages == stages)
			return;
	scan->n++;
	sc->stages = stages;
	sc->is_coded = is_coded;
	for (size_t i = 0; i < ARRAY_LEN(specials); i++)
		if (stages & specials[i].stage)
			sc->special[n++] = specials[i].c;
	if (is_coded) {
		sc->special[n++] = '\n';
		sc->special[n++] = '\r';
	}
}

static int by_depth(const void *a, const void *b)
{
	const struct scrub_chain *x = a, *y = b;

	return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Make `fail` and `out` whole; a scan begins with this. */
static void scrub_prepare(const struct scrub *s)
{
	AUTO(mem_freep) size_t *open = NULL;
	size_t n_open = 0, next = 0;

	if (!s->n || !s->fail[0])
		return;
	s->fail[0] = 0;
	open = mem_alloc(s->n_chains * sizeof(*open));
	qsort(s->chains, s->n_chains, sizeof(*s->chains), by_depth);
	for (size_t depth = 1; depth <= s->longest; depth++) {
		size_t kept = 0;

		while (next < s->n_chains && s->chains[next].depth == depth)
			open[n_open++] = next++;
		for (size_t i = 0; i < n_open; i++) {
			const struct scrub_chain *c = &s->chains[open[i]];
			uint32_t node = c->first + (uint32_t)(depth - c->depth);
			uint32_t up = node == c->first ? c->parent : node - 1;
			uint32_t fail =
				up ? scrub_step(s, s->fail[up], s->byte[node])
				   : 0;

			s->fail[node] = fail;
			s->out[node] = s->info[node] & SCRUB_NODE_ENDS
					       ? (uint32_t)depth
					       : s->out[fail];
			if (node + 1 < c->first + c->n)
				open[kept++] = open[i];
		}
		n_open = kept;
	}
}

void scrub_scan_init(struct scrub_scan *scan, const struct scrub *s,
		     enum scrub_place place)
{
	static const struct {
		unsigned stages, places;
	} readings[] = {
		/* the first looks for codings, too */
		{SCRUB_STAGES, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_STAGES | SCRUB_PLUS, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_AGAIN, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_PERCENT, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_PERCENT | SCRUB_PLUS,
		 SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_ENTITY, SCRUB_STRING},
		{SCRUB_JSON | SCRUB_ODD, SCRUB_BYTES},
		{SCRUB_PERCENT, SCRUB_BYTES},
		{SCRUB_PERCENT | SCRUB_PLUS, SCRUB_BYTES},
		{SCRUB_ENTITY, SCRUB_BYTES},
		{0, SCRUB_BYTES | SCRUB_LITERAL},
	};

	scrub_prepare(s);
	*scan = (struct scrub_scan){.scrub = s};
	scan->scanners =
		mem_zalloc(ARRAY_LEN(readings) * sizeof(*scan->scanners));
	for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
		unsigned stages = readings[i].stages;

		/* where it hides no value, a stage is always undone */
		if (place != SCRUB_LITERAL)
			stages |= scrub_always(s, stages);
		if ((readings[i].places & place) &&
		    (s->has_space || !(stages & SCRUB_PLUS)))
			add_scanner(scan, stages,
				    !scan->n && place != SCRUB_LITERAL);
	}
}

void scrub_scan_clear(struct scrub_scan *scan, size_t at)
{
	for (size_t i = 0; i < scan->n; i++) {
		scanner_clear(&scan->scanners[i]);
		scan->scanners[i].at = at;
		scan->scanners[i].leader = 0;
	}
	scan->n_found = 0;
}

void scrub_scan_drop(struct scrub_scan *scan, size_t n)
{
	if (!n)
		return;
	scan->n_found -= n;
	memmove(scan->found, scan->found + n,
		scan->n_found * sizeof(*scan->found));
}

void scrub_scan_release(struct scrub_scan *scan)
{
	for (size_t i = 0; i < scan->n; i++) {
		struct scrub_scanner *sc = &scan->scanners[i];

		free(sc->plain.origins.at);
		for (size_t c = 0; c < SCRUB_CODINGS; c++)
			free(sc->coded[c].origins.at);
		mem_wipe(sc, sizeof(*sc));
	}
	free(scan->scanners);
	free(scan->found);
	*scan = (struct scrub_scan){0};
}
