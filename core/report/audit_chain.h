/*
 * The chain of the lines of the audit. Pure.
 *
 * Lines are a chain: `prev` is the hash of the whole line before, "" in the
 * first one, and `hash`, the last member, the SHA-256 of the line without that
 * member. A line that was changed, added or taken out is found by the next one;
 * a chain that somebody wrote anew from some line on is not, unless its last
 * hash was kept elsewhere. A line that a crash has torn stands for itself, and
 * the chain goes on behind it; so a line that is no JSON may be an added one.
 */
#ifndef CORE_REPORT_AUDIT_CHAIN_H
#define CORE_REPORT_AUDIT_CHAIN_H

#include "core/base/buf.h"
#include "core/base/sha256.h"

/* The end of each line, with the hash between them. */
#define AUDIT_HASH_BEGIN ",\"hash\":\""
#define AUDIT_HASH_END "\"}"
#define AUDIT_HASH_BYTES                                     \
	(sizeof(AUDIT_HASH_BEGIN) + sizeof(AUDIT_HASH_END) + \
	 SHA256_HEX_BYTES - 3)

struct audit_chain {
	char last[SHA256_HEX_BYTES]; /* of the last whole line; "" before it */
	uint64_t n;		     /* lines that were taken */
};

enum audit_verdict {
	AUDIT_WHOLE,
	AUDIT_TORN,    /* no JSON: the end of a process, or of the disk */
	AUDIT_CHANGED, /* other text than was written */
	AUDIT_APART,   /* the line before is another one, or is gone */
};

/* Append the members `prev` and `hash`, and the closing brace, to a line. */
void audit_seal(struct buf *line, const char *prev);
/* Judge the next line, which holds no newline. Zero the chain first. */
enum audit_verdict audit_take(struct audit_chain *c, struct str line) MUST_USE;
/* The hash at the end of a text; {NULL, 0}: it ends otherwise. */
struct str audit_hash(struct str text) MUST_USE;

#endif
