#include "gate/policy/programs.h"

#include <assert.h>

#include "core/base/log.h"
#include "core/base/sha256.h"

/* Bytes of an argument that a message shows. */
#define SHOWN_BYTES 80

/* ---- the programs of programs.def ---- */

/*
 * Programs that run what their arguments say: the rows of programs.def, whose
 * head says what the members are, and how each of them reads its arguments.
 */

enum syntax { SYNTAX_CLUSTERS, SYNTAX_SHELL, SYNTAX_WORDS };
enum order { ORDER_STOPS, ORDER_MIXED };
enum operand {
	OPERAND_DATA,
	OPERAND_FILE,
	OPERAND_SCRIPT,
	OPERAND_PROGRAM,
	OPERAND_PACKAGE,
	OPERAND_SUBCOMMAND
};
enum takes { TAKES_NOTHING, TAKES_VALUE, TAKES_MAYBE, TAKES_ATTACHED };
enum runs { RUNS_NO, RUNS_CODE, RUNS_PROGRAM };

enum {
	NO_LAUNCHER,
#define LAUNCHER(id, parent, names, syntax, order, operand) id,
#include "gate/policy/programs.def"
};

/* The first row is the parent of those that are programs. */
static const struct launcher {
	const struct launcher *parent; /* NULL: of the first row */
	const char *names;
	enum syntax syntax;
	enum order order;
	enum operand operand;
} LAUNCHERS[] = {
	{.names = ""},
#define LAUNCHER(id, parent, names, syntax, order, operand)         \
	{&LAUNCHERS[parent], names, SYNTAX_##syntax, ORDER_##order, \
	 OPERAND_##operand},
#include "gate/policy/programs.def"
};

static const struct option {
	const struct launcher *launcher;
	const char *names;
	enum takes takes;
	enum runs runs;
	const char *values;
} OPTIONS[] = {
#define OPTION(launcher, names, takes, runs, values) \
	{&LAUNCHERS[launcher], names, TAKES_##takes, RUNS_##runs, values},
#include "gate/policy/programs.def"
};

static const struct package_tool TOOLS[] = {
#define PACKAGE_TOOL(names, subcommand, order, flags, from, spelling, place) \
	{names,		  subcommand,	      flags,	      from,          \
	 PACKAGE_##order, PACKAGE_##spelling, PACKAGE_##place},
#include "gate/policy/programs.def"
};

static const char TOOL_NAMES[] =
#define PACKAGE_TOOL(names, ...) " " names
#include "gate/policy/programs.def"
	;

static struct str base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return str_of(slash ? slash + 1 : path);
}

/* python3.11 and lua5.4 are python and lua. */
static struct str without_version(struct str name)
{
	while (name.n > 1 && strchr("0123456789.-", name.p[name.n - 1]))
		name.n--;
	return name;
}

/* A star in the pattern stands for anything. */
static bool is_like(struct str pattern, struct str s)
{
	while (pattern.n && pattern.p[0] != '*') {
		if (!s.n || pattern.p[0] != s.p[0])
			return false;
		pattern = str_skip(pattern, 1);
		s = str_skip(s, 1);
	}
	if (!pattern.n)
		return !s.n;
	pattern = str_skip(pattern, 1);
	for (; s.n; s = str_skip(s, 1))
		if (is_like(pattern, s))
			return true;
	return is_like(pattern, s);
}

/* Is it like one of the patterns? They stand in one text, apart by spaces. */
static bool is_like_one(const char *patterns, struct str s)
{
	struct str rest = str_of(patterns);

	while (s.n && rest.n)
		if (is_like(str_cut(&rest, ' '), s))
			return true;
	return false;
}

bool programs_is_one(const char *names, const char *path)
{
	struct str base, plain;

	if (!path)
		return false;
	base = base_name(path);
	plain = without_version(base);
	return str_has_word(names, base) ||
	       (plain.n < base.n && str_has_word(names, plain));
}

/* By any of the names that the program goes by; the file's own comes first. */
static const struct launcher *find_launcher(const char *const name[3])
{
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 1; i < ARRAY_LEN(LAUNCHERS); i++)
			if (LAUNCHERS[i].parent == LAUNCHERS &&
			    programs_is_one(LAUNCHERS[i].names, name[k]))
				return &LAUNCHERS[i];
	return NULL;
}

/* Is this file, by its name, the bare one; of an interpreter, any version? */
static bool is_version_of(const char *path, const char *name)
{
	struct str base = base_name(path);
	const char *const names[3] = {name, NULL, NULL};

	return str_is(base, name) ||
	       (find_launcher(names) &&
		str_eq(without_version(base), without_version(str_of(name))));
}

/* Likewise, but NULL where only the script of a program is known. */
static const struct launcher *find_judged(const char *const name[3])
{
	const struct launcher *l = find_launcher(name);

	return l && l->operand != OPERAND_SCRIPT ? l : NULL;
}

static const struct launcher *find_subcommand(const struct launcher *l,
					      const char *word)
{
	for (size_t i = 1; i < ARRAY_LEN(LAUNCHERS); i++)
		if (LAUNCHERS[i].parent == l &&
		    str_has_word(LAUNCHERS[i].names, str_of(word)))
			return &LAUNCHERS[i];
	return NULL;
}

/*
 * The row of an option, or of an operand that is one, by its whole name;
 * NULL when there is none. Where options stand anywhere, and for operands,
 * those of the parent count, too.
 */
static const struct option *find_option(const struct launcher *l,
					struct str name)
{
	bool is_operand = name.n && name.p[0] != '-' && name.p[0] != '+';

	for (; l; l = l->parent) {
		for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++)
			if (OPTIONS[i].launcher == l &&
			    is_like_one(OPTIONS[i].names, name))
				return &OPTIONS[i];
		if (!is_operand && l->parent->order != ORDER_MIXED)
			return NULL;
	}
	return NULL;
}

static const struct package_tool *find_tool(const char *const name[3])
{
	/* npx leads to npx-cli.js: as it was called comes first */
	for (size_t k = 3; k-- > 0;)
		for (size_t i = 0; i < ARRAY_LEN(TOOLS); i++)
			if (programs_is_one(TOOLS[i].names, name[k]))
				return &TOOLS[i];
	return NULL;
}

const struct package_tool *programs_tool(const char *asked, const char *path)
{
	const char *const name[3] = {path, asked, NULL};

	return find_tool(name);
}

/* ---- reading of arguments ---- */

/*
 * How a program reads its arguments. Each number is an index of argv; 0: there
 * is none.
 */
struct reading {
	const struct launcher *launcher; /* of the subcommand, if there is one;
					    NULL: nothing is known */
	size_t operand;	  /* the first; none behind an option without a row */
	size_t end;	  /* arguments from 1 to end - 1 are looked at */
	size_t unknown;	  /* the first option without a row */
	size_t code;	  /* the first that runs code, or whose value does */
	bool has_program; /* an option is the program: no operand is a script */
	bool has_code;	  /* an option beside the program runs code */
	bool has_value;	  /* and its value is: operands are the program's own */
	bool is_sure;	  /* arguments behind `end` are data */
	const bool *data; /* of each argument; NULL: none comes from data */
	size_t decides;	  /* the first of these that says what runs */
};

static void weigh(struct reading *x, size_t at)
{
	if (x->data && x->data[at] && !x->decides)
		x->decides = at;
}

static bool is_shell(const struct launcher *l)
{
	return l && l->syntax == SYNTAX_SHELL;
}

static bool is_long(const char *arg)
{
	return arg[0] == '-' && arg[1] == '-' && arg[2];
}

/* last   where the value stands, or `at`
   value  NULL: there is none */
static void note(struct reading *x, const struct option *o, size_t at,
		 size_t last, const char *value)
{
	if (o->runs == RUNS_NO ||
	    (value && is_like_one(o->values, str_of(value))))
		return;
	if (!x->code)
		x->code = at;
	x->has_program |= o->runs == RUNS_PROGRAM;
	x->has_code |= o->runs == RUNS_CODE;
	x->has_value |= o->runs == RUNS_PROGRAM && value;
	weigh(x, at);
	weigh(x, last);
}

/* Read one whole argument; *at moves to the last one that was read. */
static void read_word(struct reading *x, const struct strlist *argv, size_t *at)
{
	const char *arg = argv->item[*at], *value = NULL;
	size_t i = *at, n = is_long(arg) ? strcspn(arg, "=") : strlen(arg);
	const struct option *o = find_option(x->launcher, (struct str){arg, n});

	if (!o ||
	    (arg[n] ? o->takes == TAKES_NOTHING : o->takes == TAKES_ATTACHED)) {
		x->unknown = i;
		return;
	}
	if (arg[n])
		value = arg + n + 1;
	else if (o->takes == TAKES_VALUE && i + 1 < argv->n)
		value = argv->item[++*at];
	note(x, o, i, *at, value);
}

/* Read the letters of one argument; *at moves to the last one that was read. */
static void read_cluster(struct reading *x, const struct strlist *argv,
			 size_t *at)
{
	bool shell = is_shell(x->launcher);
	size_t i = *at;

	for (const char *p = argv->item[i] + 1; *p; p++) {
		const char name[] = {'-', *p}, *value = NULL;
		const struct option *o = find_option(
			x->launcher, (struct str){name, sizeof(name)});

		if (!o) {
			x->unknown = i;
			return;
		}
		if (o->takes != TAKES_NOTHING && !shell && p[1])
			value = p + 1;
		else if (o->takes == TAKES_VALUE && *at + 1 < argv->n)
			value = argv->item[++*at];
		note(x, o, i, *at, value);
		if (o->takes != TAKES_NOTHING && !shell)
			return;
	}
}

static void read_option(struct reading *x, const struct strlist *argv,
			size_t *at)
{
	const char *arg = argv->item[*at];
	char name[64];

	/* bash takes -norc for --norc; as letters it reads otherwise */
	if (is_shell(x->launcher) && arg[0] == '-' && strlen(arg) > 2) {
		snprintf(name, sizeof(name), "-%s", arg);
		if (find_option(x->launcher, str_of(name))) {
			x->unknown = *at;
			return;
		}
	}
	if (is_long(arg) || x->launcher->syntax == SYNTAX_WORDS)
		read_word(x, argv, at);
	else
		read_cluster(x, argv, at);
}

static void read_operand(struct reading *x, const struct strlist *argv,
			 size_t at)
{
	const char *word = argv->item[at];
	const struct launcher *l = x->launcher;
	const struct option *o =
		word[0] == '-' ? NULL : find_option(l, str_of(word));

	if (o)
		note(x, o, at, at, NULL);
	if (x->operand || (o && o->runs == RUNS_NO))
		return;
	x->operand = at;
	if (l->operand != OPERAND_DATA && !x->has_value)
		weigh(x, at);
	if (l->operand == OPERAND_SUBCOMMAND) {
		/* one has its own options; of one without a row none is known
		 */
		x->launcher = find_subcommand(l, word);
		if (!x->launcher) {
			x->launcher = l;
			x->unknown = at;
		}
	} else if (l->order == ORDER_STOPS) {
		x->end = at + 1;
		x->is_sure = true;
	}
}

static void read_all(struct reading *x, const struct strlist *argv)
{
	for (size_t i = 1; x->launcher && i < x->end && !x->unknown; i++) {
		const char *arg = argv->item[i];

		if (strcmp(arg, "--") == 0 ||
		    (strcmp(arg, "-") == 0 && is_shell(x->launcher))) {
			/* operands only stand behind it */
			x->end = i;
			if (!x->operand && i + 1 < argv->n) {
				read_operand(x, argv, i + 1);
				x->end = i + 2;
			}
			x->is_sure = true;
			break;
		}
		if ((arg[0] == '-' ||
		     (arg[0] == '+' && is_shell(x->launcher))) &&
		    arg[1])
			read_option(x, argv, &i);
		else
			read_operand(x, argv, i);
	}
	if (x->unknown) {
		x->end = argv->n;
		x->is_sure = false;
	}
}

/* l  NULL: every argument may be an option */
static struct reading read_arguments(const struct launcher *l,
				     const struct strlist *argv)
{
	struct reading x = {.launcher = l, .end = argv->n};

	read_all(&x, argv);
	return x;
}

/* ---- a rule and a call ---- */

struct judging {
	const struct gate_program_rule *rule;
	const struct programs_call *c;
	struct reading x; /* of the arguments, for `deny` */
	struct err *err;
};

static const char too_many[] = "it has more arguments than can be looked at; "
			       "shorten them, or start it without a script "
			       "between";
static const char is_input[] = "is standard input, which `deny` does not let "
			       "it run; name a file";
static const char no_file[] = "without a script it runs its standard input, "
			      "which `deny` refuses; name a file";

/* An argument as it may stand in a message: short, nothing that moves. */
static const char *shown(const char *arg, struct buf *out)
{
	struct str s = str_first(str_of(arg), SHOWN_BYTES);

	buf_clear(out);
	log_visible(out, s, false);
	if (s.n < strlen(arg))
		buf_adds(out, "…");
	return buf_cstr(out);
}

/* Refuse the argument; at 0, or behind the last: the call as it is. */
static int refuse(struct judging *j, size_t at, const char *why)
{
	const struct strlist *argv = &j->c->argv;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!at || at >= argv->n)
		return err_set(j->err, ERR_POLICY, "the rule for %s: %s",
			       j->rule->name, why);
	return err_set(j->err, ERR_POLICY,
		       "the rule for %s: argument %zu, \"%s\", %s",
		       j->rule->name, at, shown(argv->item[at], &text), why);
}

/* ---- exact arguments and beginnings ---- */

static int judge_args(struct judging *j)
{
	bool exact = j->rule->has_args, is_more;
	const struct strlist *want = exact ? &j->rule->args : &j->rule->prefix;
	const struct strlist *argv = &j->c->argv;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf one = BUF_INIT(BUF_UNBOUNDED);
	size_t i = 0;

	while (i < want->n && i + 1 < argv->n &&
	       strcmp(want->item[i], argv->item[i + 1]) == 0)
		i++;
	is_more = i + 1 < argv->n;
	if (i == want->n && (!exact || (!is_more && !j->c->is_cut)))
		return 0;
	buf_addf(&text, "%s; allowed %s %s",
		 is_more	? "is not allowed there"
		 : j->c->is_cut ? "there are more arguments than allowed"
				: "arguments are missing",
		 exact ? "is exactly" : "are arguments that begin with",
		 want->n ? "" : "nothing");
	for (size_t k = 0; k < want->n; k++)
		buf_addf(&text, "%s\"%s\"", k ? " " : "",
			 shown(want->item[k], &one));
	return refuse(j, i + 1, buf_cstr(&text));
}

/* ---- `deny` ---- */

/*
 * `name` is `word`, or what is left of it when letters at its end are cut.
 * node takes --a_b for --a-b.
 */
static bool is_cut_of(struct str name, const char *word)
{
	for (size_t i = 0; i < name.n; i++) {
		char a = name.p[i] == '_' ? '-' : name.p[i];
		char b = word[i] == '_' ? '-' : word[i];

		if (!b || a != b)
			return false;
	}
	return name.n > 0;
}

static bool matches_long(const struct launcher *l, const char *word,
			 const char *arg)
{
	struct str rest = str_of(arg + 1), name;

	if (arg[0] != '-')
		return false;
	if (rest.n && rest.p[0] == '-')
		rest = str_of(arg + 2);
	name = str_cut(&rest, '=');
	if (!is_cut_of(name, word + 2))
		return false;
	/* an option of its own is no shorter form of another */
	return name.n == strlen(word + 2) ||
	       (is_long(arg) && !(l && find_option(l, str_of(arg))));
}

/* "ext::*": the argument, or the value of an option, begins so. */
static bool matches_begin(const char *word, const char *arg)
{
	const char *value = arg[0] == '-' ? strchr(arg, '=') : NULL;
	size_t n = strlen(word) - 1;

	return strncmp(arg, word, n) == 0 ||
	       (value && strncmp(value + 1, word, n) == 0);
}

static bool matches(const struct launcher *l, const char *word, const char *arg)
{
	size_t n = strlen(word);

	if (n > 1 && word[n - 1] == '*')
		return matches_begin(word, arg);
	/* npm takes `exe` for exec */
	if (word[0] != '-' || n < 2)
		return strcmp(word, arg) == 0 ||
		       (l && l->order == ORDER_MIXED && strlen(arg) > 2 &&
			is_cut_of(str_of(arg), word));
	if (is_long(word))
		return matches_long(l, word, arg);
	/* letters of options; shells take +c for -c */
	if (n == 2 && word[1] != '-')
		return ((arg[0] == '-' && arg[1] != '-') ||
			(arg[0] == '+' && is_shell(l))) &&
		       strchr(arg + 1, word[1]);
	/* "-exec" also as Go's --exec and -exec=x */
	if (arg[0] == '-' && arg[1] == '-')
		arg++;
	return strncmp(arg, word, n) == 0 && (!arg[n] || arg[n] == '=');
}

bool programs_is_stdin(const char *arg)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(arg);

	/* without empty parts and ".", which lead nowhere else */
	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (part.n && !str_is(part, "."))
			buf_addf(&plain, "/%.*s", STR_ARG(part));
	}
	return strcmp(arg, "-") == 0 || str_ends(buf_str(&plain), "/stdin") ||
	       strstr(buf_cstr(&plain), "/fd/0");
}

/* Are there only options after which no program is read? */
static bool only_asks(const struct strlist *argv)
{
	return argv->n == 2 && (strcmp(argv->item[1], "--version") == 0 ||
				strcmp(argv->item[1], "--help") == 0);
}

static int judge_stdin(struct judging *j)
{
	const struct strlist *argv = &j->c->argv;
	const struct launcher *l = j->x.launcher;
	bool has_file = j->x.operand;

	if (!l || j->x.unknown) {
		/* any name of it, or no argument that could be another file */
		has_file = false;
		for (size_t i = 1; i < argv->n; i++) {
			if (programs_is_stdin(argv->item[i]))
				return refuse(j, i, is_input);
			has_file |= argv->item[i][0] != '-';
		}
	} else if (l->operand != OPERAND_FILE &&
		   l->operand != OPERAND_PACKAGE) {
		return 0;
	} else if (has_file) {
		const char *file = argv->item[j->x.operand];

		/* node reads it for an empty name, too */
		if (programs_is_stdin(file) || !*file)
			return refuse(j, j->x.operand, is_input);
	}
	return has_file || only_asks(argv) ? 0 : refuse(j, 0, no_file);
}

static int refuse_word(struct judging *j, size_t at, const char *word)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&text, "is refused by \"%s\" in `deny`", word);
	return refuse(j, at, buf_cstr(&text));
}

static int judge_word(struct judging *j, const char *word)
{
	const struct launcher *l = j->x.launcher;
	bool is_file = l && l->operand == OPERAND_FILE;

	if (strcmp(word, "-") == 0)
		return judge_stdin(j);
	for (size_t i = 1; i < j->x.end; i++)
		/* a script may have any name */
		if (matches(l, word, j->c->argv.item[i]) &&
		    !(is_file && i == j->x.operand && word[0] == '-'))
			return refuse_word(j, i, word);
	return 0;
}

/* ---- "@eval" ---- */

static int judge_operand(struct judging *j)
{
	const struct strlist *argv = &j->c->argv;
	size_t at = j->x.operand;

	switch (j->x.launcher->operand) {
	case OPERAND_FILE:
	case OPERAND_PACKAGE:
		return judge_stdin(j);
	case OPERAND_PROGRAM:
		/* NAME=VALUE of env(1) stands before the program */
		while (at && at < argv->n && strchr(argv->item[at], '='))
			at++;
		if (at && at < argv->n)
			return refuse(j, at,
				      "is a program that it would start, which "
				      "\"@eval\" in `deny` refuses");
		break;
	case OPERAND_SUBCOMMAND:
	case OPERAND_SCRIPT:
	case OPERAND_DATA:
		break;
	}
	return 0;
}

static int judge_eval(struct judging *j)
{
	const struct reading *x = &j->x;

	if (x->code && (!x->unknown || x->code < x->unknown))
		return refuse_word(j, x->code, "@eval");
	if (x->unknown)
		return refuse(j, x->unknown,
			      "is not known to be harmless, so \"@eval\" in "
			      "`deny` refuses it; leave it out, or list what "
			      "is to be denied in place of \"@eval\"");
	return judge_operand(j);
}

static int judge_deny(struct judging *j, const struct launcher *l)
{
	j->x = read_arguments(l, &j->c->argv);
	for (size_t i = 0; i < j->rule->deny.n; i++) {
		const char *word = j->rule->deny.item[i];

		if ((strcmp(word, "@eval") == 0 ? judge_eval(j)
						: judge_word(j, word)) < 0)
			return -1;
	}
	return j->c->is_cut && !j->x.is_sure ? refuse(j, 0, too_many) : 0;
}

/* ---- `package` ---- */

static bool is_package(const struct package_tool *t, const char *package,
		       const char *arg)
{
	const char *at = strrchr(package, '@');
	size_t n = (size_t)(at - package);

	return strcmp(arg, package) == 0 ||
	       (t->spelling == PACKAGE_PYPI && strncmp(arg, package, n) == 0 &&
		strncmp(arg + n, "==", 2) == 0 &&
		strcmp(arg + n + 2, at + 1) == 0);
}

static int refuse_package(struct judging *j, const struct package_tool *t,
			  size_t at)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str sub = str_of(t->subcommand);

	sub = str_cut(&sub, ' ');
	buf_addf(&text, "%s; `package` allows %s%s%.*s [%s] %s ARGS…",
		 at < j->c->argv.n ? "is not the pinned package"
				   : "the package is missing",
		 j->rule->name, sub.n ? " " : "", STR_ARG(sub), t->flags,
		 j->rule->package);
	return refuse(j, at, buf_cstr(&text));
}

/* Everything but the known flags, the subcommand and the package is refused. */
static int judge_package(struct judging *j, const struct package_tool *t)
{
	const struct strlist *argv = &j->c->argv;
	bool has_subcommand = !*t->subcommand, has_package = false;
	size_t i = 1;

	for (; i < argv->n; i++) {
		const char *arg = argv->item[i];
		bool ends = strcmp(arg, "--") == 0;

		if (ends && has_subcommand && has_package)
			return 0;
		if ((ends && has_subcommand) ||
		    str_has_word(t->flags, str_of(arg)))
			continue;
		if (!has_subcommand &&
		    str_has_word(t->subcommand, str_of(arg))) {
			has_subcommand = true;
			continue;
		}
		/* npm reads its own options behind the package, too */
		if (has_package && arg[0] != '-')
			continue;
		if (!has_subcommand || has_package ||
		    !is_package(t, j->rule->package, arg))
			return refuse_package(j, t, i);
		if (t->order == PACKAGE_STOPS)
			return 0;
		has_package = true;
	}
	if (!has_package)
		return refuse_package(j, t, i);
	return j->c->is_cut ? refuse(j, 0, too_many) : 0;
}

/* ---- one rule ---- */

bool programs_means(const struct programs *set, size_t i, const char *asked,
		    const char *path)
{
	const char *name = set->rule[i].name;
	const char *file = set->path ? set->path[i] : NULL;

	/* by file; by the name or path as written; or, for a bare name, by a
	   versioned name (python3.12) */
	if (file && path && strcmp(file, path) == 0)
		return true;
	if ((asked && strcmp(name, asked) == 0) ||
	    (path && strcmp(name, path) == 0))
		return true;
	return !strchr(name, '/') && ((asked && is_version_of(asked, name)) ||
				      (path && is_version_of(path, name)));
}

static int judge_rule(const struct gate_program_rule *rule,
		      const struct programs_call *c, struct err *err)
{
	const char *const name[3] = {c->path, c->asked, rule->name};
	struct judging j = {.rule = rule, .c = c, .err = err};
	const struct package_tool *t = find_tool(name);

	if ((rule->has_args || rule->prefix.n) && judge_args(&j) < 0)
		return -1;
	if (rule->deny.n && judge_deny(&j, find_judged(name)) < 0)
		return -1;
	if (!rule->package)
		return 0;
	assert(t); /* programs_check() wants a tool's name for it */
	return judge_package(&j, t);
}

static int judge_all(const struct programs *set, const struct programs_call *c,
		     struct err *err)
{
	const struct programs_file *file = &c->file;

	for (size_t i = 0; i < set->n; i++) {
		bool is_file = set->file && file->ino &&
			       set->file[i].ino == file->ino &&
			       set->file[i].dev == file->dev;

		if ((is_file || programs_means(set, i, c->asked, c->path)) &&
		    judge_rule(&set->rule[i], c, err) < 0)
			return -1;
	}
	return 0;
}

static int judge_start(const struct programs *set,
		       const struct programs_start *s,
		       const struct programs_call *c, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct programs_call all = {
		.asked = s->asked, .path = s->path, .is_cut = c->is_cut};

	all.argv.item =
		ARENA_ARRAY(&arena, const char *, s->prefix.n + c->argv.n + 1);
	for (size_t i = 0; i < set->n; i++)
		if (s->is_unclear && programs_means(set, i, s->asked, s->path))
			return err_set(err, ERR_POLICY,
				       "the rule for %s: cannot tell which "
				       "program env starts from the first line "
				       "of %s; write it without quotes and "
				       "variables",
				       set->rule[i].name, s->file);
	for (size_t i = 0; i < s->prefix.n; i++)
		all.argv.item[all.argv.n++] = s->prefix.item[i];
	for (size_t i = 1; i < c->argv.n; i++)
		all.argv.item[all.argv.n++] = c->argv.item[i];
	if (judge_all(set, &all, err) < 0)
		return err_wrap(err, "%s", s->file);
	return 0;
}

int programs_judge(const struct programs *set, const struct programs_call *c,
		   struct err *err)
{
	if (judge_all(set, c, err) < 0)
		return -1;
	for (size_t i = 0; i < set->n_starts; i++)
		if (c->path && strcmp(set->start[i].file, c->path) == 0 &&
		    judge_start(set, &set->start[i], c, err) < 0)
			return -1;
	return 0;
}

/* ---- rules by themselves ---- */

/* A digit first, then what versions are made of; NPM: three numbers. */
static bool is_version(const char *s, enum package_spelling spelling)
{
	size_t dots = 0, n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789.+-_!");

	for (const char *p = s; *p && strchr("0123456789.", *p); p++)
		dots += *p == '.';
	return *s >= '0' && *s <= '9' && !s[n] &&
	       (spelling != PACKAGE_NPM || dots == 2);
}

static int check_package(const struct gate_program_rule *rule, struct err *err)
{
	const char *const name[3] = {rule->name, NULL, NULL};
	const struct package_tool *t = find_tool(name);
	const char *at = rule->package ? strrchr(rule->package, '@') : NULL;

	if (!rule->package)
		return 0;
	if (!t)
		return err_set(err, ERR_POLICY,
			       "programs.%s: `package` is for%s", rule->name,
			       TOOL_NAMES);
	if (!at || at == rule->package || rule->package[0] == '-' ||
	    !is_version(at + 1, t->spelling))
		return err_set(
			err, ERR_POLICY,
			"programs.%s: package \"%s\" is not a pin; write "
			"name@1.2.3, a whole version",
			rule->name, rule->package);
	return 0;
}

static int check_deny(const struct gate_program_rule *rule, struct err *err)
{
	const char *const name[3] = {rule->name, NULL, NULL};

	for (size_t i = 0; i < rule->deny.n; i++) {
		const char *word = rule->deny.item[i];

		if (!*word || (word[0] == '@' && strcmp(word, "@eval") != 0))
			return err_set(
				err, ERR_POLICY,
				"programs.%s: deny \"%s\" is neither an "
				"option nor a set of options; the only set is "
				"\"@eval\"",
				rule->name, word);
		if (word[0] == '@' && !find_judged(name))
			return err_set(
				err, ERR_POLICY,
				"programs.%s: \"@eval\" is not defined for "
				"this program; list its options in `deny`",
				rule->name);
	}
	return 0;
}

static int check_sha256(const struct gate_program_rule *rule, struct err *err)
{
	const char *s = rule->sha256;

	if (!s || (strlen(s) == SHA256_HEX_BYTES - 1 &&
		   strspn(s, "0123456789abcdef") == SHA256_HEX_BYTES - 1))
		return 0;
	return err_set(err, ERR_POLICY,
		       "programs.%s: sha256 takes 64 digits of 0-9 and a-f, as "
		       "`sha256sum` prints them",
		       rule->name);
}

int programs_check(const struct gate_program_rule *rule, struct err *err)
{
	if (!rule->name[0] || (rule->name[0] != '/' && strchr(rule->name, '/')))
		return err_set(err, ERR_POLICY,
			       "programs: \"%s\" is neither a bare name nor an "
			       "absolute path",
			       rule->name);
	if (rule->has_args && rule->prefix.n)
		return err_set(err, ERR_POLICY,
			       "programs.%s: `args` says all arguments, "
			       "`prefix` the first; keep one",
			       rule->name);
	if (!rule->has_args && !rule->prefix.n && !rule->deny.n &&
	    !rule->package && !rule->sha256)
		return err_set(err, ERR_POLICY,
			       "programs.%s rules nothing; it takes args, "
			       "prefix, deny, package or sha256",
			       rule->name);
	if (check_deny(rule, err) < 0 || check_package(rule, err) < 0)
		return -1;
	return check_sha256(rule, err);
}

/* ---- scripts ---- */

size_t programs_script(const char *asked, const char *path,
		       const struct strlist *argv)
{
	const char *const name[3] = {path, asked, NULL};
	const struct launcher *l = find_launcher(name);
	struct reading x = read_arguments(l, argv);
	bool is_file = l && (l->operand == OPERAND_FILE ||
			     l->operand == OPERAND_SCRIPT);

	return is_file && !x.has_program && !x.unknown ? x.operand : 0;
}

/* Letters before -m are flags; what follows it, or the next argument, is it. */
static const char *module_at(const struct strlist *argv, size_t at)
{
	const char *arg = argv->item[at], *m = strpbrk(arg, "mc");

	if (arg[0] != '-' || arg[1] == '-' || !m || *m == 'c')
		return NULL;
	if (m[1])
		return m + 1;
	return at + 1 < argv->n ? argv->item[at + 1] : NULL;
}

const char *programs_module(const char *asked, const char *path,
			    const struct strlist *argv)
{
	const char *const name[3] = {path, asked, NULL};
	const struct launcher *l = find_launcher(name);
	struct reading x = read_arguments(l, argv);

	if (l != &LAUNCHERS[PYTHON] || !x.has_program ||
	    (x.unknown && x.unknown < x.code))
		return NULL;
	return module_at(argv, x.code);
}

size_t programs_commands(const char *asked, const char *path,
			 const struct strlist *argv)
{
	const char *const name[3] = {path, asked, NULL};
	const struct launcher *l = find_launcher(name);
	struct reading x = read_arguments(l, argv);

	/* -s reads the commands from its input */
	for (size_t i = 1;
	     is_shell(l) && x.has_program && !x.unknown && i < x.operand; i++)
		if (argv->item[i][0] == '-' && argv->item[i][1] != '-' &&
		    strchr(argv->item[i], 'c'))
			return x.operand;
	return 0;
}

/* ---- arguments that come from data ---- */

/* env(1): NAME=VALUE, and the program behind */
static void weigh_started(struct reading *x, const struct strlist *argv)
{
	size_t at = x->operand;

	for (; at && at < argv->n && strchr(argv->item[at], '='); at++)
		weigh(x, at);
	if (at && at < argv->n)
		weigh(x, at);
}

size_t programs_decided(const char *asked, const char *path,
			const struct strlist *argv, const bool *data)
{
	const char *const name[3] = {path, asked, NULL};
	const struct launcher *l = find_launcher(name);
	struct reading x = {.launcher = l, .end = argv->n, .data = data};

	read_all(&x, argv);
	if (!l)
		return 0;
	if (l->operand == OPERAND_PROGRAM)
		weigh_started(&x, argv);
	/* perl -M and the like take code: no more is claimed of these */
	for (size_t i = 1; l->operand == OPERAND_SCRIPT && i < argv->n &&
			   (!x.operand || i < x.operand);
	     i++)
		if (argv->item[i][0] == '-')
			weigh(&x, i);
	/* the next may be a value; a script may stand anywhere behind it */
	for (size_t i = x.unknown; i && i < argv->n; i++)
		if (i <= x.unknown + 1 || x.launcher->operand != OPERAND_DATA)
			weigh(&x, i);
	return x.decides;
}

bool programs_is_launcher(const char *asked)
{
	const char *const name[3] = {asked, NULL, NULL};

	return find_launcher(name);
}

bool programs_reads_input(const char *asked, const char *path,
			  const struct strlist *argv)
{
	const char *const name[3] = {path, asked, NULL};
	const struct launcher *l = find_launcher(name);
	struct reading x = read_arguments(l, argv);

	if (!l || only_asks(argv) ||
	    (l->operand != OPERAND_FILE && l->operand != OPERAND_SCRIPT))
		return false;
	if (x.unknown || (x.code && !x.has_program) ||
	    (x.has_code && !is_shell(l)) ||
	    (is_shell(l) && x.has_program &&
	     !programs_commands(asked, path, argv)))
		return true;
	return !x.has_value &&
	       (!x.operand || programs_is_stdin(argv->item[x.operand]) ||
		!*argv->item[x.operand]);
}
