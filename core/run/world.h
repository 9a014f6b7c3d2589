/*
 * Things that the steps of a run share: the gate and its leash, servers,
 * credentials, the scrubber, what was approved, and who does a step.
 */
#ifndef CORE_RUN_WORLD_H
#define CORE_RUN_WORLD_H

#include "core/client/tape.h"
#include "core/run/approve.h"
#include "core/run/record.h"

struct world {
	struct record *record;	 /* borrowed */
	struct walk_world walks; /* part that walks read */
	struct gate_leash leash;
	struct gate *gate;
	struct scrub *scrub;
	struct eras *eras;
	struct pool *pool;
	struct credentials *credentials;
	struct remotes *remotes;
	struct notices *notices;
	struct tape *tape;   /* NULL: none */
	struct tape_run run; /* as steps see it */
	struct approvals approvals;
};

/*
 * Open everything, but no program starts.
 *
 * w       zeroed; to be closed after an error, too
 * rec     open
 * errors  those of leash_find() and gate_new()
 */
int world_open(struct world *w, struct record *rec, struct err *err) MUST_USE;
/* End programs and free what they need, results no longer do; harmless twice.
   For struct record. */
void world_let_go(void *world);
void world_close(struct world *w);

#endif
