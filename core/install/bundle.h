/*
 * The manifest of a bundle (MCPB, before that DXT): how its server is started,
 * and what a person has to say for it. Pure.
 *
 *	bundle_read(text, tree, &values, &arena, &b, err)
 *
 * Of the command, arguments and variables `${__dirname}` is the tree,
 * `${user_config.X}` the value that the person gave, else the default;
 * `${HOME}` and `${/}` are what they say. The manifest is of a stranger: an
 * argument or a variable that would name a file outside of the tree, but for
 * those of the system, is left out with a note, unless a person gave that part.
 */
#ifndef CORE_INSTALL_BUNDLE_H
#define CORE_INSTALL_BUNDLE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct bundle_variable {
	const char *name;
	const char *value; /* NULL: a credential, in a file named for: */
	const char *key;   /* of user_config */
};

/* Texts in the arena. */
struct bundle {
	const char *name, *version;
	struct strlist words; /* program and arguments */
	struct bundle_variable *env;
	size_t n_env;
	struct strlist notes; /* sentences for a person: what is missing */
};

/*
 * tree    absolute, of the server in its place
 * home    of the user; NULL: none
 * values  "KEY=VALUE" of the person
 * errors  ERR_SYNTAX  not JSON, or a member that must be there is missing or
 *		       of another type
 *	   ERR_CONFIG  it is not for Linux, or wants a credential among the
 *		       arguments, which everybody can read
 *	   ERR_LIMIT   texts that are too large when filled in
 *	   ERR_USAGE   a value of no key of its user_config
 */
int bundle_read(struct str manifest, const char *tree, const char *home,
		const struct strlist *values, struct arena *arena,
		struct bundle *ret, struct err *err) MUST_USE;

#endif
