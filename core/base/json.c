#include "core/base/json.h"

#include <cjson/cJSON.h>
#include <malloc.h>

#include "core/base/dl.h"
#include "core/base/mem.h"

#define LIBRARY "libcjson.so.1"
/* Integers up to here are exact as a double. */
#define EXACT_MAX 9007199254740992.0

#define CJSON_FUNCTIONS(X)         \
	X(cJSON_InitHooks)         \
	X(cJSON_ParseWithLength)   \
	X(cJSON_Delete)            \
	X(cJSON_CreateObject)      \
	X(cJSON_AddStringToObject) \
	X(cJSON_AddRawToObject)    \
	X(cJSON_AddBoolToObject)   \
	X(cJSON_PrintUnformatted)  \
	X(cJSON_free)

static struct {
	CJSON_FUNCTIONS(DL_MEMBER)
} lib;

static void wipe_and_free(void *p)
{
	if (p)
		mem_wipe(p, malloc_usable_size(p));
	free(p);
}

static int load(struct err *err)
{
	static const char *const names[] = {CJSON_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);
	cJSON_Hooks hooks = {mem_alloc, wipe_and_free};
	bool is_first = !dl.is_tried;

	if (!dl_load(&dl))
		return err_set(err, ERR_UNKNOWN,
			       "JSON documents of other programs need " LIBRARY
			       ", which is not here; install it: apt-get "
			       "install libcjson1");
	if (is_first)
		lib.cJSON_InitHooks(&hooks);
	return 0;
}

static cJSON *node_of(struct json *j)
{
	return (cJSON *)j;
}

void json_freep(struct json **j)
{
	if (*j)
		lib.cJSON_Delete(node_of(*j));
	*j = NULL;
}

/* ---- reading ---- */

/* cJSON ends a string there, and more would go unseen. */
static bool has_nul(struct str text)
{
	for (size_t i = 0; i + 6 <= text.n; i++) {
		if (text.p[i] != '\\')
			continue;
		if (memcmp(text.p + i, "\\u0000", 6) == 0)
			return true;
		i++; /* the escaped byte, which may be a backslash */
	}
	return false;
}

static int read_within(struct str text, const struct scan_limits *limits,
		       size_t bytes_max, bool any_type, struct json **ret,
		       struct err *err)
{
	struct str value;
	cJSON *tree;

	if (text.n > bytes_max)
		return err_set(err, ERR_LIMIT,
			       "a JSON document of more than %zu bytes",
			       bytes_max);
	if (scan_document(text, limits, &value, err) < 0)
		return -1;
	if (!any_type && scan_type(value) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "not a JSON object");
	if (has_nul(value))
		return err_set(err, ERR_SYNTAX,
			       "a string in the JSON has a NUL");
	if (load(err) < 0)
		return -1;
	tree = lib.cJSON_ParseWithLength(value.p, value.n);
	if (!tree)
		return err_set(
			err, ERR_SYNTAX,
			"a string in the JSON has half of a surrogate pair");
	*ret = (struct json *)tree;
	return 0;
}

int json_read(struct str text, struct json **ret, struct err *err)
{
	static const struct scan_limits limits = {.depth = JSON_DEPTH_MAX,
						  .members = JSON_MEMBERS_MAX};

	return read_within(text, &limits, JSON_BYTES_MAX, false, ret, err);
}

int json_read_large(struct str text, size_t bytes_max, uint32_t depth_max,
		    struct json **ret, struct err *err)
{
	const struct scan_limits limits = {.depth = depth_max,
					   .members = LIMIT_JSON_MEMBERS};

	return read_within(text, &limits, bytes_max, true, ret, err);
}

/* ---- walking ---- */

const struct json *json_first(const struct json *parent)
{
	return (const struct json *)((const cJSON *)parent)->child;
}

const struct json *json_next(const struct json *value)
{
	return (const struct json *)((const cJSON *)value)->next;
}

const char *json_name(const struct json *value)
{
	return ((const cJSON *)value)->string;
}

enum scan_type json_type(const struct json *value)
{
	switch (((const cJSON *)value)->type & 0xff) {
	case cJSON_False:
		return SCAN_FALSE;
	case cJSON_True:
		return SCAN_TRUE;
	case cJSON_Number:
		return SCAN_NUMBER;
	case cJSON_String:
		return SCAN_STRING;
	case cJSON_Array:
		return SCAN_ARRAY;
	case cJSON_Object:
		return SCAN_OBJECT;
	default:
		return SCAN_NULL;
	}
}

const char *json_string(const struct json *value)
{
	return ((const cJSON *)value)->valuestring;
}

double json_number(const struct json *value)
{
	return ((const cJSON *)value)->valuedouble;
}

static const cJSON *find(const struct json *object, const char *name)
{
	const cJSON *found = NULL;

	for (const cJSON *c = ((const cJSON *)object)->child; c; c = c->next)
		if (strcmp(c->string, name) == 0)
			found = c;
	return found;
}

static bool is_type(const cJSON *node, int type)
{
	return node && (node->type & 0xff) == type;
}

static const char *text_of(const cJSON *node, struct arena *arena)
{
	return is_type(node, cJSON_String) && *node->valuestring
		       ? arena_strdup(arena, node->valuestring)
		       : NULL;
}

const char *json_text(const struct json *object, const char *name,
		      struct arena *arena)
{
	return text_of(find(object, name), arena);
}

bool json_is_true(const struct json *object, const char *name)
{
	return is_type(find(object, name), cJSON_True);
}

/* "3600", "3600.0", also within quotes: the whole seconds. */
bool json_int64(const struct json *object, const char *name, int64_t *ret)
{
	const cJSON *node = find(object, name);
	struct str digits;

	if (is_type(node, cJSON_String)) {
		digits = str_of(node->valuestring);
		return str_int64(str_cut(&digits, '.'), ret);
	}
	if (!is_type(node, cJSON_Number) || !(node->valuedouble > -EXACT_MAX) ||
	    !(node->valuedouble < EXACT_MAX))
		return false;
	*ret = (int64_t)node->valuedouble;
	return true;
}

bool json_texts(const struct json *object, const char *name,
		struct arena *arena, struct strlist *ret)
{
	const cJSON *array = find(object, name);
	size_t n = 0;

	*ret = (struct strlist){NULL, 0};
	if (!is_type(array, cJSON_Array))
		return false;
	for (const cJSON *c = array->child; c; c = c->next)
		n++;
	ret->item = ARENA_ARRAY(arena, const char *, n + 1);
	for (const cJSON *c = array->child; c; c = c->next) {
		ret->item[ret->n] = text_of(c, arena);
		ret->n += ret->item[ret->n] != NULL;
	}
	return true;
}

/* ---- writing ---- */

int json_make(struct json **ret, struct err *err)
{
	if (load(err) < 0)
		return -1;
	*ret = (struct json *)lib.cJSON_CreateObject();
	return 0;
}

void json_add_text(struct json *object, const char *name, const char *value)
{
	if (value)
		lib.cJSON_AddStringToObject(node_of(object), name, value);
}

void json_add_int64(struct json *object, const char *name, int64_t value)
{
	char digits[24];

	/* cJSON writes 15 digits of a number */
	snprintf(digits, sizeof(digits), "%lld", (long long)value);
	lib.cJSON_AddRawToObject(node_of(object), name, digits);
}

void json_add_bool(struct json *object, const char *name, bool value)
{
	lib.cJSON_AddBoolToObject(node_of(object), name, value);
}

void json_print(const struct json *object, struct buf *out)
{
	char *text = lib.cJSON_PrintUnformatted((const cJSON *)object);

	buf_adds(out, text);
	lib.cJSON_free(text);
}
