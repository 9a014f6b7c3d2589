/*
 * Notices that were sent for a routine: `told` lines of the ledger.
 */
#ifndef CORE_REPORT_LEDGER_TOLD_H
#define CORE_REPORT_LEDGER_TOLD_H

#include "core/base/arena.h"
#include "core/report/ledger.h"

struct ledger_lost {
	uint64_t generation;
	const char *started; /* RFC 3339 */
};

/* Events of a routine that were told, and those that were not. */
struct ledger_told {
	const char *routine;
	uint64_t generation; /* run that it was told of; 0: nothing was */
	const char *state;   /* "ok", "failed", "lost"; NULL: nothing was */
	/* An ok run, since which a change is not told yet; 0: none. */
	uint64_t since;
	bool is_far;		  /* the line is to be written again */
	struct ledger_lost *lost; /* runs of which that was not told */
	size_t n_lost;
};

/*
 * Find the last `told` line of a routine, and runs that were lost since its
 * first one. The end of the ledger is read, and as much more as the line is
 * away.
 *
 * arena  holds what is found
 */
int ledger_told(struct ledger *l, const struct ledger_routine *which,
		struct arena *arena, struct ledger_told *ret, struct err *err)
	MUST_USE;
/* Find the same of all routines of a file that the end of the ledger names. */
int ledger_told_near(struct ledger *l, const char *file, struct arena *arena,
		     struct ledger_told **ret, size_t *ret_n, struct err *err)
	MUST_USE;
/*
 * Write a `told` line; others see it at once, and ledger_sync() keeps it.
 *
 * told     generation, state and since
 * wall_ns  of now
 */
int ledger_tell(struct ledger *l, const struct ledger_routine *which,
		const struct ledger_told *told, int64_t wall_ns,
		struct err *err) MUST_USE;

#endif
