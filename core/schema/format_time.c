/* Forms of dates, times and durations. Source: RFC 3339. */
#include "core/schema/format_parts.h"

static bool is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30,
					     31, 31, 30, 31, 30, 31};

	return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

bool is_date(struct str s)
{
	unsigned year, month, day;

	if (!take_digits(&s, 4, &year) || !take_char(&s, '-') ||
	    !take_digits(&s, 2, &month) || !take_char(&s, '-') ||
	    !take_digits(&s, 2, &day) || s.n)
		return false;
	return month >= 1 && month <= 12 && day >= 1 &&
	       day <= days_of(year, month);
}

/* Z or +HH:MM; minutes to take from the time for that of UTC. */
static bool take_zone(struct str *s, int *ret_minutes)
{
	unsigned hour, minute;
	int sign;

	*ret_minutes = 0;
	if (take_char(s, 'Z') || take_char(s, 'z'))
		return true;
	sign = take_char(s, '-') ? -1 : 1;
	if (sign > 0 && !take_char(s, '+'))
		return false;
	if (!take_digits(s, 2, &hour) || !take_char(s, ':') ||
	    !take_digits(s, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*ret_minutes = sign * (int)(hour * 60 + minute);
	return true;
}

bool is_time(struct str s)
{
	unsigned hour, minute, second;
	int zone, utc;

	if (!take_digits(&s, 2, &hour) || !take_char(&s, ':') ||
	    !take_digits(&s, 2, &minute) || !take_char(&s, ':') ||
	    !take_digits(&s, 2, &second))
		return false;
	if (take_char(&s, '.') && !take_while(&s, is_digit_char))
		return false;
	if (!take_zone(&s, &zone) || s.n || hour > 23 || minute > 59)
		return false;
	if (second < 60)
		return true;
	/* a leap second ends a day of UTC */
	utc = ((int)(hour * 60 + minute) - zone + 2 * 1440) % 1440;
	return second == 60 && utc == 1439;
}

bool is_date_time(struct str s)
{
	struct str day = {s.p, s.n < 10 ? s.n : 10};

	if (s.n < 11 || !is_date(day) || (s.p[10] != 'T' && s.p[10] != 't'))
		return false;
	return is_time((struct str){s.p + 11, s.n - 11});
}

/* Numbers with these units, in this order and without gaps. */
static bool take_units(struct str *s, const char *units, bool *ret_any)
{
	const char *at = units;

	*ret_any = false;
	while (s->n && is_digit_char(s->p[0])) {
		const char *unit;

		take_while(s, is_digit_char);
		unit = s->n && s->p[0] ? strchr(at, s->p[0]) : NULL;
		if (!unit || (*ret_any && unit != at))
			return false;
		*s = (struct str){s->p + 1, s->n - 1};
		at = unit + 1;
		*ret_any = true;
	}
	return true;
}

bool is_duration(struct str s)
{
	bool any_days, any_hours;

	if (!take_char(&s, 'P'))
		return false;
	if (str_ends(s, "W"))
		return take_units(&s, "W", &any_days) && any_days && !s.n;
	if (!take_units(&s, "YMD", &any_days))
		return false;
	if (!take_char(&s, 'T'))
		return any_days && !s.n;
	return take_units(&s, "HMS", &any_hours) && any_hours && !s.n;
}
