/*
 * Shell scripts, whose words are looked up as programs: each stands in the
 * text, but for quotes and joined lines, and there are not too many.
 */
#include "gate/policy/shell_words.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct str text = {(const char *)data, size};
	struct strlist words = shell_words(text, &arena);

	if (words.n > SHELL_WORDS_MAX)
		abort();
	for (size_t i = 0; i < words.n; i++)
		if (!words.item[i][0] || strlen(words.item[i]) > size)
			abort();
	return 0;
}
