#include "core/report/stats_print.h"

#include <string.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/report/escape.h"
#include "core/report/page.h"

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

/* ---- the chart, as bars ---- */

struct bar {
	bool is_timed;
	uint64_t us;		    /* of the slowest */
	enum stats_outcome outcome; /* the worst, in the order of `badness` */
	const struct stats_run *first, *last;
};

struct chart {
	size_t n, per_bar; /* bars, and runs of each */
	uint64_t max;	   /* microseconds of the highest */
	bool has_marks;
};

static struct chart chart_of(const struct stats *s, size_t max_bars)
{
	struct chart c = {.per_bar = (s->n + max_bars - 1) / max_bars};

	c.n = s->n ? (s->n + c.per_bar - 1) / c.per_bar : 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->run[i].is_timed && s->run[i].us > c.max)
			c.max = s->run[i].us;
		c.has_marks |= s->run[i].outcome != STATS_OK;
	}
	return c;
}

static struct bar bar_of(const struct stats *s, const struct chart *c, size_t i)
{
	static const int badness[] = {
		[STATS_OK] = 0,
		[STATS_RUNNING] = 1,
		[STATS_FAILED] = 2,
		[STATS_LOST] = 3,
	};
	const size_t at = i * c->per_bar;
	const size_t end = at + c->per_bar < s->n ? at + c->per_bar : s->n;
	struct bar b = {.first = &s->run[at], .last = &s->run[end - 1]};

	for (size_t k = at; k < end; k++) {
		const struct stats_run *run = &s->run[k];

		b.is_timed |= run->is_timed;
		if (run->us > b.us)
			b.us = run->us;
		if (badness[run->outcome] > badness[b.outcome])
			b.outcome = run->outcome;
	}
	return b;
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

static void add_time(struct buf *out, const char *before, uint64_t us,
		     const char *after)
{
	buf_adds(out, before);
	report_add_duration(out, us);
	buf_adds(out, after);
}

/* "42 runs since 2026-10-24T07:00:01.500Z, 92 % of them ok" */
static void add_heading(const struct stats *s, struct buf *out)
{
	buf_addf(out, "%s%zu run%s", s->has_more ? "the last " : "", s->n,
		 s->n == 1 ? "" : "s");
	if (s->n)
		buf_addf(out, " since %s, %u %% ok", s->run[0].started,
			 stats_ok_percent(s));
}

static void add_counts(const struct stats *s, struct buf *out)
{
	const char *before = "";

	for (int o = 0; o < STATS_OUTCOMES; o++) {
		if (!s->count[o])
			continue;
		buf_addf(out, "%s%zu %s", before, s->count[o],
			 stats_outcome_name((enum stats_outcome)o));
		before = ", ";
	}
	if (s->n_parts)
		buf_addf(out, "; %zu of some steps only, not counted",
			 s->n_parts);
}

static void add_streak(const struct stats *s, struct buf *out)
{
	const struct stats_run *first = s->streak_first;

	if (!first)
		return;
	buf_addf(out, "%s%s since run %llu of %s",
		 s->is_ok_streak ? "ok" : "not ok",
		 s->has_more && first == s->run ? " at least" : "",
		 (unsigned long long)first->generation, first->started);
	if (s->streak > 1)
		buf_addf(out, ", %zu runs in a row", s->streak);
}

static void add_took(const struct stats *s, struct buf *out)
{
	if (!s->took.n)
		return;
	add_time(out, "", s->took.median, " at the median");
	add_time(out, ", nine of ten within ", s->took.p90, "");
	add_time(out, "; from ", s->took.min, "");
	add_time(out, " to ", s->took.max, "");
	if (s->took.n < s->n - s->count[STATS_RUNNING])
		buf_adds(out, ", where ok");
}

/* "the last 10 took 1.5 s, 25 % more than the 29 before" */
static void add_trend(const struct stats *s, struct buf *out)
{
	const uint64_t now = s->last.median, then = s->before.median;
	const uint64_t gap = now > then ? now - then : then - now;
	const uint64_t percent = then ? gap * 100 / then : 0;

	if (!s->last.n)
		return;
	buf_addf(out, "the last %zu took ", s->last.n);
	add_time(out, "", now, ", ");
	if (percent < 10)
		buf_adds(out, "about as long as");
	else
		buf_addf(out, "%llu %% %s than", (unsigned long long)percent,
			 now > then ? "more" : "less");
	buf_addf(out, " the %zu before", s->before.n);
}

static const char *mark_of(enum stats_outcome o)
{
	static const char *const mark[] = {" ", "x", "?", ">"};

	return mark[o];
}

static void add_legend(const struct stats *s, const struct chart *c,
		       bool has_marks, struct buf *out)
{
	if (c->per_bar == 1)
		buf_adds(out, "one bar a run, the newest on the right");
	else
		buf_addf(out, "one bar for %zu runs, as high as the slowest",
			 c->per_bar);
	for (int o = STATS_FAILED; has_marks && o < STATS_OUTCOMES; o++)
		if (s->count[o])
			buf_addf(out, "; %s %s", mark_of((enum stats_outcome)o),
				 stats_outcome_name((enum stats_outcome)o));
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
	{"trend", add_trend},
};

/* ---- text ---- */

static void add_cell(const struct stats_view *v, const struct bar *b,
		     const char *cell, struct buf *out)
{
	const bool is_red =
		v->has_colour && *cell != ' ' &&
		(b->outcome == STATS_FAILED || b->outcome == STATS_LOST);

	buf_addf(out, "%s%s%s", is_red ? "\033[31m" : "", cell,
		 is_red ? "\033[0m" : "");
}

static void end_line(struct buf *out)
{
	while (out->p[out->n - 1] == ' ')
		out->n--;
	buf_addc(out, '\n');
}

/* line  from below */
static void add_bars(const struct stats *s, const struct stats_view *v,
		     const struct chart *c, size_t line, struct buf *out)
{
	static const char *const block[] = {" ", "▁", "▂", "▃", "▄",
					    "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ".", ".", ":",
					    ":", ":", "#", "#"};

	for (size_t i = 0; i < c->n; i++) {
		const struct bar b = bar_of(s, c, i);
		const size_t h = bar_height(&b, c, CHART_LINES * 8);
		const size_t below = line * 8;
		const size_t at = h <= below	   ? 0
				  : h - below >= 8 ? 8
						   : h - below;

		add_cell(v, &b, (v->has_utf8 ? block : plain)[at], out);
	}
	end_line(out);
}

static void add_chart(const struct stats *s, const struct stats_view *v,
		      struct buf *out)
{
	const size_t columns = v->columns ? v->columns : 80;
	const size_t room = columns > CHART_MARGIN + CHART_MIN_BARS
				    ? columns - CHART_MARGIN
				    : CHART_MIN_BARS;
	const struct chart c = chart_of(s, room);

	if (!c.max)
		return;
	buf_addc(out, '\n');
	for (size_t line = CHART_LINES; line-- > 0;) {
		AUTO(buf_release) struct buf scale = BUF_INIT(BUF_UNBOUNDED);

		if (line == CHART_LINES - 1)
			report_add_duration(&scale, c.max);
		buf_addf(out, "%*s |", CHART_MARGIN - 2,
			 line ? buf_cstr(&scale) : "0 s");
		add_bars(s, v, &c, line, out);
	}
	if (c.has_marks) {
		buf_addf(out, "%*s", CHART_MARGIN, "");
		for (size_t i = 0; i < c.n; i++) {
			const struct bar b = bar_of(s, &c, i);

			add_cell(v, &b, mark_of(b.outcome), out);
		}
		end_line(out);
	}
	buf_addf(out, "%*s", CHART_MARGIN, "");
	add_legend(s, &c, true, out);
	buf_addc(out, '\n');
}

static size_t name_columns(const struct stats_step *step, struct buf *out)
{
	const size_t from = out->n;

	log_visible(out, str_of(step->name), false);
	return text_columns(str_skip(buf_str(out), from));
}

static void add_step(const struct stats_step *step, size_t width,
		     struct buf *out)
{
	AUTO(buf_release) struct buf took = BUF_INIT(BUF_UNBOUNDED);
	size_t n;

	buf_adds(out, "  ");
	for (n = name_columns(step, out); n < width; n++)
		buf_addc(out, ' ');
	if (step->took.n)
		report_add_duration(&took, step->took.median);
	buf_addf(out, "  %4zu  %6zu  %7zu  %11s", step->ok, step->failed,
		 step->skipped, buf_cstr(&took));
	buf_clear(&took);
	if (step->took.n)
		report_add_duration(&took, step->took.max);
	buf_addf(out, "  %11s%s", buf_cstr(&took),
		 stats_is_flaky(step) ? "  flaky" : "");
	end_line(out);
}

static size_t shown_steps(const struct stats *s)
{
	return s->n_steps < STEPS_SHOWN ? s->n_steps : STEPS_SHOWN;
}

static void add_steps(const struct stats *s, struct buf *out)
{
	const size_t n = shown_steps(s);
	size_t width = strlen("step");

	for (size_t i = 0; i < n; i++) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
		const size_t columns = name_columns(&s->step[i], &name);

		width = columns > width ? columns : width;
	}
	buf_addf(out, "\n  %-*s  %4s  %6s  %7s  %11s  %11s  in %zu report%s\n",
		 (int)width, "step", "ok", "failed", "skipped", "median",
		 "slowest", s->n_reports, s->n_reports == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++)
		add_step(&s->step[i], width, out);
	if (n < s->n_steps)
		buf_addf(out,
			 "  and %zu more, faster and without failures "
			 "more than these; --json has them\n",
			 s->n_steps - n);
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

static const char *class_of(enum stats_outcome o)
{
	return o == STATS_OK ? "ok" : o == STATS_RUNNING ? "skip" : "bad";
}

/* A bar, or for what has no duration a mark on the ground. */
static void add_svg_bar(const struct bar *b, const struct chart *c, size_t i,
			struct buf *out)
{
	const size_t ground = SVG_HEIGHT - SVG_MARK;
	const size_t h = bar_height(b, c, ground - 2);
	const size_t left = i * SVG_WIDTH / c->n;
	const size_t right = (i + 1) * SVG_WIDTH / c->n;
	const size_t wide = right - left > 2 ? right - left - 1 : 1;

	buf_addf(out, "<g class=\"%s\" fill=\"currentColor\"><title>run %llu",
		 class_of(b->outcome),
		 (unsigned long long)b->first->generation);
	if (b->last != b->first)
		buf_addf(out, " to %llu",
			 (unsigned long long)b->last->generation);
	escape_html(out, ", ", str_of(b->first->started));
	buf_addf(out, ", %s", stats_outcome_name(b->outcome));
	if (b->is_timed)
		add_time(out, ", ", b->us, "");
	buf_addf(out,
		 "</title><rect x=\"%zu\" y=\"%zu\" width=\"%zu\" "
		 "height=\"%zu\"/>",
		 left, ground - h, wide, h);
	if (b->outcome != STATS_OK)
		buf_addf(out,
			 "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" "
			 "height=\"%d\"/>",
			 left, ground + 4, wide, SVG_MARK - 4);
	buf_adds(out, "</g>\n");
}

static void add_figure(const struct stats *s, struct buf *out)
{
	const struct chart c = chart_of(s, SVG_BARS);

	if (!c.max)
		return;
	buf_addf(out,
		 "<figure class=\"chart\"><svg role=\"img\" viewBox=\"0 0 %d "
		 "%d\" width=\"%d\" height=\"%d\" aria-label=\"durations of "
		 "%zu runs, the newest on the right\">\n",
		 SVG_WIDTH, SVG_HEIGHT, SVG_WIDTH, SVG_HEIGHT, s->n);
	for (size_t i = 0; i < c.n; i++) {
		const struct bar b = bar_of(s, &c, i);

		add_svg_bar(&b, &c, i, out);
	}
	buf_adds(out, "</svg>\n<figcaption class=\"dim\">");
	add_legend(s, &c, false, out);
	add_time(out, "; the highest took ", c.max, "");
	buf_adds(out, c.has_marks ? "; a mark below: failed, lost or running"
				    "</figcaption></figure>\n"
				  : "</figcaption></figure>\n");
}

static void add_step_row(const struct stats_step *step, struct buf *out)
{
	escape_html(out, "<tr><td dir=\"auto\">", str_of(step->name));
	buf_addf(out,
		 "</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td>"
		 "<td class=\"n\">%zu</td><td class=\"n\">",
		 step->ok, step->failed, step->skipped);
	if (step->took.n) {
		add_time(out, "", step->took.median, "</td><td class=\"n\">");
		report_add_duration(out, step->took.max);
	} else {
		buf_adds(out, "</td><td>");
	}
	buf_addf(out, "</td><td>%s</td></tr>\n",
		 stats_is_flaky(step) ? "flaky" : "");
}

static void add_step_table(const struct stats *s, struct buf *out)
{
	buf_addf(out,
		 "<section><h2>Steps, in %zu report%s</h2>\n"
		 "<div class=\"wide\"><table>\n<thead><tr>"
		 "<th scope=\"col\">step</th><th scope=\"col\" "
		 "class=\"n\">ok</th>"
		 "<th scope=\"col\" class=\"n\">failed</th>"
		 "<th scope=\"col\" class=\"n\">skipped</th>"
		 "<th scope=\"col\" class=\"n\">median</th>"
		 "<th scope=\"col\" class=\"n\">slowest</th><td></td>"
		 "</tr></thead>\n<tbody>\n",
		 s->n_reports, s->n_reports == 1 ? "" : "s");
	for (size_t i = 0; i < s->n_steps; i++)
		add_step_row(&s->step[i], out);
	buf_adds(out, "</tbody></table></div></section>\n");
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
		if (!line.n)
			continue;
		buf_addf(out, "<p><span class=\"dim\">%s:</span>",
			 sentences[i].name);
		escape_html(out, " ", buf_str(&line));
		buf_adds(out, "</p>\n");
	}
	add_figure(s, out);
	if (s->n_steps)
		add_step_table(s, out);
	if (v->file)
		escape_html(out, "<p class=\"dim\">", str_of(v->file));
	buf_adds(out, v->file ? "</p>\n" : "");
	page_end(out);
}

/* ---- JSON ---- */

static void add_uint(struct jw *w, const char *key, uint64_t v)
{
	jw_key(w, key);
	jw_uint(w, v);
}

static void add_times(struct jw *w, const char *key,
		      const struct stats_times *t)
{
	if (!t->n)
		return;
	jw_kv_object(w, key);
	add_uint(w, "n", t->n);
	add_uint(w, "median", t->median);
	add_uint(w, "p90", t->p90);
	add_uint(w, "min", t->min);
	add_uint(w, "max", t->max);
	jw_end(w);
}

static void add_json_step(struct jw *w, const struct stats_step *step)
{
	jw_object(w);
	jw_kv_cstr(w, "name", step->name);
	add_uint(w, "ok", step->ok);
	add_uint(w, "failed", step->failed);
	add_uint(w, "skipped", step->skipped);
	jw_kv_bool(w, "flaky", stats_is_flaky(step));
	add_times(w, "duration_us", &step->took);
	jw_end(w);
}

static void add_json_run(struct jw *w, const struct stats_run *run)
{
	jw_object(w);
	add_uint(w, "generation", run->generation);
	jw_kv_cstr(w, "started", run->started);
	jw_kv_cstr(w, "outcome", stats_outcome_name(run->outcome));
	if (run->is_timed)
		add_uint(w, "duration_us", run->us);
	jw_end(w);
}

void stats_json(const struct stats *s, const struct stats_view *v, struct jw *w)
{
	jw_kv_cstr(w, "routine", v->routine);
	if (v->file)
		jw_kv_cstr(w, "file", v->file);
	jw_kv_object(w, "outcomes");
	for (int o = 0; o < STATS_OUTCOMES; o++)
		add_uint(w, stats_outcome_name((enum stats_outcome)o),
			 s->count[o]);
	jw_end(w);
	add_uint(w, "parts", s->n_parts);
	add_uint(w, "ok_percent", stats_ok_percent(s));
	if (s->streak_first) {
		jw_kv_object(w, "streak");
		jw_kv_bool(w, "ok", s->is_ok_streak);
		add_uint(w, "runs", s->streak);
		add_uint(w, "since", s->streak_first->generation);
		jw_end(w);
	}
	add_times(w, "duration_us", &s->took);
	add_times(w, "last", &s->last);
	add_times(w, "before", &s->before);
	add_uint(w, "reports", s->n_reports);
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
