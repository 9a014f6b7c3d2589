/*
 * Records of CSV: the same ones whether the text comes whole or byte by byte,
 * and a record never takes more bytes than there are.
 */
#include "core/fan/csv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = {(const char *)data, size};
	ssize_t n = 1;

	while (all.n && n > 0) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct csv_record whole, part = {.n = 0};
		ssize_t first = 0;

		n = csv_read(all, true, &arena, &whole, ERR_IGNORED);
		if (n > (ssize_t)all.n || n == 0)
			abort();
		for (size_t k = 1; k < all.n && first == 0; k++)
			first = csv_read((struct str){all.p, k}, false, &arena,
					 &part, ERR_IGNORED);
		if (first > 0 && (first != n || part.n != whole.n))
			abort();
		for (size_t i = 0; first > 0 && i < whole.n; i++)
			if (!str_eq(whole.field[i].text, part.field[i].text))
				abort();
		if (n > 0)
			all = str_skip(all, (size_t)n);
	}
	return 0;
}
