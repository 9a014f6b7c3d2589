#include "gate/policy/shell_words.h"

#include "core/base/text.h"

/* Substitutions in substitutions; `case` in `case`; here-documents of a line.
 */
#define DEPTH_MAX 24
#define HEREDOCS_MAX 8

static const struct strlist builtins = STRLIST(
	":", ".", "[", "alias", "bg", "bind", "break", "builtin", "caller",
	"cd", "command", "compgen", "complete", "continue", "declare", "dirs",
	"disown", "echo", "enable", "eval", "exec", "exit", "export", "false",
	"fc", "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let",
	"local", "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read",
	"readarray", "readonly", "return", "set", "shift", "shopt", "source",
	"suspend", "test", "times", "trap", "true", "type", "typeset", "ulimit",
	"umask", "unalias", "unset", "wait");

/* Words behind which a command stands, or another of them. */
static const struct strlist openers =
	STRLIST("if", "then", "elif", "else", "while", "until", "do", "{", "!",
		"time", "coproc");
/* Words behind which no command stands before the next separator. */
static const struct strlist closers =
	STRLIST("fi", "done", "esac", "}", "for", "select");
/* Programs and builtins that start what their arguments name. */
static const struct strlist wrappers =
	STRLIST("builtin", "command", "env", "exec", "ionice", "nice", "nohup",
		"setsid", "stdbuf", "time", "timeout", "xargs");

/* Roles of the next word. */
enum expects {
	A_COMMAND,
	A_WRAPPED, /* a command, behind options of a wrapper */
	AN_ARGUMENT,
	A_SEARCH,   /* an argument of find(1) */
	A_SEARCHED, /* a command among them */
	A_NAME,	    /* of a function */
	A_SUBJECT,  /* of `case` */
	A_PATTERN,
	A_CONDITION, /* in [[ ]] */
};

struct heredoc {
	struct str end;
	bool is_plain; /* without expansions */
	bool is_stripped;
};

struct reader {
	struct str rest;
	struct arena *arena;
	struct strlist words, functions;
	unsigned depth;
	struct heredoc heredoc[HEREDOCS_MAX];
	size_t n_heredocs;
};

/* A word as it is read. */
struct word {
	struct buf text;
	bool is_literal, is_quoted;
};

static char peek(const struct reader *r, size_t at)
{
	return at < r->rest.n ? r->rest.p[at] : '\0';
}

static void skip(struct reader *r, size_t n)
{
	n = n < r->rest.n ? n : r->rest.n;
	r->rest = str_skip(r->rest, n);
}

/* Index of the first byte from `at` on that is neither space nor tab. */
static size_t behind_blanks(const struct reader *r, size_t at)
{
	while (peek(r, at) == ' ' || peek(r, at) == '\t')
		at++;
	return at;
}

static bool is_separator(char c)
{
	return memchr(" \t\n;&|()<>", c, 10) != NULL;
}

/* ---- expansions ---- */

static void read_commands(struct reader *r, char closer);
static bool read_expansion(struct reader *r);

/* Read to the closer of "((", "${" or "=(": brackets are counted. */
static void skip_nested(struct reader *r, char open, char close)
{
	unsigned n = 1;

	while (n && r->rest.n) {
		char c = peek(r, 0);

		if (c == '`' || (c == '$' && peek(r, 1) == '(')) {
			(void)read_expansion(r);
			continue;
		}
		n += c == open;
		n -= c == close;
		skip(r, c == '\\' ? 2 : 1);
	}
}

/* Likewise, within bounds. */
static void nest(struct reader *r, char open, char close)
{
	if (++r->depth > DEPTH_MAX)
		skip(r, r->rest.n);
	skip_nested(r, open, close);
	r->depth--;
}

/* Read "$…" or "`…`"; false: it is a plain character. */
static bool read_expansion(struct reader *r)
{
	char c = peek(r, 0), next = peek(r, 1);

	if (c == '`') {
		skip(r, 1);
		read_commands(r, '`');
	} else if (c != '$') {
		return false;
	} else if (next == '(' && peek(r, 2) == '(') {
		skip(r, 2);
		nest(r, '(', ')');
	} else if (next == '(') {
		skip(r, 2);
		read_commands(r, ')');
	} else if (next == '{') {
		skip(r, 2);
		nest(r, '{', '}');
	} else {
		skip(r, 1);
	}
	return true;
}

/* ---- words ---- */

static void read_single(struct reader *r, struct word *w)
{
	size_t n = str_find(r->rest, '\'');

	w->is_literal &= n < r->rest.n;
	buf_add(&w->text, r->rest.p, n);
	skip(r, n + 1);
}

static void read_double(struct reader *r, struct word *w)
{
	while (r->rest.n && peek(r, 0) != '"') {
		if (peek(r, 0) == '\\')
			skip(r, 1);
		else if (read_expansion(r)) {
			w->is_literal = false;
			continue;
		}
		buf_addc(&w->text, peek(r, 0));
		skip(r, 1);
	}
	w->is_literal &= r->rest.n > 0;
	skip(r, 1);
}

/* closer  of the commands around it: '`' ends a word, too */
static void read_word(struct reader *r, char closer, struct word *w)
{
	while (r->rest.n && !is_separator(peek(r, 0))) {
		char c = peek(r, 0);

		if (c == '`' && closer == '`')
			return;
		if (read_expansion(r)) {
			w->is_literal = false;
			continue;
		}
		skip(r, 1);
		if (c == '\\' && peek(r, 0) == '\n') {
			skip(r, 1);
			continue;
		}
		w->is_quoted |= c == '\'' || c == '"' || c == '\\';
		if (c == '\'') {
			read_single(r, w);
		} else if (c == '"') {
			read_double(r, w);
		} else if (c == '\\') {
			buf_addc(&w->text, peek(r, 0));
			skip(r, 1);
		} else {
			w->is_literal &= !memchr("*?~", c, 3);
			buf_addc(&w->text, c);
		}
	}
}

/* ---- here-documents ---- */

static void note_heredoc(struct reader *r, bool is_stripped)
{
	struct word w = {.text = BUF_INIT(BUF_UNBOUNDED), .is_literal = true};

	skip(r, behind_blanks(r, 0));
	read_word(r, '\0', &w);
	if (r->n_heredocs < HEREDOCS_MAX)
		r->heredoc[r->n_heredocs++] = (struct heredoc){
			.end = str_of(
				arena_strdup(r->arena, buf_cstr(&w.text))),
			.is_plain = w.is_quoted,
			.is_stripped = is_stripped,
		};
	buf_release(&w.text);
}

/* Read the expansions of one line of a here-document. */
static void read_line(struct reader *r, struct str line)
{
	struct reader in = *r;

	in.rest = line;
	in.n_heredocs = 0;
	while (in.rest.n)
		if (!read_expansion(&in))
			skip(&in, peek(&in, 0) == '\\' ? 2 : 1);
	r->words = in.words;
	r->functions = in.functions;
}

static void read_heredoc(struct reader *r, const struct heredoc *h)
{
	while (r->rest.n) {
		struct str line = str_cut(&r->rest, '\n');
		struct str end = line;

		while (h->is_stripped && end.n && end.p[0] == '\t')
			end = str_skip(end, 1);
		if (str_eq(end, h->end))
			return;
		if (!h->is_plain)
			read_line(r, line);
	}
}

static void end_line(struct reader *r)
{
	skip(r, 1);
	for (size_t i = 0; i < r->n_heredocs; i++)
		read_heredoc(r, &r->heredoc[i]);
	r->n_heredocs = 0;
}

/* ---- commands ---- */

/* NAME=… or NAME+=…, as it is written. */
static bool is_assignment(const char *word)
{
	size_t n = 0;

	while (text_is_alnum(word[n]) || word[n] == '_')
		n++;
	if (!n || text_is_digit(word[0]))
		return false;
	return word[n] == '=' || (word[n] == '+' && word[n + 1] == '=') ||
	       word[n] == '[';
}

/* Is "()" next: the word before it is the name of a function? */
static bool is_function(struct reader *r)
{
	size_t at = behind_blanks(r, 0);

	if (peek(r, at) != '(')
		return false;
	at = behind_blanks(r, at + 1);
	if (peek(r, at) != ')')
		return false;
	skip(r, at + 1);
	return true;
}

static void add(struct reader *r, const char *word)
{
	if (*word && !list_has(&builtins, word) && r->words.n < SHELL_WORDS_MAX)
		list_add_new(&r->words, r->arena, arena_strdup(r->arena, word));
}

static enum expects take_command(struct reader *r, const char *word)
{
	if (is_function(r)) {
		list_add(&r->functions, r->arena, arena_strdup(r->arena, word));
		return A_COMMAND;
	}
	add(r, word);
	if (list_has(&wrappers, word))
		return A_WRAPPED;
	return strcmp(word, "find") == 0 ? A_SEARCH : AN_ARGUMENT;
}

static enum expects take_keyword(const char *word)
{
	if (list_has(&openers, word))
		return A_COMMAND;
	if (strcmp(word, "case") == 0)
		return A_SUBJECT;
	if (strcmp(word, "function") == 0)
		return A_NAME;
	if (strcmp(word, "[[") == 0)
		return A_CONDITION;
	return list_has(&closers, word) ? AN_ARGUMENT : A_WRAPPED;
}

/* A literal word where a command is expected. */
static enum expects take_first(struct reader *r, const struct word *w,
			       enum expects expects)
{
	const char *word = buf_cstr(&w->text);
	enum expects then;

	if (is_assignment(word))
		return expects;
	if (expects == A_WRAPPED && strchr("-{0123456789", word[0]))
		return expects;
	if (expects == A_COMMAND && !w->is_quoted) {
		then = take_keyword(word);
		if (then != A_WRAPPED)
			return then;
	}
	return take_command(r, word);
}

static enum expects take(struct reader *r, const struct word *w,
			 enum expects expects)
{
	const char *word = buf_cstr(&w->text);

	switch (expects) {
	case A_COMMAND:
	case A_WRAPPED:
		if (w->is_literal || is_assignment(word))
			return take_first(r, w, expects);
		return AN_ARGUMENT;
	case A_SEARCH:
		return strncmp(word, "-exec", 5) == 0 ||
				       strncmp(word, "-ok", 3) == 0
			       ? A_SEARCHED
			       : A_SEARCH;
	case A_SEARCHED:
		if (w->is_literal)
			add(r, word);
		return A_SEARCH;
	case A_NAME:
		list_add(&r->functions, r->arena, arena_strdup(r->arena, word));
		(void)is_function(r);
		return A_COMMAND;
	case A_SUBJECT:
		return strcmp(word, "in") == 0 ? A_PATTERN : A_SUBJECT;
	case A_PATTERN:
		return strcmp(word, "esac") == 0 ? AN_ARGUMENT : A_PATTERN;
	case A_CONDITION:
		return strcmp(word, "]]") == 0 ? AN_ARGUMENT : A_CONDITION;
	case AN_ARGUMENT:
		break;
	}
	return expects;
}

/* ---- operators ---- */

/* Read "<", ">" and what belongs to it. */
static void read_redirection(struct reader *r, char closer)
{
	struct word w = {.text = BUF_INIT(BUF_UNBOUNDED)};
	bool is_heredoc =
		peek(r, 0) == '<' && peek(r, 1) == '<' && peek(r, 2) != '<';
	bool is_stripped = is_heredoc && peek(r, 2) == '-';

	if (is_heredoc) {
		skip(r, is_stripped ? 3 : 2);
		note_heredoc(r, is_stripped);
		return;
	}
	while (r->rest.n && memchr("<>&|", peek(r, 0), 4))
		skip(r, 1);
	if (peek(r, 0) == '(') {
		skip(r, 1);
		read_commands(r, ')');
		return;
	}
	skip(r, behind_blanks(r, 0));
	read_word(r, closer, &w);
	buf_release(&w.text);
}

/* Words in brackets: of an array, or of a subshell. */
static enum expects read_bracket(struct reader *r, enum expects expects)
{
	skip(r, 1);
	if (expects == A_PATTERN || expects == A_CONDITION)
		return expects;
	if (expects == A_COMMAND && peek(r, 0) != '(')
		read_commands(r, ')');
	else
		skip_nested(r, '(', ')');
	return AN_ARGUMENT;
}

/* Role of a word behind an operator; `in_case` counts open `case`s. */
static enum expects read_operator(struct reader *r, enum expects expects,
				  unsigned in_case)
{
	char c = peek(r, 0);

	if (c == '\n')
		end_line(r);
	else
		skip(r, 1);
	if (expects == A_CONDITION || expects == A_SUBJECT)
		return expects;
	if (expects == A_PATTERN)
		return c == ')' ? A_COMMAND : A_PATTERN;
	if (c == ';' && in_case && (peek(r, 0) == ';' || peek(r, 0) == '&')) {
		while (peek(r, 0) == ';' || peek(r, 0) == '&')
			skip(r, 1);
		return A_PATTERN;
	}
	return A_COMMAND;
}

static enum expects read_one(struct reader *r, char closer,
			     enum expects expects, unsigned *in_case)
{
	struct word w = {.text = BUF_INIT(BUF_UNBOUNDED), .is_literal = true};
	enum expects then;
	bool is_number;

	read_word(r, closer, &w);
	is_number =
		w.text.n && strspn(buf_cstr(&w.text), "0123456789") == w.text.n;
	/* 2>file; a=(words) */
	if (is_number && (peek(r, 0) == '<' || peek(r, 0) == '>'))
		then = expects;
	else
		then = take(r, &w, expects);
	if (peek(r, 0) == '(' && is_assignment(buf_cstr(&w.text))) {
		skip(r, 1);
		skip_nested(r, '(', ')');
	}
	*in_case += then == A_SUBJECT && expects != A_SUBJECT;
	if (!w.is_quoted && strcmp(buf_cstr(&w.text), "esac") == 0 &&
	    *in_case && (expects == A_COMMAND || expects == A_PATTERN))
		--*in_case;
	buf_release(&w.text);
	return then;
}

/* closer  ')' or '`', which is read, too; '\0': to the end */
static void read_commands(struct reader *r, char closer)
{
	enum expects expects = A_COMMAND;
	unsigned in_case = 0;

	if (++r->depth > DEPTH_MAX)
		skip(r, r->rest.n);
	while (r->rest.n) {
		char c = peek(r, 0);

		if (c == closer && (c == '`' || expects != A_PATTERN)) {
			skip(r, 1);
			break;
		}
		if (c == ' ' || c == '\t' || (c == '\\' && peek(r, 1) == '\n'))
			skip(r, c == '\\' ? 2 : 1);
		else if (c == '#')
			skip(r, str_find(r->rest, '\n'));
		else if (c == '<' || c == '>' ||
			 (c == '&' && peek(r, 1) == '>'))
			read_redirection(r, closer);
		else if (c == '(')
			expects = read_bracket(r, expects);
		else if (is_separator(c))
			expects = read_operator(r, expects, in_case);
		else
			expects = read_one(r, closer, expects, &in_case);
	}
	r->depth--;
}

struct strlist shell_words(struct str text, struct arena *arena)
{
	struct reader r = {.rest = text, .arena = arena};
	struct strlist all = {NULL, 0};

	read_commands(&r, '\0');
	for (size_t i = 0; i < r.words.n; i++)
		if (!list_has(&r.functions, r.words.item[i]))
			list_add(&all, arena, r.words.item[i]);
	return all;
}
