/*
 * Notices of a run, sent: to a program under the gate, to a URL, and to a
 * watcher elsewhere.
 *
 *	n = notify_begin(&world);	lost runs are told; NULL: nobody is
 *	... the steps run ...
 *	notify_end(n);			the report is kept
 *	notify_free(n);
 *
 * A notice is told at least once: the `told` line of the ledger is written
 * when it was taken, and a run that is killed between tells it again. Two runs
 * at once take turns by a lock. A notice that fails is a warning of the run,
 * never its status.
 */
#ifndef CORE_RUN_NOTIFY_H
#define CORE_RUN_NOTIFY_H

#include "core/run/world.h"

struct notify;

/* Begin for a whole run of a routine that tells somebody; else NULL. Waits only
   where a run was lost. */
struct notify *notify_begin(struct world *w) MUST_USE;
/* Tell how the run ended, within the time limits of the rules, and put what
   became of it into the record. Takes NULL. */
void notify_end(struct notify *n);
void notify_free(struct notify *n);

/*
 * Tell that a run that was due could not start, and why. Where the
 * configuration has errors its program is not started: the policy is perhaps
 * not whole. A notice that fails is a warning.
 *
 * routine  with its name, where the configuration has none
 */
void notify_unstarted(const struct config_file *file,
		      const struct routine *routine, const struct err *why);

/*
 * Send a test to everybody whom the rules name.
 *
 * routine  NULL: by the rules of the file
 * ret      a line for each: "command mail: delivered"; appended
 * returns  0: all took it; 1: some did not
 * errors   ERR_CONFIG  nobody is to be told
 */
int notify_test(const struct config_file *file, const struct routine *routine,
		struct buf *ret, struct err *err) MUST_USE;

#endif
