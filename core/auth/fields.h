/*
 * Members of the JSON objects that authorization servers send, and their
 * sentences. Pure.
 */
#ifndef CORE_AUTH_FIELDS_H
#define CORE_AUTH_FIELDS_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/scan.h"
#include "core/base/str.h"

/* Of what a peer said, in a sentence of ours. */
#define FIELDS_QUOTE_BYTES 300

/* The whole text is one JSON object of few levels; false: it is not. */
bool fields_object(struct str text, struct str *ret) MUST_USE;
/* NULL: absent, no string, empty, or with a NUL in it. */
const char *fields_text(struct str object, const char *name,
			struct arena *arena) MUST_USE;
/* true and nothing else */
bool fields_true(struct str object, const char *name) MUST_USE;
/* A number, or a string of digits; false: neither. */
bool fields_seconds(struct str object, const char *name, int64_t *ret) MUST_USE;
/* The strings of an array; false: there is no array. */
bool fields_list(struct str object, const char *name, struct arena *arena,
		 struct strlist *ret) MUST_USE;
/*
 * What a peer said, for a sentence: controls escaped, at most `max` bytes of
 * it. Returns the text of `out`, which is cleared first.
 */
const char *fields_quote(struct buf *out, struct str said, size_t max) MUST_USE;

#endif
