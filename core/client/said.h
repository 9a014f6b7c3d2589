/*
 * Texts of programs that failed: "EROFS: read-only file system, open
 * '/srv/notes'". A refused path cannot be seen from outside, so such a text is
 * the only sign of it while nothing is traced.
 *
 * Pure.
 */
#ifndef CORE_CLIENT_SAID_H
#define CORE_CLIENT_SAID_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* Bytes of a text in which a cause is looked for: results may be very long. */
#define SAID_BYTES (256 * 1024)

enum said_kind {
	SAID_NOTHING,
	SAID_MODULE,   /* a module of Python is missing: said_module() */
	SAID_MISSING,  /* a path that is not granted looks like this */
	SAID_ACCESS,   /* EACCES, EPERM */
	SAID_WRITE,    /* EROFS */
	SAID_BUSY,     /* EBUSY: a file that stays as it is looks like this */
	SAID_DOWNLOAD, /* npm has no network, and lacks a package */
};

struct said_refusal {
	enum said_kind kind;
	/* The path that the same line names, in quotes or absolute; of a write
	   a bare name, too. A slice of the text, {NULL, 0} when it names none.
	 */
	struct str path;
	bool makes; /* the line says that the file was to be made */
};

/*
 * The first such line that names a path, else the first such line; one that
 * says more than that something is missing goes before one that does not. Only
 * the first SAID_BYTES are looked at.
 */
struct said_refusal said_refusal(struct str text) MUST_USE;

/* Name of the module of Python that a text misses; {NULL, 0} without, and for
   one such as "a.b", whose package is there. */
struct str said_module(struct str text) MUST_USE;

/* The first host of a resolver's words or a URL, with its port where one is
   named, in the first SAID_BYTES; {NULL, 0} without. */
struct str said_host(struct str text) MUST_USE;

/*
 * Append the lines that may name a cause, at most four: the first and the last
 * ones, between them those that miss a file; without frames of a stack, the
 * place of npm's own log and the like. Trimmed, and of LIMIT_NOISE_LINE bytes.
 *
 * between  text between two lines
 */
void said_join(struct buf *out, struct str text, const char *between);

#endif
