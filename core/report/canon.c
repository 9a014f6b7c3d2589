#include "core/report/canon.h"

#include <string.h>

#include "core/base/text.h"

/* Shown by a terminal or an editor as something else than it is. */
static bool is_deceptive(uint32_t c)
{
	return (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f ||
	       c == 0x061c || c == 0x2028 || c == 0x2029 || c == 0xfeff;
}

static void add_character(struct buf *out, uint32_t c)
{
	static const char special[] = "\"\\\b\f\n\r\t";
	static const char letter[] = "\"\\bfnrt";
	const char *at = c && c < 0x80 ? strchr(special, (int)c) : NULL;
	bool surrogate = c >= 0xd800 && c < 0xe000;

	if (at)
		buf_addf(out, "\\%c", letter[at - special]);
	else if (c < 0x20 || surrogate || is_deceptive(c))
		buf_addf(out, "\\u%04x", c);
	else
		text_add_utf8(out, c);
}

/* One character of a proved string; moves *p behind it. */
static uint32_t take_escape(const char **p)
{
	static const char letter[] = "bfnrt", meaning[] = "\b\f\n\r\t";
	const char *at = strchr(letter, (*p)[1]);
	uint32_t high, low;

	if ((*p)[1] != 'u') {
		*p += 2;
		return (unsigned char)(at ? meaning[at - letter] : (*p)[-1]);
	}
	high = (uint32_t)text_hex((struct str){*p + 2, 4}, 4);
	*p += 6;
	if (high < 0xd800 || high >= 0xdc00 || (*p)[0] != '\\' ||
	    (*p)[1] != 'u')
		return high;
	low = (uint32_t)text_hex((struct str){*p + 2, 4}, 4);
	if (low < 0xdc00 || low >= 0xe000)
		return high;
	*p += 6;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static uint32_t take_utf8(const char **p, const char *end)
{
	const unsigned char *s = (const unsigned char *)*p;
	size_t n = str_utf8_len((struct str){*p, (size_t)(end - *p)});
	uint32_t c = n ? s[0] : 0xfffd;

	if (n > 1)
		c &= 0x7fu >> n;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	*p += n ? n : 1;
	return c;
}

void canon_string(struct str raw, struct buf *out)
{
	const char *p = raw.p + 1, *end = raw.p + raw.n - 1;

	buf_addc(out, '"');
	while (p < end)
		add_character(out, *p == '\\' ? take_escape(&p)
					      : take_utf8(&p, end));
	buf_addc(out, '"');
}

void canon_quote(struct str text, struct buf *out)
{
	const char *p = text.p, *end = str_skip(text, text.n).p;

	buf_addc(out, '"');
	while (p < end)
		add_character(out, take_utf8(&p, end));
	buf_addc(out, '"');
}

static void print_value(const struct jdoc *j, unsigned int depth,
			struct arena *arena, struct buf *out);

static void print_members(const struct jdoc *j, unsigned int depth,
			  struct arena *arena, struct buf *out)
{
	struct jdoc **member = jdoc_members(j, true, arena);

	for (size_t i = 0; i < j->n; i++) {
		buf_addf(out, "%s\n%*s", i ? "," : "", 2 * (int)depth + 2, "");
		if (j->type == SCAN_OBJECT) {
			canon_quote(member[i]->key, out);
			buf_adds(out, ": ");
		}
		print_value(member[i], depth + 1, arena, out);
	}
	if (j->n)
		buf_addf(out, "\n%*s", 2 * (int)depth, "");
}

static void print_value(const struct jdoc *j, unsigned int depth,
			struct arena *arena, struct buf *out)
{
	bool object = j->type == SCAN_OBJECT;

	if (j->ignored) {
		buf_adds(out, CANON_IGNORED);
	} else if (object || j->type == SCAN_ARRAY) {
		buf_addc(out, object ? '{' : '[');
		print_members(j, depth, arena, out);
		buf_addc(out, object ? '}' : ']');
	} else if (j->type == SCAN_STRING) {
		canon_string(j->raw, out);
	} else {
		buf_add_str(out, j->raw);
	}
}

void canon_print(const struct jdoc *j, unsigned int depth, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	print_value(j, depth, &arena, out);
}

static bool strings_equal(struct str a, struct str b)
{
	AUTO(buf_release) struct buf ca = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf cb = BUF_INIT(BUF_UNBOUNDED);

	if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n))
		return false;
	canon_string(a, &ca);
	canon_string(b, &cb);
	return str_eq(buf_str(&ca), buf_str(&cb));
}

static bool objects_equal(const struct jdoc *a, const struct jdoc *b)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jdoc **ma = jdoc_members(a, true, &arena);
	struct jdoc **mb = jdoc_members(b, true, &arena);

	/* both lists are sorted and end in NULL */
	while (*ma || *mb) {
		int order = !*ma   ? 1
			    : !*mb ? -1
				   : jdoc_key_order((*ma)->key, (*mb)->key);
		const struct jdoc *x = order <= 0 ? *ma++ : NULL;
		const struct jdoc *y = order >= 0 ? *mb++ : NULL;

		/* a member that one side lacks must be an ignored one */
		if (x && y ? !canon_equal(x, y) : !(x ? x : y)->ignored)
			return false;
	}
	return true;
}

static bool arrays_equal(const struct jdoc *a, const struct jdoc *b)
{
	const struct jdoc *x = a->first, *y = b->first;

	for (; x && y; x = x->next, y = y->next)
		if (!canon_equal(x, y))
			return false;
	while (x && x->ignored)
		x = x->next;
	while (y && y->ignored)
		y = y->next;
	return !x && !y;
}

bool canon_equal(const struct jdoc *a, const struct jdoc *b)
{
	if (a->ignored || b->ignored || str_eq(a->raw, b->raw))
		return true;
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case SCAN_OBJECT:
		return objects_equal(a, b);
	case SCAN_ARRAY:
		return arrays_equal(a, b);
	case SCAN_STRING:
		return strings_equal(a->raw, b->raw);
	case SCAN_NUMBER:
		return false; /* the spelling differs */
	default:
		return true; /* the type says it all */
	}
}
