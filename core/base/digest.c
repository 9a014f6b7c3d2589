#include "core/base/digest.h"

void digest_text(struct sha256 *sum, const char *text)
{
	uint64_t n = text ? strlen(text) : 5;

	sha256_add(sum, &n, sizeof(n));
	sha256_add(sum, text ? text : "\0none", n);
}

void digest_number(struct sha256 *sum, uint64_t n)
{
	sha256_add(sum, &n, sizeof(n));
}

void digest_list(struct sha256 *sum, const struct strlist *list)
{
	digest_number(sum, list->n);
	for (size_t i = 0; i < list->n; i++)
		digest_text(sum, list->item[i]);
}

void digest_vector(struct sha256 *sum, const char *const *vector)
{
	size_t n = 0;

	while (vector && vector[n])
		n++;
	digest_number(sum, n);
	for (size_t i = 0; i < n; i++)
		digest_text(sum, vector[i]);
}
