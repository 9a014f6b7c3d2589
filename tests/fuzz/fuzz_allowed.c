/*
 * A kept allowance: whatever lies in its folder, what is taken can be printed
 * and is then read as the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config_allow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct allowance a, b;

	if (allowed_parse((struct str){(const char *)data, size}, &arena, &a,
			  &err) < 0)
		return 0;
	expect(a.path[0] == '/' && strlen(a.sha256) == SHA256_HEX_BYTES - 1);
	allowed_print(&a, &text);
	expect(allowed_parse(buf_str(&text), &arena, &b, &err) == 0);
	expect(!strcmp(a.path, b.path) && !strcmp(a.sha256, b.sha256) &&
	       a.edits == b.edits && a.by_person == b.by_person &&
	       a.wall_ms == b.wall_ms && a.grants.n == b.grants.n);
	for (size_t i = 0; i < a.grants.n; i++)
		expect(!strcmp(a.grants.item[i], b.grants.item[i]));
	return 0;
}
