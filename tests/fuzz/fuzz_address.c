/*
 * Addresses of a hostile program as text: whatever the bytes and however
 * short, it ends within its room.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gate/watch/watch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[160];
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		return 0;
	memset(text, 'x', sizeof(text));
	memcpy(exact, data, size);
	if (watch_address(exact, size, text, sizeof(text)) &&
	    (strnlen(text, sizeof(text)) == sizeof(text) || !strchr(text, ':')))
		abort();
	free(exact);
	return 0;
}
