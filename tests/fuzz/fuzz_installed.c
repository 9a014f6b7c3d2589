/*
 * installed.json of a server: each text that is read ends, and is there.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/install/depot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct installed_server s;

	if (depot_parse((struct str){(const char *)data, size}, &arena, &s,
			ERR_IGNORED) == 0 &&
	    strlen(s.kind) + strlen(s.source) + strlen(s.version) +
			    strlen(s.sha256) >
		    4 * size)
		abort();
	return 0;
}
