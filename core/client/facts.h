/*
 * Facts of a program that ran, as JSON for the `run` objects of a report: how
 * the program ended, what it used, what the gate enforced and refused, the end
 * of its stderr. Two equal runs differ in these and in nothing else.
 */
#ifndef CORE_CLIENT_FACTS_H
#define CORE_CLIENT_FACTS_H

#include "core/base/arena.h"
#include "core/base/jw.h"
#include "core/client/child.h"

/* Takes secrets out of texts, and counts them. */
struct cleaner {
	const struct scrub *scrub; /* borrowed; may be NULL */
	size_t hits;
};

/*
 * Append a text from outside, without secrets. Only such texts are scrubbed:
 * a credential that is equal to a key or word of ours must not rename it.
 */
void facts_text(struct cleaner *c, struct jw *w, const char *key,
		struct str text);
/* Like facts_text(), for a text whose end may be missing. */
void facts_cut_text(struct cleaner *c, struct jw *w, const char *key,
		    struct str text);

/*
 * Append the members about a program that was started to an open object.
 * out_bytes  seen on its stdout
 */
void facts_child(struct cleaner *c, struct jw *w, const struct child *child,
		 uint64_t out_bytes);

/* Append a time as text, "2026-11-22T06:00:00Z". */
void facts_time(struct jw *w, const char *key, int64_t wall_ns);
/* Append the guarantees of a sandbox. */
void facts_enforced(struct jw *w, const struct gate_fact *facts, size_t n);
/*
 * Append what a verdict says of limits that were hit, files that went with a
 * private folder, denials, endpoints that were not reached, and execs.
 */
void facts_verdict(struct cleaner *c, struct jw *w,
		   const struct gate_verdict *v);
/* Append what recipes granted, and the guarantees. */
void facts_granted(struct cleaner *c, struct jw *w,
		   const struct gate_child_info *info);
/* "dropped with it: b, x/ (12 files)" for people, scrubbed; NULL: nothing was
   dropped. In the arena. */
const char *facts_say_dropped(struct cleaner *c, const struct gate_verdict *v,
			      struct arena *arena) MUST_USE;
/* Append "exit": {"status": n} or {"signal": "SIGKILL"}. */
void facts_exit(struct jw *w, const struct gate_verdict *v);
/*
 * The end of a program in words: "exited with status 3", "was killed by
 * SIGKILL: the memory limit"; lives in `arena`.
 */
const char *facts_say_end(const struct gate_verdict *v, struct arena *arena)
	MUST_USE;

#endif
