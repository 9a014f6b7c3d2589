#include "core/cli/refused.h"

#include <ctype.h>
#include <string.h>

/*
 * Words and names of errno(3), and words that servers add. Of several in a line
 * the first row counts.
 */
static const struct {
	const char *words; /* words in lower case */
	enum refused_kind kind;
} signs[] = {
	{"enotcached", REFUSED_DOWNLOAD},
	{"erofs", REFUSED_WRITE},
	{"read-only file system", REFUSED_WRITE},
	{"eacces", REFUSED_ACCESS},
	{"eperm", REFUSED_ACCESS},
	{"permission denied", REFUSED_ACCESS},
	{"operation not permitted", REFUSED_ACCESS},
	{"permissionerror", REFUSED_ACCESS},
	{"enoent", REFUSED_MISSING},
	{"no such file or directory", REFUSED_MISSING},
	{"cannot access", REFUSED_MISSING},
};

static bool has_words(struct str line, const char *words)
{
	size_t n = strlen(words);

	for (size_t i = 0; i + n <= line.n; i++) {
		size_t k = 0;

		while (k < n && tolower((unsigned char)line.p[i + k]) ==
					(unsigned char)words[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

static enum refused_kind kind_of(struct str line)
{
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (has_words(line, signs[i].words))
			return signs[i].kind;
	return REFUSED_NOTHING;
}

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '`';
}

/* "d/x", "x.db": not a word such as 'EPERM' or 'open', nor a version. */
static bool is_relative(struct str s)
{
	size_t dot = 0;

	if (memchr(s.p, ' ', s.n))
		return false;
	for (size_t i = 1; i + 1 < s.n; i++)
		if (s.p[i] == '.' && isalpha((unsigned char)s.p[i + 1]))
			dot = i;
	return dot || memchr(s.p, '/', s.n);
}

static struct str quoted(struct str rest)
{
	struct str inside = {rest.p + 1, rest.n - 1};
	size_t end = str_find(inside, rest.p[0]);

	if (!end || end == inside.n ||
	    (inside.p[0] != '/' && !is_relative((struct str){inside.p, end})))
		return (struct str){NULL, 0};
	return (struct str){inside.p, end};
}

/* Take a word that begins with one slash, without punctuation behind it. */
static struct str bare(struct str rest)
{
	size_t n = 0;

	if (rest.n < 2 || rest.p[0] != '/' || rest.p[1] == '/')
		return (struct str){NULL, 0};
	while (n < rest.n && !isspace((unsigned char)rest.p[n]) &&
	       !is_quote(rest.p[n]) && !strchr(",;)]}<>", rest.p[n]))
		n++;
	while (n > 1 && strchr(":.!?", rest.p[n - 1]))
		n--;
	return (struct str){n > 1 ? rest.p : NULL, n > 1 ? n : 0};
}

/* Report whether a path can begin here; the quote in "it's" opens none. */
static bool is_begin(struct str line, size_t i)
{
	return !i || isspace((unsigned char)line.p[i - 1]) ||
	       is_quote(line.p[i - 1]) || strchr("(:=[<{", line.p[i - 1]);
}

static struct str path_in(struct str line)
{
	for (size_t i = 0; i < line.n; i++) {
		struct str rest = {line.p + i, line.n - i}, path;

		if (!is_begin(line, i))
			continue;
		path = is_quote(rest.p[0]) ? quoted(rest) : bare(rest);
		if (path.p)
			return path;
	}
	return (struct str){NULL, 0};
}

/* Report whether `a` is the better clue. */
static bool is_better(const struct refused *a, const struct refused *b)
{
	bool a_says = a->kind > REFUSED_MISSING;
	bool b_says = b->kind > REFUSED_MISSING;

	if (a_says != b_says)
		return a_says;
	if (!a->path.p != !b->path.p)
		return a->path.p != NULL;
	return !b->kind && a->kind;
}

struct refused refused_find(struct str text)
{
	struct refused best = {REFUSED_NOTHING, {NULL, 0}};

	while (text.n) {
		struct str line = str_cut(&text, '\n');
		struct refused here = {kind_of(line), {NULL, 0}};

		if (!here.kind)
			continue;
		if (here.kind != REFUSED_DOWNLOAD)
			here.path = path_in(line);
		if (is_better(&here, &best))
			best = here;
	}
	return best;
}

/* ---- hints ---- */

/* Longest command in a hint. */
#define TRACE_BYTES 60

const char exec_hint_download[] =
	"npm has no network, and a package that it needs is not installed in "
	"the project; to install it, with the host that `npm config get "
	"registry` prints: matins exec --preset npm --write . --net HOST -- "
	"npm install PACKAGE";

void exec_command_words(const struct gate_request *request, struct buf *out)
{
	size_t from = out->n;

	for (size_t i = 0; request->argv[i]; i++) {
		const char *word = request->argv[i];

		if (i && (out->n - from + strlen(word) > TRACE_BYTES ||
			  strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;~#!"))) {
			buf_adds(out, " …");
			break;
		}
		buf_addf(out, "%s%s", i ? " " : "", word);
	}
}
