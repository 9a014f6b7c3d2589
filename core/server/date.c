#include "core/server/date.h"

static bool is_leap(int32_t y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static int32_t month_days(int32_t y, int32_t m)
{
	static const int8_t days[] = {31, 28, 31, 30, 31, 30,
				      31, 31, 30, 31, 30, 31};

	return days[m - 1] + (m == 2 && is_leap(y));
}

/* Days from 0001-01-01 to the first of January of year y. */
static int32_t year_start(int32_t y)
{
	y--;
	return y * 365 + y / 4 - y / 100 + y / 400;
}

/* year_start(1970) */
#define EPOCH_DAYS 719162

static bool digits(struct str s, size_t at, size_t n, int32_t *ret)
{
	int32_t v = 0;

	for (size_t i = at; i < at + n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = v;
	return true;
}

bool date_parse(struct str s, int32_t *ret_days)
{
	int32_t y, m, d, days;

	if (s.n != DATE_TEXT_BYTES - 1 || s.p[4] != '-' || s.p[7] != '-')
		return false;
	if (!digits(s, 0, 4, &y) || !digits(s, 5, 2, &m) ||
	    !digits(s, 8, 2, &d))
		return false;
	if (y < 1 || m < 1 || m > 12 || d < 1 || d > month_days(y, m))
		return false;
	days = year_start(y) - EPOCH_DAYS + d - 1;
	for (int32_t i = 1; i < m; i++)
		days += month_days(y, i);
	*ret_days = days;
	return true;
}

void date_format(int32_t days, char out[DATE_TEXT_BYTES])
{
	int32_t y, m = 1, left = days + EPOCH_DAYS;

	/* never too late; too early by a year at most per 400 years */
	y = (int32_t)((int64_t)left * 400 / 146097) + 1;
	while (year_start(y) > left)
		y--;
	while (year_start(y + 1) <= left)
		y++;
	left -= year_start(y);
	while (left >= month_days(y, m))
		left -= month_days(y, m++);
	snprintf(out, DATE_TEXT_BYTES, "%04u-%02u-%02u", (unsigned)y % 10000u,
		 (unsigned)m % 100u, (unsigned)(left + 1) % 100u);
}

int32_t date_today(struct clock *clock)
{
	int64_t wall_ns = clock->wall_ns(clock);
	time_t s = (time_t)(wall_ns / (int64_t)NS_PER_S);
	struct tm tm = {0};
	int32_t days;

	localtime_r(&s, &tm);
	days = year_start(tm.tm_year + 1900) - EPOCH_DAYS;
	return days + tm.tm_yday;
}
