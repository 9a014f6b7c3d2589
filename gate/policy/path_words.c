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

static struct str next_word(struct str *text)
{
	struct str word;

	while (text->n && is_between(*text->p))
		*text = str_skip(*text, 1);
	word = (struct str){text->p, 0};
	while (word.n < text->n && !is_between(word.p[word.n]))
		word.n++;
	*text = str_skip(*text, word.n);
	return word;
}

static struct str without_first(struct str s, size_t n)
{
	return str_skip(s, n);
}

/* Take the beginning that says where the path starts. */
static struct str take_from(struct str word, enum path_from *ret)
{
	static const char *const homes[] = {"~/", "$HOME/", "${HOME}/"};

	*ret = word.n && *word.p == '/' ? PATH_FROM_ROOT : PATH_FROM_CWD;
	for (size_t i = 0; i < ARRAY_LEN(homes); i++)
		if (str_starts(word, homes[i])) {
			*ret = PATH_FROM_HOME;
			word = without_first(word, strlen(homes[i]));
		}
	while (*ret != PATH_FROM_ROOT &&
	       (str_starts(word, "./") || str_starts(word, "/")))
		word = without_first(word, *word.p == '/' ? 1 : 2);
	return word;
}

/* Cut a pattern before its first part with a `*` or `?`. */
static struct str cut_pattern(struct str word, bool *ret)
{
	size_t n = 0;

	while (n < word.n && word.p[n] != '*' && word.p[n] != '?')
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
