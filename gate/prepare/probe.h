/*
 * Namespaces of this machine: tried once, when they are first asked for.
 */
#ifndef GATE_PREPARE_PROBE_H
#define GATE_PREPARE_PROBE_H

#include "gate/prepare/state.h"

/* Fill gate->ns, unless that was done before. */
void gate_probe(struct gate *gate);
/* Try again, without the result that was kept for this boot. */
void gate_probe_again(struct gate *gate);

#endif
