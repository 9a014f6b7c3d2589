/*
 * URIs and references to them, as text alone. Pure; nothing is fetched.
 *
 * Any text has parts; url.h is for those that are connected to, and strict.
 *
 * source  RFC 3986
 */
#ifndef CORE_BASE_URI_H
#define CORE_BASE_URI_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* Slices of the text; p is NULL where a part is absent. */
struct uri {
	struct str scheme; /* without ':' */
	struct str authority;
	struct str path; /* never absent, maybe empty */
	struct str query;
	struct str fragment;
};

/* source  RFC 3986, appendix B */
struct uri uri_parts(struct str text) MUST_USE;

/*
 * Resolve a reference against a base; the result, in `arena`, has no dots and
 * no fragment. A base without scheme gives a result without one.
 *
 * source  RFC 3986, section 5.2
 */
struct str uri_resolve(struct str base, struct str reference,
		       struct arena *arena) MUST_USE;

/*
 * Byte that "%XX" at the start of s means; -1: no such escape.
 *
 * source  RFC 3986, section 2.1
 */
int uri_percent(struct str s) MUST_USE;

/* Fragment with %XX decoded, in `arena`; empty when there is none. */
struct str uri_fragment(struct str reference, struct arena *arena) MUST_USE;

#endif
