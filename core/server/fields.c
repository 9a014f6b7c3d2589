#include "core/server/fields.h"

#include "core/base/scan.h"
#include "core/server/date.h"

#define DATE_PATTERN "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"

/* JSON type, and words for people. */
static const struct {
	const char *json, *words;
} types[] = {
	[FIELD_STRING] = {"string", "a string"},
	[FIELD_DATE] = {"string", "a date such as \"2026-01-31\""},
	[FIELD_INTEGER] = {"integer", "an integer"},
	[FIELD_NUMBER] = {"number", "a number"},
	[FIELD_BOOLEAN] = {"boolean", "true or false"},
	[FIELD_OBJECT] = {"object", "an object"},
	[FIELD_STRINGS] = {"array", "an array of strings"},
	[FIELD_OBJECTS] = {"array", "an array of objects"},
};

/* ---- the schema ---- */

static void write_object(const struct field *first, struct jw *w);

static void write_field(const struct field *f, struct jw *w)
{
	bool is_array = f->type == FIELD_STRINGS || f->type == FIELD_OBJECTS;

	jw_key(w, f->name);
	jw_object(w);
	jw_kv_cstr(w, "description", f->help);
	if (f->type == FIELD_OBJECT) {
		write_object(f + 1, w);
		jw_end(w);
		return;
	}
	jw_kv_cstr(w, "type", types[f->type].json);
	if (f->type == FIELD_DATE)
		jw_kv_cstr(w, "pattern", DATE_PATTERN);
	if (is_array) {
		jw_key(w, "items");
		jw_object(w);
		if (f->type == FIELD_OBJECTS)
			write_object(f + 1, w);
		else
			jw_kv_cstr(w, "type", "string");
		jw_end(w);
		if (f->max)
			jw_kv_int(w, "maxItems", f->max);
	}
	jw_end(w);
}

/* The next row of the same object, or NULL. */
static const struct field *next(const struct field *f)
{
	uint8_t depth = f->depth;

	do
		f++;
	while (f->name && f->depth > depth);
	return f->name && f->depth == depth ? f : NULL;
}

static void write_required(const struct field *first, struct jw *w)
{
	bool any = false;

	for (const struct field *f = first; f; f = next(f)) {
		if (!f->required)
			continue;
		if (!any) {
			jw_key(w, "required");
			jw_array(w);
		}
		any = true;
		jw_cstr(w, f->name);
	}
	if (any)
		jw_end(w);
}

/* The members of an object schema; the object is open already. */
static void write_object(const struct field *first, struct jw *w)
{
	if (!first->name)
		first = NULL;
	jw_kv_cstr(w, "type", "object");
	jw_key(w, "properties");
	jw_object(w);
	for (const struct field *f = first; f; f = next(f))
		write_field(f, w);
	jw_end(w);
	write_required(first, w);
	jw_kv_bool(w, "additionalProperties", false);
}

void fields_schema(const struct field *fields, struct jw *w)
{
	jw_object(w);
	write_object(fields, w);
	jw_end(w);
}

/* ---- the check ---- */

static const char *type_word(struct str value)
{
	switch (scan_type(value)) {
	case SCAN_NULL:
		return "null";
	case SCAN_FALSE:
	case SCAN_TRUE:
		return "a boolean";
	case SCAN_NUMBER:
		return "a number";
	case SCAN_STRING:
		return "a string";
	case SCAN_ARRAY:
		return "an array";
	default:
		return "an object";
	}
}

static int wrong(const char *where, const char *want, struct str value,
		 struct err *err)
{
	return err_set(err, ERR_USAGE, "argument %s must be %s, not %s", where,
		       want, type_word(value));
}

static int check_string(const struct field *f, const char *where,
			struct str value, struct err *err)
{
	AUTO(buf_release) struct buf s = BUF_INIT(BUF_UNBOUNDED);
	int32_t days;

	if (!scan_string(value, &s))
		return wrong(where, types[f->type].words, value, err);
	if (memchr(buf_cstr(&s), 0, s.n))
		return err_set(err, ERR_USAGE,
			       "argument %s must not contain a NUL character",
			       where);
	if (f->type == FIELD_DATE && !date_parse(buf_str(&s), &days))
		return err_set(err, ERR_USAGE,
			       "argument %s must be a date that exists, "
			       "written as 2026-01-31",
			       where);
	return 0;
}

static int check_object(const struct field *first, const char *where,
			struct str value, struct err *err);

static int check_array(const struct field *f, const char *where,
		       struct str value, struct err *err)
{
	struct field element = {.type = FIELD_STRING};
	struct scan_iter it;
	uint32_t i = 0;

	if (scan_type(value) != SCAN_ARRAY)
		return wrong(where, types[f->type].words, value, err);
	if (f->max && scan_count(value) > f->max)
		return err_set(err, ERR_USAGE,
			       "argument %s has %zu elements; at most %u",
			       where, scan_count(value), f->max);
	scan_iter_init(&it, value);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
		const char *at;

		buf_addf(&name, "%s[%u]", where, i++);
		at = buf_cstr(&name);
		if (f->type == FIELD_STRINGS
			    ? check_string(&element, at, it.value, err) < 0
			    : check_object(f + 1, at, it.value, err) < 0)
			return -1;
	}
	return 0;
}

static int check_value(const struct field *f, const char *where,
		       struct str value, struct err *err)
{
	enum scan_type t = scan_type(value);
	int64_t n;
	bool ok;

	switch (f->type) {
	case FIELD_STRING:
	case FIELD_DATE:
		return check_string(f, where, value, err);
	case FIELD_STRINGS:
	case FIELD_OBJECTS:
		return check_array(f, where, value, err);
	case FIELD_OBJECT:
		return check_object(f + 1, where, value, err);
	case FIELD_INTEGER:
		ok = scan_int64(value, &n);
		break;
	case FIELD_NUMBER:
		ok = t == SCAN_NUMBER;
		break;
	default:
		ok = t == SCAN_TRUE || t == SCAN_FALSE;
	}
	return ok ? 0 : wrong(where, types[f->type].words, value, err);
}

static const struct field *find(const struct field *first, struct str name)
{
	for (const struct field *f = first->name ? first : NULL; f; f = next(f))
		if (str_is(name, f->name))
			return f;
	return NULL;
}

const struct field *fields_find(const struct field *fields, struct str name)
{
	return find(fields, name);
}

static int unknown(const struct field *first, const char *where,
		   struct str name, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	const char *names[32], *near;
	size_t n = 0;

	for (const struct field *f = first->name ? first : NULL; f;
	     f = next(f)) {
		buf_addf(&all, "%s%s", n ? ", " : "", f->name);
		if (n < ARRAY_LEN(names))
			names[n++] = f->name;
	}
	near = str_nearest(name, names, n);
	return err_set(err, ERR_USAGE,
		       "unknown argument %s%s%.*s%s%s%s; it takes %s", where,
		       *where ? "." : "", (int)(name.n < 64 ? name.n : 64),
		       name.p, near ? ", did you mean " : "", near ? near : "",
		       near ? "?" : "", n ? buf_cstr(&all) : "none");
}

static int check_member(const struct field *first, const char *where,
			const struct scan_iter *it, struct err *err)
{
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const struct field *f;

	scan_string(it->key, &key);
	f = find(first, buf_str(&key));
	if (!f)
		return unknown(first, where, buf_str(&key), err);
	buf_addf(&name, "%s%s%s", where, *where ? "." : "", f->name);
	return check_value(f, buf_cstr(&name), it->value, err);
}

static int check_object(const struct field *first, const char *where,
			struct str value, struct err *err)
{
	struct scan_iter it;
	struct str member;

	if (scan_type(value) != SCAN_OBJECT) {
		if (*where)
			return wrong(where, "an object", value, err);
		return err_set(err, ERR_USAGE,
			       "the arguments must be an object, not %s",
			       type_word(value));
	}
	scan_iter_init(&it, value);
	while (scan_next(&it))
		if (check_member(first, where, &it, err) < 0)
			return -1;
	for (const struct field *f = first->name ? first : NULL; f; f = next(f))
		if (f->required && !scan_get(value, f->name, &member))
			return err_set(err, ERR_USAGE,
				       "argument %s%s%s is missing: %s", where,
				       *where ? "." : "", f->name, f->help);
	return 0;
}

int fields_check(const struct field *fields, struct str value, struct err *err)
{
	return check_object(fields, "", value, err);
}

/* ---- reading ---- */

static const char *text_of(struct str value, struct arena *arena)
{
	AUTO(buf_release) struct buf s = BUF_INIT(BUF_UNBOUNDED);

	scan_string(value, &s);
	return arena_strndup(arena, buf_cstr(&s), s.n);
}

const char *fields_string(struct str object, const char *name,
			  struct arena *arena)
{
	struct str value;

	if (!scan_get(object, name, &value))
		return NULL;
	return text_of(value, arena);
}

struct strlist fields_strings(struct str object, const char *name,
			      struct arena *arena)
{
	struct strlist list = {NULL, 0};
	struct scan_iter it;
	struct str value;

	if (!scan_get(object, name, &value))
		return list;
	list.item = ARENA_ARRAY(arena, const char *, scan_count(value));
	scan_iter_init(&it, value);
	while (scan_next(&it))
		list.item[list.n++] = text_of(it.value, arena);
	return list;
}
