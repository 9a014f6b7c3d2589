/*
 * Manifests of bundles: whatever one says, a program is named where it is
 * taken, and no credential is a word of the command line.
 */
#include <stdint.h>

#include "core/install/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct strlist none = {NULL, 0};
	struct err err = ERR_INIT;
	struct bundle b;

	if (bundle_read((struct str){(const char *)data, size}, "/t", "/home",
			&none, &arena, &b, &err) < 0)
		return 0;
	if (!b.words.n || !*b.words.item[0] || !b.version)
		abort();
	for (size_t i = 0; i < b.n_env; i++)
		if (!b.env[i].name || !b.env[i].value == !b.env[i].key)
			abort();
	return 0;
}
