#include "core/cli/tool_args.h"

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/cli/target.h"
#include "core/schema/describe.h"

#define VALUE_BYTES (16 * 1024 * 1024)

struct word {
	struct str key, value;
	bool is_json;
	bool done; /* written with an earlier one of its name */
};

/* ---- reading ---- */

static int read_file(struct str name, struct arena *arena, struct str *value,
		     struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(VALUE_BYTES);

	if (target_read_value(arena_strndup(arena, value->p, value->n), &text,
			      err) < 0)
		return err_wrap(err, "argument %.*s", STR_ARG(name));
	*value = arena_str(arena, buf_str(&text));
	return 0;
}

static int read_json(struct str name, struct str *value, struct err *err)
{
	struct str json;

	if (scan_document(*value, NULL, &json, err) < 0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "argument %.*s is not JSON",
				STR_ARG(name));
	}
	*value = json;
	return 0;
}

static int read_word(const char *text, struct arena *arena, struct word *ret,
		     struct err *err)
{
	struct str value = str_of(text), key = str_cut(&value, '=');
	struct word w = {.key = key, .value = value};

	if (!key.n || !value.p)
		return err_set(err, ERR_USAGE,
			       "%s is not an argument; write NAME=TEXT, "
			       "NAME:=JSON, or NAME=@FILE",
			       text);
	if (key.p[key.n - 1] == ':') {
		w.is_json = true;
		w.key.n--;
	}
	if (value.n && value.p[0] == '@' &&
	    read_file(w.key, arena, &w.value, err) < 0)
		return -1;
	if (w.is_json && read_json(w.key, &w.value, err) < 0)
		return -1;
	if (!w.is_json && !str_is_utf8(w.value))
		return err_set(
			err, ERR_USAGE,
			"argument %.*s is not UTF-8; a JSON string must be",
			STR_ARG(w.key));
	*ret = w;
	return 0;
}

static int read_object(const char *text, struct arena *arena, struct str *ret,
		       struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(VALUE_BYTES);
	struct str json;

	if (target_read_value(strcmp(text, "-") ? text : "@-", &all, err) < 0)
		return err_wrap(err, "--args");
	if (scan_document(arena_str(arena, buf_str(&all)), NULL, &json, err) <
	    0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "--args");
	}
	if (scan_type(json) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE, "--args must be a JSON object");
	*ret = json;
	return 0;
}

/* ---- types ---- */

static bool is_of_type(struct str json, enum schema_type type)
{
	switch (scan_type(json)) {
	case SCAN_NULL:
		return type == SCHEMA_TYPE_NULL;
	case SCAN_FALSE:
	case SCAN_TRUE:
		return type == SCHEMA_TYPE_BOOLEAN;
	case SCAN_NUMBER:
		return type == SCHEMA_TYPE_NUMBER ||
		       type == SCHEMA_TYPE_INTEGER;
	case SCAN_STRING:
		return type == SCHEMA_TYPE_STRING;
	case SCAN_ARRAY:
		return type == SCHEMA_TYPE_ARRAY;
	case SCAN_OBJECT:
		return type == SCHEMA_TYPE_OBJECT;
	}
	return false;
}

/* The JSON of a text that is to be of this type; false: it is not. */
static bool as_type(struct str text, enum schema_type type, struct str *ret)
{
	struct err ignored = ERR_INIT;

	return type != SCHEMA_TYPE_UNKNOWN && type != SCHEMA_TYPE_STRING &&
	       scan_document(text, NULL, ret, &ignored) == 0 &&
	       is_of_type(*ret, type);
}

static enum schema_type word_type(struct str json)
{
	static const struct {
		const char *word;
		enum schema_type type;
	} types[] = {
		{"integer", SCHEMA_TYPE_INTEGER},
		{"number", SCHEMA_TYPE_NUMBER},
		{"boolean", SCHEMA_TYPE_BOOLEAN},
		{"object", SCHEMA_TYPE_OBJECT},
		{"array", SCHEMA_TYPE_ARRAY},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (scan_is(json, types[i].word))
			return types[i].type;
	return SCHEMA_TYPE_UNKNOWN;
}

/* Type of the elements of an array, where it is said at the usual place. */
static enum schema_type item_type(struct str schema, struct str key,
				  struct arena *arena)
{
	const char *name = arena_strndup(arena, key.p, key.n);
	struct str v;

	if (!schema.p || !scan_get(schema, "properties", &v) ||
	    !scan_get(v, name, &v) || !scan_get(v, "items", &v) ||
	    !scan_get(v, "type", &v))
		return SCHEMA_TYPE_UNKNOWN;
	return word_type(v);
}

static void write_text(struct str text, enum schema_type type, struct jw *w)
{
	struct str json;

	if (as_type(text, type, &json))
		jw_raw(w, json);
	else
		jw_str(w, text);
}

/* ---- writing ---- */

struct writer {
	struct word *words;
	size_t n;
	const struct schema *compiled; /* NULL without */
	struct str schema;
	struct arena *arena;
	struct jw jw;
};

static size_t count(const struct writer *wr, struct str key)
{
	size_t n = 0;

	for (size_t i = 0; i < wr->n; i++)
		n += str_eq(wr->words[i].key, key);
	return n;
}

static void write_array(struct writer *wr, struct str key)
{
	enum schema_type type = item_type(wr->schema, key, wr->arena);

	jw_array(&wr->jw);
	for (size_t i = 0; i < wr->n; i++) {
		struct word *w = &wr->words[i];

		if (!str_eq(w->key, key))
			continue;
		w->done = true;
		if (w->is_json)
			jw_raw(&wr->jw, w->value);
		else
			write_text(w->value, type, &wr->jw);
	}
	jw_end(&wr->jw);
}

static int write_word(struct writer *wr, struct word *w, struct err *err)
{
	enum schema_type type = SCHEMA_TYPE_UNKNOWN;
	size_t n = count(wr, w->key);
	struct str json;

	if (wr->compiled)
		type = schema_property_type(wr->compiled, w->key);
	jw_key_str(&wr->jw, w->key);
	if (n > 1 && type != SCHEMA_TYPE_ARRAY)
		return err_set(
			err, ERR_USAGE, "argument %.*s is given %zu times%s",
			STR_ARG(w->key), n,
			wr->compiled ? "" : "; for an array write NAME:=[…]");
	if (w->is_json && n == 1)
		jw_raw(&wr->jw, w->value);
	else if (n == 1 && as_type(w->value, type, &json))
		jw_raw(&wr->jw, json);
	else if (type == SCHEMA_TYPE_ARRAY)
		write_array(wr, w->key);
	else
		jw_str(&wr->jw, w->value);
	return 0;
}

static bool is_overridden(const struct writer *wr, struct str key)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	return scan_string(key, &text) && count(wr, buf_str(&text));
}

/* Keys stay as they were written. */
static void write_rest(struct writer *wr, struct str object)
{
	struct scan_iter it;

	scan_iter_init(&it, object);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (is_overridden(wr, it.key))
			continue;
		scan_string(it.key, &key);
		jw_key_str(&wr->jw, buf_str(&key));
		jw_raw(&wr->jw, it.value);
	}
}

static int write_all(struct writer *wr, struct str object, struct buf *out,
		     struct err *err)
{
	jw_init(&wr->jw, out, false);
	jw_object(&wr->jw);
	if (object.p)
		write_rest(wr, object);
	for (size_t i = 0; i < wr->n; i++)
		if (!wr->words[i].done &&
		    write_word(wr, &wr->words[i], err) < 0)
			return -1;
	jw_end(&wr->jw);
	return 0;
}

int tool_args_read(char *const *words, size_t n, const char *object,
		   struct str schema, struct arena *arena, struct str *ret,
		   struct err *err)
{
	AUTO(schema_freep) struct schema *compiled = NULL;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str given = {NULL, 0};
	struct err ignored = ERR_INIT;
	struct writer wr = {
		.words = ARENA_ARRAY(arena, struct word, n + 1),
		.n = n,
		.schema = schema,
		.arena = arena,
	};

	*ret = given;
	if (object && read_object(object, arena, &given, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (read_word(words[i], arena, &wr.words[i], err) < 0)
			return -1;
	if (!n) {
		*ret = given;
		return 0;
	}
	/* the check of arguments reports an unusable schema */
	if (schema.p && schema_compile(schema, NULL, &compiled, &ignored) == 0)
		wr.compiled = compiled;
	if (write_all(&wr, given, &out, err) < 0)
		return -1;
	*ret = arena_str(arena, buf_str(&out));
	return 0;
}
