/*
 * Settings of other programs as one kind of tree: JSON with comments, TOML and
 * YAML become tables, arrays and values of core/toml/toml.h.
 *
 * A table keeps the order of its members, and members of one name side by
 * side: what a client would overwrite can be told. A column without a value is
 * no member. `line` and `col` say where a value begins; of JSON `line` is 0 and
 * `col` the offset. Pure, but for libraries that are loaded on first use.
 */
#ifndef CORE_IMPORT_TREE_H
#define CORE_IMPORT_TREE_H

#include "core/base/attr.h"
#include "core/toml/toml.h"

/* Bytes of a file; the user file of a client holds its history, too. */
#define TREE_BYTES_MAX (16 * 1024 * 1024)
#define TREE_DEPTH_MAX 64
/* Values of a YAML document, each alias counted with all that it stands for. */
#define TREE_VALUES_MAX 100000

enum tree_format { TREE_JSON, TREE_TOML, TREE_YAML };

/* Tell by the ending of the path; JSON unless it is .toml, .yaml or .yml. */
enum tree_format tree_format_of(const char *path) MUST_USE;

/*
 * Parse a text; a database of SQLite is told by its first bytes.
 *
 * ret     in `arena`; `text` may go
 * errors  ERR_SYNTAX, ERR_CONFIG  with line and column where they are known
 *	   ERR_LIMIT    too large, too deep, too many values
 *	   ERR_UNKNOWN  a library is missing, with what to install
 */
int tree_read(struct str text, enum tree_format format, struct arena *arena,
	      struct toml_value *ret, struct err *err) MUST_USE;

/* Is the text a database of SQLite, whose servers are read only? */
bool tree_is_database(struct str text) MUST_USE;

/*
 * Append JSON: comments, commas before a closing bracket and a byte order mark
 * become blanks, so that every other byte keeps its offset.
 *
 * errors  ERR_SYNTAX  a comment `//` ends in different places for the readers
 *		       of clients, so that some see servers that others do not
 */
int tree_strip_comments(struct str text, struct buf *out, struct err *err)
	MUST_USE;

/* Offset of the first CR without LF, U+0085, U+2028 or U+2029, each a line end
   for some readers alone; text.n: there is none. */
size_t tree_other_line_end(struct str text) MUST_USE;
/* Refuse the line end at that offset. */
int tree_refuse_line_end(struct str text, size_t at, struct err *err);

/* Add a member to a table, behind those that are there; returns its value. */
struct toml_value *tree_add(struct toml_value *table, const char *key,
			    struct toml_value value, struct arena *arena);

/* Value of a key of a table; a key that is not there becomes an empty table. */
struct toml_value *tree_table(struct toml_value *table, const char *key,
			      struct arena *arena);
/* Add an element behind those that are there. */
void tree_append(struct toml_value *array, struct toml_value value,
		 struct arena *arena);

/* Values of a tree, itself among them; its depth is bounded. */
size_t tree_count(const struct toml_value *v) MUST_USE;

/* Offset in the text of a place in it; its end where there is none. */
size_t tree_offset(struct str text, uint32_t line, uint32_t col) MUST_USE;

/* Of a YAML text, and of a database, for tree_read(). */
int tree_read_yaml(struct str text, struct arena *arena, struct toml_value *ret,
		   struct err *err) MUST_USE;
int tree_read_sqlite(struct str text, struct arena *arena,
		     struct toml_value *ret, struct err *err) MUST_USE;

#endif
