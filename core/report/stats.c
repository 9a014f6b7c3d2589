#include "core/report/stats.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/report/escape.h"
#include "core/report/page.h"
#include "core/report/words.h"

/* Turns of a step that make it flaky: broken and mended is one of each. */
#define FLAKY_TURNS 3
#define FLAKY                                                            \
	"flaky: from ok to failed or back three times or more in these " \
	"reports"
/* Steps that are shown to people; JSON has all. */
#define STEPS_SHOWN 10
/* Lines of the chart, and columns left of its bars. */
#define CHART_LINES 5
#define CHART_MARGIN 13
#define CHART_MIN_BARS 10
/* Bars of the chart of HTML, and its size. */
#define SVG_BARS 200
#define SVG_WIDTH 800
#define SVG_HEIGHT 160
#define SVG_MARK 12

static const struct {
	const char *name, *mark, *class;
} outcomes[] = {
	[STATS_OK] = {"ok", " ", "ok"},
	[STATS_RUNNING] = {"running", ">", "skip"},
	[STATS_FAILED] = {"failed", "x", "bad"},
	[STATS_LOST] = {"lost", "?", "bad"},
};

/* ---- durations ---- */

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct stats_times times_of(const uint64_t *us, size_t n,
				   struct arena *arena)
{
	uint64_t *sorted = ARENA_ARRAY(arena, uint64_t, n + 1);

	if (!n)
		return (struct stats_times){0};
	memcpy(sorted, us, n * sizeof(*us));
	qsort(sorted, n, sizeof(*sorted), by_size);
	return (struct stats_times){
		.n = n,
		.median = sorted[n / 2] / 2 + sorted[(n - 1) / 2] / 2 +
			  (sorted[n / 2] & sorted[(n - 1) / 2] & 1),
		.p90 = sorted[(n * 9 + 9) / 10 - 1],
		.min = sorted[0],
		.max = sorted[n - 1],
	};
}

/* ---- runs ---- */

/* A run that could not begin failed, though no step of it counts. */
static bool could_not_begin(const struct ledger_run *run)
{
	return run->state == RUN_FINISHED && !run->success && !*run->sha256;
}

static struct stats_run read_run(const struct ledger_run *run)
{
	const int64_t ns = run->finished_ns - run->started_ns;

	return (struct stats_run){
		.generation = run->generation,
		/* no other text than a time is shown */
		.started = run->started_ns ? run->started : "",
		.started_ns = run->started_ns,
		.outcome = run->state == RUN_RUNNING ? STATS_RUNNING
			   : run->state == RUN_LOST  ? STATS_LOST
			   : run->success	     ? STATS_OK
						     : STATS_FAILED,
		/* a clock that was set back has no duration */
		.is_timed = run->state == RUN_FINISHED && run->started_ns &&
			    ns >= 0,
		.us = ns > 0 ? (uint64_t)ns / 1000 : 0,
	};
}

static void find_streak(struct stats *s)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct stats_run *run = &s->run[i];
		const bool is_ok = run->outcome == STATS_OK;

		if (run->outcome == STATS_RUNNING)
			continue;
		if (s->streak && is_ok != s->is_ok_streak)
			return;
		s->is_ok_streak = is_ok;
		s->streak_first = run;
		s->streak++;
	}
}

void stats_of(const struct ledger_run *const *run, size_t n,
	      struct arena *arena, struct stats *ret)
{
	uint64_t *us = ARENA_ARRAY(arena, uint64_t, n + 1);
	size_t n_us = 0;

	*ret = (struct stats){.run = ARENA_ARRAY(arena, struct stats_run, n)};
	while (n-- > 0) {
		struct stats_run *to = &ret->run[ret->n];

		if (!run[n]->whole && !could_not_begin(run[n])) {
			ret->n_parts++;
			continue;
		}
		*to = read_run(run[n]);
		ret->count[to->outcome]++;
		if (to->outcome == STATS_OK && to->is_timed)
			us[n_us++] = to->us;
		ret->n++;
	}
	find_streak(ret);
	ret->took = times_of(us, n_us, arena);
}

/* Percent of the runs that ended which were ok, rounded down: 100 is all. */
static unsigned ok_percent(const struct stats *s)
{
	const size_t ended = s->n - s->count[STATS_RUNNING];

	return ended ? (unsigned)(s->count[STATS_OK] * 100 / ended) : 0;
}

/* ---- steps ---- */

static struct stats_step *step_of(struct stats *s, const char *name,
				  struct arena *arena)
{
	for (size_t i = 0; i < s->n_steps; i++)
		if (!strcmp(s->step[i].name, name))
			return &s->step[i];
	s->step = arena_grow(arena, s->step, s->n_steps, sizeof(*s->step));
	s->step[s->n_steps] = (struct stats_step){
		.name = arena_strdup(arena, name),
	};
	return &s->step[s->n_steps++];
}

/* Report whether the result is of this run, not of an earlier one. */
static bool is_own(const struct report_step *s)
{
	struct str from;

	return s->run.n && !scan_get(s->run, "taken_from", &from) &&
	       !scan_get(s->run, "cached", &from);
}

static void count_step(struct stats_step *to, const struct report_step *from)
{
	const bool is_ok = from->state == STATE_OK;
	struct str value;

	if (from->state == STATE_SKIPPED) {
		to->skipped++;
		return;
	}
	if (to->has_ended && to->was_ok != is_ok)
		to->turns++;
	to->has_ended = true;
	to->was_ok = is_ok;
	*(is_ok ? &to->ok : &to->failed) += 1;
	if (is_ok && is_own(from) && to->n_us < STATS_REPORTS &&
	    scan_get(from->run, "duration_us", &value) &&
	    str_uint64(value, &to->us[to->n_us]))
		to->n_us++;
}

void stats_add_report(struct stats *s, const struct report *r,
		      struct arena *arena)
{
	if (s->n_reports >= STATS_REPORTS)
		return;
	s->n_reports++;
	for (size_t i = 0; i < r->n_steps; i++)
		if (!r->steps[i].not_begun)
			count_step(step_of(s, r->steps[i].name, arena),
				   &r->steps[i]);
}

static bool is_flaky(const struct stats_step *step)
{
	return step->turns >= FLAKY_TURNS;
}

/* Order: failures, then durations, then names. */
static int by_weight(const void *a, const void *b)
{
	const struct stats_step *x = a, *y = b;

	if (x->failed != y->failed)
		return x->failed < y->failed ? 1 : -1;
	if (x->took.median != y->took.median)
		return x->took.median < y->took.median ? 1 : -1;
	return strcmp(x->name, y->name);
}

void stats_end(struct stats *s, struct arena *arena)
{
	for (size_t i = 0; i < s->n_steps; i++)
		s->step[i].took =
			times_of(s->step[i].us, s->step[i].n_us, arena);
	if (s->n_steps)
		qsort(s->step, s->n_steps, sizeof(*s->step), by_weight);
}

/* ---- the chart, as bars ---- */

struct bar {
	bool is_timed;
	uint64_t us;		    /* of the slowest */
	enum stats_outcome outcome; /* the worst */
	const struct stats_run *first, *last;
};

struct chart {
	struct bar *bar; /* arena */
	size_t n, per_bar;
	uint64_t max; /* microseconds of the highest */
	bool has_marks;
};

static struct chart chart_of(const struct stats *s, size_t max_bars,
			     struct arena *arena)
{
	struct chart c = {.per_bar = (s->n + max_bars - 1) / max_bars};

	c.bar = ARENA_ARRAY(arena, struct bar, max_bars);
	for (size_t i = 0; i < s->n; i++) {
		const struct stats_run *run = &s->run[i];
		struct bar *b = &c.bar[i / c.per_bar];

		if (i % c.per_bar == 0) {
			*b = (struct bar){.first = run};
			c.n++;
		}
		b->last = run;
		b->is_timed |= run->is_timed;
		b->us = run->us > b->us ? run->us : b->us;
		if (run->outcome > b->outcome)
			b->outcome = run->outcome;
		if (run->is_timed && run->us > c.max)
			c.max = run->us;
		c.has_marks |= run->outcome != STATS_OK;
	}
	return c;
}

/* Scale to `height` steps; what took any time is at least one. */
static size_t bar_height(const struct bar *b, const struct chart *c,
			 size_t height)
{
	size_t h = c->max ? (size_t)((double)b->us * (double)height /
					     (double)c->max +
				     0.5)
			  : 0;

	return b->is_timed && !h ? 1 : h;
}

/* ---- words ---- */

/* "run 7, Mon 21 Sep 2026, 14:13" */
static void add_run(const struct stats_run *run, struct buf *out)
{
	buf_addf(out, "run %llu", (unsigned long long)run->generation);
	if (!run->started_ns)
		return;
	buf_adds(out, ", ");
	words_time((uint64_t)run->started_ns / 1000, out);
}

/* "92 % of 42 runs ok" */
static void add_heading(const struct stats *s, struct buf *out)
{
	if (s->n)
		buf_addf(out, "%u %% of ", ok_percent(s));
	buf_addf(out, "%s%zu run%s%s", s->has_more ? "the last " : "", s->n,
		 s->n == 1 ? "" : "s", s->n ? " ok" : "");
}

static void add_counts(const struct stats *s, struct buf *out)
{
	const char *before = "";

	for (int o = 0; o < STATS_OUTCOMES; o++) {
		if (!s->count[o])
			continue;
		buf_addf(out, "%s%zu %s", before, s->count[o],
			 outcomes[o].name);
		before = ", ";
	}
	if (s->n) {
		buf_adds(out, ", since ");
		add_run(&s->run[0], out);
	}
	if (s->n_parts)
		buf_addf(out, "; %zu of some steps only, not counted",
			 s->n_parts);
}

static void add_streak(const struct stats *s, struct buf *out)
{
	if (!s->streak_first)
		return;
	buf_addf(out, "%s%s since ", s->is_ok_streak ? "ok" : "not ok",
		 s->has_more && s->streak_first == s->run ? " at least" : "");
	add_run(s->streak_first, out);
	if (s->streak > 1)
		buf_addf(out, ": %zu runs in a row", s->streak);
}

static void add_took(const struct stats *s, struct buf *out)
{
	const struct {
		const char *before;
		uint64_t us;
	} part[] = {
		{"", s->took.median},
		{" at the median, nine of ten within ", s->took.p90},
		{"; from ", s->took.min},
		{" to ", s->took.max},
	};

	for (size_t i = 0; s->took.n && i < ARRAY_LEN(part); i++) {
		buf_adds(out, part[i].before);
		report_add_duration(out, part[i].us);
	}
	if (s->took.n && s->took.n < s->n - s->count[STATS_RUNNING])
		buf_adds(out, ", where ok");
}

/* Sentences, with a word before each; one that has nothing to say is left out.
 */
static const struct {
	const char *name;
	void (*add)(const struct stats *s, struct buf *out);
} sentences[] = {
	{"runs", add_counts},
	{"now", add_streak},
	{"took", add_took},
};

static void add_legend(const struct stats *s, const struct chart *c,
		       bool has_marks, struct buf *out)
{
	if (c->per_bar == 1)
		buf_adds(out, "one bar a run, the newest on the right");
	else
		buf_addf(out, "one bar for %zu runs, as high as the slowest",
			 c->per_bar);
	for (int o = STATS_RUNNING; has_marks && o < STATS_OUTCOMES; o++)
		if (s->count[o])
			buf_addf(out, "; %s %s", outcomes[o].mark,
				 outcomes[o].name);
}

/* ---- the table of steps ---- */

static const struct {
	const char *name;
	int width;
} columns[] = {
	{"ok", 4},	{"failed", 6},	 {"skipped", 7},
	{"median", 11}, {"slowest", 11},
};

static void add_value(const struct stats_step *step, size_t column,
		      struct buf *out)
{
	const size_t count[] = {step->ok, step->failed, step->skipped};

	if (column < ARRAY_LEN(count))
		buf_addu(out, count[column]);
	else if (step->took.n)
		report_add_duration(out, column == ARRAY_LEN(count)
						 ? step->took.median
						 : step->took.max);
}

static bool has_flaky(const struct stats *s)
{
	for (size_t i = 0; i < s->n_steps; i++)
		if (is_flaky(&s->step[i]))
			return true;
	return false;
}

/* ---- text ---- */

static void end_line(struct buf *out)
{
	while (out->p[out->n - 1] == ' ')
		out->n--;
	buf_addc(out, '\n');
}

/* line  from below; the one below the ground has the marks */
static void add_bars(const struct stats_view *v, const struct chart *c,
		     size_t line, struct buf *out)
{
	static const char *const shade[][9] = {
		{" ", ".", ".", ".", ":", ":", ":", "#", "#"},
		{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	};

	for (size_t i = 0; i < c->n; i++) {
		const struct bar *b = &c->bar[i];
		const size_t h = bar_height(b, c, CHART_LINES * 8);
		const size_t above = h > line * 8 ? h - line * 8 : 0;
		const char *cell =
			line == SIZE_MAX
				? outcomes[b->outcome].mark
				: shade[v->has_utf8][above < 8 ? above : 8];
		const bool is_red = v->has_colour && *cell != ' ' &&
				    b->outcome >= STATS_FAILED;

		buf_addf(out, "%s%s%s", is_red ? "\033[31m" : "", cell,
			 is_red ? "\033[0m" : "");
	}
	end_line(out);
}

static void add_chart(const struct stats *s, const struct stats_view *v,
		      struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const size_t width = v->columns ? v->columns : 80;
	const struct chart c = chart_of(s,
					width > CHART_MARGIN + CHART_MIN_BARS
						? width - CHART_MARGIN
						: CHART_MIN_BARS,
					&arena);

	if (!c.max)
		return;
	buf_addc(out, '\n');
	for (size_t line = CHART_LINES; line-- > 0;) {
		AUTO(buf_release) struct buf scale = BUF_INIT(BUF_UNBOUNDED);

		if (line == CHART_LINES - 1)
			report_add_duration(&scale, c.max);
		buf_addf(out, "%*s |", CHART_MARGIN - 2,
			 line ? buf_cstr(&scale) : "0 s");
		add_bars(v, &c, line, out);
	}
	buf_addf(out, "%*s", CHART_MARGIN, "");
	if (c.has_marks) {
		add_bars(v, &c, SIZE_MAX, out);
		buf_addf(out, "%*s", CHART_MARGIN, "");
	}
	add_legend(s, &c, true, out);
	buf_addc(out, '\n');
}

static size_t add_name(const struct stats_step *step, struct buf *out)
{
	const size_t from = out->n;

	log_visible(out, str_of(step->name), false);
	return text_columns(str_skip(buf_str(out), from));
}

static void add_step(const struct stats_step *step, size_t width,
		     struct buf *out)
{
	buf_adds(out, "  ");
	for (size_t n = add_name(step, out); n < width; n++)
		buf_addc(out, ' ');
	for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		add_value(step, c, &value);
		buf_addf(out, "  %*s", columns[c].width, buf_cstr(&value));
	}
	buf_adds(out, is_flaky(step) ? "  flaky" : "");
	end_line(out);
}

static void add_steps(const struct stats *s, struct buf *out)
{
	const size_t n = s->n_steps < STEPS_SHOWN ? s->n_steps : STEPS_SHOWN;
	size_t width = strlen("step");

	for (size_t i = 0; i < n; i++) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
		const size_t wide = add_name(&s->step[i], &name);

		width = wide > width ? wide : width;
	}
	buf_addf(out, "\n  %-*s", (int)width, "step");
	for (size_t c = 0; c < ARRAY_LEN(columns); c++)
		buf_addf(out, "  %*s", columns[c].width, columns[c].name);
	buf_addf(out, "  in %zu report%s\n", s->n_reports,
		 s->n_reports == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++)
		add_step(&s->step[i], width, out);
	if (n < s->n_steps)
		buf_addf(out,
			 "  and %zu more, faster and without failures "
			 "more than these; --json has them\n",
			 s->n_steps - n);
	if (has_flaky(s))
		buf_adds(out, "  " FLAKY "\n");
}

void stats_text(const struct stats *s, const struct stats_view *v,
		struct buf *out)
{
	log_visible(out, str_of(v->routine), false);
	buf_adds(out, ": ");
	add_heading(s, out);
	buf_addc(out, '\n');
	for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		sentences[i].add(s, &line);
		if (line.n)
			buf_addf(out, "  %-7s%s\n", sentences[i].name,
				 buf_cstr(&line));
	}
	add_chart(s, v, out);
	if (s->n_steps)
		add_steps(s, out);
}

/* ---- HTML ---- */

/* A bar, or for what has no duration a mark on the ground. */
static void add_svg_bar(const struct chart *c, size_t i, struct buf *out)
{
	const struct bar *b = &c->bar[i];
	const size_t ground = SVG_HEIGHT - SVG_MARK;
	const size_t h = bar_height(b, c, ground - 2);
	const size_t left = i * SVG_WIDTH / c->n;
	const size_t right = (i + 1) * SVG_WIDTH / c->n;
	const size_t wide = right - left > 2 ? right - left - 1 : 1;
	static const char rect[] = "<rect x=\"%zu\" y=\"%zu\" "
				   "width=\"%zu\" height=\"%zu\"/>";

	buf_addf(out, "<g class=\"%s\" fill=\"currentColor\"><title>",
		 outcomes[b->outcome].class);
	add_run(b->first, out);
	if (b->last != b->first)
		buf_addf(out, ", to run %llu",
			 (unsigned long long)b->last->generation);
	buf_addf(out, ": %s", outcomes[b->outcome].name);
	if (b->is_timed) {
		buf_adds(out, ", ");
		report_add_duration(out, b->us);
	}
	buf_adds(out, "</title>");
	buf_addf(out, rect, left, ground - h, wide, h);
	if (b->outcome != STATS_OK)
		buf_addf(out, rect, left, ground + 4, wide,
			 (size_t)SVG_MARK - 4);
	buf_adds(out, "</g>\n");
}

static void add_figure(const struct stats *s, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct chart c = chart_of(s, SVG_BARS, &arena);

	if (!c.max)
		return;
	buf_addf(out,
		 "<section><h2>Durations</h2>\n<figure class=\"chart\">"
		 "<svg role=\"img\" viewBox=\"0 0 %d "
		 "%d\" width=\"%d\" height=\"%d\" aria-label=\"durations of "
		 "%zu runs, the newest on the right\">\n",
		 SVG_WIDTH, SVG_HEIGHT, SVG_WIDTH, SVG_HEIGHT, s->n);
	for (size_t i = 0; i < c.n; i++)
		add_svg_bar(&c, i, out);
	buf_adds(out, "</svg>\n<figcaption class=\"dim\">");
	add_legend(s, &c, false, out);
	buf_adds(out, "; the highest took ");
	report_add_duration(out, c.max);
	buf_addf(out, "%s</figcaption></figure></section>\n",
		 c.has_marks ? "; a mark below: failed, lost or running" : "");
}

static void add_table(const struct stats *s, struct buf *out)
{
	buf_addf(out,
		 "<section><h2>Steps, in %zu report%s</h2>\n"
		 "<div class=\"wide\"><table>\n<thead><tr>"
		 "<th scope=\"col\">step</th>",
		 s->n_reports, s->n_reports == 1 ? "" : "s");
	for (size_t c = 0; c < ARRAY_LEN(columns); c++)
		buf_addf(out, "<th scope=\"col\" class=\"n\">%s</th>",
			 columns[c].name);
	buf_adds(out, "<td></td></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < s->n_steps; i++) {
		escape_html(out, "<tr><td dir=\"auto\">",
			    str_of(s->step[i].name));
		for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
			buf_adds(out, "</td><td class=\"n\">");
			add_value(&s->step[i], c, out);
		}
		buf_addf(out, "</td><td>%s</td></tr>\n",
			 is_flaky(&s->step[i]) ? "flaky" : "");
	}
	buf_addf(out, "</tbody></table></div>\n%s</section>\n",
		 has_flaky(s) ? "<p class=\"dim\">" FLAKY "</p>\n" : "");
}

void stats_html(const struct stats *s, const struct stats_view *v,
		struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&title, "%s: ", v->routine);
	add_heading(s, &title);
	page_begin(buf_str(&title), out);
	escape_html(out, "<h1>", buf_str(&title));
	buf_adds(out, "</h1>\n");
	for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		sentences[i].add(s, &line);
		if (line.n)
			buf_addf(out,
				 "<p><span class=\"dim\">%s:</span> %s</p>\n",
				 sentences[i].name, buf_cstr(&line));
	}
	add_figure(s, out);
	if (s->n_steps)
		add_table(s, out);
	if (v->file)
		escape_html(out, "<p class=\"dim\">", str_of(v->file));
	buf_adds(out, v->file ? "</p>\n" : "");
	page_end(out);
}

/* ---- JSON ---- */

static void add_times(struct jw *w, const struct stats_times *t)
{
	if (!t->n)
		return;
	jw_kv_object(w, "duration_us");
	jw_kv_uint(w, "n", t->n);
	jw_kv_uint(w, "median", t->median);
	jw_kv_uint(w, "p90", t->p90);
	jw_kv_uint(w, "min", t->min);
	jw_kv_uint(w, "max", t->max);
	jw_end(w);
}

static void add_json_step(struct jw *w, const struct stats_step *step)
{
	jw_object(w);
	jw_kv_cstr(w, "name", step->name);
	jw_kv_uint(w, "ok", step->ok);
	jw_kv_uint(w, "failed", step->failed);
	jw_kv_uint(w, "skipped", step->skipped);
	jw_kv_bool(w, "flaky", is_flaky(step));
	add_times(w, &step->took);
	jw_end(w);
}

static void add_json_run(struct jw *w, const struct stats_run *run)
{
	jw_object(w);
	jw_kv_uint(w, "generation", run->generation);
	jw_kv_cstr(w, "started", run->started);
	jw_kv_cstr(w, "outcome", outcomes[run->outcome].name);
	if (run->is_timed)
		jw_kv_uint(w, "duration_us", run->us);
	jw_end(w);
}

void stats_json(const struct stats *s, const struct stats_view *v, struct jw *w)
{
	jw_kv_cstr(w, "routine", v->routine);
	jw_kv_opt(w, "file", v->file);
	jw_kv_object(w, "outcomes");
	for (int o = 0; o < STATS_OUTCOMES; o++)
		jw_kv_uint(w, outcomes[o].name, s->count[o]);
	jw_end(w);
	jw_kv_uint(w, "parts", s->n_parts);
	jw_kv_uint(w, "ok_percent", ok_percent(s));
	if (s->streak_first) {
		jw_kv_object(w, "streak");
		jw_kv_bool(w, "ok", s->is_ok_streak);
		jw_kv_uint(w, "runs", s->streak);
		jw_kv_uint(w, "since", s->streak_first->generation);
		jw_end(w);
	}
	add_times(w, &s->took);
	jw_kv_uint(w, "reports", s->n_reports);
	jw_kv_array(w, "steps");
	for (size_t i = 0; i < s->n_steps; i++)
		add_json_step(w, &s->step[i]);
	jw_end(w);
	jw_kv_bool(w, "more", s->has_more);
	jw_kv_array(w, "runs");
	for (size_t i = s->n; i-- > 0;)
		add_json_run(w, &s->run[i]);
	jw_end(w);
}
