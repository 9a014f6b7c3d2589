#include "core/import/tree.h"

#include <math.h>
#include <strings.h>

#include "core/base/json.h"

enum tree_format tree_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcasecmp(dot, ".toml") == 0)
		return TREE_TOML;
	if (dot &&
	    (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0))
		return TREE_YAML;
	return TREE_JSON;
}

struct toml_value *tree_add(struct toml_value *table, const char *key,
			    struct toml_value value, struct arena *arena)
{
	struct toml_member *all =
		arena_grow(arena, table->table.member, table->table.n,
			   sizeof(*table->table.member));

	table->table.member = all;
	all += table->table.n++;
	*all = (struct toml_member){arena_strdup(arena, key), 0, 0, value};
	return &all->value;
}

struct toml_value *tree_table(struct toml_value *table, const char *key,
			      struct arena *arena)
{
	for (size_t i = 0; i < table->table.n; i++)
		if (strcmp(table->table.member[i].key, key) == 0)
			return &table->table.member[i].value;
	return tree_add(table, key, (struct toml_value){.type = TOML_TABLE},
			arena);
}

void tree_append(struct toml_value *array, struct toml_value value,
		 struct arena *arena)
{
	array->array.item = arena_grow(arena, array->array.item, array->array.n,
				       sizeof(value));
	array->array.item[array->array.n++] = value;
}

/* ---- comments and trailing commas ---- */

/* Offset behind the string that begins there. */
static size_t skip_string(struct str text, size_t at)
{
	for (at++; at < text.n && text.p[at] != '"'; at++)
		at += text.p[at] == '\\';
	return at < text.n ? at + 1 : text.n;
}

/* Offset behind the comment that begins there; `at`: none does. */
static size_t skip_comment(struct str text, size_t at)
{
	const struct str rest = str_skip(text, at);
	const char *end;

	if (str_starts(rest, "//"))
		return at + str_find(rest, '\n');
	if (!str_starts(rest, "/*"))
		return at;
	end = memmem(rest.p + 2, rest.n - 2, "*/", 2);
	return end ? (size_t)(end + 2 - text.p) : text.n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void tree_strip_comments(struct str text, struct buf *out)
{
	size_t comma = 0; /* offset in `out` behind the last one; 0: none */

	for (size_t at = str_starts(text, "\xef\xbb\xbf") ? 3 : 0; at < text.n;
	     at++) {
		const size_t behind = skip_comment(text, at);

		if (behind > at) {
			for (; at < behind; at++)
				buf_addc(out, is_blank(text.p[at]) ? text.p[at]
								   : ' ');
			at--;
			continue;
		}
		if (text.p[at] == '"') {
			const size_t end = skip_string(text, at);

			buf_add(out, text.p + at, end - at);
			at = end - 1;
			comma = 0;
			continue;
		}
		if (comma && strchr("}]", text.p[at]))
			out->p[comma - 1] = ' ';
		buf_addc(out, text.p[at]);
		if (text.p[at] == ',')
			comma = out->n;
		else if (!is_blank(text.p[at]))
			comma = 0;
	}
}

/* ---- JSON ---- */

static struct toml_value of_json(const struct json *j, struct arena *arena);

static struct toml_value of_number(double number)
{
	if (number == trunc(number) && fabs(number) < 9007199254740992.0)
		return (struct toml_value){.type = TOML_INTEGER,
					   .integer = (int64_t)number};
	return (struct toml_value){.type = TOML_FLOAT, .real = number};
}

/* Elements or members that are not null; the depth is bounded already. */
static struct toml_value of_children(const struct json *j, enum toml_type type,
				     struct arena *arena)
{
	struct toml_value v = {.type = type};

	for (const struct json *c = json_first(j); c; c = json_next(c)) {
		if (json_type(c) == SCAN_NULL)
			continue;
		if (type == TOML_TABLE)
			(void)tree_add(&v, json_name(c), of_json(c, arena),
				       arena);
		else
			tree_append(&v, of_json(c, arena), arena);
	}
	return v;
}

static struct toml_value of_json(const struct json *j, struct arena *arena)
{
	switch (json_type(j)) {
	case SCAN_STRING:
		return (struct toml_value){
			.type = TOML_STRING,
			.string = arena_str(arena, str_of(json_string(j)))};
	case SCAN_NUMBER:
		return of_number(json_number(j));
	case SCAN_ARRAY:
		return of_children(j, TOML_ARRAY, arena);
	case SCAN_OBJECT:
		return of_children(j, TOML_TABLE, arena);
	default:
		return (struct toml_value){.type = TOML_BOOLEAN,
					   .boolean =
						   json_type(j) == SCAN_TRUE};
	}
}

static int read_json(struct str text, struct arena *arena,
		     struct toml_value *ret, struct err *err)
{
	AUTO(buf_wipe) struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	AUTO(json_freep) struct json *doc = NULL;

	tree_strip_comments(text, &plain);
	if (json_read_large(buf_str(&plain), TREE_BYTES_MAX, TREE_DEPTH_MAX,
			    &doc, err) < 0)
		return -1;
	*ret = of_json(doc, arena);
	return 0;
}

int tree_read(struct str text, enum tree_format format, struct arena *arena,
	      struct toml_value *ret, struct err *err)
{
	if (format == TREE_TOML)
		return toml_parse(arena, text, ret, err);
	return (format == TREE_YAML ? tree_read_yaml : read_json)(text, arena,
								  ret, err);
}
