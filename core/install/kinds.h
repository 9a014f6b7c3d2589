/*
 * Plan of `matins add` for a kind of server, worked out from its words
 * alone. Pure.
 */
#ifndef CORE_INSTALL_KINDS_H
#define CORE_INSTALL_KINDS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* KIND(ident, its name) */
#define INSTALL_KINDS(X)    \
	X(NPM, "npm")       \
	X(PYTHON, "python") \
	X(BUNDLE, "bundle") \
	X(CUSTOM, "custom") \
	X(URL, "url")

enum install_kind {
#define KIND(ident, ...) INSTALL_##ident,
	INSTALL_KINDS(KIND)
#undef KIND
};

/* errors  ERR_USAGE with the nearest kind */
int install_kind_find(const char *word, enum install_kind *ret, struct err *err)
	MUST_USE;
const char *install_kind_name(enum install_kind kind) MUST_USE;
/*
 * Name for a server of this source: what is left of the name of a package,
 * folder or host without the words that all servers have. In `arena`.
 */
const char *install_name(enum install_kind kind, const char *source,
			 struct arena *arena) MUST_USE;
/* Does a source name a file with a package, and not a package by its name? */
bool install_is_file(const char *source) MUST_USE;
/* Is a path relative, without a part that is ".."? */
bool install_is_inside(const char *path) MUST_USE;
/* A source without its version: the newest one. In `arena`. */
const char *install_newest(const char *source, struct arena *arena) MUST_USE;
/*
 * The words that start a server from its copy: words that name files of the
 * folder become their paths in the copy.
 *
 * is_file  is there such a file in the folder?
 */
struct strlist install_words(const char *const *words, const char *tree,
			     bool (*is_file)(void *arg, const char *path),
			     void *arg, struct arena *arena) MUST_USE;

#endif
