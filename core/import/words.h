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

/* Text of another client, in the arena. */
struct word {
	const char *why;      /* NULL: success; else a sentence, and nothing of
				 the rest but `text` counts */
	const char *text;     /* translated: ${env:X}, $env:X, $X as a whole,
				 ${input:x}, ${workspaceFolder}, ${userHome} and
				 `~`; as it was where there is a `why` */
	const char *variable; /* one that is all of the text; or NULL */
	const char *now;      /* with the values that variables have now; NULL:
				 `missing` is not set */
	const char *missing;
	bool has_any;	 /* a variable was replaced in `now` */
	bool has_secret; /* the value of one is a credential, by its look or as
			    the input of a password */
};

struct word words_read(const struct import_source *src, const char *raw)
	MUST_USE;

/* Name for a variable: upper-case letters, digits and `_` of both texts. */
const char *words_name(const char *a, const char *b, struct arena *arena)
	MUST_USE;

#endif
