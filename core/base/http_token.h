/*
 * Tokens of HTTP: names of header fields, methods, schemes of authentication.
 * Pure.
 *
 * source  RFC 9110 section 5.6.2
 */
#ifndef CORE_BASE_HTTP_TOKEN_H
#define CORE_BASE_HTTP_TOKEN_H

#include "core/base/attr.h"
#include "core/base/str.h"

/* Bytes of the token that a text begins with; 0: it begins with none. */
size_t http_token_len(struct str text) MUST_USE;
/* Is it one, all of it? */
bool http_is_token(struct str text) MUST_USE;

#endif
