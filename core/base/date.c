#include "core/base/date.h"

#include "core/base/text.h"

int32_t date_month_days(int32_t y, int32_t m)
{
	static const int8_t days[] = {31, 28, 31, 30, 31, 30,
				      31, 31, 30, 31, 30, 31};
	bool is_leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return days[m - 1] + (m == 2 && is_leap);
}

/* Days from 0001-01-01 to the first of January of year y. */
static int32_t year_start(int32_t y)
{
	y--;
	return y * 365 + y / 4 - y / 100 + y / 400;
}

/* year_start(1970) */
#define EPOCH_DAYS 719162

bool date_parse(struct str s, int32_t *ret_days)
{
	int32_t part[3] = {0}, y, m, d, days;
	size_t n = 0;

	if (s.n != DATE_TEXT_BYTES - 1)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool is_dash = i == 4 || i == 7;

		if (is_dash ? s.p[i] != '-' : !text_is_digit(s.p[i]))
			return false;
		n += is_dash;
		if (!is_dash)
			part[n] = part[n] * 10 + (s.p[i] - '0');
	}
	y = part[0];
	m = part[1];
	d = part[2];
	if (y < 1 || m < 1 || m > 12 || d < 1 || d > date_month_days(y, m))
		return false;
	days = year_start(y) - EPOCH_DAYS + d - 1;
	while (--m)
		days += date_month_days(y, m);
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
	while (left >= date_month_days(y, m))
		left -= date_month_days(y, m++);
	snprintf(out, DATE_TEXT_BYTES, "%04u-%02u-%02u", (unsigned)y % 10000u,
		 (unsigned)m % 100u, (unsigned)(left + 1) % 100u);
}
