#include "core/server/fields.h"

#include "core/base/scan.h"
#include "core/schema/schema.h"

static const char *const types[] = {
	[FIELD_STRING] = "string",   [FIELD_DATE] = "string",
	[FIELD_INTEGER] = "integer", [FIELD_NUMBER] = "number",
	[FIELD_BOOLEAN] = "boolean", [FIELD_OBJECT] = "object",
	[FIELD_STRINGS] = "array",   [FIELD_OBJECTS] = "array",
};

/* ---- the schema ---- */

/* Find the next row of one object, or NULL. */
static const struct field *next(const struct field *f)
{
	uint8_t depth = f->depth;

	do
		f++;
	while (f->name && f->depth > depth);
	return f->name && f->depth == depth ? f : NULL;
}

/* Each row of the object that begins with `first`. */
#define EACH_FIELD(f, first)                                            \
	for (const struct field *f = (first)->name ? (first) : NULL; f; \
	     f = next(f))

static void write_object(const struct field *first, struct jw *w);

static void write_field(const struct field *f, struct jw *w)
{
	jw_kv_object(w, f->name);
	jw_kv_cstr(w, "description", f->help);
	if (f->type == FIELD_OBJECT)
		write_object(f + 1, w);
	else
		jw_kv_cstr(w, "type", types[f->type]);
	if (f->type == FIELD_DATE)
		jw_kv_cstr(w, "format", "date");
	if (f->type == FIELD_STRINGS || f->type == FIELD_OBJECTS) {
		jw_kv_object(w, "items");
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

/* Write the members of an object schema; the object is open already. */
static void write_object(const struct field *first, struct jw *w)
{
	bool any = false;

	jw_kv_cstr(w, "type", "object");
	jw_kv_object(w, "properties");
	EACH_FIELD(f, first)
	write_field(f, w);
	jw_end(w);
	EACH_FIELD(f, first)
	{
		if (!f->required)
			continue;
		if (!any)
			jw_kv_array(w, "required");
		any = true;
		jw_cstr(w, f->name);
	}
	if (any)
		jw_end(w);
	jw_kv_bool(w, "additionalProperties", false);
}

void fields_schema(const struct field *fields, struct jw *w)
{
	jw_object(w);
	write_object(fields, w);
	jw_end(w);
}

/* ---- the check ---- */

static const struct field *find_field(const struct field *fields,
				      struct str name)
{
	EACH_FIELD(f, fields)
	if (str_is(name, f->name))
		return f;
	return NULL;
}

/* Find the rows of the object at a JSON pointer. */
static const struct field *rows_at(const struct field *first,
				   struct str pointer)
{
	while (pointer.p) {
		/* indexes of elements, and "" before the first slash, are no
		   names */
		const struct field *f =
			find_field(first, str_cut(&pointer, '/'));

		if (f && (f->type == FIELD_OBJECT || f->type == FIELD_OBJECTS))
			first = f + 1;
	}
	return first;
}

static bool has_nul(struct str json)
{
	for (size_t i = 0; i < json.n; i++) {
		if (json.p[i] != '\\')
			continue;
		i++;
		if (str_starts(str_skip(json, i), "u0000"))
			return true;
	}
	return false;
}

static int refuse(const struct field *fields, const struct schema_result *r,
		  struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct schema_violation *v = &r->item[0];
	const char *separator = "; it takes ";
	bool is_unknown = false;
	struct str object;

	/* an unknown name comes first: the missing one may be misspelled */
	for (size_t i = 0; i < r->n && !is_unknown; i++) {
		is_unknown =
			!strcmp(r->item[i].keyword, "additionalProperties");
		if (is_unknown)
			v = &r->item[i];
	}
	object = v->instance;
	buf_adds(&line, object.n ? "argument " : "arguments: ");
	schema_violation_print(v, &line);
	while (is_unknown && object.n && object.p[--object.n] != '/')
		;
	/* list the members behind a missing or unknown name */
	if (is_unknown || !strcmp(v->keyword, "required"))
		EACH_FIELD(f, rows_at(fields, object))
		{
			buf_addf(&line, "%s%s", separator, f->name);
			separator = ", ";
		}
	return err_set(err, ERR_USAGE, "%s", buf_cstr(&line));
}

int fields_check(const struct field *fields, struct str value, struct err *err)
{
	static const struct schema_options options = {.assert_formats = true};
	AUTO(schema_freep) struct schema *s = NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result result;
	struct jw w;
	int rc;

	jw_init(&w, &text, false);
	fields_schema(fields, &w);
	if (schema_compile(buf_str(&text), &options, &s, err) < 0)
		return -1;
	rc = schema_validate(s, value, &arena, &result, err);
	if (rc == SCHEMA_VIOLATED)
		return refuse(fields, &result, err);
	if (rc < 0)
		return -1;
	return has_nul(value) ? err_set(err, ERR_USAGE,
					"an argument contains a NUL character")
			      : 0;
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

	return scan_get(object, name, &value) ? text_of(value, arena) : NULL;
}

struct strlist fields_strings(struct str object, const char *name,
			      struct arena *arena)
{
	struct strlist list = {NULL, 0};
	struct str value;

	if (!scan_get(object, name, &value))
		return list;
	list.item = ARENA_ARRAY(arena, const char *, scan_count(value));
	for (struct scan_iter it = scan_over(value); scan_next(&it);)
		list.item[list.n++] = text_of(it.value, arena);
	return list;
}
