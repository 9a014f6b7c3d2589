/*
 * One line of the ledger: a JSON object that says what happened to a run. This
 * file knows the bytes; core/report/ledger.h reads and appends lines.
 */
#ifndef CORE_REPORT_LEDGER_EVENT_H
#define CORE_REPORT_LEDGER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/jw.h"
#include "core/base/str.h"

/* A routine that runs, and how much of it. */
struct ledger_routine {
	const char *name; /* of one step alone "morning/host" */
	const char *file; /* real path of the configuration */
	bool whole;	  /* no step was left out by hand; it began */
	const char *slot; /* time that the run is for, see schedule.h; NULL */
};

enum ledger_event_kind {
	EVENT_STARTED,
	EVENT_FINISHED,
	EVENT_TOLD,
	EVENT_NOTIFIED,
};

struct ledger_event {
	enum ledger_event_kind kind;
	uint64_t generation;
	struct str doc; /* slice of the text that was read */
};

/* Read a line; false: it is torn, or of a kind that is not known. */
bool ledger_event_read(struct str line, struct ledger_event *ret) MUST_USE;
/* Copy a member that is a string; "" where there is none. */
const char *ledger_event_text(const struct ledger_event *e, const char *name,
			      struct arena *arena) MUST_USE;
/* Read the time of a line, since 1970 UTC; 0: it has none. */
int64_t ledger_event_ns(const char *at) MUST_USE;
/* Compare a member that is a string. */
bool ledger_event_has(const struct ledger_event *e, const char *name,
		      const char *text) MUST_USE;
/* Begin a line with the members that all have; wall_ns  since 1970 UTC */
void ledger_event_begin(struct jw *w, enum ledger_event_kind kind,
			uint64_t generation, const struct ledger_routine *which,
			int64_t wall_ns);

#endif
