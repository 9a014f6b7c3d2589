/* Undoes escapes: JSON, \xNN, percent, entities of HTML. */
#include "core/secret/scrub_unit.h"

/* Put by whoever cuts a text, directly behind what is left of it. */
static const char *const marks[] = {"…", "\\u2026"};
/* An escape that was cut before a mark is shorter than this, bytes. */
#define CUT_ESCAPE_BYTES 24

/* Result of a stage for the characters at the start of an escape. */
enum verdict { NO_ESCAPE, ESCAPE, NEEDS_MORE };

/* ---- numbers ---- */

static int digit_of(char c, unsigned base)
{
	int v = c >= '0' && c <= '9'   ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : 16;

	return v < (int)base ? v : -1;
}

/* Exactly n hex digits. */
static enum verdict read_hex(struct str text, size_t n, uint32_t *ret)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		int digit;

		if (i >= text.n)
			return NEEDS_MORE;
		digit = digit_of(text.p[i], 16);
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
		int digit = digit_of(text.p[i], base);

		if (digit < 0)
			return NO_ESCAPE;
		if (v <= 0x10ffff)
			v = v * base + (uint32_t)digit;
	}
	return is_character(u, v, text.n);
}

static bool is_alnum(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       (c >= '0' && c <= '9');
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

	while (n < text.n && is_alnum(text.p[n]))
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
} stages[] = {
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

	chars[0] = stages[row].lead;
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
		got = stages[row].read((struct str){chars, n + 1}, &u);
	}
	if (got != ESCAPE)
		return first;
	u.used = (uint16_t)end[u.used - 1];
	return u;
}

/* Characters are those of the text: nothing is undone below. */
static struct scrub_unit read_text(struct str text, unsigned todo, size_t row)
{
	struct scrub_unit u = plain_unit(text);

	if (stages[row].read(text, &u) == NEEDS_MORE && !(todo & SCRUB_WHOLE))
		u.used = 0;
	return u;
}

/* By the stages from `row` on. */
static struct scrub_unit read_below(struct str text, unsigned todo, size_t row)
{
	struct scrub_unit u;

	if (!scrub_is_lead(text.p[0]) && text.p[0] != '+')
		return plain_unit(text);
	while (row < ARRAY_LEN(stages) && !(todo & stages[row].stage))
		row++;
	if (row == ARRAY_LEN(stages))
		return plain_unit(text);
	if (!(todo & (stages[row].stage - 1) & SCRUB_STAGES) &&
	    text.p[0] == stages[row].lead)
		return read_text(text, todo, row);
	u = read_below(text, todo, row + 1);
	if (u.n == 1 && u.bytes == '+' && (todo & SCRUB_PLUS) &&
	    stages[row].stage == SCRUB_PERCENT)
		u.bytes = ' ';
	if (u.n != 1 || !u.used || u.bytes != (uint8_t)stages[row].lead)
		return u;
	return read_escape(text, todo, row, u);
}

struct scrub_unit scrub_read_alone(struct str text, unsigned todo)
{
	struct scrub_unit u = {.used = 0};
	size_t row = ARRAY_LEN(stages);

	while (row-- > 0)
		if (stages[row].lead == text.p[0] && (todo & stages[row].stage))
			break;
	if (row >= ARRAY_LEN(stages) && text.p[0] != '+')
		return plain_unit(text);
	if (row >= ARRAY_LEN(stages) || stages[row].read(text, &u) != ESCAPE)
		return u;
	if (u.bytes == '+' && (todo & SCRUB_PLUS))
		u.used = 0;
	while (row-- > 0)
		if (u.bytes == (uint8_t)stages[row].lead &&
		    (todo & stages[row].stage))
			u.used = 0;
	return u;
}

struct scrub_unit scrub_read_unit(struct str text, unsigned todo)
{
	struct scrub_unit u = scrub_read_alone(text, todo);

	return u.used ? u : read_below(text, todo, 0);
}

/* ---- marks ---- */

/*
 * A text that was cut may end within an escape: its lead and some characters,
 * and then the mark. May c be one of them?
 */
static bool may_be_in_escape(char lead, char c)
{
	if (c == lead || digit_of(c, 16) >= 0)
		return true;
	if (lead == '&')
		return c == '#' || is_alnum(c);
	return c == '\\' || c == '%' || c == 'u' || c == 'x';
}

static int read_mark_here(struct str text)
{
	const char *mark;
	size_t n;

	if (!text.n)
		return -1;
	mark = text.p[0] == marks[0][0]	  ? marks[0]
	       : text.p[0] == marks[1][0] ? marks[1]
					  : NULL;
	if (!mark)
		return 0;
	n = strlen(mark);
	if (memcmp(text.p, mark, text.n < n ? text.n : n))
		return 0;
	return text.n < n ? -1 : 1;
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
