/*
 * Files of variables of other clients: what a plain reader takes for LD_PRELOAD
 * is told, or some line is not clear; names and values lie in the text.
 */
#include "core/import/env_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "LD_PRELOAD"

static bool lies_in(struct str part, struct str all)
{
	return !part.n || (part.p >= all.p && part.p + part.n <= all.p + all.n);
}

/* Lines end at \n, blanks do not count, nor does a word "export". */
static bool is_set_by(struct str line)
{
	line = str_trim(line);
	if (str_starts(line, "export "))
		line = str_trim(str_skip(line, 7));
	if (!str_starts(line, NAME))
		return false;
	line = str_trim(str_skip(line, sizeof(NAME) - 1));
	return line.n && *line.p == '=';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str all = {(const char *)data, size};
	struct str rest = all, plain = all;
	struct env_line line;
	bool is_told = false;

	env_file_begin(&rest);
	while (env_file_next(&rest, &line)) {
		if (!lies_in(line.name, all) || !lies_in(line.value, all))
			abort();
		is_told |= !line.is_clear || str_is(line.name, NAME);
	}
	env_file_begin(&plain);
	while (plain.n)
		if (is_set_by(str_cut(&plain, '\n')) && !is_told)
			abort();
	return 0;
}
