/*
 * A JSON document of someone else as a tree, read whole or edited. The one
 * door to cJSON, which is loaded on first use: a run without authorization
 * maps none of it.
 *
 *	AUTO(json_freep) struct json *doc = NULL;
 *	if (json_read(text, &doc, err) < 0)
 *		return -1;
 *	issuer = json_text(doc, "issuer", &arena);
 *
 *	if (json_make(&doc, err) < 0)
 *		return -1;
 *	json_add_text(doc, "issuer", issuer);
 *	json_print(doc, &out);
 *
 * The text is proved by core/base/scan.h before cJSON sees it. For small
 * documents, with numbers up to 2^53: messages, where nothing may be lost, are
 * read by scan.h, compared by jdoc.h and written by jw.h. Memory of a tree is
 * wiped when it is freed, for documents hold tokens.
 */
#ifndef CORE_BASE_JSON_H
#define CORE_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/scan.h"
#include "core/base/str.h"

/* Bytes of a document, its nesting, and members of one object. */
#define JSON_BYTES_MAX (1024 * 1024)
#define JSON_DEPTH_MAX 16
#define JSON_MEMBERS_MAX 10000

struct json;

/*
 * The whole text must be one object.
 *
 * ret     owned by the caller
 * errors  ERR_SYNTAX   not JSON, not an object, or a NUL in a string
 *	   ERR_LIMIT	one of the bounds above
 *	   ERR_UNKNOWN	cJSON is not installed, with what to install
 */
int json_read(struct str text, struct json **ret, struct err *err) MUST_USE;
/*
 * Like json_read(), for a document of any type and up to LIMIT_JSON_MEMBERS
 * members: the settings of a program.
 *
 * bytes_max  ceiling of the text
 * depth_max  of its nesting
 */
int json_read_large(struct str text, size_t bytes_max, uint32_t depth_max,
		    struct json **ret, struct err *err) MUST_USE;
/* An empty object. errors  ERR_UNKNOWN  as above */
int json_make(struct json **ret, struct err *err) MUST_USE;
/* For AUTO(). */
void json_freep(struct json **j);

/* Of members with one name the last counts. */

/* In the arena; NULL: absent, not a string, or empty. */
const char *json_text(const struct json *object, const char *name,
		      struct arena *arena) MUST_USE;
/* true and nothing else */
bool json_is_true(const struct json *object, const char *name) MUST_USE;
/* The whole part of a number, or of a string of digits; false: neither. */
bool json_int64(const struct json *object, const char *name, int64_t *ret)
	MUST_USE;
/* The strings of an array that are not empty; false: there is no array. */
bool json_texts(const struct json *object, const char *name,
		struct arena *arena, struct strlist *ret) MUST_USE;

/* Walk a document: the first member or element, and the one behind; NULL. */
const struct json *json_first(const struct json *parent) MUST_USE;
const struct json *json_next(const struct json *value) MUST_USE;
/* Name of a member; NULL: it is none. Borrowed, as is json_string(). */
const char *json_name(const struct json *value) MUST_USE;
enum scan_type json_type(const struct json *value) MUST_USE;
/* Text of a string, number of a number. */
const char *json_string(const struct json *value) MUST_USE;
double json_number(const struct json *value) MUST_USE;

/* value  copied; NULL adds nothing */
void json_add_text(struct json *object, const char *name, const char *value);
void json_add_int64(struct json *object, const char *name, int64_t value);
void json_add_bool(struct json *object, const char *name, bool value);

/* Append the text, without white space. */
void json_print(const struct json *object, struct buf *out);

#endif
