/*
 * The words of a text that may be paths: of an argument, "NAME=VALUE" or a
 * script. A guess: a word is one that can be looked up, and most are none.
 *
 *	while (path_word_next(&text, &word))
 *		look up word.path from where word.from says
 *
 * Pure.
 */
#ifndef GATE_POLICY_PATH_WORDS_H
#define GATE_POLICY_PATH_WORDS_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/str.h"

enum path_from {
	PATH_FROM_CWD,	/* "docs/a.md", "./a" as "a" */
	PATH_FROM_HOME, /* "~/notes", "$HOME/notes", "${HOME}/notes" as "notes",
			   the variable in quotes as well */
	PATH_FROM_ROOT, /* "/srv/a" */
};

struct path_word {
	enum path_from from;
	struct str path; /* a slice of the text, without slashes at its end */
	bool is_pattern; /* only the folder of a pattern: "notes" of
			    "notes/x*.md" and "notes/{a,b}", nothing of "*.md"
			  */
};

/*
 * Take the next word; of one in quotes with blanks in it first the whole, then
 * its words. Left out: options, words with "..", variables other than
 * HOME, and what is no name at all ("/", ".", "~").
 */
bool path_word_next(struct str *text, struct path_word *ret) MUST_USE;

#endif
