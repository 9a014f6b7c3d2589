#include "core/report/canon.h"

#include "core/base/text.h"

static void add_character(struct buf *out, uint32_t c)
{
	static const char special[] = "\"\\\b\f\n\r\t";
	static const char letter[] = "\"\\bfnrt";
	const char *at = c && c < 0x80 ? strchr(special, (int)c) : NULL;
	bool surrogate = c >= 0xd800 && c < 0xe000;

	if (at)
		buf_addf(out, "\\%c", letter[at - special]);
	else if (surrogate || c == 0xfeff || text_is_control(c))
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
	size_t n = str_utf8_len((struct str){*p, (size_t)(end - *p)});
	uint32_t c = n ? text_code_point(*p, n) : 0xfffd;

	*p += n ? n : 1;
	return c;
}

/* is_raw  with the escapes of JSON */
static void add_text(struct str s, bool is_raw, struct buf *out)
{
	const char *p = s.p, *end = str_skip(s, s.n).p;

	buf_addc(out, '"');
	while (p < end) {
		/* most of a text, at once */
		size_t n = str_plain((struct str){p, (size_t)(end - p)});

		buf_add(out, p, n);
		p += n;
		if (p < end)
			add_character(out, is_raw && *p == '\\'
						   ? take_escape(&p)
						   : take_utf8(&p, end));
	}
	buf_addc(out, '"');
}

/*
 * Append one string with its quotes. Characters that a terminal would obey
 * (controls, bidirectional overrides) are escaped; so are lone surrogates,
 * which have no other spelling.
 *
 * raw     a JSON string with its quotes, proved by core/base/scan.h
 */
static void add_string(struct str raw, struct buf *out)
{
	add_text((struct str){raw.p + 1, raw.n - 2}, true, out);
}

void canon_quote(struct str text, struct buf *out)
{
	add_text(text, false, out);
}

struct printer {
	struct buf *out;
	struct arena *arena;
	bool is_compact;
};

static void print_value(const struct printer *p, const struct jdoc *j,
			unsigned int depth);

static void print_break(const struct printer *p, unsigned int depth)
{
	if (!p->is_compact)
		buf_addf(p->out, "\n%*s", 2 * (int)depth, "");
}

static void print_members(const struct printer *p, const struct jdoc *j,
			  unsigned int depth)
{
	struct jdoc **member = jdoc_members(j, true, p->arena);

	for (size_t i = 0; i < j->n; i++) {
		buf_adds(p->out, i ? "," : "");
		print_break(p, depth + 1);
		if (j->type == SCAN_OBJECT) {
			canon_quote(member[i]->key, p->out);
			buf_adds(p->out, p->is_compact ? ":" : ": ");
		}
		print_value(p, member[i], depth + 1);
	}
	if (j->n)
		print_break(p, depth);
}

static bool is_marked(const struct jdoc *j)
{
	bool is = j->ignored || j->rule;

	for (const struct jdoc *c = j->first; c && !is; c = c->next)
		is = is_marked(c);
	return is;
}

/* Of a text in which something is ignored, what is inside is written anew. */
static void print_text(const struct printer *p, const struct jdoc *j)
{
	AUTO(buf_release) struct buf inside = BUF_INIT(BUF_UNBOUNDED);

	if (!j->first || !is_marked(j->first)) {
		add_string(j->raw, p->out);
		return;
	}
	canon_compact(j->first, &inside);
	canon_quote(buf_str(&inside), p->out);
}

static void print_value(const struct printer *p, const struct jdoc *j,
			unsigned int depth)
{
	bool object = j->type == SCAN_OBJECT;

	if (j->ignored) {
		buf_adds(p->out, CANON_IGNORED);
	} else if (object || j->type == SCAN_ARRAY) {
		buf_addc(p->out, object ? '{' : '[');
		print_members(p, j, depth);
		buf_addc(p->out, object ? '}' : ']');
	} else if (j->type == SCAN_STRING) {
		print_text(p, j);
	} else {
		buf_add_str(p->out, j->raw);
	}
}

void canon_print(const struct jdoc *j, unsigned int depth, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	print_value(&(struct printer){out, &arena, false}, j, depth);
}

void canon_compact(const struct jdoc *j, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	print_value(&(struct printer){out, &arena, true}, j, 0);
}

static bool strings_equal(struct str a, struct str b)
{
	AUTO(buf_release) struct buf ca = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf cb = BUF_INIT(BUF_UNBOUNDED);

	if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n))
		return false;
	add_string(a, &ca);
	add_string(b, &cb);
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
		return a->first && b->first ? canon_equal(a->first, b->first)
					    : strings_equal(a->raw, b->raw);
	case SCAN_NUMBER:
		return false; /* the spelling differs */
	default:
		return true; /* the type says it all */
	}
}
