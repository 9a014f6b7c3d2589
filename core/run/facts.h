/*
 * What varies between two equal runs, as JSON: the `run` objects of the
 * report. Times, process ids, how the program ended, what it used, what was
 * enforced and what was refused, the end of stderr.
 */
#ifndef CORE_RUN_FACTS_H
#define CORE_RUN_FACTS_H

#include "core/base/buf.h"
#include "core/client/child.h"
#include "core/run/step.h"

/* Append the `run` object of a step that has ended. */
void facts_step(struct step_run *s, struct buf *out);

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
/* The same for one whose end may be missing. */
void facts_cut_text(struct cleaner *c, struct jw *w, const char *key,
		    struct str text);

/*
 * Members of an open object: what is known of a program that was started.
 * out_bytes  seen on its stdout
 */
void facts_child(struct cleaner *c, struct jw *w, const struct child *child,
		 uint64_t out_bytes);

struct facts_run {
	int64_t begin_wall_ns, end_wall_ns;
	uint64_t duration_ns;
	const char *config;	  /* path of the configuration */
	const char *leash_source; /* where the leash came from */
	struct strlist warnings;  /* sentences */
	const char *ended_by;	  /* "SIGINT"; NULL when nobody asked */
};

/* Append the `run` object of the report. */
void facts_run(const struct facts_run *f, struct buf *out);

/* Append an array of facts under `key`; also used by doctor and exec. */
void facts_enforced(struct jw *w, const char *key,
		    const struct gate_fact *facts, size_t n);
/*
 * Append an array of denials under `key`.
 *
 * c  takes secrets out of them, or NULL
 */
void facts_denials(struct cleaner *c, struct jw *w, const char *key,
		   const struct gate_verdict *v);
/*
 * Append an array of what was executed under `key`, in order; nothing where it
 * was not recorded.
 *
 * c  as in facts_denials()
 */
void facts_execs(struct cleaner *c, struct jw *w, const char *key,
		 const struct gate_verdict *v);
/* Append an array of the sentences that say which bounds were hit. */
void facts_limits(struct jw *w, const char *key, const struct gate_verdict *v);
/* Append "exit": {"status": n} or {"signal": "SIGKILL"}. */
void facts_exit(struct jw *w, const struct gate_verdict *v);

#endif
