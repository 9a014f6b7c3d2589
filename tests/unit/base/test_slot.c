/*
 * Slots on the clock of New York in 2026 and 2027, row by row:
 * tests/unit/base/slots.transcript. Times behind a bar, and in the
 * brackets of a result, are of UTC.
 *
 *	last EXPRESSION | TIME	the last slot at or before a time
 *	next EXPRESSION | TIME	the three slots behind a time
 *	time TEXT		a time, written again
 */
#include "tests/unit/test.h"

#include "core/base/slot.h"
#include "tests/unit/values.h"

static int64_t new_york(int64_t at)
{
	static const char *const summers[][2] = {
		{"2026-03-08T07:00", "2026-11-01T06:00"},
		{"2027-03-14T07:00", "2027-11-07T06:00"},
	};
	int64_t from, to;

	for (size_t i = 0; i < ARRAY_LEN(summers); i++) {
		assert_true(calendar_time_parse(str_of(summers[i][0]), &from));
		assert_true(calendar_time_parse(str_of(summers[i][1]), &to));
		if (at >= from && at < to)
			return -4 * 3600;
	}
	return -5 * 3600;
}

static void add_slot(struct value_row *r, const struct slot *s)
{
	char text[SLOT_BYTES], at[CALENDAR_TIME_BYTES];

	slot_format(s, text);
	calendar_time_format(s->at, at);
	buf_addf(&r->out, "%s%s (%s)", r->out.n ? " " : "", text, at);
}

static int read_times(struct value_row *r, int n,
		      bool (*find)(const struct calendar *, slot_clock *,
				   int64_t, struct slot *))
{
	struct calendar c;
	struct slot s;
	int64_t at;

	assert_true(calendar_time_parse(str_of(r->part[1]), &at));
	if (calendar_parse(str_of(r->part[0]), &c, &r->err) < 0)
		return -1;
	for (int i = 0; i < n; i++, at = s.at) {
		if (!find(&c, new_york, at, &s)) {
			buf_adds(&r->out, "never");
			return 0;
		}
		add_slot(r, &s);
	}
	return 0;
}

static int read_last(struct value_row *r)
{
	return read_times(r, 1, slot_last);
}

static int read_next(struct value_row *r)
{
	return read_times(r, 3, slot_next);
}

static int read_time(struct value_row *r)
{
	struct slot s;

	if (slot_parse(str_of(r->part[0]), new_york, &s))
		add_slot(r, &s);
	else
		buf_adds(&r->out, "none");
	return 0;
}

static const struct value_reader READERS[] = {
	{"last", read_last}, {"next", read_next}, {"time", read_time}};
TEST_VALUES(READERS, "tests/unit/base/slots.transcript");

/* Each slot is the last one from its time until the next. */
TEST(slots, through_two_changes_of_the_clock, follow_each_other)
{
	static const char *const texts[] = {"*:0/20", "*:0",	   "02:30",
					    "01:30",  "1..2:0/15", "01:*",
					    "daily"};
	int64_t at, end;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct calendar c;
		struct slot s, last;

		assert_int_equal(
			calendar_parse(str_of(texts[i]), &c, ERR_IGNORED), 0);
		assert_true(calendar_time_parse(STR("2026-10-30T00:00"), &at));
		assert_true(calendar_time_parse(STR("2027-03-17T00:00"), &end));
		for (; at < end; at = s.at) {
			assert_true(slot_next(&c, new_york, at, &s));
			assert_true(s.at > at);
			assert_true(slot_last(&c, new_york, s.at, &last));
			assert_int_equal(last.at, s.at);
			/* times that are skipped come at once */
			assert_true(last.wall >= s.wall);
			assert_int_equal(last.is_again, s.is_again);
			assert_true(slot_last(&c, new_york, s.at - 1, &last));
			assert_true(last.at <= at);
		}
	}
}
