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

static int read_word(const char *text, struct arena *arena, struct word *ret,
		     struct err *err)
{
	AUTO(buf_release) struct buf file = BUF_INIT(VALUE_BYTES);
	struct str value = str_of(text), key = str_cut(&value, '=');
	bool is_json = str_ends(key, ":");

	if (!key.n || !value.p)
		return err_set(err, ERR_USAGE,
			       "%s is not an argument; write NAME=TEXT, "
			       "NAME:=JSON, or NAME=@FILE",
			       text);
	key.n -= is_json;
	if (value.n && value.p[0] == '@') {
		if (target_read_value(value.p, &file, err) < 0)
			return err_wrap(err, "argument %.*s", STR_ARG(key));
		value = arena_str(arena, buf_str(&file));
	}
	if (is_json && scan_document(value, NULL, &value, err) < 0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "argument %.*s is not JSON", STR_ARG(key));
	}
	if (!is_json && !str_is_utf8(value))
		return err_set(
			err, ERR_USAGE,
			"argument %.*s is not UTF-8; a JSON string must be",
			STR_ARG(key));
	*ret = (struct word){.key = key, .value = value, .is_json = is_json};
	return 0;
}

static int read_object(const char *text, struct arena *arena, struct str *ret,
		       struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(VALUE_BYTES);
	struct str json;

	if (target_read_value(strcmp(text, "-") ? text : "@-", &all, err) < 0)
		return err_wrap(err, "--args");
	if (scan_document(arena_str(arena, buf_str(&all)), NULL, &json, err)) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "--args");
	}
	if (scan_type(json) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE, "--args must be a JSON object");
	*ret = json;
	return 0;
}

/* ---- types ---- */

/* The JSON of a text that is to be of this type; false: it is not. */
static bool as_type(struct str text, enum schema_type type, struct str *ret)
{
	return type != SCHEMA_TYPE_UNKNOWN && type != SCHEMA_TYPE_STRING &&
	       scan_document(text, NULL, ret, ERR_IGNORED) == 0 &&
	       schema_types_of(*ret) & type;
}

/* Type of the elements of an array, where it is said at the usual place. */
static enum schema_type item_type(struct str schema, struct str key,
				  struct arena *arena)
{
	static const enum schema_type types[] = {
		SCHEMA_TYPE_INTEGER, SCHEMA_TYPE_NUMBER, SCHEMA_TYPE_BOOLEAN,
		SCHEMA_TYPE_OBJECT,  SCHEMA_TYPE_ARRAY,
	};
	const char *name = arena_strndup(arena, key.p, key.n);
	struct str v;

	if (!schema.p || !scan_get(schema, "properties", &v) ||
	    !scan_get(v, name, &v) || !scan_get(v, "items", &v) ||
	    !scan_get(v, "type", &v))
		return SCHEMA_TYPE_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (scan_is(v, schema_type_name(types[i])))
			return types[i];
	return SCHEMA_TYPE_UNKNOWN;
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
	struct str json;

	jw_array(&wr->jw);
	for (size_t i = 0; i < wr->n; i++) {
		struct word *w = &wr->words[i];

		if (!str_eq(w->key, key))
			continue;
		w->done = true;
		if (w->is_json)
			jw_raw(&wr->jw, w->value);
		else if (as_type(w->value, type, &json))
			jw_raw(&wr->jw, json);
		else
			jw_str(&wr->jw, w->value);
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

/* Members of the object stay as they were written, unless a word is given. */
static int write_all(struct writer *wr, struct str object, struct buf *out,
		     struct err *err)
{
	jw_init(&wr->jw, out, false);
	jw_object(&wr->jw);
	for (struct scan_iter it = scan_over(object); scan_next(&it);) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (!scan_string(it.key, &key) || count(wr, buf_str(&key)))
			continue;
		jw_key_str(&wr->jw, buf_str(&key));
		jw_raw(&wr->jw, it.value);
	}
	for (size_t i = 0; i < wr->n; i++)
		if (!wr->words[i].done &&
		    write_word(wr, &wr->words[i], err) < 0)
			return -1;
	jw_end(&wr->jw);
	return 0;
}

int tool_args_read(const struct args *args, const char *option,
		   struct str schema, struct arena *arena, struct str *ret,
		   struct err *err)
{
	AUTO(schema_freep) struct schema *compiled = NULL;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *object = option ? NULL : args_get(args, "args");
	struct strlist words = {NULL, 0};
	struct writer wr = {.schema = schema, .arena = arena};

	*ret = (struct str){NULL, 0};
	if (option)
		words = args_all(args, option, arena);
	for (size_t i = 1; !option && i < args->n_positional; i++)
		list_add(&words, arena, args->positional[i]);
	if (object && read_object(object, arena, ret, err) < 0)
		return -1;
	wr.n = words.n;
	wr.words = ARENA_ARRAY(arena, struct word, words.n + 1);
	for (size_t i = 0; i < words.n; i++)
		if (read_word(words.item[i], arena, &wr.words[i], err) < 0)
			return -1;
	if (!words.n)
		return 0;
	/* the check of arguments reports an unusable schema */
	if (schema.p &&
	    schema_compile(schema, NULL, &compiled, ERR_IGNORED) == 0)
		wr.compiled = compiled;
	if (write_all(&wr, *ret, &out, err) < 0)
		return -1;
	*ret = arena_str(arena, buf_str(&out));
	return 0;
}
