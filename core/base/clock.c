#include "core/base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t system_now(UNUSED struct clock *c)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int64_t system_wall(UNUSED struct clock *c)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

struct clock *clock_system(void)
{
	static struct clock c = {system_now, system_wall};

	return &c;
}

void clock_format(int64_t wall_ns, char out[CLOCK_TEXT_BYTES])
{
	time_t s = (time_t)(wall_ns / (int64_t)NS_PER_S);
	unsigned ms = (unsigned)(wall_ns % (int64_t)NS_PER_S / 1000000);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(out, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, CLOCK_TEXT_BYTES - n, ".%03uZ", ms % 1000);
}
