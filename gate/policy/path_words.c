#include "gate/policy/path_words.h"

#include "core/base/arena.h"
#include "gate/gate.h"

/* Words that a text of ours has at most. */
#define WORDS_MAX 512

/* Bytes between words: blanks, quotes, operators of shells and other
   languages. */
static bool is_between(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f ||
	       strchr("\"'`\\()<>|&;,=:[]!^", c);
}

static const char *const homes[] = {"~/", "$HOME/", "${HOME}/"};

static bool is_path(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(homes); i++)
		if (str_starts(word, homes[i]))
			return true;
	return str_starts(word, "/") || str_starts(word, "./");
}

/* "my notes/a.md" behind a quote, up to the next one; .n is 0 for other texts.
 */
static struct str in_quotes(struct str text, char quote)
{
	size_t n = is_path(text) ? str_find(text, quote) : text.n;

	return n < text.n && memchr(text.p, ' ', n) && !memchr(text.p, '\n', n)
		       ? (struct str){text.p, n}
		       : (struct str){text.p, 0};
}

/* Take a word; of one in quotes with blanks the whole, and then its words. */
static struct str next_word(struct str *text)
{
	struct str word;
	char last = ' ';

	while (text->n && is_between(*text->p)) {
		last = *text->p;
		*text = str_skip(*text, 1);
	}
	if (last == '"' || last == '\'') {
		word = in_quotes(*text, last);
		if (word.n)
			return word;
	}
	word = (struct str){text->p, 0};
	while (word.n < text->n && !is_between(word.p[word.n]))
		word.n++;
	*text = str_skip(*text, word.n);
	return word;
}

/* Take the beginning that says where the path starts. */
static struct str take_from(struct str word, enum path_from *ret)
{
	*ret = word.n && *word.p == '/' ? PATH_FROM_ROOT : PATH_FROM_CWD;
	for (size_t i = 0; i < ARRAY_LEN(homes); i++)
		if (str_starts(word, homes[i])) {
			*ret = PATH_FROM_HOME;
			word = str_skip(word, strlen(homes[i]));
		}
	while (*ret != PATH_FROM_ROOT &&
	       (str_starts(word, "./") || str_starts(word, "/")))
		word = str_skip(word, *word.p == '/' ? 1 : 2);
	return word;
}

/* Cut a pattern before its first part with a `*`, `?` or `{`. */
static struct str cut_pattern(struct str word, bool *ret)
{
	size_t n = 0;

	while (n < word.n && word.p[n] != '*' && word.p[n] != '?' &&
	       (word.p[n] != '{' || !n || word.p[n - 1] == '$'))
		n++;
	*ret = n < word.n;
	while (*ret && n && word.p[n - 1] != '/')
		n--;
	return (struct str){word.p, n};
}

static bool is_name(struct str path)
{
	struct str rest = path;

	if (!path.n || str_is(path, ".") || str_is(path, "~") || *path.p == '-')
		return false;
	for (size_t i = 0; i < path.n; i++)
		if (strchr("${}", path.p[i]))
			return false;
	while (rest.n)
		if (str_is(str_cut(&rest, '/'), ".."))
			return false;
	return true;
}

bool path_word_next(struct str *text, struct path_word *ret)
{
	while (text->n) {
		struct path_word w;

		w.path = take_from(next_word(text), &w.from);
		/* "$HOME"/x */
		if ((str_is(w.path, "$HOME") || str_is(w.path, "${HOME}")) &&
		    str_starts(*text, "\"/")) {
			*text = str_skip(*text, 2);
			w.path = next_word(text);
			w.from = PATH_FROM_HOME;
		}
		w.path = cut_pattern(w.path, &w.is_pattern);
		while (w.path.n && w.path.p[w.path.n - 1] == '/')
			w.path.n--;
		if (!is_name(w.path))
			continue;
		*ret = w;
		return true;
	}
	return false;
}

struct strlist gate_path_words(struct str text, struct arena *arena)
{
	struct strlist paths = {NULL, 0};
	struct path_word w;

	for (size_t i = 0; i < WORDS_MAX && path_word_next(&text, &w); i++)
		list_add_new(&paths, arena,
			     arena_printf(arena, "%s%.*s",
					  w.from == PATH_FROM_HOME ? "~/" : "",
					  STR_ARG(w.path)));
	return paths;
}
