/*
 * A text of any format to a tree; JSON is read here.
 */
#include <math.h>

#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/import/tree.h"

/* A text that was proved, and the slice of it that a value is. */
struct place {
	const char *text;
	struct str slice;
};

static struct toml_value of_json(const struct json *j, struct place at,
				 struct arena *arena);

static struct toml_value of_number(double number)
{
	if (number == trunc(number) && fabs(number) < 9007199254740992.0)
		return (struct toml_value){.type = TOML_INTEGER,
					   .integer = (int64_t)number};
	return (struct toml_value){.type = TOML_FLOAT, .real = number};
}

/* Elements or members; the depth is bounded already. */
static struct toml_value of_children(const struct json *j, struct place at,
				     enum toml_type type, struct arena *arena)
{
	struct toml_value v = {.type = type};
	struct scan_iter it = scan_over(at.slice);

	for (const struct json *c = json_first(j); c && scan_next(&it);
	     c = json_next(c)) {
		const struct place of = {at.text, it.value};

		if (type == TOML_TABLE)
			(void)tree_add(&v, json_name(c), of_json(c, of, arena),
				       arena);
		else
			tree_append(&v, of_json(c, of, arena), arena);
	}
	return v;
}

static struct toml_value of_json(const struct json *j, struct place at,
				 struct arena *arena)
{
	struct toml_value v = {.type = TOML_BOOLEAN,
			       .boolean = json_type(j) == SCAN_TRUE};

	if (json_type(j) == SCAN_NULL) {
		v.type = TOML_NULL;
	} else if (json_type(j) == SCAN_STRING) {
		v.type = TOML_STRING;
		v.string = arena_str(arena, str_of(json_string(j)));
	} else if (json_type(j) == SCAN_NUMBER) {
		v = of_number(json_number(j));
	} else if (json_type(j) >= SCAN_ARRAY) {
		v = of_children(j, at,
				json_type(j) == SCAN_ARRAY ? TOML_ARRAY
							   : TOML_TABLE,
				arena);
	}
	v.col = (uint32_t)(at.slice.p - at.text);
	return v;
}

static int read_json(struct str text, struct arena *arena,
		     struct toml_value *ret, struct err *err)
{
	AUTO(buf_wipe) struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	AUTO(json_freep) struct json *doc = NULL;
	const struct scan_limits limits = {TREE_DEPTH_MAX, LIMIT_JSON_MEMBERS};
	struct place at;

	if (tree_strip_comments(text, &plain, err) < 0 ||
	    json_read_large(buf_str(&plain), TREE_BYTES_MAX, TREE_DEPTH_MAX,
			    &doc, err) < 0)
		return -1;
	at.text = plain.p;
	if (scan_document(buf_str(&plain), &limits, &at.slice, err) < 0)
		return -1;
	*ret = of_json(doc, at, arena);
	return 0;
}

bool tree_is_database(struct str text)
{
	return str_starts(text, "SQLite format 3");
}

int tree_read(struct str text, enum tree_format format, struct arena *arena,
	      struct toml_value *ret, struct err *err)
{
	if (tree_is_database(text))
		return tree_read_sqlite(text, arena, ret, err);
	if (format == TREE_TOML)
		return toml_parse(arena, text, ret, err);
	return (format == TREE_YAML ? tree_read_yaml : read_json)(text, arena,
								  ret, err);
}
