#include "core/secret/scrub.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"

#define STARS "***"
/* Put by whoever cuts a text, directly behind what is left of it. */
#define MARK "…"
/* An escape that was cut before a mark is shorter than this, bytes. */
#define CUT_ESCAPE_BYTES 24
/* Line breaks that may follow each other inside of base64. */
#define WRAP_BYTES 2
/* First bytes of a pattern that are looked up at once; none is shorter. */
#define HEAD_BYTES LIMIT_SECRET_SCRUB_MIN
/* Up to here what is held back is read again with every piece. */
#define HELD_BYTES 4096

/* Bytes to find: a value, or one of its forms that have to be spelled out. */
struct pattern {
	char *bytes; /* owned, wiped */
	size_t n;
	bool wraps;   /* base64: line breaks may stand inside */
	bool special; /* holds `\` or `%`, which may also begin an escape */
	struct pattern *next; /* with the same first byte */
};

struct scrub {
	struct pattern *by_first[256]; /* owned */
	bool first[256];	       /* a match may begin with this byte */
	uint8_t pair[65536 / 8];       /* ... and with these two */
	uint8_t head[65536 / 8];       /* hashes of first HEAD_BYTES */
	size_t backslashes;	       /* at most, in front of a pattern */
	bool has_quote;		       /* a value holds `"` */
	size_t n;		       /* patterns */
};

/* How escapes in the text are read; a literal byte is one in every mode. */
enum {
	DECODE_JSON = 1,
	DECODE_PERCENT = 2,
	DECODE_TWICE = 4, /* JSON text inside of a JSON string */
	DECODE_ALL = 7,
};

/* The text ends before this could be decided. */
#define PARTIAL SIZE_MAX

/* The text that is read. */
struct reading {
	bool in_json; /* inside of a JSON string, where `"` ends it */
	bool cut;     /* its end counts as a mark */
};

static const struct reading as_bytes = {.in_json = false};
static const struct reading as_string = {.in_json = true};

struct scrub *scrub_new(void)
{
	return mem_zalloc(sizeof(struct scrub));
}

void scrub_free(struct scrub *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ARRAY_LEN(s->by_first); i++) {
		while (s->by_first[i]) {
			struct pattern *p = s->by_first[i];

			s->by_first[i] = p->next;
			mem_wipe(p->bytes, p->n);
			free(p->bytes);
			free(p);
		}
	}
	free(s);
}

bool scrub_is_empty(const struct scrub *s)
{
	return !s || !s->n;
}

/* ---- patterns ---- */

static void allow_pair(struct scrub *s, unsigned char a, unsigned char b)
{
	size_t bit = (size_t)a << 8 | b;

	s->first[a] = true;
	s->pair[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* Every way in which the first two bytes of a match can look. */
static void allow_start(struct scrub *s, const struct pattern *p)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	unsigned char first = (unsigned char)p->bytes[0];
	unsigned char second = (unsigned char)p->bytes[1];
	const char *begins = first == ' ' ? " +" : NULL;
	const char one[] = {(char)first, '\0'};

	for (const char *a = begins ? begins : one; *a; a++) {
		unsigned char c = (unsigned char)*a;

		allow_pair(s, c, second);
		allow_pair(s, c, '\\');
		allow_pair(s, c, '%');
		if (second == ' ')
			allow_pair(s, c, '+');
		if (p->wraps) {
			allow_pair(s, c, '\n');
			allow_pair(s, c, '\r');
		}
	}
	/* escapes; which ones fit is seen when they are decoded */
	for (const char *e = "\"\\/bfnrtu"; *e; e++)
		/* `\\` may begin an escape that is itself escaped */
		if (strchr("u\\", *e) || first < 0x20 || strchr("\"/", first))
			allow_pair(s, '\\', (unsigned char)*e);
	for (const char *h = hex; *h; h++) {
		unsigned nibble = (unsigned)(h - hex);

		if (nibble > 15)
			nibble -= 6;
		if (nibble == first >> 4)
			allow_pair(s, '%', (unsigned char)*h);
	}
}

/* Escapes, and what stands for something else inside of a match. */
static bool is_plain(char c)
{
	static const bool special[256] = {
		['\\'] = true, ['%'] = true,  ['+'] = true,
		['"'] = true,  ['\n'] = true, ['\r'] = true,
	};

	return !special[(unsigned char)c];
}

static size_t head_hash(const char *p)
{
	uint64_t key = 0;

	memcpy(&key, p, HEAD_BYTES);
	return key * 0x9e3779b97f4a7c15 >> 48;
}

static bool has_pattern(const struct scrub *s, struct str bytes)
{
	const struct pattern *p = s->by_first[(unsigned char)bytes.p[0]];

	for (; p; p = p->next)
		if (str_eq(bytes, (struct str){p->bytes, p->n}))
			return true;
	return false;
}

static void add_pattern(struct scrub *s, struct str bytes, bool wraps)
{
	struct pattern **head = &s->by_first[(unsigned char)bytes.p[0]];
	struct pattern *p;

	if (has_pattern(s, bytes))
		return;
	p = mem_zalloc(sizeof(*p));
	p->bytes = mem_strndup(bytes.p, bytes.n);
	p->n = bytes.n;
	p->wraps = wraps;
	p->special = str_find(bytes, '\\') < bytes.n ||
		     str_find(bytes, '%') < bytes.n;
	p->next = *head;
	*head = p;
	s->has_quote |= str_find(bytes, '"') < bytes.n;
	s->n++;
	for (size_t i = 0; i < p->n && p->bytes[i] == '\\'; i++)
		/* nothing but these: there is no other byte to wait for */
		s->backslashes = i + 1 == p->n	      ? SIZE_MAX / 8
				 : i < s->backslashes ? s->backslashes
						      : i + 1;
	s->head[head_hash(p->bytes) / 8] |=
		(uint8_t)(1u << head_hash(p->bytes) % 8);
	allow_start(s, p);
}

/* Room at once, so that growing leaves no copy behind. */
static void reserve(struct buf *b, size_t n)
{
	char *room = buf_room(b, n);

	assert(room);
	(void)room;
}

/*
 * The characters that value alone determines when `shift` bytes stand before
 * it in the same group of three.
 */
static void add_base64(struct scrub *s, struct str value, unsigned shift,
		       const char *alphabet)
{
	/* characters into which bits of the bytes before reach */
	static const size_t foreign[] = {0, 2, 3};
	size_t n = 8 * (shift + value.n) / 6, have = 0;
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	uint32_t bits = 0;

	reserve(&out, n);
	for (size_t i = 0; i < shift + value.n; i++) {
		bits = bits << 8 |
		       (i < shift ? 0 : (unsigned char)value.p[i - shift]);
		for (have += 8; have >= 6; have -= 6)
			buf_addc(&out, alphabet[bits >> (have - 6) & 63]);
	}
	add_pattern(
		s, (struct str){out.p + foreign[shift], out.n - foreign[shift]},
		true);
}

bool scrub_add(struct scrub *s, struct str value)
{
	static const char standard[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	static const char url[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_";

	if (value.n < LIMIT_SECRET_SCRUB_MIN)
		return false;
	add_pattern(s, value, false);
	for (unsigned shift = 0; shift < 3; shift++) {
		add_base64(s, value, shift, standard);
		add_base64(s, value, shift, url);
	}
	return true;
}

/* ---- reading text ---- */

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

static struct str behind(struct str text, size_t n)
{
	return n < text.n ? (struct str){text.p + n, text.n - n}
			  : (struct str){NULL, 0};
}

/*
 * \uXXXX, or two of them for one character; half of such a pair stands for
 * U+FFFD. False when it is neither.
 */
static bool read_u(struct str text, struct unit *u)
{
	uint32_t high = 0, low = 0;
	struct str rest = behind(text, 6);
	int got = read_hex(behind(text, 2), 4, &high);

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
	got = read_hex(behind(rest, 2), 4, &low);
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
	int got = read_hex(behind(text, 1), 2, &byte);

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
		struct str rest = behind(text, at);
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
		       !str_starts(behind(text, at), "\\u2026"))
			at++;
	rest = behind(text, at);
	*ret = at;
	if (str_starts(rest, MARK) || str_starts(rest, "\\u2026"))
		return 1;
	if (rest.n < n && !memcmp(rest.n ? rest.p : "", MARK, rest.n))
		return -1;
	return 0;
}

/* The text ends behind i bytes of a pattern. */
static size_t match_end(const struct reading *r, size_t i, size_t used)
{
	return r->cut && i >= LIMIT_SECRET_SCRUB_MIN ? used : PARTIAL;
}

/* Something else stands behind i bytes of a pattern, `at` bytes of text. */
static size_t match_cut(const struct reading *r, struct str text, size_t i,
			size_t at)
{
	size_t more;
	int got;

	if (i < LIMIT_SECRET_SCRUB_MIN)
		return 0;
	got = read_mark(behind(text, at), &more);
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
static size_t match_as(const struct pattern *p, struct str text, unsigned mode,
		       const struct reading *r)
{
	size_t i = 0, at = 0, breaks = 0;

	while (i < p->n) {
		struct str rest = {text.p + at, text.n - at};
		struct unit u;

		if (!rest.n)
			return match_end(r, i, at);
		/* most bytes are the same in every mode */
		if (is_plain(rest.p[0])) {
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

/* What patterns make of one place. */
struct found {
	size_t n;  /* bytes of the longest match; 0: none */
	bool open; /* the text ends in what may become one */
};

static void note(struct found *f, size_t n)
{
	if (n == PARTIAL)
		f->open = true;
	else if (n > f->n)
		f->n = n;
}

static void match_first(const struct scrub *s, unsigned char first,
			struct str text, const struct reading *r,
			struct found *f)
{
	static const unsigned modes[] = {DECODE_ALL,
					 0,
					 DECODE_JSON,
					 DECODE_JSON | DECODE_PERCENT,
					 DECODE_JSON | DECODE_TWICE,
					 DECODE_PERCENT};
	const struct pattern *p = s->by_first[first];

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

	for (size_t i = 0; i < HEAD_BYTES; i++)
		if (i == text.n || !is_plain(text.p[i]))
			return true;
	bit = head_hash(text.p);
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

/*
 * From `at` to where a match may begin; most of a large text is passed here.
 * In JSON also to the next quote or escape.
 */
static size_t skip(const struct scrub *s, struct str in, size_t at,
		   bool in_json)
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
static struct found match(const struct scrub *s, struct str text,
			  const struct reading *r)
{
	static const unsigned json[] = {DECODE_JSON,
					DECODE_JSON | DECODE_TWICE};
	static const unsigned percent[] = {DECODE_PERCENT};
	struct found f = {0};
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

/* ---- rewriting ---- */

/* Bytes that stand together at a place of a JSON string. */
static size_t step_of(struct str text, bool in_json)
{
	size_t n = in_json ? read_unit(text, DECODE_JSON).used : 1;

	return n ? n : 1;
}

/*
 * Let a match grow over values that overlap with it: abcdef and defghi in
 * abcdefghi.
 */
static void grow(const struct scrub *s, struct str text,
		 const struct reading *r, struct found *f)
{
	size_t at = step_of(text, r->in_json);

	while (at < f->n) {
		struct str rest = behind(text, at);
		struct found more = match(s, rest, r);

		f->open |= more.open;
		if (more.n && at + more.n > f->n)
			f->n = at + more.n;
		at += step_of(rest, r->in_json);
	}
}

static void add(struct buf *out, const char *from, const char *to)
{
	buf_add(out, from, (size_t)(to - from));
}

/* What is known of the end of a piece of text. */
enum end {
	END_MORE, /* more follows: what is open has to wait */
	END_LAST, /* nothing follows: what is open does not match */
	END_CUT,  /* as if a mark followed */
};

/*
 * Rewrite plain bytes.
 * returns  bytes that are done; the rest has to wait
 */
static size_t rewrite(const struct scrub *s, struct str in, enum end end,
		      struct buf *out, uint64_t *hits)
{
	const struct reading r = {.cut = end == END_CUT};
	size_t at = 0, done = 0;

	while ((at = skip(s, in, at, false)) < in.n) {
		struct str rest = {in.p + at, in.n - at};
		struct found f = match(s, rest, &r);

		if (f.n)
			grow(s, rest, &r, &f);
		if (f.open && end == END_MORE)
			break;
		if (!f.n) {
			at++;
			continue;
		}
		add(out, in.p + done, in.p + at);
		buf_adds(out, STARS);
		at += f.n;
		done = at;
		++*hits;
	}
	add(out, in.p + done, in.p + at);
	return at;
}

static size_t apply(const struct scrub *s, struct str in, enum end end,
		    struct buf *out)
{
	uint64_t hits = 0;

	if (scrub_is_empty(s))
		buf_add_str(out, in);
	else
		rewrite(s, in, end, out, &hits);
	return (size_t)hits;
}

size_t scrub_apply(const struct scrub *s, struct str in, struct buf *out)
{
	return apply(s, in, END_LAST, out);
}

size_t scrub_cut(const struct scrub *s, struct str in, struct buf *out)
{
	return apply(s, in, END_CUT, out);
}

bool scrub_finds(const struct scrub *s, struct str in)
{
	if (scrub_is_empty(s))
		return false;
	for (size_t at = 0; (at = skip(s, in, at, false)) < in.n; at++)
		if (match(s, behind(in, at), &as_bytes).n)
			return true;
	return false;
}

void scrub_log_filter(struct buf *line, void *scrub)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (scrub_is_empty(scrub))
		return;
	scrub_apply(scrub, buf_str(line), &out);
	buf_wipe(line);
	*line = out;
}

/* ---- JSON ---- */

/* A string, from the byte behind its quote to the closing one. */
static size_t json_string_inside(const struct scrub *s, struct str in,
				 struct buf *out, size_t *hits)
{
	size_t at = 0, done = 0;

	while ((at = skip(s, in, at, true)) < in.n && in.p[at] != '"') {
		struct str rest = {in.p + at, in.n - at};
		struct found f = match(s, rest, &as_string);

		if (!f.n) {
			at += step_of(rest, true);
			continue;
		}
		grow(s, rest, &as_string, &f);
		add(out, in.p + done, in.p + at);
		buf_adds(out, STARS);
		at += f.n;
		done = at;
		++*hits;
	}
	add(out, in.p + done, in.p + at);
	return at;
}

static bool is_number_byte(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
	       c == 'e' || c == 'E';
}

static size_t json_number(const struct scrub *s, struct str in, struct buf *out,
			  size_t *hits)
{
	struct str number = {in.p, 0};

	while (number.n < in.n && is_number_byte(in.p[number.n]))
		number.n++;
	if (scrub_finds(s, number)) {
		buf_adds(out, "\"" STARS "\"");
		++*hits;
	} else {
		buf_add_str(out, number);
	}
	return number.n;
}

/* A value that is itself JSON, such as a key file, may stand here as such. */
static size_t json_container(const struct scrub *s, struct str in,
			     struct buf *out, size_t *hits)
{
	struct found f = match(s, in, &as_bytes);
	struct err err;
	struct str whole;

	if (f.n && scan_value(in, NULL, &whole, &err) == 0 && whole.n <= f.n) {
		buf_adds(out, "\"" STARS "\"");
		++*hits;
		return whole.n;
	}
	buf_addc(out, in.p[0]);
	return 1;
}

static size_t json_token(const struct scrub *s, struct str in, struct buf *out,
			 size_t *hits)
{
	char c = in.p[0];

	if (c == '-' || (c >= '0' && c <= '9'))
		return json_number(s, in, out, hits);
	if (c == '{' || c == '[')
		return json_container(s, in, out, hits);
	buf_addc(out, c);
	if (c == '"')
		return 1 + json_string_inside(s, behind(in, 1), out, hits);
	return 1;
}

/* Without escapes: a value that reaches over the end of a string. */
static bool finds_literally(const struct scrub *s, struct str in)
{
	for (; in.n; in = behind(in, 1)) {
		const struct pattern *p = s->by_first[(unsigned char)in.p[0]];

		for (; p; p = p->next)
			if (p->n <= in.n && !memcmp(p->bytes, in.p, p->n))
				return true;
	}
	return false;
}

size_t scrub_json(const struct scrub *s, struct str in, struct buf *out)
{
	size_t hits = 0, before = out->n;
	bool in_string = false;

	if (scrub_is_empty(s)) {
		buf_add_str(out, in);
		return 0;
	}
	while (in.n) {
		/* the closing quote is left for the loop to see */
		if (in_string && in.p[0] == '"') {
			buf_addc(out, '"');
			in = behind(in, 1);
			in_string = false;
			continue;
		}
		in_string = in.p[0] == '"';
		in = behind(in, json_token(s, in, out, &hits));
	}
	/* what cannot be replaced piece by piece goes as a whole */
	if (s->has_quote && finds_literally(s, (struct str){out->p + before,
							    out->n - before})) {
		mem_wipe(out->p + before, out->n - before);
		out->n = before;
		buf_adds(out, "\"" STARS "\"");
		hits++;
	}
	return hits;
}

/* ---- pieces ---- */

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s)
{
	*st = (struct scrub_stream){
		.scrub = s,
		.held = BUF_INIT(BUF_UNBOUNDED),
	};
}

/*
 * Only what is held is moved; a piece without it is read where it lies. What
 * is held is read again when it has grown by a part of itself, so that many
 * small pieces of a long value do not cost the square of its length.
 */
void scrub_stream_feed(struct scrub_stream *st, struct str in, struct buf *out)
{
	size_t done;

	if (scrub_is_empty(st->scrub)) {
		buf_add_str(out, in);
		return;
	}
	if (!st->held.n) {
		done = rewrite(st->scrub, in, END_MORE, out, &st->hits);
		buf_add_str(&st->held, behind(in, done));
	} else {
		buf_add_str(&st->held, in);
		if (st->held.n < st->again)
			return;
		done = rewrite(st->scrub, buf_str(&st->held), END_MORE, out,
			       &st->hits);
		buf_drop(&st->held, done);
	}
	st->again = st->held.n > HELD_BYTES ? st->held.n + st->held.n / 4 : 0;
}

static void stream_end(struct scrub_stream *st, enum end end, struct buf *out)
{
	if (st->held.n)
		rewrite(st->scrub, buf_str(&st->held), end, out, &st->hits);
	scrub_stream_release(st);
}

void scrub_stream_end(struct scrub_stream *st, struct buf *out)
{
	stream_end(st, END_LAST, out);
}

void scrub_stream_cut(struct scrub_stream *st, struct buf *out)
{
	stream_end(st, END_CUT, out);
}

void scrub_stream_release(struct scrub_stream *st)
{
	buf_wipe(&st->held);
}
