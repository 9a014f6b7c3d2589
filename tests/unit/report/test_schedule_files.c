/*
 * Lines of a crontab and units that start a routine:
 * tests/unit/report/values/schedule_files.transcript.
 *
 * command WORD | N	the command of a line, the word N times; 1
 * pick CRONTAB		lines without the mark of "id", then those with it
 * starts CRONTAB	is a line more than a comment?
 * check CRONTAB | HOME	settings above our lines
 * service FOLDER | ON FAILURE | WORD	its lines that depend on these
 * timer ROUTINE	its description, and whose it is
 * slot AT | SLOT	when it comes, in seconds since 1970 UTC
 * due AT | SECONDS	slot that must have begun then, and when it came
 */
#include "tests/unit/test.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/report/crontab.h"
#include "core/report/schedule.h"
#include "core/report/unit_files.h"
#include "tests/unit/values.h"

static struct schedule_job job_of(struct value_row *r, const char *word)
{
	struct schedule_job j = {
		.s = {.id = "id",
		      .routine = "r",
		      .at = "*-*-* 07:00",
		      .unit = "u"},
	};

	list_add(&j.words, &r->arena, word);
	assert_int_equal(calendar_parse(str_of(j.s.at), &j.calendar, &r->err),
			 0);
	return j;
}

static int read_command(struct value_row *r)
{
	AUTO(buf_release) struct buf word = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	struct schedule_job j;
	struct str rest;
	uint64_t n = 1;

	if (*r->part[1])
		assert_true(str_uint64(str_of(r->part[1]), &n));
	while (n-- > 0)
		buf_adds(&word, r->part[0]);
	j = job_of(r, buf_cstr(&word));
	if (crontab_add(&j, &lines, &r->err) < 0)
		return -1;
	rest = buf_str(&lines);
	assert_true(str_starts(str_cut(&rest, '\n'), "# r: *-*-* 07:00 # mat"));
	assert_true(str_starts(rest, "0 7 * * * "));
	rest = str_skip(rest, strlen("0 7 * * * "));
	buf_add(&r->out, rest.p, rest.n - strlen(" " SCHEDULE_MARK "id\n"));
	return 0;
}

static int read_pick(struct value_row *r)
{
	const struct str text = value_bytes(r, r->part[0]);

	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);

	crontab_pick("id", text, false, &lines);
	buf_adds(&lines, "|");
	crontab_pick("id", text, true, &lines);
	add_encoded(&r->out, buf_str(&lines));
	return 0;
}

static int read_count(struct value_row *r)
{
	const struct str text = value_bytes(r, r->part[0]);

	buf_addf(&r->out, "%zu", crontab_count(text));
	return 0;
}

static int read_check(struct value_row *r)
{
	if (crontab_check(value_bytes(r, r->part[0]), "id", r->part[1],
			  &r->err) < 0)
		return -1;
	buf_adds(&r->out, "fine");
	return 0;
}

/* Lines from "OnFailure=" on, without those of all services. */
static int read_service(struct value_row *r)
{
	struct schedule_job j = job_of(r, r->part[2]);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	j.folder = r->part[0];
	j.on_failure = *r->part[1] ? r->part[1] : NULL;
	if (unit_file_add(&j, UNIT_SERVICE, &text, &r->err) < 0)
		return -1;
	rest = buf_str(&text);
	while (rest.n) {
		const struct str line = str_cut(&rest, '\n');

		if (str_starts(line, "OnF") || str_starts(line, "Work") ||
		    str_starts(line, "Exec"))
			buf_addf(&r->out, "%s%.*s", r->out.n ? " " : "",
				 STR_ARG(line));
	}
	return 0;
}

static int read_timer(struct value_row *r)
{
	struct schedule_job j = job_of(r, "w");
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	j.s.routine = r->part[0];
	j.s.id = "0123456789abcdef";
	if (unit_file_add(&j, UNIT_TIMER, &text, &r->err) < 0)
		return -1;
	assert_true(unit_file_is_of(buf_str(&text), j.s.id));
	assert_false(unit_file_is_of(buf_str(&text), "0123456789abcde"));
	rest = buf_str(&text);
	(void)!str_cut(&rest, '=').n;
	text.n = str_find(rest, '\n');
	buf_addf(&r->out, "%.*s in %s", (int)text.n, rest.p,
		 unit_files_stem(&j.s, &r->arena));
	return 0;
}

static int read_slot(struct value_row *r)
{
	const struct schedule s = {.at = r->part[0]};

	buf_addf(&r->out, "%lld",
		 (long long)(schedule_slot_ns(&s, r->part[1]) /
			     (int64_t)NS_PER_S));
	return 0;
}

static int read_due(struct value_row *r)
{
	const struct schedule s = {.at = r->part[0]};
	struct schedule_times t;
	uint64_t now;

	assert_true(str_uint64(str_of(r->part[1]), &now));
	schedule_times(&s, (int64_t)(now * NS_PER_S), &t);
	buf_addf(&r->out, "%s %lld", t.due,
		 (long long)(t.due_ns / (int64_t)NS_PER_S));
	return 0;
}

static const struct value_reader READERS[] = {
	{"command", read_command}, {"pick", read_pick},
	{"count", read_count},	   {"check", read_check},
	{"service", read_service}, {"timer", read_timer},
	{"slot", read_slot},	   {"due", read_due},
};
TEST_VALUES(READERS, "tests/unit/report/values/schedule_files.transcript");
