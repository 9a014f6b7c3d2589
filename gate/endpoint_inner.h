/*
 * What the files behind endpoint.h share: endpoint_address.c reads names and
 * addresses, endpoint.c rows and targets.
 *
 * Pure.
 */
#ifndef GATE_ENDPOINT_INNER_H
#define GATE_ENDPOINT_INNER_H

#include "gate/endpoint.h"

enum text_is { TEXT_IS_NOTHING, TEXT_IS_NAME, TEXT_IS_NUMBERS };

/*
 * The text of a host, folded into `out` without its trailing dot.
 * TEXT_IS_NUMBERS: the last label is a number, so it must be an address.
 */
enum text_is endpoint_read_name(struct str text, char out[ENDPOINT_HOST_BYTES])
	MUST_USE;
bool endpoint_read_v4(const char *text, struct endpoint_address *ret) MUST_USE;
/* Without brackets. */
bool endpoint_read_v6(struct str text, struct endpoint_address *ret) MUST_USE;

/* IPv4 carried by an IPv6 address; false when it carries none. */
bool endpoint_inner_v4(const struct endpoint_address *a,
		       struct endpoint_address *ret) MUST_USE;
bool endpoint_same_address(const struct endpoint_address *a,
			   const struct endpoint_address *b) MUST_USE;
/* Without brackets. */
void endpoint_address_text(const struct endpoint_address *a,
			   char out[ENDPOINT_HOST_BYTES]);

#endif
