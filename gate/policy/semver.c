#include "gate/policy/semver.h"

#include "core/base/text.h"

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
	return text_is_alnum(c) || c == '-';
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
