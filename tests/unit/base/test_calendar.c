/*
 * Calendar expressions, row by row: tests/unit/base/calendar.transcript.
 *
 *	text EXPRESSION		as it is written again, which reads the same
 *	cron EXPRESSION		the five fields
 *	guess TEXT		the expression that was meant, between bars
 *	next EXPRESSION | TIME	the three times behind a time
 *	last EXPRESSION | TIME	the last one, at or before it
 *	time TEXT		a time, written again
 */
#include "tests/unit/test.h"

#include "core/base/calendar.h"
#include "tests/unit/values.h"

static int read_text(struct value_row *r)
{
	struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct calendar c, same;

	if (calendar_parse(str_of(r->part[0]), &c, &r->err) < 0)
		return -1;
	calendar_text(&c, &r->out);
	assert_int_equal(calendar_parse(buf_str(&r->out), &same, &r->err), 0);
	calendar_text(&same, &again);
	assert_string_equal(buf_cstr(&again), buf_cstr(&r->out));
	buf_release(&again);
	return 0;
}

static int read_guess(struct value_row *r)
{
	buf_adds(&r->out, "|");
	calendar_guess(str_of(r->part[0]), &r->out);
	buf_adds(&r->out, "|");
	return 0;
}

static int read_cron(struct value_row *r)
{
	struct calendar c;

	return calendar_parse(str_of(r->part[0]), &c, &r->err) < 0
		       ? -1
		       : calendar_cron(&c, &r->out, &r->err);
}

static int read_times(struct value_row *r, int n,
		      bool (*find)(const struct calendar *, int64_t, int64_t *))
{
	char text[CALENDAR_TIME_BYTES];
	struct calendar c;
	int64_t at;

	assert_true(calendar_time_parse(str_of(r->part[1]), &at));
	if (calendar_parse(str_of(r->part[0]), &c, &r->err) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (!find(&c, at, &at)) {
			buf_adds(&r->out, r->out.n ? " never" : "never");
			return 0;
		}
		calendar_time_format(at, text);
		buf_addf(&r->out, "%s%s", i ? " " : "", text);
	}
	return 0;
}

static int read_next(struct value_row *r)
{
	return read_times(r, 3, calendar_next);
}

static int read_last(struct value_row *r)
{
	return read_times(r, 1, calendar_last);
}

static int read_time(struct value_row *r)
{
	char text[CALENDAR_TIME_BYTES] = "none";
	int64_t at;

	if (calendar_time_parse(str_of(r->part[0]), &at))
		calendar_time_format(at, text);
	buf_adds(&r->out, text);
	return 0;
}

static const struct value_reader READERS[] = {
	{"text", read_text}, {"cron", read_cron}, {"guess", read_guess},
	{"next", read_next}, {"last", read_last}, {"time", read_time},
};
TEST_VALUES(READERS, "tests/unit/base/calendar.transcript");
