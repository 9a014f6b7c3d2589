#include "core/base/scan.h"

#include "core/base/text.h"

/* Bytes that are passed on at a time, while they are near the processor. */
#define PORTION (256 * 1024)

struct scanner {
	const char *begin, *p, *end;
	struct scan_limits limits;
	struct str key;		      /* the latest */
	struct scan_members *members; /* to be noted; NULL: none */
	struct err *err;
};

static int fail(struct scanner *s, enum err_kind kind, const char *what)
{
	uint32_t line = 1, col = 1;

	for (const char *q = s->begin; q < s->p; q++) {
		col++;
		if (*q == '\n') {
			line++;
			col = 1;
		}
	}
	return err_at(s->err, kind, line, col, "%s at line %u, column %u", what,
		      line, col);
}

static int syntax(struct scanner *s, const char *what)
{
	return fail(s, ERR_SYNTAX,
		    s->p == s->end ? "unexpected end of JSON" : what);
}

static inline void skip_space(struct scanner *s)
{
	/* between most tokens there is none */
	while (s->p < s->end && (unsigned char)*s->p <= ' ' &&
	       (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' ||
		*s->p == '\r'))
		s->p++;
}

static int digits(struct scanner *s)
{
	const char *from = s->p;

	while (s->p < s->end && text_is_digit(*s->p))
		s->p++;
	return s->p > from ? 0 : syntax(s, "digit expected");
}

static int number(struct scanner *s)
{
	if (*s->p == '-')
		s->p++;
	if (s->p < s->end && *s->p == '0')
		s->p++;
	else if (digits(s) < 0)
		return -1;
	if (s->p < s->end && *s->p == '.') {
		s->p++;
		if (digits(s) < 0)
			return -1;
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
		s->p++;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (digits(s) < 0)
			return -1;
	}
	return 0;
}

static int escape(struct scanner *s)
{
	s->p++; /* the backslash */
	if (s->p == s->end)
		return syntax(s, "");
	if (*s->p != 'u') {
		if (!strchr("\"\\/bfnrt", *s->p) || *s->p == '\0')
			return syntax(s, "unknown escape in string");
		s->p++;
		return 0;
	}
	s->p++;
	for (int i = 0; i < 4; i++, s->p++)
		if (s->p == s->end || text_hex_digit(*s->p) < 0)
			return syntax(s, "\\u needs four hexadecimal digits");
	return 0;
}

static int string(struct scanner *s)
{
	s->p++; /* the quote */
	for (;;) {
		unsigned char c;
		size_t n;

		s->p += str_plain((struct str){s->p, (size_t)(s->end - s->p)});
		if (s->p == s->end)
			return syntax(s, "");
		c = (unsigned char)*s->p;
		if (c == '"') {
			s->p++;
			return 0;
		}
		if (c == '\\') {
			if (escape(s) < 0)
				return -1;
			continue;
		}
		if (c < 0x20)
			return syntax(s, "control character in string");
		/* DEL stands for itself, too */
		n = c < 0x80 ? 1
			     : str_beyond_ascii((struct str){
				       s->p, (size_t)(s->end - s->p)});
		if (!n)
			return fail(s, ERR_SYNTAX, "invalid UTF-8");
		s->p += n;
	}
}

static int literal(struct scanner *s, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++, s->p++)
		if (s->p == s->end || *s->p != word[i])
			return syntax(s, "no JSON value");
	return 0;
}

static int scalar(struct scanner *s)
{
	switch (*s->p) {
	case '"':
		return string(s);
	case 't':
		return literal(s, "true");
	case 'f':
		return literal(s, "false");
	case 'n':
		return literal(s, "null");
	case '-':
	case '0' ... '9':
		return number(s);
	default:
		return syntax(s, "no JSON value");
	}
}

static int key_and_colon(struct scanner *s)
{
	const char *from;

	skip_space(s);
	from = s->p;
	if (s->p == s->end || *s->p != '"')
		return syntax(s, "object key expected");
	if (string(s) < 0)
		return -1;
	s->key = (struct str){from, (size_t)(s->p - from)};
	skip_space(s);
	if (s->p == s->end || *s->p != ':')
		return syntax(s, "':' expected");
	s->p++;
	return 0;
}

/* The value of a member of the outermost object begins, */
static void note_begin(struct scanner *s)
{
	struct scan_members *m = s->members;

	if (m->n < SCAN_MEMBERS)
		m->item[m->n] = (struct scan_member){s->key, {s->p, 0}};
}

/* and has ended. */
static void note_end(struct scanner *s)
{
	struct scan_members *m = s->members;

	if (m->n < SCAN_MEMBERS) {
		struct str *value = &m->item[m->n].value;

		value->n = (size_t)(s->p - value->p);
	}
	m->n++;
}

/*
 * One value without recursion: the open containers stand in a bit for each
 * level (object or array) and a count of members.
 */
static int value(struct scanner *s)
{
	bool object[LIMIT_JSON_DEPTH];
	uint32_t members[LIMIT_JSON_DEPTH];
	uint32_t depth = 0;

	for (;;) {
		skip_space(s);
		if (s->p == s->end)
			return syntax(s, "");
		if (depth == 1 && s->members && object[0])
			note_begin(s);
		if (*s->p == '{' || *s->p == '[') {
			bool is_object = *s->p == '{';

			if (depth == s->limits.depth)
				return fail(s, ERR_LIMIT, "nested too deep");
			object[depth] = is_object;
			members[depth] = 0;
			s->p++;
			skip_space(s);
			if (s->p < s->end && *s->p == (is_object ? '}' : ']')) {
				s->p++;
			} else {
				depth++;
				if (is_object && key_and_colon(s) < 0)
					return -1;
				continue;
			}
		} else if (scalar(s) < 0) {
			return -1;
		}

		for (;;) { /* a value has ended: close, or go on */
			if (depth == 0)
				return 0;
			if (depth == 1 && s->members && object[0])
				note_end(s);
			skip_space(s);
			if (s->p == s->end)
				return syntax(s, "");
			if (*s->p == ',') {
				s->p++;
				if (++members[depth - 1] >= s->limits.members &&
				    object[depth - 1])
					return fail(s, ERR_LIMIT,
						    "too many members");
				if (object[depth - 1] && key_and_colon(s) < 0)
					return -1;
				break;
			}
			if (*s->p != (object[depth - 1] ? '}' : ']'))
				return syntax(s, object[depth - 1]
							 ? "',' or '}' expected"
							 : "',' or ']' "
							   "expected");
			s->p++;
			depth--;
		}
	}
}

static void scanner_init(struct scanner *s, struct str text,
			 const struct scan_limits *limits, struct err *err)
{
	*s = (struct scanner){
		.begin = text.p,
		.p = text.p,
		.end = str_skip(text, text.n).p,
		.limits = {LIMIT_JSON_DEPTH, LIMIT_JSON_MEMBERS},
		.err = err,
	};
	if (limits)
		s->limits = *limits;
	if (s->limits.depth > LIMIT_JSON_DEPTH)
		s->limits.depth = LIMIT_JSON_DEPTH;
}

static int one_value(struct scanner *s, struct str *ret_value)
{
	const char *from;

	skip_space(s);
	from = s->p;
	if (value(s) < 0)
		return -1;
	*ret_value = (struct str){from, (size_t)(s->p - from)};
	return 0;
}

int scan_value(struct str text, const struct scan_limits *limits,
	       struct str *ret_value, struct err *err)
{
	struct scanner s;

	scanner_init(&s, text, limits, err);
	return one_value(&s, ret_value);
}

static int document(struct scanner *s, struct str *ret_value)
{
	struct str v;

	if (one_value(s, &v) < 0)
		return -1;
	skip_space(s);
	if (s->p != s->end)
		return fail(s, ERR_SYNTAX, "something follows the JSON value");
	*ret_value = v;
	return 0;
}

int scan_document(struct str text, const struct scan_limits *limits,
		  struct str *ret_value, struct err *err)
{
	struct scanner s;

	scanner_init(&s, text, limits, err);
	return document(&s, ret_value);
}

int scan_members(struct str text, struct str *ret_value,
		 struct scan_members *ret_members, struct err *err)
{
	struct scanner s;

	scanner_init(&s, text, NULL, err);
	s.members = ret_members;
	ret_members->n = 0;
	return document(&s, ret_value);
}

/*
 * Behind a proved string that starts at p: its end is the first quote with an
 * even number of backslashes before it. The quotes are found by memchr, which
 * is many times faster than looking at each byte of an image.
 */
static const char *after_string(const char *p, const char *end)
{
	for (const char *from = p + 1;;) {
		const char *quote = memchr(from, '"', (size_t)(end - from));
		const char *slash = quote;

		while (slash > from && slash[-1] == '\\')
			slash--;
		if ((quote - slash) % 2 == 0)
			return quote + 1;
		from = quote + 1;
	}
}

/* Between the tokens of a proved text nothing else is that small. */
static bool is_space(char c)
{
	return (unsigned char)c <= ' ';
}

const char *scan_after(const char *p, const char *end)
{
	size_t depth = 0;

	if (*p != '"' && *p != '{' && *p != '[') {
		while (p < end && *p != ',' && *p != '}' && *p != ']' &&
		       !is_space(*p))
			p++;
		return p;
	}
	do {
		switch (*p) {
		case '"':
			p = after_string(p, end);
			break;
		case '{':
		case '[':
			depth++;
			p++;
			break;
		case '}':
		case ']':
			depth--;
			p++;
			break;
		default:
			p++;
		}
	} while (depth);
	return p;
}

static const char *space_end(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

struct scan_iter scan_over(struct str v)
{
	if (v.n < 2 || (v.p[0] != '{' && v.p[0] != '['))
		return (struct scan_iter){0};
	return (struct scan_iter){
		.is_object = v.p[0] == '{',
		.rest = {v.p + 1, v.n - 2},
	};
}

void scan_iter_init(struct scan_iter *it, struct str v)
{
	*it = scan_over(v);
}

void scan_iter_noted(struct scan_iter *it, struct str v,
		     const struct scan_members *members)
{
	scan_iter_init(it, v);
	if (members && members->n <= SCAN_MEMBERS && it->is_object) {
		it->noted = members->item;
		it->noted_end = members->item + members->n;
	}
}

bool scan_next(struct scan_iter *it)
{
	const char *p = it->rest.p, *from;
	const char *end = str_skip(it->rest, it->rest.n).p;

	if (it->noted) {
		if (it->noted == it->noted_end)
			return false;
		it->key = it->noted->key;
		it->value = it->noted->value;
		it->noted++;
		return true;
	}
	p = space_end(p, end);
	if (p < end && *p == ',')
		p = space_end(p + 1, end);
	if (p == end)
		return false;
	if (it->is_object) {
		from = p;
		p = after_string(p, end);
		it->key = (struct str){from, (size_t)(p - from)};
		p = space_end(p, end);
		p = space_end(p + 1, end); /* the colon */
	}
	from = p;
	p = scan_after(p, end);
	it->value = (struct str){from, (size_t)(p - from)};
	it->rest = (struct str){p, (size_t)(end - p)};
	return true;
}

size_t scan_count(struct str v)
{
	size_t n = 0;

	for (struct scan_iter it = scan_over(v); scan_next(&it);)
		n++;
	return n;
}

bool scan_get(struct str v, const char *name, struct str *ret_value)
{
	bool found = false;

	if (!v.n || v.p[0] != '{')
		return false;
	for (struct scan_iter it = scan_over(v); scan_next(&it);) {
		if (!scan_is(it.key, name))
			continue;
		*ret_value = it.value;
		found = true;
	}
	return found;
}

bool scan_get_some(struct str v, const char *name, struct str *ret_value)
{
	struct str got;

	if (!scan_get(v, name, &got) || scan_type(got) == SCAN_NULL)
		return false;
	*ret_value = got;
	return true;
}

bool scan_true(struct str v, const char *name)
{
	struct str got;

	return scan_get(v, name, &got) && scan_type(got) == SCAN_TRUE;
}

struct str scan_some(struct str v, const char *name)
{
	struct str got;

	return scan_get_some(v, name, &got) ? got : (struct str){NULL, 0};
}

struct str scan_text(struct str v, const char *name)
{
	struct str got;

	if (!scan_get(v, name, &got) || scan_type(got) != SCAN_STRING)
		return (struct str){NULL, 0};
	return got;
}

struct str scan_named(struct str v, struct str name)
{
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	struct str found = {NULL, 0};

	if (!v.n || v.p[0] != '{')
		return found;
	for (struct scan_iter it = scan_over(v); scan_next(&it);) {
		buf_clear(&key);
		scan_string(it.key, &key);
		if (str_eq(buf_str(&key), name))
			found = it.value;
	}
	return found;
}

/* Number of the proved escape \uXXXX at p. */
static unsigned hex4(const char *p)
{
	return (unsigned)text_hex((struct str){p + 2, 4}, 4);
}

/* The escape \uXXXX at p is a surrogate of the half that begins at `first`. */
static bool is_surrogate(const char *p, const char *end, unsigned first)
{
	unsigned c;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return false;
	c = hex4(p);
	return c >= first && c < first + 0x400;
}

/* A \u escape at p, maybe the first half of a pair; gives what follows. */
static const char *decode_u(const char *p, const char *end, struct buf *out)
{
	unsigned c = hex4(p);

	if (is_surrogate(p, end, 0xd800) && is_surrogate(p + 6, end, 0xdc00)) {
		text_add_utf8(out, 0x10000 + ((c - 0xd800) << 10) +
					   (hex4(p + 6) - 0xdc00));
		return p + 12;
	}
	text_add_utf8(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	return p + 6;
}

/* So much of what is left, and no character cut. */
static size_t portion(const char *p, const char *end)
{
	size_t n = PORTION;

	if ((size_t)(end - p) <= n)
		return (size_t)(end - p);
	while (((unsigned char)p[n] & 0xc0) == 0x80)
		n--;
	return n;
}

bool scan_string(struct str v, struct buf *out)
{
	const char *p, *end;

	if (v.n < 2 || v.p[0] != '"')
		return false;
	/* no escape is shorter than what it stands for */
	if (!out->sink && !buf_room(out, v.n - 2))
		return false;
	p = v.p + 1;
	end = v.p + v.n - 1;
	while (p < end) {
		static const char from[] = "\"\\/bfnrt",
				  to[] = "\"\\/\b\f\n\r\t";
		size_t some = portion(p, end);
		const char *slash = memchr(p, '\\', some);
		const char *stop = slash ? slash : p + some;

		buf_add(out, p, (size_t)(stop - p));
		p = stop;
		if (!slash)
			continue;
		if (p[1] == 'u') {
			p = decode_u(p, end, out);
		} else {
			buf_addc(out, to[strchr(from, p[1]) - from]);
			p += 2;
		}
	}
	return true;
}

/* Bytes of the character or escape at p; a surrogate pair is one. */
static size_t char_bytes(const char *p, const char *end)
{
	if (*p != '\\')
		return str_utf8_len((struct str){p, (size_t)(end - p)});
	if (p[1] != 'u')
		return 2;
	return is_surrogate(p, end, 0xd800) && is_surrogate(p + 6, end, 0xdc00)
		       ? 12
		       : 6;
}

bool scan_string_cut(struct str v, size_t max, struct buf *out)
{
	const char *p, *end;

	if (v.n < 2 || v.p[0] != '"')
		return false;
	if (v.n - 2 <= max)
		return scan_string(v, out);
	end = v.p + v.n - 1;
	for (p = v.p + 1; p < end;) {
		size_t n = char_bytes(p, end);

		if ((size_t)(p - v.p - 1) + n > max)
			break;
		p += n;
	}
	/* scan_string() does not look at the closing quote */
	if (!scan_string((struct str){v.p, (size_t)(p - v.p) + 1}, out))
		return false;
	buf_adds(out, "…");
	return true;
}

struct str scan_decoded(struct str v, size_t max, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	return scan_string_cut(v, max, &text) ? arena_str(arena, buf_str(&text))
					      : STR("");
}

bool scan_decoded_is(struct str v, const char *text)
{
	AUTO(buf_release) struct buf decoded = BUF_INIT(BUF_UNBOUNDED);

	if (v.n > 16 * (strlen(text) + 1))
		return false; /* an escape is at most six bytes for one */
	scan_string(v, &decoded);
	return str_is(buf_str(&decoded), text);
}

bool scan_int64(struct str v, int64_t *ret)
{
	return str_int64(v, ret);
}

void scan_compact(struct str v, struct buf *out)
{
	const char *p = v.p, *end = v.p + v.n, *from;

	while (p < end) {
		p = space_end(p, end);
		if (p == end)
			break;
		from = p;
		if (*p == '"') {
			p = after_string(p, end);
		} else {
			while (p < end && *p != '"' && !is_space(*p))
				p++;
		}
		buf_add(out, from, (size_t)(p - from));
	}
}
