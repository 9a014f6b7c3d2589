#include "core/config/ref.h"

#include <string.h>

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/base/text.h"

/* Keys that a message lists, and bytes of each. */
#define SHOWN_KEYS 12
#define SHOWN_BYTES 40

static const struct {
	const char *word;
	enum ref_root root;
} roots[] = {
#define X(name, word) {word, REF_##name},
	REF_ROOTS(X)
#undef X
};

/* ---- parts of a path ---- */

struct part {
	bool is_index;
	struct str key; /* a bare name, or a JSON string with its quotes */
	int64_t index;
};

static bool is_name(char c)
{
	return text_is_alpha(c) || text_is_digit(c) || c == '_' || c == '-' ||
	       (unsigned char)c >= 0x80;
}

static struct str take_name(struct str *rest)
{
	struct str name = {rest->p, 0};

	while (name.n < rest->n && is_name(rest->p[name.n]))
		name.n++;
	*rest = str_skip(*rest, name.n);
	return name;
}

/* Mistake at the beginning of the rest; NULL: a part was taken. */
static const char *take_bracket(struct str *rest, struct part *ret)
{
	struct str inner = str_skip(*rest, 1), key;
	size_t end;

	*ret = (struct part){.is_index = !inner.n || inner.p[0] != '"'};
	if (!ret->is_index) {
		if (scan_value(inner, NULL, &key, ERR_IGNORED) < 0)
			return "a key in quotes is a JSON string: "
			       "[\"any key\"]";
		ret->key = key;
		end = (size_t)(key.p + key.n - rest->p);
	} else {
		struct str number = inner;

		number.n = str_find(inner, ']');
		if (!str_int64(number, &ret->index))
			return "[ ] holds a number or a key in quotes";
		end = 1 + number.n;
	}
	if (end >= rest->n || rest->p[end] != ']')
		return "']' is missing";
	*rest = str_skip(*rest, end + 1);
	return NULL;
}

static bool has_part(struct str rest)
{
	return rest.n && (rest.p[0] == '.' || rest.p[0] == '[');
}

/* Of a rest that begins with '.' or '['; errors as of take_bracket(). */
static const char *take_part(struct str *rest, struct part *ret)
{
	if (rest->p[0] == '[')
		return take_bracket(rest, ret);
	*rest = str_skip(*rest, 1);
	*ret = (struct part){.key = take_name(rest)};
	return ret->key.n ? NULL : "a name is missing behind '.'";
}

/* The decoded text of a key. */
static struct str decoded(struct str key, struct arena *arena)
{
	return key.n && key.p[0] == '"' ? scan_decoded(key, SIZE_MAX, arena)
					: key;
}

/* ---- reading ---- */

struct reader {
	struct str all; /* the string, for columns */
	struct arena *arena;
	struct err *err;
};

static int fail(const struct reader *r, struct str at, const char *why)
{
	size_t col = (size_t)(at.p - r->all.p) + 1;

	return err_at(r->err, ERR_SYNTAX, 0, (uint32_t)col,
		      "reference \"%.*s\", column %zu: %s",
		      STR_ARG(str_first(r->all, 2 * SHOWN_BYTES)), col, why);
}

/* All parts; the rest begins behind them. */
static int take_path(const struct reader *r, struct str *rest)
{
	while (has_part(*rest)) {
		struct str at = *rest;
		struct part part;
		const char *why = take_part(rest, &part);

		if (why)
			return fail(r, at, why);
	}
	return 0;
}

/* A known root at the beginning, which ends as a word of a reference does. */
static bool take_root(struct str *rest, enum ref_root *ret)
{
	struct str behind = *rest, word = take_name(&behind);

	for (size_t i = 0; i < REF_SELF; i++) {
		if (!str_is(word, roots[i].word))
			continue;
		*ret = roots[i].root;
		*rest = behind;
		return true;
	}
	return false;
}

/* From behind "$" or "{{"; the rest begins behind the reference. */
static int take_ref(const struct reader *r, struct str *rest, struct ref *ret)
{
	struct str begin = *rest, path;

	*ret = (struct ref){.root = REF_SELF};
	(void)!take_root(rest, &ret->root);
	if (ret->root == REF_STEPS || ret->root == REF_PREVIOUS) {
		struct part part;
		const char *why = has_part(*rest)
					  ? take_part(rest, &part)
					  : "the name of a step is missing";

		if (!why && part.is_index)
			why = "a step is named, not counted";
		if (why)
			return fail(r, *rest, why);
		ret->step = decoded(part.key, r->arena);
	}
	path = *rest;
	if (take_path(r, rest) < 0)
		return -1;
	ret->head = (struct str){begin.p, (size_t)(path.p - begin.p)};
	ret->path = (struct str){path.p, (size_t)(rest->p - path.p)};
	return 0;
}

/* Most strings have one part, and room for no other. */
static void add_part(struct ref_string *s, struct arena *arena,
		     struct ref_part part)
{
	const struct ref_part *first = s->part;

	if (part.text.p && !part.text.n)
		return;
	if (!s->n)
		s->part = ARENA_NEW(arena, struct ref_part);
	else if (s->n == 1)
		s->part = arena_grow(arena, NULL, 0, sizeof(*s->part));
	else
		s->part = arena_grow(arena, s->part, s->n, sizeof(*s->part));
	if (s->n == 1)
		s->part[0] = *first;
	s->part[s->n++] = part;
	s->has_refs |= !part.text.p;
}

/* "$ROOT…" as the whole string; false: the string is no such reference. */
static bool is_whole(struct str s)
{
	enum ref_root root;

	if (!str_starts(s, "$"))
		return false;
	s = str_skip(s, 1);
	return take_root(&s, &root) && (!s.n || has_part(s));
}

/* Bytes of "{{ " before "ROOT.", "ROOT[" or "ROOT }}"; 0: no reference. */
static size_t opening(struct str s)
{
	struct str at = s, behind;
	enum ref_root root;

	if (!str_starts(s, "{{"))
		return 0;
	at = str_skip(at, 2);
	while (str_starts(at, " "))
		at = str_skip(at, 1);
	behind = at;
	if (!take_root(&behind, &root))
		return 0;
	return has_part(behind) || str_starts(str_trim(behind), "}}")
		       ? (size_t)(at.p - s.p)
		       : 0;
}

static void add_literal(struct ref_string *s, struct arena *arena,
			const char *from, const char *to)
{
	add_part(s, arena,
		 (struct ref_part){.text = {from, (size_t)(to - from)}});
}

/* From behind "{{ " to behind "}}". */
static int take_braces(const struct reader *r, struct str *rest,
		       struct ref_string *ret)
{
	struct ref_part part = {.text = {NULL, 0}};

	if (take_ref(r, rest, &part.ref) < 0)
		return -1;
	while (str_starts(*rest, " "))
		*rest = str_skip(*rest, 1);
	if (!str_starts(*rest, "}}"))
		return fail(r, *rest, "\"}}\" is missing");
	*rest = str_skip(*rest, 2);
	add_part(ret, r->arena, part);
	return 0;
}

static int take_text(const struct reader *r, struct str s,
		     struct ref_string *ret)
{
	const char *literal = s.p;

	while (s.n) {
		bool is_escape = str_starts(s, "{{{{");
		size_t n = is_escape ? 0 : opening(s);

		if (!is_escape && !n) {
			s = str_skip(s, 1);
			continue;
		}
		/* of "{{{{" the first two stay */
		add_literal(ret, r->arena, literal, s.p + (is_escape ? 2 : 0));
		s = str_skip(s, is_escape ? 4 : n);
		if (!is_escape && take_braces(r, &s, ret) < 0)
			return -1;
		literal = s.p;
	}
	add_literal(ret, r->arena, literal, s.p);
	return 0;
}

int ref_read(struct str s, struct arena *arena, struct ref_string *ret,
	     struct err *err)
{
	const struct reader r = {s, arena, err};
	struct str rest = str_skip(s, s.n ? 1 : 0);
	struct ref_part part = {.text = {NULL, 0}};

	*ret = (struct ref_string){.is_whole = is_whole(s)};
	if (str_starts(s, "$$"))
		return take_text(&r, rest, ret);
	if (!ret->is_whole)
		return take_text(&r, s, ret);
	if (take_ref(&r, &rest, &part.ref) < 0)
		return -1;
	if (rest.n)
		return fail(&r, rest,
			    "more follows; in a text write {{ }} around the "
			    "reference, and \"$$\" for a literal \"$\"");
	add_part(ret, arena, part);
	return 0;
}

int ref_read_self(struct str s, struct ref *ret, struct err *err)
{
	const struct reader r = {s, NULL, err};
	struct str rest = s;

	if (!str_starts(s, "$"))
		return fail(&r, s, "the path begins with \"$\", the result");
	rest = str_skip(s, 1);
	*ret = (struct ref){.root = REF_SELF, .head = {s.p, 1}};
	ret->path.p = rest.p;
	if (take_path(&r, &rest) < 0)
		return -1;
	ret->path.n = (size_t)(rest.p - ret->path.p);
	return rest.n ? fail(&r, rest, "'.' or '[' is expected") : 0;
}

/* ---- following ---- */

/* The first keys of an object, or of what kind the value is. */
static void say_there(struct str value, struct buf *out)
{
	static const char *const kinds[] = {
		[SCAN_NULL] = "null",	  [SCAN_FALSE] = "false",
		[SCAN_TRUE] = "true",	  [SCAN_NUMBER] = "a number",
		[SCAN_STRING] = "a text", [SCAN_ARRAY] = "an array",
	};
	size_t n = 0, all = scan_count(value);

	if (scan_type(value) == SCAN_ARRAY)
		buf_addf(out, "it is an array of %zu", all);
	else if (scan_type(value) != SCAN_OBJECT)
		buf_addf(out, "it is %s", kinds[scan_type(value)]);
	else if (!all)
		buf_adds(out, "it is an empty object");
	else
		buf_adds(out, "it has: ");
	if (scan_type(value) != SCAN_OBJECT)
		return;
	for (struct scan_iter it = scan_over(value);
	     n < SHOWN_KEYS && scan_next(&it); n++) {
		struct str key = {it.key.p + 1, it.key.n - 2};

		buf_adds(out, n ? ", " : "");
		buf_add_cut(out, key, SHOWN_BYTES);
	}
	if (all > n)
		buf_addf(out, " and %zu more", all - n);
}

/* "steps.a.json has no "items"; it has: …" */
static int not_there(const struct ref *r, struct str rest, struct str value,
		     const struct part *part, struct err *err)
{
	AUTO(buf_release) struct buf there = BUF_INIT(BUF_UNBOUNDED);
	struct str before = {r->head.p, (size_t)(rest.p - r->head.p)};
	struct str key = part->key;

	say_there(value, &there);
	if (part->is_index)
		return err_set(err, ERR_UNKNOWN, "%.*s has no [%lld]; %s",
			       STR_ARG(before), (long long)part->index,
			       buf_cstr(&there));
	if (key.p[0] == '"')
		key = (struct str){key.p + 1, key.n - 2};
	return err_set(err, ERR_UNKNOWN, "%.*s has no \"%.*s\"; %s",
		       STR_ARG(before), STR_ARG(str_first(key, SHOWN_BYTES)),
		       buf_cstr(&there));
}

/* An element, counted from the end when the index is negative. */
static bool find_element(struct str array, int64_t index, struct str *ret)
{
	uint64_t n;

	if (scan_type(array) != SCAN_ARRAY)
		return false;
	if (index < 0)
		index += (int64_t)scan_count(array);
	if (index < 0)
		return false;
	n = (uint64_t)index;
	for (struct scan_iter it = scan_over(array); scan_next(&it); n--) {
		if (n)
			continue;
		*ret = it.value;
		return true;
	}
	return false;
}

static bool find_member(struct str object, struct str key, struct str *ret)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (scan_type(object) != SCAN_OBJECT)
		return false;
	*ret = scan_named(object, decoded(key, &arena));
	return ret->p != NULL;
}

int ref_follow(const struct ref *r, struct str value, struct str *ret,
	       struct err *err)
{
	struct str rest = r->path;

	while (has_part(rest)) {
		struct str at = rest, next;
		struct part part;

		/* the path was proved when it was read */
		if (take_part(&rest, &part))
			return err_set(err, ERR_INTERNAL,
				       "path of a reference");
		if (part.is_index ? !find_element(value, part.index, &next)
				  : !find_member(value, part.key, &next))
			return not_there(r, at, value, &part, err);
		value = next;
	}
	*ret = value;
	return 0;
}

struct str ref_first_key(const struct ref *r, struct arena *arena)
{
	struct str rest = r->path;
	struct part part;

	if (!has_part(rest) || take_part(&rest, &part) || part.is_index)
		return (struct str){NULL, 0};
	return decoded(part.key, arena);
}

struct ref ref_behind(const struct ref *r)
{
	struct ref behind = *r;
	struct part part;

	if (!has_part(r->path) || take_part(&behind.path, &part))
		return behind;
	behind.head.n = (size_t)(behind.path.p - r->head.p);
	return behind;
}

/* ---- texts of values ---- */

void ref_add_text(struct str value, struct buf *out)
{
	if (scan_type(value) == SCAN_STRING)
		(void)!scan_string(value, out);
	else
		scan_compact(value, out);
}

void ref_add_quoted(struct str value, struct buf *out)
{
	AUTO(buf_release) struct buf compact = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);

	if (scan_type(value) == SCAN_STRING) {
		buf_add(out, value.p + 1, value.n - 2);
		return;
	}
	scan_compact(value, &compact);
	jw_quote(&quoted, buf_str(&compact));
	buf_add(out, quoted.p + 1, quoted.n - 2);
}
