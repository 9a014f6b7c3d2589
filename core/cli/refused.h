/*
 * Texts of programs that were refused something: "EROFS: read-only
 * file system, open '/srv/notes'". A refused path cannot be seen from outside,
 * so such a text is the only sign of it while nothing is traced.
 *
 * Pure.
 */
#ifndef CORE_CLI_REFUSED_H
#define CORE_CLI_REFUSED_H

#include "core/base/attr.h"
#include "core/base/str.h"
#include "core/base/buf.h"
#include "gate/gate.h"

enum refused_kind {
	REFUSED_NOTHING,
	REFUSED_MISSING,  /* a path that is not granted looks like this */
	REFUSED_ACCESS,	  /* EACCES, EPERM */
	REFUSED_WRITE,	  /* EROFS */
	REFUSED_DOWNLOAD, /* npm has no network, and lacks a package */
};

struct refused {
	enum refused_kind kind;
	/* The path that the same line names, in quotes or absolute; a slice of
	   the text, {NULL, 0} when it names none. */
	struct str path;
};

/*
 * The first such line that names a path, else the first such line; one that
 * says more than that something is missing goes before one that does not.
 */
struct refused refused_find(struct str text) MUST_USE;

/* Append the words of a command, as far as a line goes. */
void exec_command_words(const struct gate_request *request, struct buf *out);

/* Help for npm without a network that lacks a package. */
extern const char exec_hint_download[];

#endif
