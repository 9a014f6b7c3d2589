#include "tests/unit/test.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/report/stats.h"

#define RUNS_MAX 400

/* Runs as a word says them, the oldest first: digits are durations of ok runs
   in tenths of a second, x failed (0.1 s), ? lost, > running, p of some steps
   only, b could not begin. */
struct made {
	struct arena arena;
	struct ledger_run run[RUNS_MAX];
	const struct ledger_run *newest[RUNS_MAX];
	struct stats stats;
};

static struct ledger_run make_run(struct arena *arena, size_t i, char c)
{
	const int64_t began = 1790000000 * (int64_t)NS_PER_S +
			      (int64_t)i * 3600 * (int64_t)NS_PER_S;
	const bool has_ended = !strchr("?>", c);
	const int64_t tenths = c >= '0' && c <= '9' ? c - '0' : 1;
	char *at = arena_alloc(arena, CLOCK_TEXT_BYTES);

	clock_format(began, at);
	return (struct ledger_run){
		.generation = i + 1,
		.routine = "r",
		.file = "/m.toml",
		.whole = c != 'p' && c != 'b',
		.state = c == '?'   ? RUN_LOST
			 : c == '>' ? RUN_RUNNING
				    : RUN_FINISHED,
		.started = at,
		.started_ns = began,
		.finished = "",
		.finished_ns = has_ended ? began + tenths * 100000000 : 0,
		.success = has_ended && !strchr("xb", c),
		.sha256 = strchr("b?>", c) ? "" : "00",
	};
}

static void make(struct made *m, const char *word)
{
	const size_t n = strlen(word);

	*m = (struct made){.arena = ARENA_INIT};
	assert_true(n <= RUNS_MAX);
	for (size_t i = 0; i < n; i++) {
		m->run[i] = make_run(&m->arena, i, word[i]);
		m->newest[n - 1 - i] = &m->run[i];
	}
	stats_of(m->newest, n, &m->arena, &m->stats);
}

static void text_is(const char *word, struct stats_view view,
		    const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct made m;

	make(&m, word);
	view.routine = "r";
	stats_text(&m.stats, &view, &out);
	assert_string_equal(buf_cstr(&out), wanted);
	buf_release(&out);
	arena_release(&m.arena);
}

/* Compare the first line. */
static void heading_is(struct made *m, const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct stats_view view = {.routine = "r"};

	stats_text(&m->stats, &view, &out);
	assert_int_equal(strncmp(buf_cstr(&out), wanted, strlen(wanted)), 0);
	buf_release(&out);
}

TEST(stats, runs, are_counted_by_outcome)
{
	struct made m;

	make(&m, "11x?p1b>");
	assert_int_equal(m.stats.n, 7);
	assert_int_equal(m.stats.n_parts, 1);
	assert_int_equal(m.stats.count[STATS_OK], 3);
	assert_int_equal(m.stats.count[STATS_FAILED], 2);
	assert_int_equal(m.stats.count[STATS_LOST], 1);
	assert_int_equal(m.stats.count[STATS_RUNNING], 1);
	/* of the six that ended */
	heading_is(&m, "r: 50 % of 7 runs ok\n");
	arena_release(&m.arena);
}

TEST(stats, one_failure_in_many, is_never_all_ok)
{
	struct made m;
	char word[300];

	memset(word, '1', sizeof(word));
	word[7] = 'x';
	word[299] = '\0';
	make(&m, word);
	heading_is(&m, "r: 99 % of 299 runs ok\n");
	arena_release(&m.arena);
}

TEST(stats, streak, ends_where_the_outcome_turns)
{
	static const struct {
		const char *word;
		size_t n;
		bool is_ok;
		uint64_t first;
	} row[] = {
		{"1x111", 3, true, 3}, {"11x?x", 3, false, 3},
		{"x11>", 2, true, 2},  {"?1p1", 2, true, 2},
		{"1b", 1, false, 2},   {"1", 1, true, 1},
	};
	struct made m;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		make(&m, row[i].word);
		assert_int_equal(m.stats.streak, row[i].n);
		assert_int_equal(m.stats.is_ok_streak, row[i].is_ok);
		assert_int_equal(m.stats.streak_first->generation,
				 row[i].first);
		arena_release(&m.arena);
	}
	make(&m, ">");
	assert_null(m.stats.streak_first);
	arena_release(&m.arena);
}

TEST(stats, durations, are_of_runs_that_were_ok)
{
	struct made m;

	make(&m, "x1234?9x");
	assert_int_equal(m.stats.took.n, 5);
	assert_int_equal(m.stats.took.min, 100000);
	assert_int_equal(m.stats.took.median, 300000);
	assert_int_equal(m.stats.took.p90, 900000);
	assert_int_equal(m.stats.took.max, 900000);
	arena_release(&m.arena);
	make(&m, "12");
	assert_int_equal(m.stats.took.median, 150000);
	arena_release(&m.arena);
}

TEST(stats, clock_that_was_set_back, gives_no_duration)
{
	struct made m;

	make(&m, "11");
	m.run[1].finished_ns = m.run[1].started_ns - 5;
	stats_of(m.newest, 2, &m.arena, &m.stats);
	assert_int_equal(m.stats.count[STATS_OK], 2);
	assert_int_equal(m.stats.took.n, 1);
	assert_false(m.stats.run[1].is_timed);
	arena_release(&m.arena);
}

TEST(stats, text, has_a_chart_of_plain_characters)
{
	text_is("4x28?", (struct stats_view){.columns = 30},
		"r: 60 % of 5 runs ok\n"
		"  runs   3 ok, 1 failed, 1 lost, since run 1, "
		"Mon 21 Sep 2026, 14:13\n"
		"  now    not ok since run 5, Mon 21 Sep 2026, 18:13\n"
		"  took   0.4 s at the median, nine of ten within 0.8 s; from "
		"0.2 s to 0.8 s, where ok\n"
		"\n"
		"      0.8 s |   #\n"
		"            |   #\n"
		"            |:  #\n"
		"            |# .#\n"
		"        0 s |#:##\n"
		"              x  ?\n"
		"             one bar a run, the newest on the right; x "
		"failed; ? lost\n");
}

TEST(stats, text, has_blocks_and_colours_where_these_are_shown)
{
	text_is("8x", (struct stats_view){.has_utf8 = true, .has_colour = true},
		"r: 50 % of 2 runs ok\n"
		"  runs   1 ok, 1 failed, since run 1, Mon 21 Sep 2026, 14:13\n"
		"  now    not ok since run 2, Mon 21 Sep 2026, 15:13\n"
		"  took   0.8 s at the median, nine of ten within 0.8 s; from "
		"0.8 s to 0.8 s, where ok\n"
		"\n"
		"      0.8 s |█\n"
		"            |█\n"
		"            |█\n"
		"            |█\n"
		"        0 s |█\033[31m▅\033[0m\n"
		"              \033[31mx\033[0m\n"
		"             one bar a run, the newest on the right; x "
		"failed\n");
}

/* Lines of the chart and above it, in columns. */
static size_t widest(const char *text)
{
	size_t widest = 0;

	for (const char *bar; (bar = strchr(text, '|')); text = bar + 1) {
		const size_t n = strcspn(bar, "\n") + 12;

		widest = n > widest ? n : widest;
	}
	return widest;
}

TEST(stats, chart, fits_any_width_with_every_run)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	char word[RUNS_MAX + 1] = "";
	struct made m;

	for (size_t i = 0; i < RUNS_MAX; i++)
		word[i] = i == 17 ? 'x' : '1' + (char)(i % 9);
	make(&m, word);
	for (size_t columns = 24; columns < 200; columns += 7) {
		const struct stats_view view = {.routine = "r",
						.columns = columns};

		buf_clear(&out);
		stats_text(&m.stats, &view, &out);
		assert_true(widest(buf_cstr(&out)) <= columns);
		/* one failure among many is seen */
		assert_non_null(strstr(buf_cstr(&out), " x\n"));
	}
	buf_release(&out);
	arena_release(&m.arena);
}

TEST(stats, streak, that_may_be_longer_is_said_so)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct stats_view view = {.routine = "r"};
	struct made m;

	make(&m, "111");
	m.stats.has_more = true;
	stats_text(&m.stats, &view, &out);
	assert_non_null(
		strstr(buf_cstr(&out), "r: 100 % of the last 3 runs ok\n"));
	assert_non_null(
		strstr(buf_cstr(&out), "  now    ok at least since run 1, "));
	buf_release(&out);
	arena_release(&m.arena);
}

TEST(stats, no_runs, are_no_chart)
{
	text_is("", (struct stats_view){0}, "r: 0 runs\n");
}

/* ---- steps ---- */

/* a letter is a step of a report: o ok, x failed, s skipped, c taken over */
static void add_report(struct stats *s, const char *states, struct arena *arena)
{
	static const char *const names[] = {"a", "b", "c\033"};
	struct report_step step[3];
	const struct report report = {.steps = step, .n_steps = strlen(states)};

	for (size_t i = 0; states[i]; i++)
		step[i] = (struct report_step){
			.name = names[i],
			.state = states[i] == 'x'   ? STATE_FAILED
				 : states[i] == 's' ? STATE_SKIPPED
						    : STATE_OK,
			.run = states[i] == 'c'
				       ? STR("{\"duration_us\":5000000,"
					     "\"cached\":3}")
				       : STR("{\"duration_us\":200000}"),
		};
	stats_add_report(s, &report, arena);
}

TEST(stats, steps, that_fail_by_turns_are_flaky)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct stats_view view = {.routine = "r"};
	struct made m;

	make(&m, "1");
	add_report(&m.stats, "oos", &m.arena);
	add_report(&m.stats, "oxo", &m.arena);
	add_report(&m.stats, "coo", &m.arena);
	add_report(&m.stats, "xxo", &m.arena);
	stats_end(&m.stats, &m.arena);
	stats_text(&m.stats, &view, &out);
	assert_non_null(strstr(
		buf_cstr(&out),
		"\n  step     ok  failed  skipped       median      slowest  "
		"in "
		"4 reports\n"
		"  b         2       2        0        0.2 s        0.2 s  "
		"flaky\n"
		"  a         3       1        0        0.2 s        0.2 s\n"
		"  c\\x1b     3       0        1        0.2 s        0.2 s\n"
		"  flaky: from ok to failed or back three times or more in "
		"these reports\n"));
	buf_release(&out);
	arena_release(&m.arena);
}

TEST(stats, reports, are_looked_into_up_to_a_bound)
{
	struct made m;

	make(&m, "1");
	for (size_t i = 0; i < 3 * STATS_REPORTS; i++)
		add_report(&m.stats, "o", &m.arena);
	stats_end(&m.stats, &m.arena);
	assert_int_equal(m.stats.n_reports, STATS_REPORTS);
	assert_int_equal(m.stats.step[0].ok, STATS_REPORTS);
	arena_release(&m.arena);
}

/* ---- the page ---- */

TEST(stats, page, has_a_chart_that_nothing_can_script)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct stats_view view = {
		.routine = "r<script>",
		.file = "/a&b.toml",
	};
	const char *html;
	struct made m;

	make(&m, "4x?");
	stats_html(&m.stats, &view, &out);
	html = buf_cstr(&out);
	assert_null(strstr(html, "<script"));
	assert_non_null(
		strstr(html, "<h1>r&lt;script&gt;: 33 % of 3 runs ok</h1>"));
	assert_non_null(strstr(html, "<p class=\"dim\">/a&amp;b.toml</p>"));
	assert_non_null(strstr(
		html, "<g class=\"ok\" fill=\"currentColor\"><title>run 1, "
		      "Mon 21 Sep 2026, 14:13: ok, 0.4 s</title>"
		      "<rect x=\"0\" y=\"2\" width=\"265\" "
		      "height=\"146\"/></g>\n"));
	assert_non_null(strstr(html, "<g class=\"bad\" fill=\"currentColor\">"
				     "<title>run 3, "
				     "Mon 21 Sep 2026, 16:13: lost</title>"));
	assert_null(strstr(html, "style=\""));
	buf_release(&out);
	arena_release(&m.arena);
}
