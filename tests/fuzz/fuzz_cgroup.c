/*
 * The kernel's tables of mounts and of our groups, in which names are
 * anybody's. The input is both, apart by the first byte 0.
 */
#include "gate/cgroup/cgroup_find.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *path)
{
	if (path && path[0] != '/' && path[0] != '\0')
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str groups = {(const char *)data, size};
	struct str mounts = str_cut(&groups, '\0');
	struct cgroup_places places;

	cgroup_find(mounts, groups, &arena, &places);
	check(places.memory);
	check(places.pids);
	if (places.unified && !places.unified_top)
		abort();
	if (places.unified && strncmp(places.unified, places.unified_top,
				      strlen(places.unified_top)) != 0)
		abort();
	(void)!cgroup_find_count(groups, "max");
	(void)!cgroup_has_word(mounts, ' ', "memory");
	return 0;
}
