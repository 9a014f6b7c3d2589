/*
 * The audit: `audit.jsonl` in the state directory, two lines for each call of a
 * tool. `call` is on disk before the call is made, `done` follows it:
 *
 *	audit_open(&a, err);
 *	audit_write(a, &entry, err);		.state is NULL: a `call`
 *	... the call ...
 *	entry.state = "ok";
 *	audit_write(a, &entry, err);
 *	audit_free(a);
 *
 * Lines are a chain: core/report/audit_chain.h.
 *
 * A line costs the same however many there are: only the end is read.
 */
#ifndef CORE_REPORT_AUDIT_H
#define CORE_REPORT_AUDIT_H

#include <stdint.h>

#include "core/base/err.h"
#include "core/base/sha256.h"

/* Hexadecimal digits of an id, and the NUL. */
#define AUDIT_ID_BYTES 17

struct audit;

/* Strings are borrowed. */
struct audit_entry {
	char id[AUDIT_ID_BYTES]; /* of both lines; audit_new_id() */
	const char *origin;	 /* "routine r/a", "command line" */
	const char *server, *tool;
	struct str args; /* JSON: names, or an object with values */
	char args_sha256[SHA256_HEX_BYTES]; /* of the text that is sent */
	const char *state;		    /* NULL: the call is not made yet */
	uint64_t ms;			    /* time that it took; with state */
	int64_t wall_ns;		    /* of now, since 1970 UTC */
};

/* Open for writing; the folder is made where it is missing. errors ERR_SYS */
int audit_open(struct audit **ret, struct err *err) MUST_USE;
/* Put the last lines on disk. Takes NULL. */
void audit_free(struct audit *a);
void audit_new_id(char ret[AUDIT_ID_BYTES]);
/*
 * Append a line under the lock; a `call` is on disk when this returns.
 * errors  ERR_SYS
 */
int audit_write(struct audit *a, const struct audit_entry *e, struct err *err)
	MUST_USE;

/* Find it: "$state/audit.jsonl" in `arena`; NULL: there is no folder. */
struct arena;
const char *audit_path(struct arena *arena) MUST_USE;

#endif
