#include "core/schema/regex.h"

#include "core/base/text.h"

/* WhiteSpace and LineTerminator of ECMA-262, as members of a class */
#define SPACE_MEMBERS \
	"\\t\\n\\x{0b}\\x{0c}\\r \\x{a0}\\x{feff}\\p{Zs}\\x{2028}\\x{2029}"
#define LINE_MEMBERS "\\n\\r\\x{2028}\\x{2029}"

struct translation {
	struct str all;
	const char *p, *end;
	struct buf *out;
	struct err *err;
	bool after_atom; /* a quantifier may follow */
};

static int refuse(struct translation *t, const char *why)
{
	return err_set(t->err, ERR_SYNTAX, "%s at character %zu", why,
		       (size_t)(t->p - t->all.p) + 1);
}

/* Value of n hexadecimal digits at p, or -1. */
static int32_t hex_at(const struct translation *t, const char *p, size_t n)
{
	return text_hex((struct str){p, (size_t)(t->end - p)}, n);
}

static int add_code_point(struct translation *t, int32_t c)
{
	if (c < 0 || c > 0x10ffff)
		return refuse(t, "no such character");
	/* half of a pair is in no UTF-8; the empty class matches nothing */
	if (c >= 0xd800 && c < 0xe000)
		return refuse(t, "half of a surrogate pair");
	buf_addf(t->out, "\\x{%x}", (unsigned)c);
	return 0;
}

/* \u{H…}, \uHHHH or a pair of these; p is behind the u. */
static int escape_u(struct translation *t)
{
	int32_t c = hex_at(t, t->p, 4), low;

	if (t->p < t->end && *t->p == '{') {
		c = 0;
		for (t->p++; t->p < t->end && text_hex_digit(*t->p) >= 0;
		     t->p++) {
			c = c << 4 | text_hex_digit(*t->p);
			if (c > 0x10ffff)
				return refuse(t, "no such character");
		}
		if (t->p == t->end || *t->p != '}' || t->p[-1] == '{')
			return refuse(t, "\\u{ needs digits and }");
		t->p++;
		return add_code_point(t, c);
	}
	if (c < 0)
		return refuse(t, "\\u needs four hexadecimal digits");
	t->p += 4;
	if (c >= 0xd800 && c < 0xdc00 && t->end - t->p >= 6 &&
	    t->p[0] == '\\' && t->p[1] == 'u') {
		low = hex_at(t, t->p + 2, 4);
		if (low >= 0xdc00 && low < 0xe000) {
			t->p += 6;
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return add_code_point(t, c);
}

static const char *short_category(struct str name)
{
#define CATEGORY(long_name, short_name) \
	if (str_is(name, long_name))    \
		return short_name;
#include "core/schema/categories.def"
#undef CATEGORY
	return NULL;
}

/* \p{…} or \P{…}; p is behind the letter. */
static int escape_property(struct translation *t, char letter)
{
	struct str name, value = {NULL, 0};
	const char *category;
	const char *close;

	if (t->p == t->end || *t->p != '{')
		return refuse(t, "\\p needs {");
	close = memchr(t->p, '}', (size_t)(t->end - t->p));
	if (!close)
		return refuse(t, "\\p{ needs }");
	name = (struct str){t->p + 1, (size_t)(close - t->p) - 1};
	for (size_t i = 0; i < name.n; i++)
		if (!text_is_alpha(name.p[i]) && !text_is_digit(name.p[i]) &&
		    name.p[i] != '_' && name.p[i] != '=')
			return refuse(t, "unknown property");
	if (str_find(name, '=') < name.n) {
		value = name;
		name = str_cut(&value, '=');
	}
	if (value.p &&
	    (str_is(name, "General_Category") || str_is(name, "gc"))) {
		name = value;
		value = (struct str){NULL, 0};
	}
	category = value.p ? NULL : short_category(name);
	buf_addf(t->out, "\\%c{", letter);
	if (category)
		buf_adds(t->out, category);
	else
		buf_add_str(t->out, name);
	if (value.p) {
		buf_addc(t->out, ':');
		buf_add_str(t->out, value);
	}
	buf_addc(t->out, '}');
	t->p = close + 1;
	return 0;
}

static void add_literal(struct translation *t, char c)
{
	if ((unsigned char)c < 0x80 && !text_is_alpha(c) && !text_is_digit(c))
		buf_addc(t->out, '\\');
	buf_addc(t->out, c);
}

/* \s and \S, which PCRE2 reads otherwise */
static void escape_space(struct translation *t, char c, bool in_class)
{
	if (c == 's' && in_class)
		buf_adds(t->out, SPACE_MEMBERS);
	else if (c == 's')
		buf_adds(t->out, "[" SPACE_MEMBERS "]");
	else if (in_class)
		buf_adds(t->out, "\\S");
	else
		buf_adds(t->out, "[^" SPACE_MEMBERS "]");
}

static int escape_named_reference(struct translation *t)
{
	const char *close;

	if (t->p == t->end || *t->p != '<')
		return refuse(t, "\\k needs <");
	close = memchr(t->p, '>', (size_t)(t->end - t->p));
	if (!close)
		return refuse(t, "\\k< needs >");
	buf_adds(t->out, "\\k");
	buf_add(t->out, t->p, (size_t)(close - t->p) + 1);
	t->p = close + 1;
	return 0;
}

static int escape_letter(struct translation *t, char c, bool in_class)
{
	int32_t v;

	switch (c) {
	case 'd':
	case 'D':
	case 'w':
	case 'W':
	case 't':
	case 'n':
	case 'r':
	case 'f':
		buf_addf(t->out, "\\%c", c);
		return 0;
	case 'v':
		buf_adds(t->out, "\\x{0b}");
		return 0;
	case 's':
	case 'S':
		escape_space(t, c, in_class);
		return 0;
	case 'b':
	case 'B':
		if (in_class && c == 'B')
			return refuse(t, "\\B in a class");
		buf_addf(t->out, "\\%c", c);
		t->after_atom = in_class;
		return 0;
	case 'c':
		if (t->p == t->end || !text_is_alpha(*t->p))
			return refuse(t, "\\c needs a letter");
		buf_addf(t->out, "\\x{%x}", (unsigned)*t->p++ & 0x1f);
		return 0;
	case 'x':
		v = hex_at(t, t->p, 2);
		if (v < 0)
			return refuse(t, "\\x needs two hexadecimal digits");
		t->p += 2;
		return add_code_point(t, v);
	case 'u':
		return escape_u(t);
	case 'p':
	case 'P':
		return escape_property(t, c);
	case 'k':
		if (!in_class)
			return escape_named_reference(t);
		return refuse(t, "\\k in a class");
	default:
		return refuse(t, "unknown escape");
	}
}

/* \0, or a reference to a group */
static int escape_digit(struct translation *t, char c, bool in_class)
{
	if (c == '0') {
		if (t->p < t->end && text_is_digit(*t->p))
			return refuse(t, "octal escape");
		buf_adds(t->out, "\\x{0}");
		return 0;
	}
	if (in_class)
		return refuse(t, "reference in a class");
	buf_addf(t->out, "\\g{%c", c);
	while (t->p < t->end && text_is_digit(*t->p))
		buf_addc(t->out, *t->p++);
	buf_addc(t->out, '}');
	return 0;
}

static int escape(struct translation *t, bool in_class)
{
	char c;

	t->p++;
	if (t->p == t->end)
		return refuse(t, "\\ at the end");
	t->after_atom = true;
	c = *t->p++;
	if (text_is_alpha(c))
		return escape_letter(t, c, in_class);
	if (text_is_digit(c))
		return escape_digit(t, c, in_class);
	add_literal(t, c);
	return 0;
}

/* Escape in a class; a hyphen behind \w is literal, as in [\w-.]. */
static int class_escape(struct translation *t)
{
	bool is_set =
		t->end - t->p > 1 && t->p[1] && strchr("dDwWsSpP", t->p[1]);

	if (escape(t, true) < 0)
		return -1;
	if (is_set && t->p < t->end && *t->p == '-') {
		buf_adds(t->out, "\\-");
		t->p++;
	}
	return 0;
}

static int class(struct translation *t)
{
	buf_addc(t->out, *t->p++);
	if (t->p < t->end && *t->p == '^')
		buf_addc(t->out, *t->p++);
	for (;;) {
		if (t->p == t->end)
			return refuse(t, "[ without ]");
		switch (*t->p) {
		case ']':
			buf_addc(t->out, *t->p++);
			t->after_atom = true;
			return 0;
		case '\\':
			if (class_escape(t) < 0)
				return -1;
			break;
		case '[': /* else [:alpha:] were one of POSIX */
			buf_adds(t->out, "\\[");
			t->p++;
			break;
		default:
			buf_addc(t->out, *t->p++);
		}
	}
}

static bool take(struct translation *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
		return false;
	buf_adds(t->out, word);
	t->p += n;
	return true;
}

static int group(struct translation *t)
{
	static const char *const kinds[] = {"(?:", "(?=", "(?!",
					    "(?<=", "(?<!"};
	struct str rest = {t->p, (size_t)(t->end - t->p)};

	t->after_atom = false;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (take(t, kinds[i]))
			return 0;
	if (str_starts(rest, "(?<") && rest.n > 3 &&
	    (text_is_alpha(rest.p[3]) || rest.p[3] == '_'))
		return take(t, "(?<") ? 0 : -1;
	if (str_starts(rest, "(?") || str_starts(rest, "(*"))
		return refuse(t, "group that ECMA-262 does not have");
	return take(t, "(") ? 0 : -1;
}

/* Length of {2}, {2,} or {2,5} at p; 0: another text. */
static size_t counted(const struct translation *t)
{
	const char *p = t->p + 1;
	size_t digits = 0;

	for (; p < t->end && text_is_digit(*p); p++)
		digits++;
	if (p < t->end && *p == ',')
		for (p++; p < t->end && text_is_digit(*p); p++)
			;
	return digits && p < t->end && *p == '}' ? (size_t)(p - t->p) + 1 : 0;
}

static int quantifier(struct translation *t)
{
	size_t n = *t->p == '{' ? counted(t) : 1;

	if (!n) { /* tolerated as by browsers without the flag */
		buf_adds(t->out, "\\{");
		t->p++;
		t->after_atom = true;
		return 0;
	}
	if (!t->after_atom)
		return refuse(t, "nothing to repeat");
	buf_add(t->out, t->p, n);
	t->p += n;
	if (t->p < t->end && *t->p == '?')
		buf_addc(t->out, *t->p++);
	t->after_atom = false;
	return 0;
}

static int one(struct translation *t)
{
	switch (*t->p) {
	case '\\':
		return escape(t, false);
	case '[':
		return class(t);
	case '(':
		return group(t);
	case '*':
	case '+':
	case '?':
	case '{':
		return quantifier(t);
	case '.':
		buf_adds(t->out, "[^" LINE_MEMBERS "]");
		t->p++;
		t->after_atom = true;
		return 0;
	case '^':
	case '$':
	case '|':
		buf_addc(t->out, *t->p++);
		t->after_atom = false;
		return 0;
	default: /* also ")", about which PCRE2 itself complains */
		buf_addc(t->out, *t->p++);
		t->after_atom = true;
		return 0;
	}
}

int regex_translate(struct str pattern, struct buf *out, struct err *err)
{
	struct translation t = {
		.all = pattern,
		.p = pattern.p,
		.end = pattern.p + pattern.n,
		.out = out,
		.err = err,
	};

	if (pattern.n > LIMIT_REGEX_BYTES)
		return err_set(err, ERR_LIMIT, "longer than %d bytes",
			       LIMIT_REGEX_BYTES);
	while (t.p < t.end)
		if (one(&t) < 0)
			return -1;
	return 0;
}
