#include "gate/policy/package.h"

#include <stdint.h>
#include <string.h>

#include "core/base/jdoc.h"
#include "core/base/mem.h"
#include "core/base/text.h"

/* ==== versions and ranges ==== */

/* node-semver: MAX_LENGTH, MAX_SAFE_INTEGER. */
#define TEXT_BYTES 256
#define PART_MAX 9007199254740991U

/*
 * A version, whole or not: 1.2, 1.x and 1.2.3-rc.1. Loose ones may have zeros
 * in front of numbers, and no dash before rc.1.
 */
struct version {
	uint64_t part[3];
	size_t n;	   /* parts before the first that is missing or x */
	struct str pre;	   /* "rc.1" */
	struct str prefix; /* of v and = before it */
	bool has_gap;	   /* x.1, 1.x.2 */
	bool is_loose;
};

static bool is_word(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool begins(struct str s, const char *any)
{
	return s.n && s.p[0] && strchr(any, s.p[0]);
}

/* Take the longest beginning for which `is` holds. */
static struct str take(struct str *s, bool (*is)(char c))
{
	size_t n = 0;
	struct str taken;

	while (n < s->n && is(s->p[n]))
		n++;
	taken = (struct str){s->p, n};
	*s = str_skip(*s, n);
	return taken;
}

/* ---- versions ---- */

static bool is_number(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!text_is_digit(word.p[i]))
			return false;
	return word.n > 0;
}

/* Read words with dots between them. */
static bool take_words(struct str *s, bool is_loose, struct str *ret)
{
	const char *from = s->p;

	for (;;) {
		struct str word = take(s, is_word);

		if (!word.n || (!is_loose && word.n > 1 && word.p[0] == '0' &&
				is_number(word)))
			return false;
		if (!begins(*s, "."))
			break;
		*s = str_skip(*s, 1);
	}
	*ret = (struct str){from, (size_t)(s->p - from)};
	return true;
}

/* Read one part; an x counts as missing. */
static bool take_part(struct str *s, struct version *v, size_t i)
{
	struct str digits;

	if (begins(*s, "xX*")) {
		*s = str_skip(*s, 1);
		return true;
	}
	digits = take(s, text_is_digit);
	if (!digits.n || (!v->is_loose && digits.n > 1 && digits.p[0] == '0') ||
	    !str_uint64(digits, &v->part[i]))
		return false;
	v->has_gap |= v->n != i;
	v->n += v->n == i;
	return true;
}

static bool is_prefix(char c)
{
	return c == 'v' || c == '=';
}

static bool is_prefix_or_space(char c)
{
	return is_prefix(c) || is_space(c);
}

/* Read a version that may be cut short or have an x. */
static bool take_version(struct str *s, bool is_loose, struct version *ret)
{
	struct version v = {.is_loose = is_loose, .prefix = take(s, is_prefix)};
	size_t i = 0;

	if (!take_part(s, &v, i++))
		return false;
	while (i < 3 && begins(*s, ".")) {
		*s = str_skip(*s, 1);
		if (!take_part(s, &v, i++))
			return false;
	}
	if (i == 3 &&
	    (begins(*s, "-") || (is_loose && s->n && is_word(*s->p)))) {
		if (begins(*s, "-"))
			*s = str_skip(*s, 1);
		if (!take_words(s, is_loose, &v.pre))
			return false;
	}
	*ret = v;
	return true;
}

static bool is_in_bounds(const struct version *v)
{
	return v->part[0] <= PART_MAX && v->part[1] <= PART_MAX &&
	       v->part[2] <= PART_MAX;
}

/* Read a whole version, and nothing else. */
static bool read_version(struct str text, bool is_loose, struct version *ret)
{
	struct str s = str_trim(text), build;

	if (is_loose)
		(void)take(&s, is_prefix_or_space);
	if (text.n > TEXT_BYTES || !take_version(&s, is_loose, ret) ||
	    ret->n < 3 || !is_in_bounds(ret) ||
	    (!is_loose && ret->prefix.n && !str_is(ret->prefix, "v")))
		return false;
	if (begins(s, "+")) {
		s = str_skip(s, 1);
		if (!take_words(&s, true, &build))
			return false;
	}
	return !s.n;
}

/* ---- order ---- */

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int order_texts(struct str a, struct str b)
{
	int r = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return r ? r : order(a.n, b.n);
}

/* Numbers come before words, by value, however long they are. */
static int order_words(struct str a, struct str b)
{
	bool number = is_number(a);

	if (number != is_number(b))
		return number ? -1 : 1;
	if (!number)
		return order_texts(a, b);
	while (a.n > 1 && a.p[0] == '0')
		a = str_skip(a, 1);
	while (b.n > 1 && b.p[0] == '0')
		b = str_skip(b, 1);
	return a.n != b.n ? order(a.n, b.n) : order_texts(a, b);
}

static int order_pre(struct str a, struct str b)
{
	/* a version is later than what was released before it */
	if (!a.n || !b.n)
		return order(!a.n, !b.n);
	while (a.n && b.n) {
		struct str one = str_cut(&a, '.'), other = str_cut(&b, '.');
		int r = order_words(one, other);

		if (r)
			return r;
	}
	return order(a.n, b.n);
}

static int order_versions(const struct version *a, const struct version *b)
{
	for (size_t i = 0; i < 3; i++)
		if (a->part[i] != b->part[i])
			return order(a->part[i], b->part[i]);
	return order_pre(a->pre, b->pre);
}

/* ---- ranges ---- */

enum op { ANY, NONE, EQ, GT, GE, LT, LE, TILDE, CARET };

/* One range that is asked about a version. */
struct asking {
	const struct version *v;
	bool is_loose;
	bool fits;     /* all comparators so far */
	bool pre_fits; /* one of them has a prerelease of the same version */
	bool is_bound; /* there is one; else any version fits, or none */
	bool is_bad;   /* no version can be that large */
};

static void compare(struct asking *q, enum op op, const struct version *bound)
{
	bool is_same = true;
	int r;

	q->is_bad |= !is_in_bounds(bound);
	q->is_bound |= op != GE || bound->pre.n || bound->part[0] ||
		       bound->part[1] || bound->part[2];
	if (!q->v)
		return;
	for (size_t i = 0; i < 3; i++)
		is_same &= q->v->part[i] == bound->part[i];
	q->pre_fits |= is_same && bound->pre.n;
	r = order_versions(q->v, bound);
	q->fits &= op == EQ   ? r == 0
		   : op == GT ? r > 0
		   : op == GE ? r >= 0
		   : op == LT ? r < 0
			      : r <= 0;
}

/* Bounds from `v` on; what is missing is 0. */
static struct version floor_of(const struct version *v)
{
	struct version f = *v;

	for (size_t i = v->n; i < 3; i++)
		f.part[i] = 0;
	if (v->n < 3)
		f.pre = (struct str){NULL, 0};
	return f;
}

/* The first version with the next higher part `i`; or before all of these. */
static struct version after(const struct version *v, size_t i, bool is_before)
{
	struct version next = *v;

	next.part[i]++;
	for (size_t k = i + 1; k < 3; k++)
		next.part[k] = 0;
	next.pre = is_before ? str_of("0") : (struct str){NULL, 0};
	return next;
}

static void compare_between(struct asking *q, const struct version *v, size_t i)
{
	struct version low = floor_of(v), high = after(v, i, true);

	compare(q, GE, &low);
	compare(q, LT, &high);
}

/* The leftmost part that a caret keeps as it is. */
static size_t caret_part(const struct version *v)
{
	size_t i = 0;

	while (i + 1 < v->n && v->part[i] == 0)
		i++;
	return i;
}

static void compare_op(struct asking *q, enum op op, const struct version *v)
{
	struct version bound = floor_of(v);

	if (v->n == 0)
		q->fits &= op != GT && op != LT;
	else if (op == TILDE)
		compare_between(q, v, v->n == 1 ? 0 : 1);
	else if (op == CARET)
		compare_between(q, v, caret_part(v));
	else if (v->n == 3)
		compare(q, op, &bound);
	else if (op == EQ)
		compare_between(q, v, v->n - 1);
	else if (op == GT || op == LE) {
		bound = after(v, v->n - 1, op == LE);
		compare(q, op == GT ? GE : LT, &bound);
	} else {
		if (op == LT)
			bound.pre = str_of("0");
		compare(q, op, &bound);
	}
}

static enum op take_op(struct str *s)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {
		{"~>", TILDE}, {"~", TILDE}, {"^", CARET}, {">=", GE},
		{"<=", LE},    {">", GT},    {"<", LT},	   {"=", EQ},
	};

	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		struct str rest = *s;

		if (!str_starts(*s, ops[i].text))
			continue;
		rest = *s = str_skip(*s, strlen(ops[i].text));
		(void)take(&rest, is_space);
		if ((ops[i].op != GT && ops[i].op != LT) || !begins(rest, "="))
			return ops[i].op;
		/* "< =1" is "<=1" */
		*s = str_skip(rest, 1);
		return ops[i].op == GT ? GE : LE;
	}
	return EQ;
}

/* npm reads a whole version more strictly than one that is cut short. */
static bool is_plain(const struct asking *q, const struct version *v)
{
	return v->n < 3 || q->is_loose || !v->prefix.n ||
	       str_is(v->prefix, "v");
}

static bool is_well_formed(const struct asking *q, enum op op,
			   const struct version *v)
{
	return op == TILDE || op == CARET || (!v->has_gap && is_plain(q, v));
}

/* Read "1.2 - 1.4"; false where it is something else. */
static bool compare_hyphen(struct asking *q, struct str s)
{
	struct version from, to;

	s = str_trim(s);
	if (!take_version(&s, q->is_loose, &from) || !take(&s, is_space).n ||
	    !begins(s, "-"))
		return false;
	s = str_skip(s, 1);
	if (!take(&s, is_space).n || !take_version(&s, q->is_loose, &to) || s.n)
		return false;
	q->is_bad |= !is_plain(q, &from) || (!to.pre.n && !is_plain(q, &to));
	compare_op(q, GE, &from);
	compare_op(q, LE, &to);
	return true;
}

/* Read comparators that must all hold; false: there is none, or no sense. */
static bool compare_all(struct asking *q, struct str s)
{
	bool has_one = false;

	s = str_trim(s);
	if (!s.n || compare_hyphen(q, s))
		return true;
	while (s.n) {
		enum op op = take_op(&s);
		struct version v;
		bool ok;

		(void)take(&s, is_space);
		ok = take_version(&s, q->is_loose, &v) &&
		     (!s.n || is_space(s.p[0])) && is_well_formed(q, op, &v);
		if (ok)
			compare_op(q, op, &v);
		else if (!q->is_loose)
			return false;
		has_one |= ok;
		while (s.n && !is_space(s.p[0]))
			s = str_skip(s, 1);
		(void)take(&s, is_space);
	}
	return has_one;
}

/* Copy a text without build metadata, which means nothing in a range. */
static struct str without_build(struct str text, char copy[TEXT_BYTES])
{
	struct str s = text, words;
	size_t n = 0;

	while (s.n) {
		struct str rest = str_skip(s, 1);

		if (s.p[0] == '+' && take_words(&rest, true, &words)) {
			s = rest;
			continue;
		}
		copy[n++] = s.p[0];
		s = str_skip(s, 1);
	}
	return (struct str){copy, n};
}

/* Is the text a range? Sets *ret_fits to whether the version lies in it. */
static bool ask(struct str range, bool is_loose, const struct version *v,
		bool *ret_fits)
{
	char copy[TEXT_BYTES];
	bool is_valid = !is_loose, fits = false, has_any = false;
	const char *bar;

	if (range.n > TEXT_BYTES)
		return false;
	range = without_build(range, copy);
	do {
		struct asking q = {.v = v, .is_loose = is_loose, .fits = true};
		struct str part = range;
		bool ok;

		bar = memmem(range.p, range.n, "||", 2);
		if (bar) {
			part.n = (size_t)(bar - range.p);
			range = str_skip(range, part.n + 2);
		}
		ok = compare_all(&q, part);
		if (q.is_bad)
			return false;
		is_valid = is_loose ? is_valid || ok : is_valid && ok;
		fits |= ok && q.fits && (!v || !v->pre.n || q.pre_fits);
		has_any |= ok && q.fits && !q.is_bound;
	} while (bar);
	/* beside "*" no other part counts, and "*" means no prerelease */
	*ret_fits = has_any ? v && !v->pre.n : fits;
	return is_valid;
}

bool semver_satisfies(struct str version, struct str range)
{
	struct version v;
	bool fits;

	return read_version(version, false, &v) &&
	       ask(range, false, &v, &fits) && fits;
}

bool semver_is(struct str version, struct str asked)
{
	struct version a, b;

	return read_version(version, true, &a) &&
	       read_version(asked, true, &b) && order_versions(&a, &b) == 0;
}

/* encodeURIComponent() leaves these as they are. */
static bool is_tag_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_word(s.p[i]) && !strchr("_.!~*'()", s.p[i]))
			return false;
	return s.n > 0;
}

enum semver_kind semver_kind(struct str asked)
{
	struct version v;
	bool fits;

	asked = str_trim(asked);
	if (read_version(asked, true, &v))
		return SEMVER_VERSION;
	if (ask(asked, true, NULL, &fits))
		return SEMVER_RANGE;
	return is_tag_name(asked) ? SEMVER_TAG : SEMVER_NONE;
}

/* ==== packages ==== */

/* npm: validate-npm-package-name. */
#define NAME_BYTES 214
/* Packages of one command, programs of one package. */
#define SPECS_MAX 16
#define BINS_MAX 1000

/* ---- names and versions ---- */

/* Letters, digits and . _ - ~, beginning with neither of . _ - */
static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool is_alnum = (c >= '0' && c <= '9') ||
				(c >= 'a' && c <= 'z') ||
				(c >= 'A' && c <= 'Z');

		if (!is_alnum && (!i || !strchr("._-~", c)))
			return false;
	}
	return s.n && s.n <= NAME_BYTES && !str_is(s, "node_modules");
}

/* "name" or "@scope/name" */
static bool is_package_name(struct str s)
{
	struct str scope;

	if (!str_starts(s, "@"))
		return is_name(s);
	s = str_skip(s, 1);
	scope = str_cut(&s, '/');
	return is_name(scope) && is_name(s);
}

/* An archive, which npm would read as a file. */
static bool is_archive(struct str s)
{
	return str_ends(s, ".tgz") || str_ends(s, ".tar.gz") ||
	       str_ends(s, ".tar");
}

/* A version of PyPI, whole: digits first, then what versions are made of. */
static bool is_pypi_version(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= '0' && c <= '9') &&
		    (!i || !strchr("abcdefghijklmnopqrstuvwxyz.+-_!", c)))
			return false;
	}
	return s.n > 0;
}

static bool is_pypi_spec(struct str version)
{
	return !version.n || str_is(version, "latest") ||
	       is_pypi_version(version);
}

/* Split "name@version", for PyPI "name==version" as well. */
static bool read_spec(const char *word, enum package_spelling spelling,
		      struct arena *arena, struct package_spec *ret)
{
	struct str name = str_of(word);
	const char *at = *word ? strchr(word + 1, '@') : NULL;
	const char *equals =
		spelling == PACKAGE_PYPI ? strstr(word, "==") : NULL;
	const char *end = at ? at : equals;

	*ret = (struct package_spec){.written = word, .version = {NULL, 0}};
	if (end) {
		name.n = (size_t)(end - word);
		ret->version = str_of(end + (at ? 1 : 2));
	}
	if (!is_package_name(name) || is_archive(name))
		return false;
	ret->name = arena_strndup(arena, name.p, name.n);
	if (spelling == PACKAGE_PYPI)
		return name.p[0] != '@' && is_pypi_spec(ret->version);
	return !ret->version.n || (semver_kind(ret->version) != SEMVER_NONE &&
				   !is_archive(ret->version));
}

bool package_is_tag(const struct package_asked *asked,
		    const struct package_spec *spec)
{
	if (!spec->version.n)
		return false;
	return asked->tool->spelling == PACKAGE_PYPI
		       ? !is_pypi_version(spec->version)
		       : semver_kind(spec->version) == SEMVER_TAG;
}

bool package_version_fits(const struct package_asked *asked,
			  const struct package_spec *spec, const char *version)
{
	struct str v = str_trim(spec->version), is = str_of(version);

	if (!v.n || str_is(v, "*") || package_is_tag(asked, spec))
		return true;
	if (asked->tool->spelling == PACKAGE_PYPI)
		return str_eq(v, is);
	return semver_kind(v) == SEMVER_VERSION ? semver_is(is, v)
						: semver_satisfies(is, v);
}

/* ---- the words ---- */

struct reading {
	const struct strlist *argv;
	struct arena *arena;
	struct package_asked asked;
	struct package_spec *spec;
	bool has_subcommand, has_ended; /* by -- */
};

static bool add_spec(struct reading *r, const char *word)
{
	struct package_asked *a = &r->asked;

	return a->n < SPECS_MAX &&
	       read_spec(word, a->tool->spelling, r->arena, &r->spec[a->n++]);
}

/* Read an option; false: it is not known here. *at moves behind its value. */
static bool read_option(struct reading *r, size_t *at)
{
	const struct package_tool *t = r->asked.tool;
	struct str arg = str_of(r->argv->item[*at]), rest = arg;
	struct str name = str_cut(&rest, '=');

	r->asked.wants_bun |= str_is(arg, "--bun");
	if (str_has_word(t->flags, arg))
		return true;
	if (!str_has_word(t->from, name))
		return false;
	r->asked.is_named = true;
	if (name.n < arg.n)
		return add_spec(r, rest.p);
	return ++*at < r->argv->n && add_spec(r, r->argv->item[*at]);
}

/* Read one word in front of the program, or the program. */
static bool read_word(struct reading *r, size_t *at)
{
	const char *arg = r->argv->item[*at];

	if (strcmp(arg, "--") == 0 && r->has_subcommand) {
		r->has_ended = true;
		return true;
	}
	if (arg[0] == '-' && !r->has_ended)
		return read_option(r, at);
	if (!r->has_subcommand) {
		r->has_subcommand =
			str_has_word(r->asked.tool->subcommand, str_of(arg));
		return r->has_subcommand;
	}
	r->asked.program = arg;
	return true;
}

/* npm reads its own options behind the program, too, unless -- ends them. */
static bool read_args(struct reading *r, size_t at)
{
	bool is_mixed = r->asked.tool->order == PACKAGE_MIXED;

	for (; at < r->argv->n; at++) {
		const char *arg = r->argv->item[at];

		if (!is_mixed || r->has_ended || arg[0] != '-')
			list_add(&r->asked.args, r->arena, arg);
		else if (strcmp(arg, "--") == 0)
			r->has_ended = true;
		else if (!read_option(r, &at))
			return false;
	}
	return true;
}

static const char *launcher_name(const struct reading *r)
{
	struct str word = str_of(r->asked.tool->subcommand);
	const char *called = r->argv->item[0], *slash = strrchr(called, '/');

	word = str_cut(&word, ' ');
	return arena_printf(r->arena, "%s%s%.*s", slash ? slash + 1 : called,
			    word.n ? " " : "", STR_ARG(word));
}

bool package_read(const char *asked, const char *path,
		  const struct strlist *argv, struct arena *arena,
		  struct package_asked *ret)
{
	const struct package_tool *t = programs_tool(asked, path);
	struct reading r = {.argv = argv, .arena = arena, .asked.tool = t};
	size_t i = 1;

	if (!t || t->place == PACKAGE_NOWHERE || !argv->n)
		return false;
	r.has_subcommand = !*t->subcommand;
	r.spec = ARENA_ARRAY(arena, struct package_spec, SPECS_MAX);
	r.asked.spec = r.spec;
	for (; i < argv->n && !r.asked.program; i++)
		if (!read_word(&r, &i))
			return false;
	if (!r.asked.program || !read_args(&r, i) ||
	    (!r.asked.is_named && !add_spec(&r, r.asked.program)))
		return false;
	r.asked.launcher = launcher_name(&r);
	*ret = r.asked;
	return true;
}

/* ---- package.json ---- */

bool package_path_is_inside(const char *path)
{
	struct str rest = str_of(path);

	if (!rest.n || path[rest.n - 1] == '/')
		return false;
	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (!part.n || str_is(part, "."))
			return false;
		if (str_is(part, ".."))
			return false;
	}
	return true;
}

/* "./dist//index.js" as "dist/index.js"; other paths as they are. */
static const char *tidy(const char *path, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(path);

	if (path[0] == '/')
		return path;
	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (part.n && !str_is(part, "."))
			buf_addf(&out, "%s%.*s", out.n ? "/" : "",
				 STR_ARG(part));
	}
	return arena_strdup(arena, buf_cstr(&out));
}

static const char *without_scope(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* A text with a NUL in it is none. */
static const char *text_of(const struct jdoc *j, struct arena *arena)
{
	const char *text = jdoc_text(j, arena);

	return text && *text && jdoc_is(j, text) ? text : NULL;
}

/* Name and version are shown to people: neither may say anything else. */
static const char *name_of(const char *text)
{
	return text && is_package_name(str_of(text)) ? text : NULL;
}

static const char *version_of(const char *text)
{
	return text && semver_kind(str_of(text)) == SEMVER_VERSION ? text
								   : NULL;
}

static void add_bin(struct package *p, struct package_bin *bins,
		    const char *name, const char *path, struct arena *arena)
{
	if (!name || !*name || !path || p->n_bins == BINS_MAX)
		return;
	bins[p->n_bins++] =
		(struct package_bin){without_scope(name), tidy(path, arena)};
}

int package_json(struct str text, struct arena *arena, struct package *ret,
		 struct err *err)
{
	struct package p = {.name = NULL};
	struct package_bin *bins;
	struct jdoc *doc, *bin;

	if (jdoc_parse(text, arena, &doc, err) < 0)
		return -1;
	if (doc->type != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "it is not an object");
	p.name = name_of(text_of(jdoc_get(doc, "name"), arena));
	p.version = version_of(text_of(jdoc_get(doc, "version"), arena));
	bin = jdoc_get(doc, "bin");
	bins = ARENA_ARRAY(arena, struct package_bin, (bin ? bin->n : 0) + 1);
	p.bin = bins;
	if (bin && bin->type == SCAN_STRING)
		add_bin(&p, bins, p.name, text_of(bin, arena), arena);
	else if (bin && bin->type == SCAN_OBJECT)
		for (struct jdoc *b = bin->first; b; b = b->next)
			add_bin(&p, bins,
				arena_strndup(arena, b->key.p, b->key.n),
				text_of(b, arena), arena);
	*ret = p;
	return 0;
}

const struct package_bin *package_bin(const struct package *p, const char *name)
{
	bool is_one = p->n_bins > 0;

	for (size_t i = 1; i < p->n_bins && !name; i++)
		is_one &= strcmp(p->bin[i].path, p->bin[0].path) == 0;
	if (!name && is_one)
		return p->bin;
	if (!name && p->name)
		name = without_scope(p->name);
	/* of members with one name the last counts */
	for (size_t i = p->n_bins; i-- > 0 && name;)
		if (strcmp(p->bin[i].name, name) == 0)
			return &p->bin[i];
	return NULL;
}

/* ---- node_modules/.bin ---- */

/* Split "a/node_modules/@s/b/x/y" behind "a/node_modules/@s/b". */
bool package_split(struct str link, struct arena *arena,
		   const char **ret_folder, const char **ret_path)
{
	static const char modules[] = "/node_modules/";
	const char *path = arena_strndup(arena, link.p, link.n);
	const char *name = path + 3, *in, *slash;

	if (strlen(path) != link.n || strncmp(path, "../", 3) != 0)
		return false;
	path = name;
	while ((in = strstr(name, modules)))
		name = in + sizeof(modules) - 1;
	slash = strchr(name, '/');
	if (slash && name[0] == '@')
		slash = strchr(slash + 1, '/');
	if (!slash || !package_path_is_inside(path))
		return false;
	*ret_folder = arena_strndup(arena, path, (size_t)(slash - path));
	*ret_path = slash + 1;
	return true;
}

struct str package_shim(struct str script)
{
	static const char from[] = "\"$basedir/", to[] = "\" \"$@\"";
	const char *end = memmem(script.p, script.n, to, sizeof(to) - 1);
	const char *begin = NULL;

	if (!end)
		return (struct str){NULL, 0};
	for (const char *at = script.p; at < end; at++) {
		if ((size_t)(end - at) < sizeof(from) - 1 || *at == '\n')
			continue;
		if (memcmp(at, from, sizeof(from) - 1) == 0)
			begin = at + sizeof(from) - 1;
	}
	if (!begin || memchr(begin, '\n', (size_t)(end - begin)))
		return (struct str){NULL, 0};
	return (struct str){begin, (size_t)(end - begin)};
}
