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

/* Root and place of a hierarchy that the shorter way takes for granted. */
#define MOUNT(point, type, options) \
	"1 1 0:1 / " point " rw - " type " x rw," options "\n"

static void same(const char *a, const char *b)
{
	if ((a && b) ? strcmp(a, b) != 0 : a != b)
		abort();
}

/* What is found without the table of mounts is what it would have said. */
static void check_usual(struct str groups, bool is_unified)
{
	static const char v1[] = MOUNT(CGROUP_USUAL_MEMORY, "cgroup", "memory")
		MOUNT(CGROUP_USUAL_PIDS, "cgroup", "pids");
	static const char v2[] = MOUNT(CGROUP_USUAL, "cgroup2", "");
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct cgroup_places usual, all;

	if (!cgroup_find_usual(groups, is_unified, &arena, &usual))
		return;
	cgroup_find(str_of(is_unified ? v2 : v1), groups, &arena, &all);
	same(usual.memory, all.memory);
	same(usual.pids, all.pids);
	same(usual.unified, all.unified);
	same(usual.unified_top, all.unified_top);
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
	check_usual(groups, true);
	check_usual(groups, false);
	(void)!cgroup_count(groups, "max");
	(void)!cgroup_has_word(mounts, ' ', "memory");
	return 0;
}
