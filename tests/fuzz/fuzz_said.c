/*
 * What a server or program wrote, searched for a refusal: the path that is
 * found is a slice of the text, within one line, and never empty.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/client/said.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_slice(struct str text, struct str part)
{
	if (!part.n || part.p < text.p || part.p + part.n > text.p + text.n ||
	    memchr(part.p, '\n', part.n))
		abort();
}

/* Hosts and modules are slices, lines are bounded, and each search ends. */
static void check_others(struct str text)
{
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	struct str one = said_host(text);

	said_join(&lines, text, "\n");
	if (lines.n > 4 * (LIMIT_NOISE_LINE + 16))
		abort();
	if (one.p)
		check_slice(text, one);
	one = said_module(text);
	if (one.p)
		check_slice(text, one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of that size, so that a byte behind it is noticed */
	char *copy = size ? malloc(size) : NULL;
	struct said_refusal r;

	if (size)
		memcpy(copy, data, size);
	r = said_refusal((struct str){copy ? copy : "", size});
	if (r.path.p && (!r.kind || !r.path.n || r.path.p < copy ||
			 r.path.p + r.path.n > copy + size ||
			 memchr(r.path.p, '\n', r.path.n)))
		abort();
	check_others((struct str){copy ? copy : "", size});
	free(copy);
	return 0;
}
