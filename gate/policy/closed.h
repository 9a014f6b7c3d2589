/*
 * Files that stay shut in a trace, and that no printed policy grants: keys,
 * tokens and sessions (closed.def), HOME as a whole, the folders that hold
 * them.
 *
 * Text only: paths are compared as they really lie.
 */
#ifndef GATE_POLICY_CLOSED_H
#define GATE_POLICY_CLOSED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"
#include "core/base/str.h"

enum closed_kind {
	CLOSED_NOT,
	CLOSED_SECRET,
	CLOSED_OTHERS,
	CLOSED_CACHE,
	CLOSED_SYSTEM
};

struct closed {
	const char *home; /* as it really lies; NULL without */
	/* Folders in which "~/" rows are looked for: HOME, and what the passwd
	   entry says. */
	struct strlist homes;
	const char *state; /* our own; NULL without */
};

/* Is the path a row, or beneath one? HOME is not beneath another's homes. */
enum closed_kind closed_kind_of(const struct closed *c, const char *path)
	MUST_USE;
/*
 * The row of keys, tokens or sessions that the path is, or lies beneath:
 * "~/.aws", "/etc/shadow"; NULL when it is none. Static.
 */
const char *closed_secret_row(const struct closed *c, const char *path)
	MUST_USE;
/* Is a row, a private place or HOME the path, or beneath it? */
bool closed_is_beneath(const struct closed *c, const char *path) MUST_USE;
/*
 * May a grant be widened to this folder? Never to "/", a folder directly in
 * it, HOME, a folder of programs, a row, or what holds one of these.
 */
bool closed_may_widen(const struct closed *c, const char *dir) MUST_USE;
/* The rows in HOME that are SECRET, "~/.ssh" say, by turns; NULL at the end. */
const char *closed_home_secret(size_t turn) MUST_USE;

#endif
