#include "core/mcp/wire/http_fields.h"

#include <inttypes.h>
#include <strings.h>

#include "core/base/text.h"
#include "core/base/log.h"
#include "core/base/scan.h"

/* Integers that every side reads alike: 2^53 - 1. */
#define SAFE_INT INT64_C(9007199254740991)
/* Ceiling of a number, bytes; longer ones exceed SAFE_INT anyway. */
#define NUMBER_BYTES 64
/* Ceiling of a name in a sentence, bytes. */
#define SHOWN_BYTES 80

/* ---- values ---- */

static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < ' ' || text.p[i] > '~')
			return false;
	if (!text.n || text.p[0] == ' ' || text.p[text.n - 1] == ' ')
		return false;
	return !str_starts(text, "=?base64?") || !str_ends(text, "?=");
}

void http_encode(struct str text, struct buf *out)
{
	if (is_plain(text)) {
		buf_add_str(out, text);
		return;
	}
	buf_adds(out, "=?base64?");
	base64_encode(BASE64_STANDARD, text, out);
	buf_adds(out, "?=");
}

bool http_decode(struct str value, struct buf *out)
{
	const struct str start = STR("=?base64?"), end = STR("?=");

	value = str_trim(value);
	if (value.n < start.n + end.n || !str_starts(value, start.p) ||
	    !str_ends(value, end.p)) {
		buf_add_str(out, value);
		return true;
	}
	value.n -= end.n;
	return base64_decode(BASE64_STANDARD, str_skip(value, start.n), out,
			     ERR_IGNORED) == 0;
}

static bool add_string(struct str value, struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!scan_string(value, &text))
		return false;
	http_encode(buf_str(&text), out);
	return true;
}

bool http_name_value(const char *method, struct str params, struct buf *out)
{
	static const struct {
		const char *method, *member;
	} named[] = {
		{"tools/call", "name"},	    {"prompts/get", "name"},
		{"resources/read", "uri"},  {"tasks/get", "taskId"},
		{"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
	};

	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (strcmp(named[i].method, method) == 0)
			return add_string(scan_some(params, named[i].member),
					  out);
	return false;
}

/* ---- annotations ---- */

/* Other keywords whose value is a map of schemas, or schemas that no argument
   is reached by. */
static const struct keyword {
	const char *name;
	bool is_map;
} keywords[] = {
	{"$defs", true},
	{"definitions", true},
	{"patternProperties", true},
	{"dependentSchemas", true},
	{"dependencies", true},
	{"items", false},
	{"prefixItems", false},
	{"additionalItems", false},
	{"contains", false},
	{"allOf", false},
	{"anyOf", false},
	{"oneOf", false},
	{"not", false},
	{"if", false},
	{"then", false},
	{"else", false},
	{"propertyNames", false},
	{"additionalProperties", false},
	{"unevaluatedItems", false},
	{"unevaluatedProperties", false},
	{"contentSchema", false},
};

struct walk {
	struct arena *arena;
	struct http_params *found;
	struct str path[LIMIT_JSON_DEPTH]; /* decoded, in the arena */
	size_t n_path;
	struct err *err;
};

static int refuse(struct walk *w, struct str header, const char *why)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (!scan_string_cut(header, SHOWN_BYTES, &text))
		buf_add_cut(&text, header, SHOWN_BYTES);
	log_visible(&shown, buf_str(&text), false);
	return err_set(w->err, ERR_PEER, "its x-mcp-header \"%s\" %s",
		       buf_cstr(&shown), why);
}

static int on_annotation(struct walk *w, struct str schema, struct str header,
			 bool is_reached)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct str type = scan_some(schema, "type");
	struct http_params *all = w->found;
	struct http_param *p;

	if (!scan_string(header, &name))
		return refuse(w, header, "is not a string");
	if (!http_is_token(buf_str(&name)))
		return refuse(w, header, "is not a name of a header field");
	if (!is_reached || !w->n_path)
		return refuse(w, header,
			      "is not on an argument: only properties of "
			      "properties count");
	if (!scan_is(type, "string") && !scan_is(type, "integer") &&
	    !scan_is(type, "boolean"))
		return refuse(w, header,
			      "is for a type that is neither string, integer "
			      "nor boolean");
	for (size_t i = 0; i < all->n; i++)
		if (strcasecmp(all->item[i].header.p, buf_cstr(&name)) == 0)
			return refuse(w, header, "is used twice");
	all->item = arena_grow(w->arena, all->item, all->n, sizeof(*p));
	p = &all->item[all->n++];
	p->header = arena_str(w->arena, buf_str(&name));
	p->path = ARENA_ARRAY(w->arena, struct str, w->n_path);
	p->n_path = w->n_path;
	memcpy(p->path, w->path, w->n_path * sizeof(*p->path));
	return 0;
}

static int walk_schema(struct walk *w, struct str schema, bool is_reached);

/* Walk a map of names, each with a schema. */
static int walk_map(struct walk *w, struct str map, bool is_reached)
{
	struct scan_iter it = scan_over(map);
	int r = 0;

	while (r == 0 && it.is_object && scan_next(&it)) {
		w->path[w->n_path++] = scan_decoded(it.key, SIZE_MAX, w->arena);
		r = walk_schema(w, it.value, is_reached);
		w->n_path--;
	}
	return r;
}

/* Walk a schema, or a list of them, that leads to no argument. */
static int walk_aside(struct walk *w, struct str value)
{
	struct scan_iter it = scan_over(value);
	int r = 0;

	if (scan_type(value) != SCAN_ARRAY)
		return walk_schema(w, value, false);
	while (r == 0 && scan_next(&it))
		r = walk_schema(w, it.value, false);
	return r;
}

/* Walk one schema: its annotation, and the schemas within. */
static int walk_schema(struct walk *w, struct str schema, bool is_reached)
{
	struct scan_iter it = scan_over(schema);
	int r = 0;

	while (r == 0 && it.is_object && scan_next(&it)) {
		if (scan_is(it.key, "x-mcp-header"))
			r = on_annotation(w, schema, it.value, is_reached);
		else if (scan_is(it.key, "properties"))
			r = walk_map(w, it.value, is_reached);
		for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
			if (scan_is(it.key, keywords[i].name))
				r = keywords[i].is_map
					    ? walk_map(w, it.value, false)
					    : walk_aside(w, it.value);
	}
	return r;
}

int http_params_read(struct str tool, struct arena *arena,
		     struct http_params *ret, struct err *err)
{
	struct http_params found = {0};
	struct walk w = {.arena = arena, .found = &found, .err = err};
	struct str schema = scan_some(tool, "inputSchema");

	*ret = found;
	if (schema.p && walk_schema(&w, schema, true) < 0)
		return -1;
	*ret = found;
	return 0;
}

/* ---- arguments ---- */

/* Append an integer in decimal, also 1.0 and 1e3; false: not an integer. */
static bool add_integer(struct str value, struct buf *out)
{
	char text[NUMBER_BYTES];
	int64_t n;
	double v;

	if (!scan_int64(value, &n)) {
		if (value.n >= sizeof(text))
			return false;
		memcpy(text, value.p, value.n);
		text[value.n] = '\0';
		v = strtod(text, NULL);
		if (!(v >= (double)-SAFE_INT && v <= (double)SAFE_INT))
			return false;
		n = (int64_t)v;
		if ((double)n != v)
			return false;
	}
	if (n < -SAFE_INT || n > SAFE_INT)
		return false;
	buf_addf(out, "%" PRId64, n);
	return true;
}

bool http_param_value(const struct http_param *p, struct str arguments,
		      struct buf *out)
{
	struct str v = arguments;

	for (size_t i = 0; v.p && i < p->n_path; i++)
		v = scan_named(v, p->path[i]);
	if (!v.p)
		return false;
	switch (scan_type(v)) {
	case SCAN_STRING:
		return add_string(v, out);
	case SCAN_NUMBER:
		return add_integer(v, out);
	case SCAN_TRUE:
	case SCAN_FALSE:
		buf_add_str(out, v);
		return true;
	case SCAN_NULL:
	case SCAN_ARRAY:
	case SCAN_OBJECT:
		break;
	}
	return false;
}

const char *http_params_differ(struct str tool, struct str arguments,
			       const char *(*field)(const void *arg,
						    const char *name),
			       const void *arg, struct arena *arena)
{
	struct http_params params;

	if (http_params_read(tool, arena, &params, ERR_IGNORED) < 0)
		return NULL;
	for (size_t i = 0; i < params.n; i++) {
		AUTO(buf_release) struct buf due = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf want = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
		const struct http_param *p = &params.item[i];
		const char *name = arena_printf(arena, "Mcp-Param-%.*s",
						STR_ARG(p->header));
		const char *given = field(arg, name);
		bool is_due = http_param_value(p, arguments, &due) &&
			      http_decode(buf_str(&due), &want);

		if (!given != !is_due)
			return name;
		if (given && (!http_decode(str_of(given), &said) ||
			      !str_eq(buf_str(&said), buf_str(&want))))
			return name;
	}
	return NULL;
}
