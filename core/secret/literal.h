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
#include "core/base/buf.h"
#include "core/base/str.h"

/*
 * name     of a variable or header; words end at characters that are no
 *	    letters or digits, and at an upper-case letter behind a lower-case
 *	    one
 * returns  NULL: a plain value; or static words that finish the sentence
 *	    "NAME looks like …": "a credential by its name", "a token of
 *	    GitHub". The value is in no result
 */
const char *literal_looks_like(const char *name, struct str value) MUST_USE;
/*
 * As literal_looks_like(), for an argument of a program: "--token=VALUE", or a
 * value behind `before`, the argument "--token". Names of options mean much, so
 * the value counts only where it looks like no word.
 */
const char *literal_argument(struct str before, struct str argument) MUST_USE;
/*
 * Find the first token: by its form alone, or behind a name in the text
 * ("?api_key=VALUE", "--token VALUE") where it looks like no word.
 * ret      the bytes to hide, in `text`: without a prefix that many tokens
 *	    share; may be empty behind the first line of a private key
 * returns  as above; NULL: none, and *ret means nothing
 */
const char *literal_find(struct str text, struct str *ret) MUST_USE;
/*
 * Append a text in which *** stands for each token that literal_find() finds.
 * Bytes that a shell could take for a command stay, a key over several lines
 * among them: the text is what a person allows.
 */
void literal_mask(struct str text, struct buf *out);

#endif
