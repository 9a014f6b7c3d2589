/*
 * The tools of a server as a person accepted them.
 *
 *	{"schema": "matins-pins/1", "server": "notes", "file": "a.toml",
 *	 "tools": {"search": { the object of tools/list }}}
 *
 * in canonical form (core/report/canon.h), in golden/tools/SERVER.json beside
 * the configuration. The whole objects are kept; what a model or a person is
 * told of a tool, its schemas and its annotations are compared.
 *
 * Texts and trees only.
 */
#ifndef CORE_REPORT_PINS_H
#define CORE_REPORT_PINS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/sha256.h"

/* Path of the file of a server. dir  folder of the configuration */
const char *pins_path(const char *dir, const char *server, struct arena *arena)
	MUST_USE;

/* Tools of a server, as they are listed. */
struct pins {
	const char *server;
	const char *file; /* name of the configuration; NULL: not known */
	struct str *tool; /* objects of tools/list, proved by
			     core/base/scan.h */
	size_t n;
};

/* Append the text of the file, which ends in a newline. */
int pins_print(const struct pins *p, struct buf *out, struct err *err) MUST_USE;

/* Name of the configuration whose server it was that a text was made of, in
   `arena`; NULL: it does not say. */
const char *pins_owner(struct str kept, struct arena *arena) MUST_USE;

/*
 * Sum of what is compared of one tool.
 *
 * tool    object of tools/list
 * errors  ERR_SYNTAX, ERR_LIMIT
 */
int pins_digest(struct str tool, char hex[SHA256_HEX_BYTES], struct err *err)
	MUST_USE;

/*
 * Append what differs, as text; nothing for no difference.
 *
 * only    the tool that counts; {NULL, 0}: all of both
 * errors  ERR_SYNTAX, ERR_LIMIT, ERR_COMPARE (a text is no such file)
 */
int pins_diff(struct str kept, struct str now, struct str only, struct buf *out,
	      struct err *err) MUST_USE;

#endif
