/*
 * Words of other clients' settings: their variables, inputs and folders as
 * ${NAME}, ${NAME:-default} and paths.
 */
#ifndef CORE_IMPORT_WORDS_H
#define CORE_IMPORT_WORDS_H

#include "core/import/server.h"

/* Text of a value that is one word: string, number or boolean; else NULL. */
const char *words_text(const struct toml_value *v, struct arena *arena)
	MUST_USE;
/* Texts of an array, or of a single value; others are left out. */
struct strlist words_list(const struct toml_value *v, struct arena *arena)
	MUST_USE;

/*
 * Translate ${env:X}, $env:X, $X as a whole, ${input:x}, ${workspaceFolder},
 * ${userHome} and `~`.
 *
 * ret_why  NULL: success; else a sentence, and the result means nothing
 */
const char *words_translate(const struct import_source *src, const char *raw,
			    const char **ret_why) MUST_USE;
/* Name of the variable that is all of a translated text; NULL: it is not. */
const char *words_variable(const char *text, struct arena *arena) MUST_USE;

struct words_expanded {
	const char *text; /* NULL: `missing` is not set */
	const char *missing;
	bool has_any;	 /* a variable was replaced */
	bool has_secret; /* the value of one is a credential */
};

/* Replace variables of a translated text by the values that they have now. */
struct words_expanded words_expand(const struct import_source *src,
				   const char *text) MUST_USE;

/* Name for a variable: upper-case letters, digits and `_` of both texts. */
const char *words_name(const char *a, const char *b, struct arena *arena)
	MUST_USE;

#endif
