#include "core/base/clock.h"

#include "core/base/date.h"

#define DAY_MS INT64_C(86400000)

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

/* No gmtime(): that reads the time zone first. */
void clock_format(int64_t wall_ns, char out[CLOCK_TEXT_BYTES])
{
	int64_t ms = wall_ns / (int64_t)NS_PER_MS;
	int64_t days = ms / DAY_MS - (ms % DAY_MS < 0);
	unsigned left = (unsigned)(ms - days * DAY_MS);
	char date[DATE_TEXT_BYTES];

	date_format((int32_t)days, date);
	snprintf(out, CLOCK_TEXT_BYTES, "%sT%02u:%02u:%02u.%03uZ", date,
		 left / 3600000 % 24, left / 60000 % 60, left / 1000 % 60,
		 left % 1000);
}
