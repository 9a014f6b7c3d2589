/*
 * Tools, resources and prompts as tables for people.
 *
 * Everything in them is a server's text: one line each, with control
 * characters made visible, also in a pipe.
 */
#ifndef CORE_CLI_LIST_SHOW_H
#define CORE_CLI_LIST_SHOW_H

#include "core/cli/target.h"

/* Append one entry of a list: name, title, description, what it takes. */
void list_show_item(const struct target *t, enum listing_kind kind,
		    const struct listing_item *item, struct buf *out);

/* Append all that is known of one tool. */
void list_show_tool(const struct target *t, const struct listing_item *item,
		    struct buf *out);

/*
 * Print a listing for people, or with --json as one document.
 * more  another listing of the same document; NULL for none
 */
int list_print(struct target *t, const struct listing *l,
	       const struct listing *more, struct err *err) MUST_USE;

/*
 * "NAME has no tool X; did you mean Y?" Of tools it is said, too, which
 * options make some servers offer more of them.
 * errors  ERR_UNKNOWN_TOOL or ERR_UNKNOWN_PROMPT, always
 */
int list_unknown(const struct target *t, const struct listing *l,
		 const char *what, const char *name, struct err *err);

#endif
