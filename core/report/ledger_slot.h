/*
 * Slots of a routine that ran, see core/report/schedule.h. The last slot of
 * each routine stands in a file of its own, `slots/ID` in the state directory:
 * it is known however long the ledger has become.
 */
#ifndef CORE_REPORT_LEDGER_SLOT_H
#define CORE_REPORT_LEDGER_SLOT_H

#include "core/report/ledger.h"

/*
 * Find the run of a slot that has ended or is alive; one that was lost, or
 * ended before its first step, did not do it. Hold ledger_lock_routine() of a
 * name for slots from here until ledger_keep_slot(), and around one that comes
 * later: others look, too. Where the file tells of a later slot, or of one that
 * was lost, the ledger is read back to since_ns.
 *
 * since_ns  since 1970 UTC: runs that began earlier are of other slots
 * ret       its generation; 0: there is none
 */
int ledger_find_slot(struct ledger *l, const struct ledger_routine *which,
		     int64_t since_ns, uint64_t *ret, struct err *err) MUST_USE;
/*
 * Keep that a run of a slot, by this process, has started or finished; on disk
 * when it returns. The file of a later slot stays.
 *
 * kind    EVENT_STARTED, EVENT_FINISHED
 * errors  ERR_SYS
 */
int ledger_keep_slot(struct ledger *l, const struct ledger_routine *which,
		     uint64_t generation, enum ledger_event_kind kind,
		     int64_t wall_ns, struct err *err) MUST_USE;

#endif
