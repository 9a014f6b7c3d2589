/*
 * Texts whose words are looked up as paths: each is a slice of the text that
 * begins no earlier than the one before, and a name.
 */
#include "gate/policy/path_words.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const begin = (const char *)data;
	struct str text = {begin, size};
	const char *at = begin;
	struct path_word w;

	while (path_word_next(&text, &w)) {
		if (!w.path.n || w.path.p < at ||
		    w.path.p + w.path.n > begin + size ||
		    w.path.p[w.path.n - 1] == '/' ||
		    memchr(w.path.p, '\0', w.path.n))
			abort();
		at = w.path.p;
	}
	return 0;
}
