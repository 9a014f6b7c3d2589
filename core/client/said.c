#include "core/client/said.h"

#include <ctype.h>
#include <string.h>

#include "core/base/limits.h"

/*
 * Words and names of errno(3), and words that servers add. Of several in a line
 * the first row counts.
 */
static const struct {
	const char *words; /* words in lower case */
	enum said_kind kind;
} signs[] = {
	/* of ssh */
	{"denied (publickey", SAID_NOTHING},
	{"enotcached", SAID_DOWNLOAD},
	{"erofs", SAID_WRITE},
	{"read-only file system", SAID_WRITE},
	{"ebusy", SAID_BUSY},
	{"device or resource busy", SAID_BUSY},
	{"eacces", SAID_ACCESS},
	{"eperm", SAID_ACCESS},
	{"permission denied", SAID_ACCESS},
	{"operation not permitted", SAID_ACCESS},
	{"permissionerror", SAID_ACCESS},
	/* of SQLite, which names no file */
	{"unable to open database file", SAID_ACCESS},
	{"attempt to write a readonly database", SAID_WRITE},
	{"enoent", SAID_MISSING},
	{"no such file or directory", SAID_MISSING},
	/* of dash, about the folder of a file that was to be made */
	{"directory nonexistent", SAID_MISSING},
	{"cannot access", SAID_MISSING},
	{"can't cd to", SAID_MISSING},
	{"no module named", SAID_MODULE},
	{"cannot find module", SAID_MISSING},
};

static const char *find_words(struct str line, const char *words)
{
	size_t n = strlen(words);

	for (size_t i = 0; line.p && i + n <= line.n; i++) {
		size_t k = 0;

		while (k < n && tolower((unsigned char)line.p[i + k]) ==
					(unsigned char)words[k])
			k++;
		if (k == n)
			return line.p + i;
	}
	return NULL;
}

/* words  where the words of the kind stand; may be NULL */
static enum said_kind kind_of(struct str line, struct str *words)
{
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		const char *at = find_words(line, signs[i].words);

		if (at && words)
			*words = (struct str){at, strlen(signs[i].words)};
		if (at)
			return signs[i].kind;
	}
	return SAID_NOTHING;
}

/* The quotation mark before a path, of programs of GNU in UTF-8. */
#define CURLY "\xe2\x80\x98"

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

/* "'path'", or as programs of GNU write it in UTF-8. */
static struct str quoted(struct str rest)
{
	bool is_curly = str_starts(rest, CURLY);
	const struct str close =
		is_curly ? STR("\xe2\x80\x99") : (struct str){rest.p, 1};
	struct str inside = {rest.p + close.n, rest.n - close.n};
	const char *end = memmem(inside.p, inside.n, close.p, close.n);

	inside.n = end ? (size_t)(end - inside.p) : 0;
	return inside.n && (inside.p[0] == '/' || is_relative(inside))
		       ? inside
		       : (struct str){NULL, 0};
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

/*
 * Bytes of a program that speaks: "/usr/bin/ld: cannot open output file x: ".
 * In "/srv/a: Permission denied" the path is the file.
 */
static size_t speaker_bytes(struct str line)
{
	struct str path = bare(line);
	struct str rest = str_skip(line, path.n);

	return path.n && str_starts(rest, ": ") &&
			       memmem(rest.p + 2, rest.n - 2, ": ", 2)
		       ? path.n
		       : 0;
}

static struct str path_in(struct str line)
{
	for (size_t i = speaker_bytes(line); i < line.n; i++) {
		struct str rest = {line.p + i, line.n - i}, path;

		if (!is_begin(line, i))
			continue;
		path = is_quote(rest.p[0]) || str_starts(rest, CURLY)
			       ? quoted(rest)
			       : bare(rest);
		if (path.p)
			return path;
	}
	return (struct str){NULL, 0};
}

/* ---- names without a mark of a path ---- */

/* Quoted words at the end of a text, without their quotes; .p is NULL without
 * any. */
static struct str last_quoted(struct str s)
{
	const char *close = "\xe2\x80\x99", *open = CURLY;
	char one[2] = {s.n ? s.p[s.n - 1] : '\0', '\0'};
	struct str name;

	if (is_quote(one[0]))
		close = open = one;
	if (!str_ends(s, close))
		return (struct str){NULL, 0};
	name = (struct str){s.p, s.n - strlen(close)};
	for (size_t i = name.n; i-- > 0;)
		if (str_starts(str_skip(name, i), open))
			return str_skip(name, i + strlen(open));
	return (struct str){NULL, 0};
}

/* Take the last part of "sh: 1: cannot create a.md: ". */
static struct str last_part(struct str before)
{
	if (!str_ends(before, ": "))
		return (struct str){NULL, 0};
	before.n -= 2;
	for (size_t i = before.n; i-- > 1;)
		if (before.p[i] == ' ' && before.p[i - 1] == ':')
			return str_skip(before, i + 1);
	return before;
}

/* Words before the name of a file that is made or replaced. */
static const char *const verbs[] = {
	"cannot create ",	    "can't create ",
	"cannot open output file ", "could not write config file ",
	"cannot rename ",
};

static bool is_making(struct str line)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (memmem(line.p, line.n, verbs[i], strlen(verbs[i])))
			return true;
	return false;
}

/* "cannot create a.md" */
static struct str made_name(struct str part)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (str_starts(part, verbs[i]))
			return str_skip(part, strlen(verbs[i]));
	return (struct str){NULL, 0};
}

/* "Read-only file system: 'a'", "EROFS: …, open 'a'"; not "syscall: 'open'" */
static struct str name_behind(struct str behind)
{
	struct str name = last_quoted(behind);

	return name.p && (str_starts(behind, ": '") ||
			  (name.p > behind.p + 2 && name.p[-2] == ' ' &&
			   (isalpha((unsigned char)name.p[-3]) ||
			    name.p[-3] == '>')))
		       ? name
		       : (struct str){NULL, 0};
}

/*
 * The name of a file that was to be made or replaced. "sh: 1: gzip: Permission
 * denied" and "sh: 1: gzip: not found" are about a program, so there only a
 * verb tells.
 */
static struct str name_in(struct str line, struct str words,
			  enum said_kind kind)
{
	size_t at = (size_t)(words.p - line.p);
	struct str part = last_part(str_first(line, at));
	struct str made = made_name(part), name;
	bool is_file = kind != SAID_ACCESS && kind != SAID_MISSING;

	name = last_quoted(is_file ? part : made);
	if (!name.p)
		name = made;
	if (!name.p && is_file)
		name = name_behind(str_skip(line, at + words.n));
	if (!name.p && is_file && part.p && !memchr(part.p, ' ', part.n))
		name = part;
	return name.n ? name : (struct str){NULL, 0};
}

/* Report whether `a` is the better clue. */
static bool is_better(const struct said_refusal *a,
		      const struct said_refusal *b)
{
	bool a_says = a->kind > SAID_MISSING;
	bool b_says = b->kind > SAID_MISSING;

	if (a_says != b_says)
		return a_says;
	if (!a->path.p != !b->path.p)
		return a->path.p != NULL;
	return !b->kind && a->kind;
}

struct said_refusal said_refusal(struct str text)
{
	struct said_refusal best = {.kind = SAID_NOTHING};

	text = str_first(text, SAID_BYTES);
	while (text.n) {
		struct str line = str_cut(&text, '\n');
		struct str words = {NULL, 0};
		struct said_refusal here = {.kind = kind_of(line, &words)};

		if (!here.kind)
			continue;
		if (here.kind != SAID_DOWNLOAD && here.kind != SAID_BUSY &&
		    here.kind != SAID_MODULE)
			here.path = path_in(line);
		if (!here.path.p && here.kind != SAID_DOWNLOAD &&
		    here.kind != SAID_MODULE)
			here.path = name_in(line, words, here.kind);
		here.makes = is_making(line);
		if (is_better(&here, &best))
			best = here;
	}
	return best;
}

/* Bytes of a name of Python; no package has a longer one. */
#define MODULE_BYTES 64

struct str said_module(struct str text)
{
	static const char words[] = "No module named ";
	const char *at;
	size_t n = 0;

	text = str_first(text, SAID_BYTES);
	at = text.n ? memmem(text.p, text.n, words, strlen(words)) : NULL;
	if (!at)
		return (struct str){NULL, 0};
	text = str_skip(text, (size_t)(at - text.p) + strlen(words));
	if (text.n && is_quote(text.p[0]))
		text = str_skip(text, 1);
	while (n < text.n &&
	       (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
		n++;
	return n && n <= MODULE_BYTES && !isdigit((unsigned char)text.p[0]) &&
			       !(n < text.n && text.p[n] == '.')
		       ? (struct str){text.p, n}
		       : (struct str){NULL, 0};
}

/* ---- hosts ---- */

static const char *const host_signs[] = {
	"ENOTFOUND ",
	"EAI_AGAIN ",
	"Could not resolve host: ",
	"could not resolve host: ",
	"://",
};

/* Bytes of ":8080" there. */
static size_t port_bytes(struct str rest)
{
	size_t n = 1;

	if (!rest.n || rest.p[0] != ':')
		return 0;
	while (n < rest.n && n < 6 && isdigit((unsigned char)rest.p[n]))
		n++;
	return n > 1 ? n : 0;
}

/* Take a name with a dot, or an address with a port; or {NULL, 0}: "localhost"
   is no host to grant. */
static struct str host_in(struct str rest)
{
	bool has_dot = false, has_letter = false;
	size_t n = 0, port;

	for (; n < rest.n && (isalnum((unsigned char)rest.p[n]) ||
			      rest.p[n] == '-' || rest.p[n] == '.');
	     n++) {
		has_dot |= n && rest.p[n] == '.';
		has_letter |= isalpha((unsigned char)rest.p[n]);
	}
	port = port_bytes(str_skip(rest, n));
	while (!port && n && rest.p[n - 1] == '.')
		n--;
	if (n < 3 || n > 253 || !has_dot || (!has_letter && !port) ||
	    !isalnum((unsigned char)rest.p[0]))
		return (struct str){NULL, 0};
	return (struct str){rest.p, n + port};
}

struct str said_host(struct str text)
{
	text = str_first(text, SAID_BYTES);
	for (size_t k = 0; k < ARRAY_LEN(host_signs); k++) {
		size_t n = strlen(host_signs[k]);
		const char *at = text.p, *end = str_skip(text, text.n).p;

		while (at && (at = memmem(at, (size_t)(end - at), host_signs[k],
					  n))) {
			struct str host;

			at += n;
			host = host_in((struct str){at, (size_t)(end - at)});
			if (host.p)
				return host;
		}
	}
	return (struct str){NULL, 0};
}

/* ---- the useful lines ---- */

/* Beginnings of lines that name no cause. */
static const char *const noise[] = {
	"A complete log of this run",
	"npm error A complete log of this run",
	"npm ERR! A complete log of this run",
	"npm notice",
	"Node.js v",
	"node:internal/",
	"compilation terminated.",
	"Traceback (most recent call last)",
	"During handling of the above",
};

static bool is_noise(struct str line)
{
	bool has_word = false;

	for (size_t i = 0; i < line.n; i++)
		/* *** stands for a credential */
		has_word |= isalnum((unsigned char)line.p[i]) ||
			    line.p[i] == '*' ||
			    (unsigned char)line.p[i] >= 0x80;
	for (size_t i = 0; i < ARRAY_LEN(noise); i++)
		if (str_starts(line, noise[i]))
			return true;
	/* the second line of npm's own log */
	return !has_word || (str_starts(line, "npm") && line.n > 4 &&
			     memmem(line.p, line.n, "/_logs/", 7));
}

#define SAID_LINES 4

static size_t find_lines(struct str text, struct str line[SAID_LINES])
{
	size_t n = 0, at;

	while (text.n) {
		struct str one = str_cut(&text, '\n');

		/* frames and quoted source stand indented */
		if (str_starts(one, "  ") || str_starts(one, "\t"))
			continue;
		one = str_trim(one);
		if (!one.n || is_noise(one))
			continue;
		/* the first line stays, and those that say what is missing */
		for (at = 1;
		     n == SAID_LINES && at + 1 < n && kind_of(line[at], NULL);
		     at++)
			;
		if (n == SAID_LINES)
			memmove(&line[at], &line[at + 1],
				(SAID_LINES - 1 - at) * sizeof(*line));
		else
			n++;
		line[n - 1] = one;
	}
	return n;
}

void said_join(struct buf *out, struct str text, const char *between)
{
	struct str line[SAID_LINES];
	size_t n = find_lines(text, line);

	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? between : "");
		buf_add_cut(out, line[i], LIMIT_NOISE_LINE);
	}
}
