/*
 * From a request to something that only has to be started.
 *
 * The order is that of the contract: leash, resolve, open, judge, judge again
 * with what was opened; then the user, the view, and the means that enforce
 * them.
 *
 *	if (prepare_by(gate, &request, true, prepare_until(&request), &p,
 *		       err) == 0)
 *		... p.launch, p.grants, p.facts ...
 *	prepared_release(&p);        whatever came back
 */
#ifndef GATE_PREPARE_PREPARE_H
#define GATE_PREPARE_PREPARE_H

#include "gate/prepare/prepared.h"

/* Deadline of a start that begins now; nanoseconds, monotonic. */
uint64_t prepare_until(const struct gate_request *request) MUST_USE;

/*
 * Judge and make ready, with files that are slow or do not answer.
 *
 * for_start  also prepare what only a start needs: private folders, rulesets
 * until_ns   wait for leases and file servers until then, monotonic
 * errors     as gate_check()
 */
int prepare_by(struct gate *gate, const struct gate_request *request,
	       bool for_start, uint64_t until_ns, struct prepared *p,
	       struct err *err) MUST_USE;

/* Make the default policy ready without a program, for its facts alone. */
void prepare_default(struct gate *gate, struct prepared *p);

#endif
