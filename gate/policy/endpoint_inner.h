/*
 * What the files behind endpoint.h share: endpoint_name.c reads names of hosts,
 * endpoint.c rows and targets.
 *
 * Pure.
 */
#ifndef GATE_POLICY_ENDPOINT_INNER_H
#define GATE_POLICY_ENDPOINT_INNER_H

#include "gate/policy/endpoint.h"

enum text_is { TEXT_IS_NOTHING, TEXT_IS_NAME, TEXT_IS_NUMBERS };

/*
 * The text of a host, folded into `out` without its trailing dot.
 * TEXT_IS_NUMBERS: the last label is a number, so it must be an address.
 */
enum text_is endpoint_read_name(struct str text, char out[ENDPOINT_HOST_BYTES])
	MUST_USE;

#endif
