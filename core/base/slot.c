#include "core/base/slot.h"

#define DAY_S 86400

/* A clock that is put forward or back. */
struct change {
	int64_t at;	       /* the first second after it */
	int64_t before, after; /* seconds ahead of UTC */
};

/* Find a change less than a day away. */
static bool change_near(slot_clock *clock, int64_t at, struct change *ret)
{
	int64_t low = at - DAY_S, high = at + DAY_S;

	ret->before = clock(low);
	ret->after = clock(high);
	if (ret->before == ret->after)
		return false;
	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (clock(middle) == ret->before)
			low = middle;
		else
			high = middle;
	}
	ret->at = high;
	return true;
}

/* Does the wall show that time twice, around the change? */
static bool is_twice(const struct change *c, int64_t wall)
{
	return wall >= c->at + c->after && wall < c->at + c->before;
}

static struct slot slot_of(slot_clock *clock, int64_t wall, bool second)
{
	struct slot s = {.wall = wall};
	struct change c;

	s.at = wall - clock(wall);
	if (!change_near(clock, wall, &c))
		return s;
	s.is_again = second && is_twice(&c, wall);
	s.ahead = c.after;
	if (wall < c.at + c.before && !s.is_again)
		s.at = wall - c.before;
	else
		s.at = wall < c.at + c.after ? c.at : wall - c.after;
	return s;
}

/* Expressions that follow the clock: both passes count, and what it skips does
   not come. */
static bool is_frequent(const struct calendar *c)
{
	return !memchr(c->is[CALENDAR_HOUR], false, 24) ||
	       !memchr(c->is[CALENDAR_MINUTE], false, 60);
}

bool slot_last(const struct calendar *c, slot_clock *clock, int64_t now,
	       struct slot *ret)
{
	struct change change;
	const bool is_past =
		change_near(clock, now, &change) && change.at <= now;
	int64_t wall = now + clock(now);
	bool second = is_frequent(c), found;

	/* all that the first pass showed has come, though the wall is back */
	if (is_past && !second && wall < change.at + change.before)
		wall = change.at - 1 + change.before;
	found = calendar_last(c, wall, &wall);
	if (is_past && second && (!found || wall < change.at + change.after)) {
		second = false;
		found = calendar_last(c, change.at - 1 + change.before, &wall);
	}
	if (!found)
		return false;
	*ret = slot_of(clock, wall, second);
	if (ret->at > now)
		*ret = slot_of(clock, wall, false);
	return true;
}

bool slot_next(const struct calendar *c, slot_clock *clock, int64_t now,
	       struct slot *ret)
{
	struct change change;
	const bool has_change = change_near(clock, now, &change);
	bool is_past = has_change && change.at <= now;
	int64_t wall = now + clock(now);

	if (is_past && !is_frequent(c) && wall < change.at + change.before)
		wall = change.at - 1 + change.before;
	if (!calendar_next(c, wall, &wall))
		return false;
	if (has_change && !is_past && is_frequent(c) &&
	    wall >= change.at + change.before) {
		is_past = true;
		if (!calendar_next(c, change.at + change.after - 1, &wall))
			return false;
	}
	*ret = slot_of(clock, wall, is_past && is_frequent(c));
	return true;
}

/* Read "-05:00" at the end of a time. */
static bool read_zone(struct str zone, int64_t *ret_ahead)
{
	uint64_t hours, minutes;

	if (zone.p[3] != ':' ||
	    !str_uint64((struct str){zone.p + 1, 2}, &hours) ||
	    !str_uint64((struct str){zone.p + 4, 2}, &minutes) || hours > 24 ||
	    minutes > 59)
		return false;
	*ret_ahead = (int64_t)(hours * 3600 + minutes * 60);
	if (zone.p[0] == '-')
		*ret_ahead = -*ret_ahead;
	return true;
}

bool slot_parse(struct str text, slot_clock *clock, struct slot *ret)
{
	const char sign = text.n > 16 ? text.p[text.n - 6] : ':';
	int64_t wall, at, ahead;

	if (sign != '-' && sign != '+') {
		if (!calendar_time_parse(text, &wall))
			return false;
		*ret = slot_of(clock, wall, false);
		return true;
	}
	text.n -= 6;
	if (!read_zone((struct str){text.p + text.n, 6}, &ahead) ||
	    !calendar_time_parse(text, &wall))
		return false;
	at = wall - ahead;
	wall = at + clock(at);
	*ret = slot_of(clock, wall, true);
	if (ret->at != at)
		*ret = slot_of(clock, wall, false);
	return true;
}

void slot_format(const struct slot *s, char out[SLOT_BYTES])
{
	const int64_t minutes = llabs(s->ahead) / 60;

	calendar_time_format(s->wall, out);
	if (s->is_again)
		snprintf(out + strlen(out), SLOT_BYTES - strlen(out),
			 "%c%02d:%02d", s->ahead < 0 ? '-' : '+',
			 (int)(minutes / 60), (int)(minutes % 60));
}
