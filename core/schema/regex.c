#include "core/schema/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/dl.h"
#include "core/base/mem.h"
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

/* The expression as PCRE2 reads it. */
static int translate(struct str pattern, struct buf *out, struct err *err)
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

/* ---- the library, loaded on first use: most schemas have no pattern ---- */

#define LIBRARY "libpcre2-8.so.0"

#define LIBRARY_FUNCTIONS(X)              \
	X(pcre2_compile_8)                \
	X(pcre2_code_free_8)              \
	X(pcre2_compile_context_create_8) \
	X(pcre2_compile_context_free_8)   \
	X(pcre2_set_parens_nest_limit_8)  \
	X(pcre2_get_error_message_8)      \
	X(pcre2_match_8)                  \
	X(pcre2_match_data_create_8)      \
	X(pcre2_match_data_free_8)        \
	X(pcre2_match_context_create_8)   \
	X(pcre2_match_context_free_8)     \
	X(pcre2_set_match_limit_8)        \
	X(pcre2_set_heap_limit_8)         \
	X(pcre2_set_callout_8)

struct library {
	LIBRARY_FUNCTIONS(DL_MEMBER)
};

/* Load PCRE2; NULL when it is not installed. */
static const struct library *library(void)
{
	static const char *const names[] = {LIBRARY_FUNCTIONS(DL_NAME)};
	static struct library functions;
	static struct dl dl = DL(LIBRARY, names, functions);

	return dl_load(&dl) ? &functions : NULL;
}

/* ---- expressions ---- */

/* Groups within groups; PCRE2 compiles them by recursion. */
#define NEST_MAX 100
/* Calls of PCRE2's matcher from one start; the steps are the finer bound. */
#define MATCH_MAX 1000000
/* KiB for backtracking */
#define HEAP_MAX 20000
/* Characters that are passed over for the price of one step */
#define BYTES_A_STEP 64

struct regex {
	const struct library *lib;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	uint64_t *steps; /* of the search that runs */
	PCRE2_SIZE last; /* where the callout before was */
};

/*
 * Comes before each item of the expression that is tried. PCRE2 counts its own
 * limit again for each place where a match could begin, so that a long text
 * could cost that limit times its length; this one counts all of it.
 */
static int count_step(pcre2_callout_block *block, void *data)
{
	struct regex *r = data;
	PCRE2_SIZE at = block->current_position;
	uint64_t cost = 1;

	cost += (at > r->last ? at - r->last : r->last - at) / BYTES_A_STEP;
	r->last = at;
	if (*r->steps < cost) {
		*r->steps = 0;
		return PCRE2_ERROR_CALLOUT;
	}
	*r->steps -= cost;
	return 0;
}

static pcre2_code *compile(const struct library *lib, struct str text,
			   struct err *err)
{
	const uint32_t options =
		PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY |
		PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_AUTO_CALLOUT;
	pcre2_compile_context *context;
	PCRE2_UCHAR message[128];
	PCRE2_SIZE offset;
	pcre2_code *code;
	int error;

	context = lib->pcre2_compile_context_create_8(NULL);
	if (!context)
		abort();
	lib->pcre2_set_parens_nest_limit_8(context, NEST_MAX);
	code = lib->pcre2_compile_8((PCRE2_SPTR)text.p, text.n, options, &error,
				    &offset, context);
	lib->pcre2_compile_context_free_8(context);
	if (code)
		return code;
	lib->pcre2_get_error_message_8(error, message, sizeof(message));
	err_set(err, ERR_SYNTAX, "%s", (const char *)message);
	return NULL;
}

int regex_new(struct str pattern, struct regex **ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct library *lib = library();
	pcre2_code *code;
	struct regex *r;

	if (!lib)
		return err_set(err, ERR_UNKNOWN,
			       "patterns need " LIBRARY ", which is not here; "
			       "install it: apt-get install libpcre2-8-0");
	if (translate(pattern, &text, err) < 0)
		return -1;
	code = compile(lib, buf_str(&text), err);
	if (!code)
		return -1;
	r = mem_zalloc(sizeof(*r));
	r->lib = lib;
	r->code = code;
	r->data = lib->pcre2_match_data_create_8(1, NULL);
	r->context = lib->pcre2_match_context_create_8(NULL);
	if (!r->data || !r->context)
		abort();
	lib->pcre2_set_match_limit_8(r->context, MATCH_MAX);
	lib->pcre2_set_heap_limit_8(r->context, HEAP_MAX);
	lib->pcre2_set_callout_8(r->context, count_step, r);
	*ret = r;
	return 0;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	r->lib->pcre2_match_context_free_8(r->context);
	r->lib->pcre2_match_data_free_8(r->data);
	r->lib->pcre2_code_free_8(r->code);
	free(r);
}

int regex_search(struct regex *r, struct str text, uint64_t *steps)
{
	int found;

	r->steps = steps;
	r->last = 0;
	found = r->lib->pcre2_match_8(
		r->code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, 0,
		PCRE2_NO_UTF_CHECK, r->data, r->context);
	r->steps = NULL;
	if (found >= 0)
		return 1;
	return found == PCRE2_ERROR_NOMATCH ? 0 : -1;
}
