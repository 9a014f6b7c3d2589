/*
 * Locks of routines: a file each in the state directory.
 */
#ifndef CORE_REPORT_LEDGER_LOCK_H
#define CORE_REPORT_LEDGER_LOCK_H

#include "core/report/ledger.h"

/*
 * Hold a routine for oneself until the descriptor is closed (or the process
 * ends); for `on_busy`.
 *
 * wait    false: ERR_BUSY at once. True: waits in flock(2); a signal that is
 *	   handled ends the wait with ERR_SYS, EINTR
 * errors  ERR_BUSY, ERR_SYS
 */
int ledger_lock_routine(struct ledger *l, const struct ledger_routine *which,
			bool wait, int *ret_fd, struct err *err) MUST_USE;

#endif
