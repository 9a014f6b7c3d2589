/*
 * Literals that look like a credential, which should stand in no file that
 * people copy and commit. Judged by name and form, by the rows of
 * core/secret/literal.def; a guess, so that a user can overrule it.
 *
 * Pure.
 */
#ifndef CORE_SECRET_LITERAL_H
#define CORE_SECRET_LITERAL_H

#include "core/base/attr.h"
#include "core/base/str.h"

/*
 * name     of a variable; words end at characters that are no letters or
 *	    digits, and at an upper-case letter behind a lower-case one
 * returns  NULL: a plain value; or static words that finish the sentence
 *	    "NAME looks like …": "a credential by its name", "a token of
 *	    GitHub". The value is in no result
 */
const char *literal_looks_like(const char *name, struct str value) MUST_USE;

#endif
