#include "core/base/calendar.h"

#include <strings.h>

#include "core/base/date.h"
#include "core/base/text.h"

#define DAY_S 86400
#define DAYS_SEARCHED (40 * 366)

/* Values of each part, as people write them, and how wide. */
static const struct {
	unsigned low, high, width;
} parts[CALENDAR_PARTS] = {
	[CALENDAR_WEEKDAY] = {1, 7, 1}, [CALENDAR_YEAR] = {1970, 2225, 4},
	[CALENDAR_MONTH] = {1, 12, 2},	[CALENDAR_DAY] = {1, 31, 2},
	[CALENDAR_HOUR] = {0, 23, 2},	[CALENDAR_MINUTE] = {0, 59, 2},
	[CALENDAR_SECOND] = {0, 59, 2},
};

static const char *const weekdays[] = {"Monday",   "Tuesday", "Wednesday",
				       "Thursday", "Friday",  "Saturday",
				       "Sunday"};

/* ---- reading ---- */

static bool read_weekday(struct str s, uint64_t *ret)
{
	for (unsigned i = 0; i < 7; i++)
		if (s.n == 3 || s.n == strlen(weekdays[i])) {
			if (strncasecmp(s.p, weekdays[i], s.n) == 0) {
				*ret = i + 1;
				return true;
			}
		}
	return false;
}

static bool read_value(struct str s, enum calendar_part p, uint64_t *ret)
{
	if (p == CALENDAR_WEEKDAY)
		return read_weekday(s, ret);
	return str_uint64(s, ret) && *ret >= parts[p].low &&
	       *ret <= parts[p].high;
}

/* Set "A", "A..B", "A/N" or "A..B/N"; from the end of a month "A/N" counts
   towards it. */
static bool read_item(struct str item, enum calendar_part p, struct calendar *c)
{
	struct str range = str_cut(&item, '/'), first = range;
	const bool has_step = item.p;
	const bool is_down = c->from_end && p == CALENDAR_DAY && has_step;
	const char *dots = memmem(range.p, range.n, "..", 2);
	uint64_t from, to, step = 1;

	if (dots)
		first.n = (size_t)(dots - range.p);
	if (!read_value(first, p, &from))
		return false;
	to = has_step ? parts[p].high : from;
	if (dots &&
	    (is_down || !read_value(str_skip(range, first.n + 2), p, &to)))
		return false;
	if (has_step && (p == CALENDAR_WEEKDAY || !str_uint64(item, &step) ||
			 !step || step > parts[p].high))
		return false;
	if (is_down)
		for (; from >= 1; from -= step < from ? step : from)
			c->is[p][from - 1] = true;
	else if (to < from)
		return false;
	for (; !is_down && from <= to; from += step)
		c->is[p][from - parts[p].low] = true;
	return true;
}

static bool read_part(struct str s, enum calendar_part p, struct calendar *c)
{
	if (!s.n)
		return false;
	if (str_is(s, "*") && p != CALENDAR_WEEKDAY) {
		memset(c->is[p], true, parts[p].high - parts[p].low + 1);
		return true;
	}
	while (s.p)
		if (!read_item(str_cut(&s, ','), p, c))
			return false;
	return true;
}

/* [YEAR-]MONTH-DAY, or with ~ before days from the end. */
static bool read_date(struct str s, struct calendar *c)
{
	size_t at = s.n;
	struct str first;

	while (at && s.p[at - 1] != '-' && s.p[at - 1] != '~')
		at--;
	if (!at)
		return false;
	c->from_end = s.p[at - 1] == '~';
	first = (struct str){s.p, at - 1};
	if (!read_part(str_skip(s, at), CALENDAR_DAY, c))
		return false;
	s = first;
	first = str_cut(&s, '-');
	if (!s.p)
		return read_part(STR("*"), CALENDAR_YEAR, c) &&
		       read_part(first, CALENDAR_MONTH, c);
	return read_part(first, CALENDAR_YEAR, c) &&
	       read_part(s, CALENDAR_MONTH, c);
}

/* HOUR:MINUTE[:SECOND] */
static bool read_time(struct str s, struct calendar *c)
{
	struct str hour = str_cut(&s, ':'), minute = str_cut(&s, ':');

	return read_part(hour, CALENDAR_HOUR, c) &&
	       read_part(minute, CALENDAR_MINUTE, c) &&
	       read_part(s.p ? s : STR("0"), CALENDAR_SECOND, c);
}

/* Cut the zone off the end: "UTC" or "Europe/Berlin", as tzdata names them. */
static bool read_zone(struct str *words, struct calendar *c)
{
	const char *blank = words->n ? memrchr(words->p, ' ', words->n) : NULL;
	struct str zone;
	uint64_t day;

	if (!blank || !text_is_alpha(blank[1]))
		return true;
	zone = str_skip(*words, (size_t)(blank + 1 - words->p));
	if (read_weekday(zone, &day))
		return true;
	if (zone.n >= sizeof(c->zone))
		return false;
	for (size_t i = 0; i < zone.n; i++)
		if (!text_is_alnum(zone.p[i]) && !memchr("/_+-", zone.p[i], 4))
			return false;
	memcpy(c->zone, zone.p, zone.n);
	*words = str_trim((struct str){words->p, words->n - zone.n});
	return true;
}

/* The words in their order, each of which may be missing. */
static bool read_words(struct str rest, struct calendar *c)
{
	bool has_weekday = false, has_date = false, has_time = false;

	while (rest.n) {
		struct str word = str_cut(&rest, ' ');
		const bool is_time = word.n && memchr(word.p, ':', word.n);

		if (!word.n)
			continue;
		if (has_time || (has_date && !is_time))
			return false;
		if (is_time)
			has_time = read_time(word, c);
		else if (!has_weekday && read_part(word, CALENDAR_WEEKDAY, c))
			has_weekday = true;
		else if (!(has_date = read_date(word, c)))
			return false;
		if (is_time && !has_time)
			return false;
	}
	if (!has_weekday)
		memset(c->is[CALENDAR_WEEKDAY], true, 7);
	return (has_time || read_time(STR("0:0"), c)) &&
	       (has_date || read_date(STR("*-*-*"), c)) &&
	       (has_weekday || has_date || has_time);
}

int calendar_parse(struct str text, struct calendar *ret, struct err *err)
{
	static const char *const names[][2] = {
		{"minutely", "*:*"},
		{"hourly", "*:0"},
		{"daily", "0:0"},
		{"weekly", "Mon 0:0"},
		{"monthly", "*-*-1"},
		{"quarterly", "*-1,4,7,10-1"},
		{"semiannually", "*-1,7-1"},
		{"yearly", "*-1-1"},
		{"annually", "*-1-1"},
	};
	struct str words = str_trim(text);

	*ret = (struct calendar){.from_end = false};
	if (!read_zone(&words, ret))
		words.n = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(words, names[i][0]))
			words = str_of(names[i][1]);
	if (words.n && read_words(words, ret))
		return 0;
	return err_set(err, ERR_USAGE,
		       "\"%.*s\" is no calendar expression; write for example "
		       "\"Mon..Fri 07:00\", \"*-*-01 06:30\", \"*:0/15\" or "
		       "\"daily Europe/Berlin\" (man 7 systemd.time)",
		       STR_ARG(text));
}

/* ---- times ---- */

static bool is_day(const struct calendar *c, int64_t day)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30,
				      31, 31, 30, 31, 30, 31};
	const time_t at = day * DAY_S;
	struct tm tm;
	int n;

	if (!gmtime_r(&at, &tm) || tm.tm_year < 70 || tm.tm_year > 70 + 255)
		return false;
	n = lengths[tm.tm_mon];
	if (tm.tm_mon == 1 && tm.tm_year % 4 == 0 &&
	    (tm.tm_year % 100 || tm.tm_year % 400 == 100))
		n++;
	return c->is[CALENDAR_YEAR][tm.tm_year - 70] &&
	       c->is[CALENDAR_MONTH][tm.tm_mon] &&
	       c->is[CALENDAR_WEEKDAY][(tm.tm_wday + 6) % 7] &&
	       c->is[CALENDAR_DAY]
		    [c->from_end ? n - tm.tm_mday : tm.tm_mday - 1];
}

/* From there to the end of the day, or to its beginning; false: none is. */
static bool find_second(const struct calendar *c, int64_t *at, int step)
{
	for (; *at >= 0 && *at < DAY_S; *at += step)
		if (c->is[CALENDAR_HOUR][*at / 3600] &&
		    c->is[CALENDAR_MINUTE][*at / 60 % 60] &&
		    c->is[CALENDAR_SECOND][*at % 60])
			return true;
	return false;
}

static bool find(const struct calendar *c, int64_t at, int step, int64_t *ret)
{
	int64_t day = at / DAY_S, second = at % DAY_S;

	if (at < 0)
		return false;
	for (int i = 0; i < DAYS_SEARCHED; i++, day += step) {
		if (i)
			second = step > 0 ? 0 : DAY_S - 1;
		if (is_day(c, day) && find_second(c, &second, step)) {
			*ret = day * DAY_S + second;
			return true;
		}
	}
	return false;
}

bool calendar_last(const struct calendar *c, int64_t at, int64_t *ret)
{
	return find(c, at, -1, ret);
}

bool calendar_next(const struct calendar *c, int64_t at, int64_t *ret)
{
	return find(c, at + 1, 1, ret);
}

void calendar_time_format(int64_t time, char out[CALENDAR_TIME_BYTES])
{
	const time_t at = time;
	struct tm tm = {0};

	gmtime_r(&at, &tm);
	strftime(out, CALENDAR_TIME_BYTES,
		 tm.tm_sec ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%dT%H:%M", &tm);
}

bool calendar_time_parse(struct str s, int64_t *ret)
{
	uint64_t h = 0, m = 0, second = 0;
	struct str rest = s, date = str_cut(&rest, 'T');
	int32_t days;

	if ((s.n != 16 && s.n != 19) || rest.n < 5 || rest.p[2] != ':' ||
	    !date_parse(date, &days) || days < 0 ||
	    !str_uint64((struct str){rest.p, 2}, &h) ||
	    !str_uint64((struct str){rest.p + 3, 2}, &m) ||
	    (s.n == 19 &&
	     (rest.p[5] != ':' || !str_uint64(str_skip(rest, 6), &second))) ||
	    h > 23 || m > 59 || second > 59)
		return false;
	*ret = (int64_t)days * DAY_S + (int64_t)(h * 3600 + m * 60 + second);
	return true;
}

/* ---- writing ---- */

static bool is_all(const struct calendar *c, enum calendar_part p)
{
	return !memchr(c->is[p], false, parts[p].high - parts[p].low + 1);
}

/* Append "*", or values and ranges of three and more. */
static void add_part(const struct calendar *c, enum calendar_part p,
		     bool for_cron, struct buf *out)
{
	const unsigned n = parts[p].high - parts[p].low + 1;
	const unsigned width = for_cron ? 1 : parts[p].width;
	const char *comma = "";

	if (is_all(c, p)) {
		buf_addc(out, '*');
		return;
	}
	for (unsigned i = 0, end; i < n; i = end) {
		for (end = i; end < n && c->is[p][end]; end++)
			;
		if (end < i + 3)
			end = i + 1;
		if (!c->is[p][i])
			continue;
		if (p == CALENDAR_WEEKDAY && !for_cron)
			buf_addf(out, "%s%.3s%s%.3s", comma, weekdays[i],
				 end > i + 1 ? ".." : "",
				 end > i + 1 ? weekdays[end - 1] : "");
		else
			buf_addf(out, "%s%0*u", comma, (int)width,
				 i + parts[p].low);
		if (end > i + 1 && (p != CALENDAR_WEEKDAY || for_cron))
			buf_addf(out, "%s%0*u", for_cron ? "-" : "..",
				 (int)width, end - 1 + parts[p].low);
		comma = ",";
	}
}

void calendar_text(const struct calendar *c, struct buf *out)
{
	static const char before[CALENDAR_PARTS] = {[CALENDAR_MONTH] = '-',
						    [CALENDAR_DAY] = '-',
						    [CALENDAR_HOUR] = ' ',
						    [CALENDAR_MINUTE] = ':',
						    [CALENDAR_SECOND] = ':'};
	const bool is_whole = c->is[CALENDAR_SECOND][0] &&
			      !memchr(c->is[CALENDAR_SECOND] + 1, true, 59);

	for (enum calendar_part p = 0; p < CALENDAR_PARTS; p++) {
		if (p == CALENDAR_WEEKDAY && is_all(c, p))
			continue;
		if (p == CALENDAR_SECOND && is_whole)
			break;
		if (p == CALENDAR_DAY && c->from_end)
			buf_addc(out, '~');
		else if (before[p])
			buf_addc(out, before[p]);
		add_part(c, p, false, out);
		if (p == CALENDAR_WEEKDAY)
			buf_addc(out, ' ');
	}
	if (*c->zone)
		buf_addf(out, " %s", c->zone);
}

/* A field of a crontab; an interval begins at `first`. */
static void add_field(struct str field, char first, struct buf *out)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed",
					   "Thu", "Fri", "Sat", "Sun"};

	for (size_t i = 0; i < field.n; i++) {
		const char c = field.p[i];

		if (c == '-')
			buf_adds(out, "..");
		else if (c == '*' && i + 1 < field.n && first)
			buf_addc(out, first);
		else if (!first && c >= '0' && c <= '7')
			buf_adds(out, days[c - '0']);
		else
			buf_addc(out, c);
	}
}

/* 0 7 * * 1-5 as Mon..Fri *-*-* 7:0; false: these are no five fields. */
static bool from_crontab(struct str text, struct buf *out)
{
	struct str field[5];
	size_t n = 0;

	while (text.n) {
		const struct str word = str_cut(&text, ' ');

		if (word.n && n == 5)
			return false;
		if (word.n)
			field[n++] = word;
	}
	if (n != 5)
		return false;
	if (!str_is(field[4], "*")) {
		add_field(field[4], '\0', out);
		buf_addc(out, ' ');
	}
	buf_adds(out, "*-");
	add_field(field[3], '1', out);
	buf_addc(out, '-');
	add_field(field[2], '1', out);
	buf_addc(out, ' ');
	add_field(field[1], '0', out);
	buf_addc(out, ':');
	add_field(field[0], '0', out);
	/* cron takes either of two days */
	return str_is(field[4], "*") || str_is(field[2], "*");
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* "Mon..Fri" for "Mon-Fri". */
static void with_ranges(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '-' && i && i + 1 < text.n &&
		    is_letter(text.p[i - 1]) && is_letter(text.p[i + 1]))
			buf_adds(out, "..");
		else
			buf_addc(out, text.p[i]);
}

void calendar_guess(struct str text, struct buf *out)
{
	AUTO(buf_release) struct buf meant = BUF_INIT(BUF_UNBOUNDED);
	struct calendar c;

	text = str_first(str_trim(text), 200);
	if (!from_crontab(text, &meant)) {
		buf_clear(&meant);
		with_ranges(text, &meant);
	}
	if (calendar_parse(buf_str(&meant), &c, ERR_IGNORED) == 0)
		calendar_text(&c, out);
}

/* Make it what cron can say. Returns the reason, or NULL: it can. */
static const char *come_near(struct calendar *c)
{
	const char *why = NULL;

	if (!c->is[CALENDAR_SECOND][0] ||
	    memchr(c->is[CALENDAR_SECOND] + 1, true, 59)) {
		why = "it knows no seconds";
		memset(c->is[CALENDAR_SECOND], 0, 60);
		c->is[CALENDAR_SECOND][0] = true;
	}
	if (!is_all(c, CALENDAR_YEAR)) {
		why = "it knows no years";
		memset(c->is[CALENDAR_YEAR], true, 256);
	}
	if (c->from_end && !is_all(c, CALENDAR_DAY)) {
		why = "it knows no days from the end of a month";
		/* each as far from the end of the shortest month */
		for (unsigned i = 0; i < 14; i++) {
			bool was = c->is[CALENDAR_DAY][i];

			c->is[CALENDAR_DAY][i] = c->is[CALENDAR_DAY][27 - i];
			c->is[CALENDAR_DAY][27 - i] = was;
		}
		memset(c->is[CALENDAR_DAY] + 28, 0, 3);
		c->is[CALENDAR_DAY][0] |=
			!memchr(c->is[CALENDAR_DAY], true, 28);
	}
	c->from_end = false;
	if (!is_all(c, CALENDAR_DAY) && !is_all(c, CALENDAR_WEEKDAY)) {
		why = "it takes days of the month and of the week as either, "
		      "not both";
		memset(c->is[CALENDAR_DAY], true, 31);
	}
	if (*c->zone)
		why = "it knows no zones";
	c->zone[0] = '\0';
	return why;
}

int calendar_cron(const struct calendar *c, struct buf *out, struct err *err)
{
	static const enum calendar_part order[] = {
		CALENDAR_MINUTE, CALENDAR_HOUR, CALENDAR_DAY, CALENDAR_MONTH,
		CALENDAR_WEEKDAY};
	AUTO(buf_release) struct buf near_text = BUF_INIT(BUF_UNBOUNDED);
	struct calendar near = *c;
	const char *why = come_near(&near);

	if (why) {
		calendar_text(&near, &near_text);
		return err_set(err, ERR_USAGE,
			       "cron cannot say that: %s; the nearest that it "
			       "can is --at \"%s\" (--with systemd can say it)",
			       why, buf_cstr(&near_text));
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (i)
			buf_addc(out, ' ');
		add_part(c, order[i], true, out);
	}
	return 0;
}
