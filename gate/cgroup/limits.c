#include "gate/cgroup/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/cgroup/cgroup.h"

/* Tasks that a machine may have at the time and that are not ours. */
#define TASKS_UNKNOWN 4096

/*
 * Virtual size, used or not: a poor measure where the group counts what is
 * used, and says so when it is too much.
 */
static uint64_t data_limit(const struct policy *p,
			   const struct limits_context *c)
{
	if (c->memory_counted && p->memory_bytes >= CGROUP_MEMORY_MIN)
		return RLIM_INFINITY;
#ifdef MATINS_ASAN
	/* the program itself is a child in tests; its shadow counts as data */
	if (p->memory_bytes == UINT64_C(2) << 30)
		return RLIM_INFINITY;
#endif
	return p->memory_bytes;
}

void limits_build(const struct policy *p, const struct limits_context *c,
		  struct limit ret[N_LIMITS])
{
	const struct limit want[N_LIMITS] = {
#define LIMIT(name, value) {RLIMIT_##name, {(rlim_t)(value), (rlim_t)(value)}},
#include "gate/cgroup/limits.def"
#undef LIMIT
	};

	memcpy(ret, want, sizeof(want));
}

/* The second number of "running/all" in /proc/loadavg. */
static uint64_t all_tasks(void)
{
	AUTO(fd_closep) int fd = fd_open("/proc/loadavg", O_RDONLY, 0);
	char text[128];
	uint64_t all;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct str rest = {text, n > 0 ? (size_t)n : 0};
	size_t slash = str_find(rest, '/');

	if (slash == rest.n)
		return TASKS_UNKNOWN;
	rest = (struct str){text + slash + 1, rest.n - slash - 1};
	if (!str_uint64(str_cut(&rest, ' '), &all))
		return TASKS_UNKNOWN;
	return all;
}

uint64_t limits_tasks(const struct policy *p, enum limits_counted counted)
{
	if (counted == LIMITS_OWN_USER)
		return p->processes;
	if (counted == LIMITS_OWN_PIDS || counted == LIMITS_OWN_GROUP)
		return RLIM_INFINITY;
	return all_tasks() + TASKS_UNKNOWN + p->processes;
}
