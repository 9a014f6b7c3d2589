/*
 * Two documents compared: a line of rules, a line of the old document, and the
 * new one. Beside not crashing, what is said of the script must hold.
 */
#include <stdint.h>

#include "tests/unit/report/diff_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct arena arena = ARENA_INIT;
	struct documents d = {.arena = &arena};

	if (size > 65536)
		return 0;
	d.rules = str_cut(&text, '\n');
	d.old = str_cut(&text, '\n');
	d.new = text;
	(void)diff_properties(&d);
	arena_release(&arena);
	return 0;
}
