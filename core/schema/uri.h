/*
 * References of schemas: RFC 3986, as text only. Nothing is fetched.
 */
#ifndef CORE_SCHEMA_URI_H
#define CORE_SCHEMA_URI_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

struct uri {
	struct str scheme; /* without ':'; p is NULL when absent, as below */
	struct str authority;
	struct str path; /* never absent, maybe empty */
	struct str query;
	struct str fragment;
};

/* Any text has parts; slices of it. */
struct uri uri_parts(struct str text) MUST_USE;

/*
 * `reference` as seen from `base`, dots removed, without its fragment, in
 * `arena`. A base without scheme gives a reference without one.
 *
 * source  RFC 3986, section 5.2
 */
struct str uri_resolve(struct str base, struct str reference,
		       struct arena *arena) MUST_USE;

/* The fragment with %XX decoded, in `arena`; empty when there is none. */
struct str uri_fragment(struct str reference, struct arena *arena) MUST_USE;

#endif
