/*
 * Parts of something in one sum: texts, numbers, lists. Each part carries its
 * length, so that no two of them run together.
 */
#ifndef CORE_BASE_DIGEST_H
#define CORE_BASE_DIGEST_H

#include "core/base/sha256.h"
#include "core/base/str.h"

/* NULL is another text than "". */
void digest_text(struct sha256 *sum, const char *text);
void digest_number(struct sha256 *sum, uint64_t n);
void digest_list(struct sha256 *sum, const struct strlist *list);
/* Array that ends in NULL; NULL is an empty one. */
void digest_vector(struct sha256 *sum, const char *const *vector);

#endif
