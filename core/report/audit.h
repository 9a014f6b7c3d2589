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
 * Lines are a chain: `prev` is the hash of the whole line before, "" in the
 * first one, and `hash`, the last member, the SHA-256 of the line without that
 * member. A line that was changed, added or taken out is found by the next one;
 * a chain that somebody wrote anew from some line on is not, unless its last
 * hash was kept elsewhere. A line that a crash has torn stands for itself, and
 * the chain goes on behind it.
 *
 * A line costs the same however many there are: only the end is read.
 */
#ifndef CORE_REPORT_AUDIT_H
#define CORE_REPORT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/sha256.h"

/* Hexadecimal digits of an id, and the NUL. */
#define AUDIT_ID_BYTES 17

struct audit;

/* Strings are borrowed. */
struct audit_entry {
	char id[AUDIT_ID_BYTES]; /* the same in both lines; audit_new_id() */
	const char *origin;	 /* "routine r/a", "command line" */
	const char *server, *tool;
	struct str args; /* JSON: names, or an object with values */
	char args_sha256[SHA256_HEX_BYTES]; /* of the text that is sent */
	const char *state;		    /* NULL: the call is not made yet */
	uint64_t ms;			    /* it took; with state */
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

/* ---- read; pure ---- */

struct audit_chain {
	char last[SHA256_HEX_BYTES]; /* of the last whole line; "" before it */
	uint64_t n;		     /* lines that were taken */
};

enum audit_verdict {
	AUDIT_WHOLE,
	AUDIT_TORN,    /* no JSON: the end of a process, or of the disk */
	AUDIT_CHANGED, /* it is not as it was written */
	AUDIT_APART,   /* the line before is another one, or is gone */
};

/* Append the members `prev` and `hash`, and the closing brace, to a line. */
void audit_seal(struct buf *line, const char *prev);
/* Judge the next line, which holds no newline. Zero the chain first. */
enum audit_verdict audit_take(struct audit_chain *c, struct str line) MUST_USE;

/* Find it: "$state/audit.jsonl" in `arena`; NULL: there is no folder. */
struct arena;
const char *audit_path(struct arena *arena) MUST_USE;

#endif
