/*
 * Rows added to the `sandbox` of a step, and servers taken out, in the text of
 * a configuration: every other byte stays as it is, comments and line ends
 * included.
 *
 * Pure: text in, text out. The result is parsed and compared before it is
 * returned, so a form that is not understood is an error, never a file that
 * means something else.
 */
#ifndef CORE_CONFIG_EDIT_H
#define CORE_CONFIG_EDIT_H

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Values of one key; rows of one key stand in one such struct. */
struct edit_row {
	const char *key; /* "read": bare */
	struct strlist values;
	bool is_word; /* one word instead of a list: net = "all" */
	/* Out: the key has a value that this one cannot be joined with. */
	bool is_left;
};

/*
 * Add values that are not there yet. The sandbox may be an inline table, dotted
 * keys, a table of its own, or absent. Rows that cannot be joined are left. Of
 *a step without one that names a server it is the server's.
 *
 * out     whole new text; equal to `text` when nothing is new
 * errors  ERR_CONFIG        not TOML, or a form that cannot be edited
 *	   ERR_UNKNOWN_STEP  no such step
 */
int edit_sandbox(struct str text, const char *routine, const char *step,
		 struct edit_row *row, size_t n_rows, struct buf *out,
		 struct err *err) MUST_USE;

/*
 * Take a server out: its tables, and the lines of comments right above them.
 *
 * out     whole new text
 * errors  ERR_CONFIG	       not TOML, or a form that cannot be edited
 *	   ERR_UNKNOWN_SERVER  no such server
 */
int edit_drop_server(struct str text, const char *name, struct buf *out,
		     struct err *err) MUST_USE;

/*
 * Append the lines from the first to the last one that differs as `diff -U2`
 * does, without the two lines at its head. A last line without a line end is
 * shown as if it had one.
 */
void edit_diff(struct str before, struct str after, struct buf *out);

/* Append the value of a row: a word, or a list in one line. */
void edit_add_value(struct buf *out, const struct edit_row *row);

/* Append a basic string of TOML; control characters are escaped. */
void edit_add_string(struct buf *out, const char *s);
/* Append a key, in quotes where it is not bare. */
void edit_add_key(struct buf *out, const char *key);
/* Append a JSON value in one line, as far as TOML has it: members and elements
   that are null are left out. */
void edit_add_json(struct buf *out, struct str json);

#endif
