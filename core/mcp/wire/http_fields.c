#include "core/mcp/wire/http_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/text.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
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
	struct str v;

	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (strcmp(named[i].method, method) == 0)
			return scan_get(params, named[i].member, &v) &&
			       add_string(v, out);
	return false;
}

/* ---- annotations ---- */

/* Keywords whose value is a schema, a list of them, or a map of them. */
static const char *const schemas[] = {
	"items",
	"prefixItems",
	"additionalItems",
	"contains",
	"allOf",
	"anyOf",
	"oneOf",
	"not",
	"if",
	"then",
	"else",
	"propertyNames",
	"additionalProperties",
	"unevaluatedItems",
	"unevaluatedProperties",
	"contentSchema",
};
static const char *const maps[] = {"$defs", "definitions", "patternProperties",
				   "dependentSchemas", "dependencies"};

struct walk {
	struct arena *arena;
	struct http_param *found; /* owned */
	size_t n, cap;
	struct str path[LIMIT_JSON_DEPTH]; /* decoded, in the arena */
	size_t n_path;
	struct err *err;
};

static bool is_one_of(struct str key, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (scan_is(key, names[i]))
			return true;
	return false;
}

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

static bool is_taken(const struct walk *w, struct str name)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->found[i].header.n == name.n &&
		    strncasecmp(w->found[i].header.p, name.p, name.n) == 0)
			return true;
	return false;
}

static bool is_primitive(struct str schema)
{
	struct str type;

	return scan_get(schema, "type", &type) &&
	       (scan_is(type, "string") || scan_is(type, "integer") ||
		scan_is(type, "boolean"));
}

static void keep_param(struct walk *w, struct str name)
{
	struct str *path = ARENA_ARRAY(w->arena, struct str, w->n_path);

	memcpy(path, w->path, w->n_path * sizeof(*path));
	w->found = mem_grow(w->found, w->n + 1, &w->cap, sizeof(*w->found));
	w->found[w->n++] = (struct http_param){
		.header = arena_str(w->arena, name),
		.path = path,
		.n_path = w->n_path,
	};
}

static int on_annotation(struct walk *w, struct str schema, struct str header,
			 bool is_reached)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	if (!scan_string(header, &name))
		return refuse(w, header, "is not a string");
	if (!http_is_token(buf_str(&name)))
		return refuse(w, header, "is not a name of a header field");
	if (!is_reached || !w->n_path)
		return refuse(w, header,
			      "is not on an argument: only properties of "
			      "properties count");
	if (!is_primitive(schema))
		return refuse(w, header,
			      "is for a type that is neither string, integer "
			      "nor boolean");
	if (is_taken(w, buf_str(&name)))
		return refuse(w, header, "is used twice");
	keep_param(w, buf_str(&name));
	return 0;
}

static int walk_schema(struct walk *w, struct str schema, bool is_reached);

/* Walk a map of names, each with a schema. */
static int walk_map(struct walk *w, struct str map, bool is_reached)
{
	struct scan_iter it;
	int r = 0;

	scan_iter_init(&it, map);
	while (r == 0 && it.is_object && scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		w->path[w->n_path++] = arena_str(w->arena, buf_str(&key));
		r = walk_schema(w, it.value, is_reached);
		w->n_path--;
	}
	return r;
}

/* Walk a schema, or a list of them, that leads to no argument. */
static int walk_aside(struct walk *w, struct str value)
{
	struct scan_iter it;
	int r = 0;

	if (scan_type(value) != SCAN_ARRAY)
		return walk_schema(w, value, false);
	scan_iter_init(&it, value);
	while (r == 0 && scan_next(&it))
		r = walk_schema(w, it.value, false);
	return r;
}

/* Walk one schema: its annotation, and the schemas within. */
static int walk_schema(struct walk *w, struct str schema, bool is_reached)
{
	struct scan_iter it;
	int r = 0;

	scan_iter_init(&it, schema);
	while (r == 0 && it.is_object && scan_next(&it)) {
		if (scan_is(it.key, "x-mcp-header"))
			r = on_annotation(w, schema, it.value, is_reached);
		else if (scan_is(it.key, "properties"))
			r = walk_map(w, it.value, is_reached);
		else if (is_one_of(it.key, maps, ARRAY_LEN(maps)))
			r = walk_map(w, it.value, false);
		else if (is_one_of(it.key, schemas, ARRAY_LEN(schemas)))
			r = walk_aside(w, it.value);
	}
	return r;
}

int http_params_read(struct str tool, struct arena *arena,
		     struct http_params *ret, struct err *err)
{
	struct walk w = {.arena = arena, .err = err};
	struct str schema;
	int r;

	*ret = (struct http_params){0};
	if (!scan_get_some(tool, "inputSchema", &schema))
		return 0;
	r = walk_schema(&w, schema, true);
	if (r == 0 && w.n) {
		ret->item = ARENA_ARRAY(arena, struct http_param, w.n);
		memcpy(ret->item, w.found, w.n * sizeof(*w.found));
		ret->n = w.n;
	}
	free(w.found);
	return r;
}

/* ---- arguments ---- */

/* scan_get() for a key that may hold NUL. */
static bool get_member(struct str value, struct str key, struct str *ret)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	bool found = false;

	scan_iter_init(&it, value);
	while (it.is_object && scan_next(&it)) {
		buf_clear(&name);
		scan_string(it.key, &name);
		if (!str_eq(buf_str(&name), key))
			continue;
		*ret = it.value;
		found = true;
	}
	return found;
}

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

	for (size_t i = 0; i < p->n_path; i++)
		if (!get_member(v, p->path[i], &v))
			return false;
	switch (scan_type(v)) {
	case SCAN_STRING:
		return add_string(v, out);
	case SCAN_NUMBER:
		return add_integer(v, out);
	case SCAN_TRUE:
		buf_adds(out, "true");
		return true;
	case SCAN_FALSE:
		buf_adds(out, "false");
		return true;
	case SCAN_NULL:
	case SCAN_ARRAY:
	case SCAN_OBJECT:
		break;
	}
	return false;
}
