/*
 * URLs of http and https, ws and wss: parsed, compared, resolved.
 *
 * Strict on purpose: what two parsers could read differently is refused
 * (user information, backslashes, spaces, controls, characters beyond ASCII),
 * so that what is judged here is what is connected to. Pure.
 *
 * source  RFC 3986; RFC 6454 for origins
 */
#ifndef CORE_BASE_URL_H
#define CORE_BASE_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Texts live in the arena, each ends in NUL. */
struct url {
	struct str scheme;   /* "https", lower case */
	struct str host;     /* lower case; an IPv6 address without brackets */
	struct str path;     /* as written; "/" when it was empty */
	struct str query;    /* without "?"; {NULL, 0} when there is none */
	struct str fragment; /* without "#"; {NULL, 0} when there is none */
	struct str text;     /* all of it in this form, without the fragment */
	uint16_t port;	     /* default of the scheme when none was written */
	bool is_tls;	     /* https, wss */
	bool is_ipv6;	     /* host is an address of that kind */
};

/*
 * errors  ERR_SYNTAX  no such URL; says what is wrong and where
 */
int url_parse(struct str text, struct arena *arena, struct url *ret,
	      struct err *err) MUST_USE;
/*
 * A reference (absolute, "//host", "/path", "path", "?query") against a base.
 * source  RFC 3986 section 5.2
 */
int url_resolve(const struct url *base, struct str reference,
		struct arena *arena, struct url *ret, struct err *err) MUST_USE;
/* Append "https://host", with the port where it is not that of the scheme. */
void url_origin(const struct url *u, struct buf *out);
/* Compare scheme, host and port; ws counts as http, wss as https. */
bool url_same_origin(const struct url *a, const struct url *b) MUST_USE;
/* Report whether the host is "localhost", beneath it, or a literal loopback
   address. */
bool url_is_loopback(const struct url *u) MUST_USE;
/*
 * application/x-www-form-urlencoded: append "name=value", with "&" before it
 * where `out` is not empty. All but unreserved characters become %XX, a space
 * "+".
 */
void url_form_add(struct buf *out, const char *name, struct str value);
/*
 * Append the value of a member of a query or form, decoded; false when it is
 * missing. The first of two members of one name counts.
 */
bool url_form_get(struct str form, const char *name, struct buf *out) MUST_USE;

/*
 * ---- URIs and references to them, as text alone; nothing is fetched ----
 *
 * Any text has parts; a struct url is for what is connected to, and strict.
 *
 * source  RFC 3986
 */

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
