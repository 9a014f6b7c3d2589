/*
 * What belongs to a server, into one sum: texts, lists, a policy. Each part
 * carries its length, so that no two of them run together.
 */
#ifndef CORE_CLIENT_DIGEST_H
#define CORE_CLIENT_DIGEST_H

#include "core/base/sha256.h"
#include "core/base/str.h"
#include "gate/gate.h"

/* NULL is another text than "". */
void digest_text(struct sha256 *sum, const char *text);
void digest_number(struct sha256 *sum, uint64_t n);
/* Ends in NULL; NULL is an empty one. */
void digest_vector(struct sha256 *sum, const char *const *vector);
void digest_policy(struct sha256 *sum, const struct gate_policy *p);

#endif
