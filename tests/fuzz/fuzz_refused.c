/*
 * What a server or program wrote, searched for a refusal: the path that is
 * found is a slice of the text, within one line, and never empty.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli/refused.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of that size, so that a byte behind it is noticed */
	char *copy = size ? malloc(size) : NULL;
	struct refused r;

	if (size)
		memcpy(copy, data, size);
	r = refused_find((struct str){copy ? copy : "", size});
	if (r.path.p && (!r.kind || !r.path.n || r.path.p < copy ||
			 r.path.p + r.path.n > copy + size ||
			 memchr(r.path.p, '\n', r.path.n)))
		abort();
	free(copy);
	return 0;
}
