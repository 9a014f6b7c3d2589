/*
 * Writes JSON into a buffer, with commas, indentation and escapes right.
 *
 *	struct jw w = jw_begin(&out);
 *
 *	jw_key(&w, "name"); jw_str(&w, name);
 *	jw_key(&w, "content"); jw_raw(&w, slice);
 *	jw_end(&w);
 *
 * Field order is the order of calls. Raw slices are written as they came, so
 * what a peer sent stays byte for byte. It checks nesting by assert only: a
 * wrong call is a bug of ours.
 */
#ifndef CORE_BASE_JW_H
#define CORE_BASE_JW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/str.h"

#define JW_DEPTH 32

struct jw {
	struct buf *out; /* borrowed */
	bool pretty;	 /* two spaces a level */
	bool after_key;
	uint32_t depth;
	struct {
		bool is_object;
		bool any;
	} level[JW_DEPTH];
};

void jw_init(struct jw *w, struct buf *out, bool pretty);
/* A document on one line that is one object, which is begun. */
struct jw jw_begin(struct buf *out) MUST_USE;
void jw_object(struct jw *w);
void jw_array(struct jw *w);
/* Ends the innermost object or array. */
void jw_end(struct jw *w);
void jw_key(struct jw *w, const char *key);
void jw_key_str(struct jw *w, struct str key);
/* A key with its quotes, written as it is. */
void jw_key_raw(struct jw *w, struct str json);
/* NUL and control characters are escaped, bytes that are no UTF-8 U+FFFD. */
void jw_str(struct jw *w, struct str s);
void jw_cstr(struct jw *w, const char *s);
/* A string in pieces, each of whole characters. */
void jw_text_begin(struct jw *w);
void jw_text(struct jw *w, struct str piece);
void jw_text_end(struct jw *w);
void jw_int(struct jw *w, int64_t v);
void jw_uint(struct jw *w, uint64_t v);
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
/* JSON text, written as it is; in an object also a member with its key. */
void jw_raw(struct jw *w, struct str json);

/*
 * Members of an object as they stand, but for one; {NULL, 0}: there are none.
 *
 * but  name of the one that is left out; NULL: none is
 */
void jw_members(struct jw *w, struct str object, const char *but);

/* Append one JSON string with its quotes. */
void jw_quote(struct buf *out, struct str s);

/* key and value in one call */
void jw_kv_str(struct jw *w, const char *key, struct str s);
void jw_kv_cstr(struct jw *w, const char *key, const char *s);
/* A member that is there only where s is not NULL. */
void jw_kv_opt(struct jw *w, const char *key, const char *s);
void jw_kv_int(struct jw *w, const char *key, int64_t v);
void jw_kv_uint(struct jw *w, const char *key, uint64_t v);
void jw_kv_bool(struct jw *w, const char *key, bool v);
void jw_kv_raw(struct jw *w, const char *key, struct str json);
/* A key and the beginning of its value; jw_end() ends it. */
void jw_kv_object(struct jw *w, const char *key);
void jw_kv_array(struct jw *w, const char *key);
/* A key and an array of strings. */
void jw_kv_list(struct jw *w, const char *key, const struct strlist *list);

#endif
