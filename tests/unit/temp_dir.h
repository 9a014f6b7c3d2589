/*
 * A folder for one test, as a fixture; *state is its path.
 */
#ifndef TESTS_UNIT_TEMP_DIR_H
#define TESTS_UNIT_TEMP_DIR_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"

static inline int temp_dir_make(void **state)
{
	const char *parent = getenv("TMPDIR");
	char *path = mem_printf("%s/matins-unit.XXXXXX",
				parent && *parent ? parent : "/tmp");

	*state = mkdtemp(path);
	return *state ? 0 : -1;
}

static inline int temp_dir_entry(const char *path, const struct stat *st,
				 int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int temp_dir_remove(void **state)
{
	int r = nftw(*state, temp_dir_entry, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return r;
}

FIXTURE(temp_dir, temp_dir_make, temp_dir_remove);

#endif
