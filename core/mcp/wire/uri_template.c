#include "core/mcp/wire/uri_template.h"

#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/base/url.h"

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

/* Literal text, or one variable of an expression. */
struct part {
	const struct op *op; /* NULL: literal text */
	struct str name;     /* or that text */
	bool is_first;	     /* of its expression */
	bool explode;
	uint32_t prefix; /* characters; 0 without */
};

struct parts {
	struct part *item; /* in an arena */
	size_t n;
};

/* ---- reading ---- */

static int wrong(struct str text, const char *at, const char *what,
		 struct err *err)
{
	return err_set(err, ERR_SYNTAX, "URI template, character %zu: %s",
		       (size_t)(at - text.p) + 1, what);
}

static bool is_triplet(struct str s, size_t i)
{
	return uri_percent(str_skip(s, i)) >= 0;
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
		else if (!text_is_alnum(c) && c != '_' && c != '.')
			return false;
	}
	return name.n && !dot;
}

static int read_variable(struct str text, struct str spec, struct part *ret,
			 struct err *err)
{
	size_t colon = str_find(spec, ':');
	struct str digits;
	uint64_t n;

	ret->name = (struct str){spec.p, colon};
	if (colon < spec.n) {
		digits = str_skip(spec, colon + 1);
		/* max-length: four digits, the first of them no zero */
		if (digits.n > 4 || !digits.n || digits.p[0] == '0' ||
		    !str_uint64(digits, &n))
			return wrong(text, digits.p,
				     "expected a length from 1 to 9999 behind "
				     "the colon",
				     err);
		ret->prefix = (uint32_t)n;
	} else if (str_ends(spec, "*")) {
		ret->explode = true;
		ret->name.n--;
	}
	if (!is_name(ret->name))
		return wrong(text, spec.p,
			     "expected a name: letters, digits, _ and .", err);
	return 0;
}

/* Read the inside of an expression, up to what is wrong. */
static int read_expression(struct str text, struct str inner,
			   struct parts *parts, struct err *err)
{
	const struct op *op = &ops[0];
	bool is_first = true;

	if (inner.n && strchr("=,!@|", inner.p[0]))
		return wrong(text, inner.p,
			     "this operator is reserved and has no meaning",
			     err);
	for (size_t i = 1; inner.n && i < ARRAY_LEN(ops); i++)
		if (ops[i].sign == inner.p[0])
			op = &ops[i];
	if (op->sign)
		inner = str_skip(inner, 1);
	do {
		struct part *part = &parts->item[parts->n];
		/* not NULL, which an empty rest would be */
		struct str spec = {inner.p, 0};

		spec.n = str_cut(&inner, ',').n;
		*part = (struct part){.op = op, .is_first = is_first};
		if (read_variable(text, spec, part, err) < 0)
			return -1;
		is_first = false;
		parts->n++;
	} while (inner.p);
	return 0;
}

/* Read a template; on errors *ret holds what stands before. */
static int read_template(struct str text, struct arena *arena,
			 struct parts *ret, struct err *err)
{
	struct str rest = text;
	size_t max = 1;

	for (size_t i = 0; i < text.n; i++)
		max += text.p[i] == '{' ? 2 : text.p[i] == ',';
	*ret = (struct parts){ARENA_ARRAY(arena, struct part, max), 0};
	while (rest.n) {
		size_t open = str_find(rest, '{'), close;
		struct str literal = {rest.p, open}, inner;

		if (str_find(literal, '}') < open)
			return wrong(text, rest.p + str_find(literal, '}'),
				     "} without {", err);
		if (open)
			ret->item[ret->n++] = (struct part){.name = literal};
		if (open == rest.n)
			break;
		inner = str_skip(rest, open + 1);
		close = str_find(inner, '}');
		if (close == inner.n || str_find(inner, '{') < close)
			return wrong(text, rest.p + open, "{ without }", err);
		rest = str_skip(inner, close + 1);
		inner.n = close;
		if (read_expression(text, inner, ret, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- writing ---- */

static void add_encoded(struct buf *out, struct str s, bool reserved)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (text_is_alnum(c) || (c && strchr("-._~", c)) ||
		    (reserved && ((c && strchr(":/?#[]@!$&'()*+,;=", c)) ||
				  is_triplet(s, i))))
			buf_addc(out, c);
		else
			buf_addf(out, "%%%02X", (unsigned)(unsigned char)c);
	}
}

/* prefix  characters; 0: all */
static void add_value(const struct op *op, struct str json, uint32_t prefix,
		      struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t n = 0;

	if (!scan_string(json, &text))
		buf_add_str(&text, json);
	while (prefix-- && n < text.n) {
		size_t len = str_utf8_len(str_skip(buf_str(&text), n));

		n += len ? len : 1;
	}
	add_encoded(out, n ? (struct str){text.p, n} : buf_str(&text),
		    op->reserved);
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
static void add_elements(const struct part *v, struct str json, struct buf *out)
{
	const struct op *op = v->op;
	const char *sep = v->explode ? op->sep : ",";
	bool any = false;

	if (!v->explode)
		add_named(op, v->name, false, out);
	for (struct scan_iter it = scan_over(json); scan_next(&it);) {
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
	if (!json.p || counts(json))
		return json.p;
	for (struct scan_iter it = scan_over(json); scan_next(&it);)
		if (counts(it.value))
			return true;
	return false;
}

bool uri_template_is(struct str text)
{
	return str_find(text, '{') < text.n;
}

int uri_template_expand(struct str text, struct str values, struct buf *out,
			struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	size_t before = out->n;
	struct parts parts;
	bool any = false;

	if (read_template(text, &arena, &parts, err) < 0)
		return -1;
	for (size_t i = 0; i < parts.n; i++) {
		const struct part *v = &parts.item[i];
		struct str json = scan_named(values, v->name);

		if (!v->op) {
			add_encoded(out, v->name, true);
			continue;
		}
		any &= !v->is_first;
		if (!is_defined(json))
			continue;
		if (v->prefix && !counts(json)) {
			if (out->n > before)
				out->p[before] = '\0';
			out->n = before;
			return wrong(text, v->name.p,
				     "a list has no first characters; give "
				     "one value",
				     err);
		}
		buf_adds(out, any ? v->op->sep : v->op->first);
		any = true;
		if (counts(json)) {
			add_named(v->op, v->name, scan_is(json, ""), out);
			add_value(v->op, json, v->prefix, out);
		} else {
			add_elements(v, json, out);
		}
	}
	return 0;
}

struct strlist uri_template_names(struct str text, struct arena *arena)
{
	struct strlist names = {NULL, 0};
	struct parts parts;

	(void)!read_template(text, arena, &parts, ERR_IGNORED);
	for (size_t i = 0; i < parts.n; i++) {
		const struct part *v = &parts.item[i];
		size_t k = 0;

		while (k < names.n && !str_is(v->name, names.item[k]))
			k++;
		if (v->op && k == names.n)
			list_add(&names, arena,
				 arena_strndup(arena, v->name.p, v->name.n));
	}
	return names;
}
