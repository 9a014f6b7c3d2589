/*
 * What varies between two equal runs, as JSON: the `run` objects of the
 * report. Times, process ids, how the program ended, what it used, what was
 * enforced and what was refused, the end of stderr.
 */
#ifndef CORE_RUN_FACTS_H
#define CORE_RUN_FACTS_H

#include "core/base/buf.h"
#include "core/run/step.h"

/*
 * Append the `run` object of a step that has ended.
 *
 * v  how its program ended; NULL when none was started
 */
void facts_step(struct step_run *s, const struct gate_verdict *v,
		struct buf *out);

/*
 * Append a text from outside, without secrets. Only such texts are scrubbed:
 * a credential that is equal to a key or word of ours must not rename it.
 */
void facts_text(struct step_run *s, struct jw *w, const char *key,
		struct str text);
/* The same for one whose end may be missing. */
void facts_cut_text(struct step_run *s, struct jw *w, const char *key,
		    struct str text);

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
 * s  the step whose secrets are taken out of them, or NULL
 */
void facts_denials(struct step_run *s, struct jw *w, const char *key,
		   const struct gate_verdict *v);
/* Append "exit": {"status": n} or {"signal": "SIGKILL"}. */
void facts_exit(struct jw *w, const struct gate_verdict *v);

#endif
