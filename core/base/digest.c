#include "core/base/digest.h"

#include <string.h>

static void add_bytes(struct sha256 *sum, const void *bytes, size_t n)
{
	uint64_t length = n;

	sha256_add(sum, &length, sizeof(length));
	sha256_add(sum, bytes, n);
}

void digest_text(struct sha256 *sum, const char *text)
{
	if (text)
		add_bytes(sum, text, strlen(text));
	else
		add_bytes(sum, "\0none", 5);
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
