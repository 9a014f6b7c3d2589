/*
 * System-call filter of a child, from the filters that the gate has built.
 */
#ifndef GATE_PREPARE_PREPARE_FILTER_H
#define GATE_PREPARE_PREPARE_FILTER_H

#include "gate/prepare/prepared.h"

/*
 * Fill the filters of .launch, .keep_attributes, .asked_records and .watches.
 * errors  ERR_POLICY, ERR_SYS of building a filter
 */
int prepare_filter(struct prepared *p, struct err *err) MUST_USE;

/* Free the filters that the gate has built. */
void filters_release(struct gate *gate);

#endif
