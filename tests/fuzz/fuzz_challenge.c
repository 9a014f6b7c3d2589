/*
 * WWW-Authenticate as a server sends it: each line is one header. What is
 * read ends, and asks for something only where a challenge is there.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/auth/challenge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str in = {(const char *)data, size};
	struct challenge c = {0};

	while (in.n)
		challenge_add(&c, str_cut(&in, '\n'), &arena);
	if (c.scope && strlen(c.scope) > size)
		abort();
	return 0;
}
