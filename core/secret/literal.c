#include "core/secret/literal.h"

#include <strings.h>

#include "core/base/text.h"

/* Bytes of a part of a JWT, RFC 7519: each is Base64url. */
#define JWT_PART_MIN 4
/* Bytes of a value that are looked at as one token. */
#define TOKEN_MAX 4096
/* Bytes of a value that is no word: with digits, and of letters alone. */
#define RANDOM_MIN 8
#define RANDOM_LETTERS_MIN 20
/* Letters of the end of a file's name. */
#define SUFFIX_MAX 5
#define BY_NAME "a credential by its name"
#define KEY_BEGIN "PRIVATE KEY-----"

enum at { WORD, END, LAST };

static const struct {
	const char *word;
	enum at at;
	bool may_count;
} names[] = {
#define LITERAL_NAME(word, at, may_count) {word, at, may_count},
#include "core/secret/literal.def"
};

static const char *const harmless[] = {
#define LITERAL_HARMLESS(word) word,
#include "core/secret/literal.def"
};

static const struct {
	const char *prefix;
	size_t n;
	const char *what;
} forms[] = {
#define LITERAL_FORM(prefix, n, what) {prefix, n, what},
#include "core/secret/literal.def"
};

/* ---- names ---- */

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Cut the next word off; n = 0 behind the last. */
static struct str next_word(struct str *rest)
{
	struct str s = *rest;
	size_t n = 0;

	while (s.n && !text_is_alnum(s.p[0]))
		s = str_skip(s, 1);
	while (n < s.n && text_is_alnum(s.p[n]) &&
	       !(n && is_upper(s.p[n]) && !is_upper(s.p[n - 1])))
		n++;
	*rest = str_skip(s, n);
	return (struct str){s.p, n};
}

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

static bool ends_so(struct str s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && strncasecmp(s.p + s.n - n, word, n) == 0;
}

static bool is_number(struct str s)
{
	size_t n = 0;

	while (n < s.n && text_is_digit(s.p[n]))
		n++;
	return n == s.n;
}

static bool is_sign(struct str word, bool is_last, struct str value)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((names[i].at == END ? ends_so(word, names[i].word)
					: is_word(word, names[i].word)) &&
		    (names[i].at != LAST || is_last) &&
		    !(names[i].may_count && is_number(value)))
			return true;
	return false;
}

static bool is_harmless(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		if (is_word(word, harmless[i]))
			return true;
	return false;
}

/* has_pwd  "PWD" alone is a password, not the working directory */
static bool name_is_secret(struct str name, struct str value, bool has_pwd)
{
	bool is_found = false, is_public = false;
	struct str word, last = {NULL, 0};

	while ((word = next_word(&name)).n) {
		struct str rest = name;
		bool is_last = !next_word(&rest).n;

		if (has_pwd || last.n || !is_word(word, "pwd"))
			is_found |= is_sign(word, is_last, value);
		is_public |= is_word(word, "public");
		last = word;
	}
	return is_found && !is_public && !is_harmless(last);
}

/* ---- values ---- */

static bool is_token_char(char c)
{
	return text_is_alnum(c) || c == '_' || c == '-';
}

static size_t token_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && n < TOKEN_MAX &&
	       (is_token_char(s.p[n]) || (s.p[n] && strchr("+/=.~", s.p[n]))))
		n++;
	return n;
}

/* Three parts, of which the first is a JSON object. */
static bool is_jwt(struct str s)
{
	struct str rest = {s.p, token_length(s)};

	if (!str_starts(rest, "eyJ"))
		return false;
	for (int i = 0; i < 3; i++)
		if (str_cut(&rest, '.').n < JWT_PART_MIN)
			return false;
	return true;
}

/* Password of "://user:password@", userinfo of RFC 3986, 3.2.1; n = 0: none. */
static struct str password_at(struct str s)
{
	size_t n = 0, colon = 0;

	if (!str_starts(s, "://"))
		return (struct str){NULL, 0};
	for (n = 3; n < s.n && s.p[n] && !strchr("/?# \"'", s.p[n]); n++) {
		if (s.p[n] == '@' && colon)
			return (struct str){s.p + colon + 1, n - colon - 1};
		if (s.p[n] == '@')
			break;
		if (s.p[n] == ':' && !colon)
			colon = n;
	}
	return (struct str){NULL, 0};
}

/* Lines of Base64 behind the first line of a private key. */
static struct str key_at(struct str s)
{
	size_t n = 0;

	if (!str_starts(s, KEY_BEGIN))
		return (struct str){NULL, 0};
	s = str_skip(s, strlen(KEY_BEGIN));
	while (n < s.n &&
	       (text_is_alnum(s.p[n]) || (s.p[n] && strchr("+/=\r\n", s.p[n]))))
		n++;
	return (struct str){s.p, n};
}

/* Form of the token that begins here, at the beginning of a word; or NULL. */
static const char *form_at(struct str s, struct str *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		size_t n = strlen(forms[i].prefix);

		if (!str_starts(s, forms[i].prefix))
			continue;
		*ret = (struct str){s.p + n, token_length(str_skip(s, n))};
		if (ret->n >= forms[i].n)
			return forms[i].what;
	}
	*ret = (struct str){s.p, token_length(s)};
	return is_jwt(s) ? "a JSON Web Token" : NULL;
}

/* "key.pem" or "/srv/key1"? Neither is one, nor is an option. */
static bool is_file(struct str s)
{
	size_t n = s.n;

	while (n && text_is_alpha(s.p[n - 1]))
		n--;
	return strchr("-/.~", s.p[0]) ||
	       (n && s.p[n - 1] == '.' && s.n - n <= SUFFIX_MAX && n < s.n);
}

/* Is it no word that a person would write? Letters with digits among them, or
   a long run of small and capital ones. */
static bool is_random(struct str s)
{
	bool has_digit = false, has_upper = false, has_lower = false;

	for (size_t i = 0; i < s.n; i++) {
		has_digit |= text_is_digit(s.p[i]);
		has_upper |= is_upper(s.p[i]);
		has_lower |= text_is_alpha(s.p[i]) && !is_upper(s.p[i]);
	}
	return (has_digit ? s.n >= RANDOM_MIN && (has_upper || has_lower)
			  : s.n >= RANDOM_LETTERS_MIN && has_upper &&
				    has_lower) &&
	       !is_file(s);
}

/* Value of "api_key=VALUE", "X-Api-Key: VALUE", "--token VALUE", of the default
   in "${TOKEN:-VALUE}" or of the member of JSON "token": "VALUE", at the
   beginning of a word. */
static const char *named_at(struct str s, struct str *ret)
{
	struct str name = {s.p, 0}, rest;
	const char *what;

	while (name.n < s.n && name.n < TOKEN_MAX && is_token_char(s.p[name.n]))
		name.n++;
	rest = str_skip(s, name.n);
	if (str_starts(rest, "\":\""))
		rest = str_skip(rest, 3);
	else if (str_starts(rest, "\": \""))
		rest = str_skip(rest, 4);
	else if (str_starts(rest, ": ") || str_starts(rest, ":-"))
		rest = str_skip(rest, 2);
	else if (str_starts(rest, "=") || str_starts(rest, ":") ||
		 (str_starts(rest, " ") && str_starts(name, "--")))
		rest = str_skip(rest, 1);
	else
		return NULL;
	what = form_at(rest, ret);
	return what						     ? what
	       : is_random(*ret) && name_is_secret(name, *ret, true) ? BY_NAME
								     : NULL;
}

/* Does a word begin there? The default of "${NAME:-VALUE}" is one. */
static bool is_begin(struct str text, size_t i)
{
	return !i || !is_token_char(text.p[i - 1]) ||
	       (i > 1 && text.p[i - 1] == '-' && text.p[i - 2] == ':');
}

const char *literal_find(struct str text, struct str *ret)
{
	for (size_t i = 0; text.p && i < text.n; i++) {
		struct str rest = str_skip(text, i);
		const char *what = NULL;

		if (is_begin(text, i))
			what = form_at(rest, ret);
		if (!what && is_begin(text, i))
			what = named_at(rest, ret);
		if (what)
			return what;
		*ret = key_at(rest);
		if (ret->p)
			return "a private key";
		*ret = password_at(rest);
		if (ret->n)
			return "a URL with a password";
	}
	return NULL;
}

const char *literal_looks_like(const char *name, struct str value)
{
	struct str token;
	const char *what = literal_find(value, &token);

	if (what || !value.n)
		return what;
	return name_is_secret(str_of(name), value, false) ? BY_NAME : NULL;
}

const char *literal_argument(struct str before, struct str argument)
{
	struct str token;
	const char *what = literal_find(argument, &token);

	if (!what && str_starts(before, "-") &&
	    token_length(argument) == argument.n && is_random(argument) &&
	    name_is_secret(before, argument, true))
		what = BY_NAME;
	return what;
}

/* Could a shell take part of it for a command? */
static bool is_code(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!s.p[i] || strchr("$`;&|()<>{}\\\t\r\n", s.p[i]))
			return true;
	return false;
}

void literal_mask(struct str text, struct buf *out)
{
	struct str token;

	while (literal_find(text, &token)) {
		size_t n = (size_t)(token.p - text.p);

		buf_add(out, text.p, n);
		if (is_code(token))
			buf_add_str(out, token);
		else
			buf_adds(out, "***");
		text = str_skip(text, n + token.n);
	}
	buf_add_str(out, text);
}
