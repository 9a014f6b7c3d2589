#include "core/mcp/wire/uri_template.h"

#include <stdint.h>

#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/base/uri.h"

/* How one operator writes its variables: RFC 6570, appendix A. */
struct op {
	char sign;
	const char *first, *sep;
	bool named;
	const char *if_empty;
	bool reserved; /* reserved characters stand as they are */
};

static const struct op ops[] = {
	{0, "", ",", false, "", false},	   {'+', "", ",", false, "", true},
	{'.', ".", ".", false, "", false}, {'/', "/", "/", false, "", false},
	{';', ";", ";", true, "", false},  {'?', "?", "&", true, "=", false},
	{'&', "&", "&", true, "=", false}, {'#', "#", ",", false, "", true},
};

static const struct op *find_op(char c)
{
	for (size_t i = 1; i < ARRAY_LEN(ops); i++)
		if (ops[i].sign == c)
			return &ops[i];
	return &ops[0];
}

struct variable {
	struct str name;
	bool explode;
	uint32_t prefix; /* characters; 0 without */
};

/* ---- characters ---- */

static bool is_alnum(char c)
{
	return text_is_alpha(c) || text_is_digit(c);
}

static bool is_unreserved(char c)
{
	return is_alnum(c) || (c && strchr("-._~", c));
}

static bool is_reserved(char c)
{
	return c && strchr(":/?#[]@!$&'()*+,;=", c);
}

static bool is_triplet(struct str s, size_t i)
{
	return uri_percent((struct str){s.p + i, s.n - i}) >= 0;
}

static void add_encoded(struct buf *out, struct str s, bool reserved)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (is_unreserved(c) ||
		    (reserved && (is_reserved(c) || is_triplet(s, i))))
			buf_addc(out, c);
		else
			buf_addf(out, "%%%02X", (unsigned)(unsigned char)c);
	}
}

/* ---- reading an expression ---- */

static int wrong(struct str text, const char *at, const char *what,
		 struct err *err)
{
	return err_set(err, ERR_SYNTAX, "URI template, character %zu: %s",
		       (size_t)(at - text.p) + 1, what);
}

static bool is_name(struct str name)
{
	bool dot = true;

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (c == '.' && dot)
			return false;
		dot = c == '.';
		if (is_triplet(name, i))
			i += 2;
		else if (!is_alnum(c) && c != '_' && c != '.')
			return false;
	}
	return name.n && !dot;
}

static int read_prefix(struct str text, struct str digits, struct variable *ret,
		       struct err *err)
{
	uint64_t n;

	/* max-length: four digits, the first of them no zero */
	if (digits.n > 4 || !digits.n || digits.p[0] == '0' ||
	    !str_uint64(digits, &n))
		return wrong(
			text, digits.p,
			"expected a length from 1 to 9999 behind the colon",
			err);
	ret->prefix = (uint32_t)n;
	return 0;
}

static int read_variable(struct str text, struct str spec, struct variable *ret,
			 struct err *err)
{
	size_t colon = str_find(spec, ':');

	*ret = (struct variable){.name = spec};
	if (colon < spec.n) {
		ret->name.n = colon;
		if (read_prefix(text,
				(struct str){spec.p + colon + 1,
					     spec.n - colon - 1},
				ret, err) < 0)
			return -1;
	} else if (str_ends(spec, "*")) {
		ret->explode = true;
		ret->name.n--;
	}
	if (!is_name(ret->name))
		return wrong(text, spec.p,
			     "expected a name: letters, digits, _ and .", err);
	return 0;
}

/* ---- values ---- */

static struct str cut_characters(struct str s, uint32_t n)
{
	struct str rest = s;

	while (n-- && rest.n) {
		size_t len = str_utf8_len(rest);

		rest.p += len ? len : 1;
		rest.n -= len ? len : 1;
	}
	return (struct str){s.p, s.n - rest.n};
}

static void add_value(const struct op *op, struct str json, uint32_t prefix,
		      struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str s;

	if (!scan_string(json, &text))
		buf_add_str(&text, json);
	s = buf_str(&text);
	if (prefix)
		s = cut_characters(s, prefix);
	add_encoded(out, s, op->reserved);
}

/* "name=", or "name" where the value is empty and the operator says so. */
static void add_named(const struct op *op, struct str name, bool empty,
		      struct buf *out)
{
	if (!op->named)
		return;
	add_encoded(out, name, true);
	buf_adds(out, empty ? op->if_empty : "=");
}

/* Elements that are null or nested are left out. */
static bool counts(struct str json)
{
	return scan_type(json) != SCAN_NULL && scan_type(json) != SCAN_ARRAY &&
	       scan_type(json) != SCAN_OBJECT;
}

/*
 * Add the elements of a list or object: exploded each as a variable of its
 * own, else behind one name with commas between.
 */
static void add_elements(const struct op *op, const struct variable *v,
			 struct str json, struct buf *out)
{
	const char *sep = v->explode ? op->sep : ",";
	struct scan_iter it;
	bool any = false;

	if (!v->explode)
		add_named(op, v->name, false, out);
	scan_iter_init(&it, json);
	while (scan_next(&it)) {
		bool is_empty = scan_is(it.value, "");

		if (!counts(it.value))
			continue;
		buf_adds(out, any ? sep : "");
		any = true;
		if (it.is_object) {
			add_value(op, it.key, 0, out);
			buf_adds(out, !v->explode	      ? ","
				      : op->named && is_empty ? op->if_empty
							      : "=");
		} else if (v->explode) {
			add_named(op, v->name, is_empty, out);
		}
		add_value(op, it.value, 0, out);
	}
}

/* A list or object without elements counts as undefined. */
static bool is_defined(struct str json)
{
	struct scan_iter it;

	if (scan_type(json) == SCAN_NULL)
		return false;
	if (counts(json))
		return true;
	scan_iter_init(&it, json);
	while (scan_next(&it))
		if (counts(it.value))
			return true;
	return false;
}

static int add_variable(struct str text, const struct op *op,
			const struct variable *v, struct str json,
			struct buf *out, struct err *err)
{
	if (counts(json)) {
		add_named(op, v->name, scan_is(json, ""), out);
		add_value(op, json, v->prefix, out);
		return 0;
	}
	if (v->prefix)
		return wrong(text, v->name.p,
			     "a list has no first characters; give one value",
			     err);
	add_elements(op, v, json, out);
	return 0;
}

/* Find the member of that name; where it occurs twice, the last. */
static bool find_value(struct str values, struct str name, struct str *ret)
{
	char key[256];

	if (name.n >= sizeof(key))
		return false;
	memcpy(key, name.p, name.n);
	key[name.n] = '\0';
	return scan_get(values, key, ret);
}

static int add_expression(struct str text, struct str inner, struct str values,
			  struct buf *out, struct err *err)
{
	const struct op *op = find_op(inner.n ? inner.p[0] : 0);
	bool any = false;

	if (inner.n && strchr("=,!@|", inner.p[0]))
		return wrong(text, inner.p,
			     "this operator is reserved and has no meaning",
			     err);
	if (op->sign) {
		inner.p++;
		inner.n--;
	}
	do {
		struct variable v;
		struct str spec = str_cut(&inner, ','), json;

		if (!spec.p)
			spec.p = "";
		if (read_variable(text, spec, &v, err) < 0)
			return -1;
		if (!find_value(values, v.name, &json) || !is_defined(json))
			continue;
		buf_adds(out, any ? op->sep : op->first);
		any = true;
		if (add_variable(text, op, &v, json, out, err) < 0)
			return -1;
	} while (inner.p);
	return 0;
}

/* Find the next expression: its inside, and the literal before it. */
static int next_expression(struct str text, struct str *rest,
			   struct str *literal, struct str *ret,
			   struct err *err)
{
	size_t open = str_find(*rest, '{');
	struct str behind;
	size_t close;

	*literal = (struct str){rest->p, open};
	if (str_find(*literal, '}') < open)
		return wrong(text, rest->p + str_find(*literal, '}'),
			     "} without {", err);
	if (open == rest->n) {
		*rest = (struct str){NULL, 0};
		return 0;
	}
	behind = (struct str){rest->p + open + 1, rest->n - open - 1};
	close = str_find(behind, '}');
	if (close == behind.n || str_find(behind, '{') < close)
		return wrong(text, rest->p + open, "{ without }", err);
	*ret = (struct str){behind.p, close};
	*rest = (struct str){behind.p + close + 1, behind.n - close - 1};
	return 1;
}

bool uri_template_is(struct str text)
{
	return str_find(text, '{') < text.n;
}

int uri_template_expand(struct str text, struct str values, struct buf *out,
			struct err *err)
{
	struct str rest = text, literal, inner;
	size_t before = out->n;
	int got;

	do {
		got = next_expression(text, &rest, &literal, &inner, err);
		if (got >= 0)
			add_encoded(out, literal, true);
		if (got > 0 &&
		    add_expression(text, inner, values, out, err) < 0)
			got = -1;
	} while (got > 0);
	if (got < 0 && out->n > before) {
		out->n = before;
		out->p[before] = '\0';
	}
	return got;
}

static void add_name(struct strlist *names, struct str name,
		     struct arena *arena)
{
	for (size_t i = 0; i < names->n; i++)
		if (str_is(name, names->item[i]))
			return;
	names->item[names->n++] = arena_strndup(arena, name.p, name.n);
}

struct strlist uri_template_names(struct str text, struct arena *arena)
{
	struct strlist names = {NULL, 0};
	struct str rest = text, literal, inner;
	struct err ignored = ERR_INIT;
	struct variable v;
	size_t max = 1;

	for (size_t i = 0; i < text.n; i++)
		max += text.p[i] == '{' || text.p[i] == ',';
	names.item = ARENA_ARRAY(arena, const char *, max);
	while (next_expression(text, &rest, &literal, &inner, &ignored) > 0) {
		if (inner.n && find_op(inner.p[0])->sign) {
			inner.p++;
			inner.n--;
		}
		while (inner.p) {
			struct str spec = str_cut(&inner, ',');

			if (read_variable(text, spec, &v, &ignored) == 0)
				add_name(&names, v.name, arena);
		}
	}
	return names;
}
