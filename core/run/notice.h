/*
 * Notices about a routine: which one is due, and its words. Pure.
 */
#ifndef CORE_RUN_NOTICE_H
#define CORE_RUN_NOTICE_H

#include "core/config/routine.h"
#include "core/report/report.h"

/* States of a routine, as a `told` line has them. */
#define NOTICE_OK "ok"
#define NOTICE_FAILED "failed"
#define NOTICE_LOST "lost"

struct notice {
	const char *kind; /* "failure", "change", "lost", "recovered", "test" */
	const char *routine;
	const char *file; /* of the configuration */
	const char *host;
	const char *was, *state;     /* of the routine, NOTICE_OK and so on */
	uint64_t generation;	     /* run that it is about; 0: none */
	size_t more;		     /* other runs that were lost before it */
	const char *summary;	     /* of the run; "" */
	const struct report *report; /* NULL: there is none */
	const struct report_step *lacking; /* ran before, and is skipped */
	struct str changes;		   /* differences; n = 0: none */
	int64_t wall_ns;
};

/*
 * Choose the notice that is due after a run.
 *
 * was      state that was told last
 * changed  the run is ok, and gave something else
 * returns  a kind, static; NULL: nothing is to be told
 */
const char *notice_choose(const struct notify_rules *rules, const char *was,
			  const char *now, bool changed) MUST_USE;
/* Is a kind of notice wanted at all? */
bool notice_is_wanted(const struct notify_rules *rules, const char *kind)
	MUST_USE;

/* Append "morning failed (run 12)". */
void notice_title(const struct notice *n, struct buf *out);
/* Append some lines for people. */
void notice_text(const struct notice *n, struct buf *out);
/* Append one JSON object, matins-notice/1. */
void notice_json(const struct notice *n, struct buf *out);

#endif
