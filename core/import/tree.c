#include "core/import/tree.h"

#include <strings.h>

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

size_t tree_count(const struct toml_value *v)
{
	size_t n = 1;

	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++)
		n += tree_count(&v->array.item[i]);
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		n += tree_count(&v->table.member[i].value);
	return n;
}

/* ---- comments and trailing commas ---- */

/* Offset behind the string that begins there. */
static size_t skip_string(struct str text, size_t at)
{
	for (at++; at < text.n && text.p[at] != '"'; at++)
		at += text.p[at] == '\\';
	return at < text.n ? at + 1 : text.n;
}

/* Offset behind the comment or byte order mark that begins there; `at`: none
   does. */
static size_t skip_comment(struct str text, size_t at)
{
	const struct str rest = str_skip(text, at);
	const char *end;

	if (!at && str_starts(rest, "\xef\xbb\xbf"))
		return 3;
	if (str_starts(rest, "//"))
		return at + str_find(rest, '\n');
	if (!str_starts(rest, "/*"))
		return at;
	end = memmem(rest.p + 2, rest.n - 2, "*/", 2);
	return end ? (size_t)(end + 2 - text.p) : text.n;
}

size_t tree_other_line_end(struct str text)
{
	static const char *const ends[] = {"\xc2\x85", "\xe2\x80\xa8",
					   "\xe2\x80\xa9"};

	for (size_t at = 0; at < text.n; at++) {
		const struct str rest = str_skip(text, at);

		if (rest.p[0] == '\r' && (rest.n < 2 || rest.p[1] != '\n'))
			return at;
		for (size_t i = 0; i < ARRAY_LEN(ends); i++)
			if (str_starts(rest, ends[i]))
				return at;
	}
	return text.n;
}

int tree_refuse_line_end(struct str text, size_t at, struct err *err)
{
	uint32_t line = 1, col = 1;

	for (size_t i = 0; i < at; i++) {
		col += (text.p[i] & 0xc0) != 0x80;
		if (text.p[i] == '\n') {
			line++;
			col = 1;
		}
	}
	return err_at(err, ERR_SYNTAX, line, col,
		      "line %u, column %u: a line end for some readers alone "
		      "(CR without LF, U+0085, U+2028 or U+2029), so clients "
		      "differ in what they see; write LF, or CR and LF",
		      (unsigned)line, (unsigned)col);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int tree_strip_comments(struct str text, struct buf *out, struct err *err)
{
	size_t comma = 0; /* offset in `out` behind the last one; 0: none */

	for (size_t at = 0; at < text.n; at++) {
		const size_t behind = skip_comment(text, at);

		if (behind > at) {
			/* with its LF, which may follow a CR */
			const size_t n = behind - at + (behind < text.n);
			const size_t end = tree_other_line_end(
				(struct str){text.p + at, n});

			if (str_starts(str_skip(text, at), "//") && end < n)
				return tree_refuse_line_end(text, at + end,
							    err);
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
	return 0;
}

size_t tree_offset(struct str text, uint32_t line, uint32_t col)
{
	const struct str all = text;

	if (!line)
		return col;
	while (--line) {
		const size_t n = str_find(text, '\n');

		text = str_skip(text, n < text.n ? n + 1 : n);
	}
	while (--col && text.n) {
		const size_t n = str_utf8_len(text);

		text = str_skip(text, n ? n : 1);
	}
	return all.n - text.n;
}
