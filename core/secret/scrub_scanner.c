/*
 * One reading of a text. The scanner sleeps over what cannot begin a value: it
 * looks at every third place whether four characters there are among those
 * that values begin with, and wakes up for them and for escapes. Awake it
 * reads unit by unit, and from the first four characters of a value on it
 * follows the automaton: once for values as they are, and for each coding
 * (Base64, Base32, hex) once per bit at which a byte can begin. These are the
 * lanes.
 */
#include "core/secret/scrub_scanner.h"

#include <stdlib.h>

#include "core/base/mem.h"

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

static struct str rest_of(const struct piece *p, size_t at)
{
	return (struct str){p->text.p + (at - p->base),
			    p->text.n - (at - p->base)};
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

static void recent_clear(struct recent *r)
{
	r->n = 0;
	r->window = 0;
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
	recent_clear(&sc->unbroken);
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
	any = scrub_has_gram(s->any_gram, gram);
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

static bool is_odd(const struct scrub_scanner *sc, struct str rest)
{
	return (sc->stages & SCRUB_ODD) && rest.p[0] == '\\' &&
	       sc->before != '\\' && rest.n > 1 && rest.p[1] == '\\';
}

static struct scrub_unit read_unit(const struct piece *p,
				   const struct scrub_scanner *sc,
				   struct str rest)
{
	unsigned whole = p->end == SCRUB_MORE ? 0 : SCRUB_WHOLE;

	if (is_odd(sc, rest))
		return (struct scrub_unit){(uint8_t)rest.p[0], 1, 1};
	return scrub_read_unit(rest, sc->stages | whole);
}

/* False: more of the text is needed. */
static bool read_special(const struct piece *p, struct scrub_scanner *sc,
			 char c)
{
	struct str rest = rest_of(p, sc->at);
	struct scrub_unit u;

	u = read_unit(p, sc, rest);
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

static bool follows_any(const struct scrub_scanner *sc)
{
	bool any = sc->plain.is_active;

	for (size_t i = 0; sc->is_coded && i < SCRUB_CODINGS; i++)
		any |= sc->coded[i].is_active;
	return any;
}

static bool may_sleep(const struct piece *p, const struct scrub_scanner *sc)
{
	return sc->at >= sc->awake_until && sc->plain_units >= LOOK_BACK &&
	       sc->at - p->base >= LOOK_BACK && !follows_any(sc);
}

/* The last four units are looked at once more: a head may have begun. */
static void fall_asleep(struct scrub_scanner *sc)
{
	sc->is_asleep = true;
	sc->at -= LOOK_BACK;
	sc->plain_units -= LOOK_BACK;
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
	recent_clear(&sc->all);
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
size_t scrub_next_gram(const scrub_grams grams, struct str text, size_t at,
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
	size_t gram = scrub_next_gram(
		sc->is_coded ? p->s->any_gram : p->s->grams[SCRUB_PLAIN],
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

void scanner_go_on(const struct piece *p, struct scrub_scanner *sc)
{
	bool can = true;

	while (can && sc->at < p->limit) {
		if (sc->is_asleep)
			sleep_on(p, sc);
		else if (may_sleep(p, sc))
			fall_asleep(sc);
		else
			can = read_one(p, sc);
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
size_t scanner_decided(const struct piece *p, const struct scrub_scanner *sc)
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

void scanner_clear(struct scrub_scanner *sc)
{
	sc->is_asleep = false;
	sc->at = sc->awake_until = sc->plain_units = sc->breaks = 0;
	sc->before = '\0';
	recent_clear(&sc->all);
	memset(sc->next, 0, sizeof(sc->next));
	sc->plain.node = 0;
	sc->plain.is_active = false;
	sc->plain.origins.n = 0;
	end_run(sc);
	for (size_t i = 0; i < SCRUB_CODINGS; i++)
		sc->coded[i].is_active = false;
}

void scanner_follow(const struct piece *p, struct scrub_scanner *sc,
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

void scanner_release(struct scrub_scanner *sc)
{
	free(sc->plain.origins.at);
	for (size_t i = 0; i < SCRUB_CODINGS; i++)
		free(sc->coded[i].origins.at);
	mem_wipe(sc, sizeof(*sc));
}
