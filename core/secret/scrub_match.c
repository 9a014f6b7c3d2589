/* Finds values in a text, however it spells them. */
#include "core/secret/scrub_inner.h"

/* Put by whoever cuts a text, directly behind what is left of it. */
#define MARK "…"
/* An escape that was cut before a mark is shorter than this, bytes. */
#define CUT_ESCAPE_BYTES 24
/* Line breaks that may follow each other inside of base64. */
#define WRAP_BYTES 2

/* How escapes in the text are read; a literal byte is one in every mode. */
enum {
	DECODE_JSON = 1,
	DECODE_PERCENT = 2,
	DECODE_TWICE = 4, /* JSON text inside of a JSON string */
	DECODE_ALL = 7,
};

/* The text ends before this could be decided. */
#define PARTIAL SIZE_MAX

/* What stands at one place of the text, as bytes. */
struct unit {
	char bytes[4];
	size_t n;    /* of bytes */
	size_t used; /* of text; 0: the text ends inside */
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * returns  1 with n hex digits read, 0 when something else stands there, -1
 *	    when the text ends
 */
static int read_hex(struct str text, size_t n, uint32_t *ret)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		int digit;

		if (i == text.n)
			return -1;
		digit = hex_value(text.p[i]);
		if (digit < 0)
			return 0;
		v = v << 4 | (uint32_t)digit;
	}
	*ret = v;
	return 1;
}

static void set_code_point(struct unit *u, uint32_t c, size_t used)
{
	u->used = used;
	if (c < 0x80) {
		u->bytes[0] = (char)c;
		u->n = 1;
	} else if (c < 0x800) {
		u->bytes[0] = (char)(0xc0 | c >> 6);
		u->bytes[1] = (char)(0x80 | (c & 0x3f));
		u->n = 2;
	} else if (c < 0x10000) {
		u->bytes[0] = (char)(0xe0 | c >> 12);
		u->bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
		u->bytes[2] = (char)(0x80 | (c & 0x3f));
		u->n = 3;
	} else {
		u->bytes[0] = (char)(0xf0 | c >> 18);
		u->bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
		u->bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
		u->bytes[3] = (char)(0x80 | (c & 0x3f));
		u->n = 4;
	}
}

/*
 * \uXXXX, or two of them for one character; half of such a pair stands for
 * U+FFFD. False when it is neither.
 */
static bool read_u(struct str text, struct unit *u)
{
	uint32_t high = 0, low = 0;
	struct str rest = scrub_behind(text, 6);
	int got = read_hex(scrub_behind(text, 2), 4, &high);

	u->used = 0;
	if (got <= 0)
		return got < 0;
	if (high < 0xd800 || high > 0xdfff) {
		set_code_point(u, high, 6);
		return true;
	}
	set_code_point(u, 0xfffd, 6);
	if (high > 0xdbff)
		return true;
	if (rest.n < 2 && (!rest.n || rest.p[0] == '\\')) {
		u->used = 0;
		return true;
	}
	if (!str_starts(rest, "\\u"))
		return true;
	got = read_hex(scrub_behind(rest, 2), 4, &low);
	if (got < 0)
		u->used = 0;
	else if (got && low >= 0xdc00 && low <= 0xdfff)
		set_code_point(
			u, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
			12);
	return true;
}

static bool read_json_escape(struct str text, struct unit *u)
{
	static const char meaning[256] = {
		['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
		['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
	};
	char c;

	u->used = 0;
	if (text.n < 2)
		return true;
	if (text.p[1] == 'u')
		return read_u(text, u);
	c = meaning[(unsigned char)text.p[1]];
	if (!c)
		return false;
	u->bytes[0] = c;
	u->n = 1;
	u->used = 2;
	return true;
}

static bool read_percent(struct str text, struct unit *u)
{
	uint32_t byte;
	int got = read_hex(scrub_behind(text, 1), 2, &byte);

	u->used = 0;
	if (got <= 0)
		return got < 0;
	u->bytes[0] = (char)byte;
	u->n = 1;
	u->used = 3;
	return true;
}

/*
 * An escape that is itself escaped: `\\n`, `\u005cu0041`. `first` is the
 * backslash that was read already; it stays when this is none.
 */
static void read_twice(struct str text, struct unit *first)
{
	enum { LONGEST = 12 }; /* \uXXXX\uXXXX */
	char inner[LONGEST];
	size_t end[LONGEST]; /* of text, behind each byte of inner */
	size_t n = 0, at = 0;
	struct unit u = {.n = 0};

	/* no more is read than decides it: runs of backslashes are long */
	while (!u.used && n < LONGEST) {
		struct str rest = scrub_behind(text, at);
		struct unit c = {.n = 1, .used = 1};

		if (rest.n)
			c.bytes[0] = rest.p[0];
		if (!rest.n || (rest.p[0] == '\\' &&
				read_json_escape(rest, &c) && !c.used))
			break;
		/* of several bytes the first shows that it does not fit */
		inner[n] = c.bytes[0];
		at += c.used;
		end[n++] = at;
		if (n > 1 && !read_json_escape((struct str){inner, n}, &u))
			return;
	}
	if (u.used)
		u.used = end[u.used - 1];
	*first = u;
}

/* What begins no valid escape stands for itself. */
static struct unit read_unit(struct str text, unsigned mode)
{
	struct unit u = {.n = 0};

	if (text.p[0] == '\\' && (mode & DECODE_JSON) &&
	    read_json_escape(text, &u)) {
		if (u.used && u.bytes[0] == '\\' && (mode & DECODE_TWICE))
			read_twice(text, &u);
		return u;
	}
	if (text.p[0] == '%' && (mode & DECODE_PERCENT) &&
	    read_percent(text, &u))
		return u;
	u.bytes[0] = text.p[0];
	u.n = u.used = 1;
	return u;
}

static bool is_cut_escape(char c)
{
	return c == '\\' || c == '%' || c == 'u' || hex_value(c) >= 0;
}

/*
 * Does a mark stand here, perhaps behind an escape that was cut?
 *
 * returns  1 with the bytes before it, 0, or -1 when the text ends first
 */
static int read_mark(struct str text, size_t *ret)
{
	size_t n = strlen(MARK), at = 0;
	struct str rest;

	if (text.n && (text.p[0] == '\\' || text.p[0] == '%'))
		while (at < text.n && at < CUT_ESCAPE_BYTES &&
		       is_cut_escape(text.p[at]) &&
		       !str_starts(scrub_behind(text, at), "\\u2026"))
			at++;
	rest = scrub_behind(text, at);
	*ret = at;
	if (str_starts(rest, MARK) || str_starts(rest, "\\u2026"))
		return 1;
	if (rest.n < n && !memcmp(rest.n ? rest.p : "", MARK, rest.n))
		return -1;
	return 0;
}

/* The text ends behind i bytes of a pattern. */
static size_t match_end(const struct scrub_reading *r, size_t i, size_t used)
{
	return r->cut && i >= LIMIT_SECRET_SCRUB_MIN ? used : PARTIAL;
}

/* Something else stands behind i bytes of a pattern, `at` bytes of text. */
static size_t match_cut(const struct scrub_reading *r, struct str text,
			size_t i, size_t at)
{
	size_t more;
	int got;

	if (i < LIMIT_SECRET_SCRUB_MIN)
		return 0;
	got = read_mark(scrub_behind(text, at), &more);
	if (got < 0)
		return match_end(r, i, text.n);
	return got ? at + more : 0;
}

static bool is_break(const struct unit *u)
{
	return u->n == 1 && (u->bytes[0] == '\n' || u->bytes[0] == '\r');
}

/*
 * Does the pattern, or the beginning of it and then a mark, stand at the
 * start of the text?
 *
 * returns  bytes of text, 0, or PARTIAL
 */
static size_t match_as(const struct scrub_pattern *p, struct str text,
		       unsigned mode, const struct scrub_reading *r)
{
	size_t i = 0, at = 0, breaks = 0;

	while (i < p->n) {
		struct str rest = {text.p + at, text.n - at};
		struct unit u;

		if (!rest.n)
			return match_end(r, i, at);
		/* most bytes are the same in every mode */
		if (scrub_is_plain(rest.p[0])) {
			if (rest.p[0] != p->bytes[i])
				return match_cut(r, text, i, at);
			i++;
			at++;
			breaks = 0;
			continue;
		}
		if (r->in_json && rest.p[0] == '"')
			return 0;
		u = read_unit(rest, mode);
		if (!u.used)
			return match_end(r, i, text.n);
		if (u.bytes[0] == p->bytes[i] && u.n <= p->n - i &&
		    !memcmp(u.bytes, p->bytes + i, u.n)) {
			i += u.n;
			breaks = 0;
		} else if (p->bytes[i] == ' ' && u.bytes[0] == '+' &&
			   (mode & DECODE_PERCENT)) {
			i++;
		} else if (!p->wraps || !i || !is_break(&u) ||
			   breaks++ == WRAP_BYTES) {
			return match_cut(r, text, i, at);
		}
		at += u.used;
	}
	return at;
}

static void note(struct scrub_found *f, size_t n)
{
	if (n == PARTIAL)
		f->open = true;
	else if (n > f->n)
		f->n = n;
}

static void match_first(const struct scrub *s, unsigned char first,
			struct str text, const struct scrub_reading *r,
			struct scrub_found *f)
{
	static const unsigned modes[] = {DECODE_ALL,
					 0,
					 DECODE_JSON,
					 DECODE_JSON | DECODE_PERCENT,
					 DECODE_JSON | DECODE_TWICE,
					 DECODE_PERCENT};
	const struct scrub_pattern *p = s->by_first[first];

	for (; p; p = p->next) {
		/* literal bytes match in every mode */
		size_t n = p->special ? ARRAY_LEN(modes) : 1;

		/* in a JSON text `\` is never literal */
		for (size_t i = 0; i < n; i++)
			if (!r->in_json || (modes[i] & DECODE_JSON))
				note(f, match_as(p, text, modes[i], r));
	}
}

/*
 * Is there a pattern that begins with these bytes as they are? True as well
 * where it takes more than a look.
 */
static bool may_begin(const struct scrub *s, struct str text)
{
	size_t bit;

	for (size_t i = 0; i < SCRUB_HEAD_BYTES; i++)
		if (i == text.n || !scrub_is_plain(text.p[i]))
			return true;
	bit = scrub_head_hash(text.p);
	return s->head[bit / 8] >> bit % 8 & 1;
}

/*
 * Deep inside of a run of backslashes nothing begins: however they are read,
 * four of them are one or more, and so the run outlasts those of a pattern.
 * An even number is passed, which in JSON are whole escapes.
 */
static size_t skip_run(const struct scrub *s, struct str in, size_t at)
{
	size_t keep = 4 * (s->backslashes + 1) + CUT_ESCAPE_BYTES, run = 0;

	while (at + run < in.n && in.p[at + run] == '\\')
		run++;
	return run > keep ? at + ((run - keep) & ~(size_t)1) : at;
}

size_t scrub_skip(const struct scrub *s, struct str in, size_t at, bool in_json)
{
	const unsigned char *p = (const unsigned char *)in.p;

	for (; at + 1 < in.n; at++) {
		size_t bit = (size_t)p[at] << 8 | p[at + 1];

		if (bit == ('\\' << 8 | '\\'))
			at = skip_run(s, in, at);
		if (s->pair[bit / 8] >> bit % 8 & 1)
			return at;
		if (in_json && (p[at] == '"' || p[at] == '\\'))
			return at;
	}
	return at;
}

/* What stands at the start in two ways of reading it is looked at once. */
struct scrub_found scrub_match(const struct scrub *s, struct str text,
			       const struct scrub_reading *r)
{
	static const unsigned json[] = {DECODE_JSON,
					DECODE_JSON | DECODE_TWICE};
	static const unsigned percent[] = {DECODE_PERCENT};
	struct scrub_found f = {0};
	unsigned char first = text.n ? (unsigned char)text.p[0] : 0;
	const unsigned *modes = first == '%' ? percent : json;
	size_t n = first == '%' ? 1 : first == '\\' ? 2 : 0;
	unsigned char done = first;

	if (!text.n || !s->first[first] || !may_begin(s, text))
		return f;
	match_first(s, first, text, r, &f);
	if (first == '+')
		match_first(s, ' ', text, r, &f);
	for (size_t i = 0; i < n; i++) {
		struct unit u = read_unit(text, modes[i]);
		unsigned char c = (unsigned char)u.bytes[0];

		f.open |= !u.used;
		if (u.used < 2 || c == first || c == done)
			continue;
		match_first(s, c, text, r, &f);
		done = c;
	}
	return f;
}

size_t scrub_step_of(struct str text, bool in_json)
{
	size_t n = in_json ? read_unit(text, DECODE_JSON).used : 1;

	return n ? n : 1;
}

void scrub_grow(const struct scrub *s, struct str text,
		const struct scrub_reading *r, struct scrub_found *f)
{
	size_t at = scrub_step_of(text, r->in_json);

	while (at < f->n) {
		struct str rest = scrub_behind(text, at);
		struct scrub_found more = scrub_match(s, rest, r);

		f->open |= more.open;
		if (more.n && at + more.n > f->n)
			f->n = at + more.n;
		at += scrub_step_of(rest, r->in_json);
	}
}
