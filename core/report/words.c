#include "core/report/words.h"

#include "core/base/text.h"
#include "core/report/diff.h"

/* Name of a tool in a heading: longer ones say nothing more. */
#define WORD_BYTES 100
/* Bytes of a folder. */
#define PATH_BYTES 300

struct str words_trim_end(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

/* ---- steps ---- */

/* Append a tool's title, else its name, where the step's name says less. */
static void add_tool(const struct report_step *s, struct buf *out)
{
	struct str tool = scan_text(s->run, "title");
	size_t at = out->n + strlen(" (");

	if (!tool.n)
		tool = scan_text(s->run, "tool");
	if (!tool.n || scan_is(tool, s->name))
		return;
	buf_adds(out, " (");
	(void)!scan_string_cut(tool, WORD_BYTES, out);
	/* a server must not end the bracket, and go on with a state of ours */
	for (; at < out->n; at++)
		if (out->p[at] == '(' || out->p[at] == ')')
			out->p[at] = '|';
	buf_addc(out, ')');
}

/* Generation of the run that gave a result which was used again, or empty. */
static struct str earlier_run(const struct report_step *s)
{
	struct str from = {NULL, 0};

	if (s->run.n && !scan_get(s->run, "taken_from", &from))
		(void)!scan_get(s->run, "cached", &from);
	return from;
}

void words_step(const struct report_step *s, bool with_tool, struct buf *out)
{
	struct str from;

	buf_adds(out, s->name);
	if (!with_tool || !s->run.n)
		return;
	add_tool(s, out);
	from = earlier_run(s);
	if (from.n)
		buf_addf(out, " (taken from run %.*s)", STR_ARG(from));
	if (scan_get(s->run, "attempts", &from) && scan_count(from) > 1)
		buf_addf(out, " (%zu attempts)", scan_count(from));
}

const char *words_state(const struct report_step *s)
{
	return s->not_begun ? "not begun" : REPORT_STATES[s->state].says;
}

/* Append the first words of a tool that reported an error. */
static void add_tool_words(const struct report_step *s, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str rest, line = {NULL, 0};

	if (s->state != STATE_TOOL_ERROR)
		return;
	report_step_output(&body, s);
	rest = buf_str(&body);
	/* a line with a brace alone says nothing */
	while (rest.n && line.n < 3)
		line = str_trim(str_cut(&rest, '\n'));
	if (line.n < 3)
		return;
	buf_adds(out, ": ");
	buf_add_cut(out, line, LIMIT_NOISE_LINE);
}

void words_error(const struct report_step *s, struct buf *out)
{
	struct str error = str_trim(s->error);

	buf_add_str(out,
		    error.n ? error : str_of(report_reason_name(s->reason)));
	add_tool_words(s, out);
}

struct str words_skipped(const struct report_step *s, struct str *ret_more)
{
	struct str error = words_trim_end(s->error);
	bool is_disabled = s->reason == REASON_DISABLED;
	bool is_dry_run = s->reason == REASON_DRY_RUN;
	/* does the error fit into that line? */
	bool is_cause = error.n && !is_disabled && !is_dry_run &&
			!memchr(error.p, '\n', error.n);

	*ret_more = is_disabled || is_cause ? STR("") : error;
	return is_cause	    ? error
	       : is_dry_run ? STR("dry run")
			    : str_of(report_reason_name(s->reason));
}

struct str words_all_saved(const struct report_step *s)
{
	return s->run.n ? scan_some(s->run, "saved") : (struct str){NULL, 0};
}

void words_saved(struct str file, struct buf *out)
{
	struct str form = scan_text(file, "holds");
	uint64_t bytes = 0;

	(void)!scan_string(scan_text(file, "path"), out);
	if (str_uint64(scan_some(file, "bytes"), &bytes))
		report_add_size(out, bytes);
	if (form.n)
		buf_addf(out, "; it holds %.*s", (int)form.n - 2, form.p + 1);
}

struct str words_output(const struct report_step *s, struct buf *room)
{
	if (s->output.n)
		return words_trim_end(s->output);
	report_step_output(room, s);
	return words_trim_end(buf_str(room));
}

/* ---- the whole ---- */

void words_counts(const struct report *r, struct buf *out)
{
	struct report_counts c = report_count(r);
	size_t ok = 0, left_out = 0;
	const char *comma = "";

	for (size_t i = 0; i < r->n_steps; i++) {
		ok += r->steps[i].state == STATE_OK;
		left_out += r->steps[i].reason == REASON_ONLY_FILTER;
	}
	const struct {
		size_t n;
		const char *word;
	} counts[] = {{ok, "ok"},
		      {c.failed, "failed"},
		      {c.skipped - left_out, "skipped"},
		      {left_out, "left out"},
		      {c.not_begun, "not begun"},
		      {c.lacks[LACKS_CONTENT], "without content"},
		      {c.lacks[LACKS_ITEMS], "without items"}};
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (!counts[i].n)
			continue;
		buf_addf(out, "%s%zu %s", comma, counts[i].n, counts[i].word);
		comma = ", ";
	}
	buf_adds(out, *comma ? "" : "nothing ran");
}

bool words_started(struct str run, uint64_t *ret_us)
{
	struct str text = run.n ? scan_text(run, "started") : run;
	struct tm tm = {.tm_isdst = 0};
	uint64_t part = 0;
	const char *end;

	/* behind it there is at least the quote */
	if (text.n < 2 ||
	    !(end = strptime(text.p + 1, "%Y-%m-%dT%H:%M:%S", &tm)))
		return false;
	if (*end++ == '.')
		for (uint64_t unit = 100000; text_is_digit(*end); unit /= 10)
			part += unit * (uint64_t)(*end++ - '0');
	*ret_us = (uint64_t)timegm(&tm) * 1000000 + part;
	return true;
}

bool words_took(struct str run, uint64_t *ret_us)
{
	struct str value = run.n ? scan_some(run, "duration_us") : run;

	return value.n && str_uint64(value, ret_us);
}

void words_time(uint64_t us, struct buf *out)
{
	time_t at = (time_t)(us / 1000000);
	char shown[64];
	struct tm tm;

	if (localtime_r(&at, &tm) &&
	    strftime(shown, sizeof(shown), "%a %d %b %Y, %H:%M", &tm))
		buf_adds(out, shown);
}

void words_earlier(const struct report *r, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_steps; i++)
		n += earlier_run(&r->steps[i]).n != 0;
	if (n)
		buf_addf(out, ", %zu from earlier runs", n);
}

/* " (6.0 s, run 52)" */
static void add_run(const struct report *r, struct buf *out)
{
	const char *before = " (";
	uint64_t us;

	if (words_took(r->run, &us)) {
		buf_adds(out, before);
		report_add_duration(out, us);
		before = ", ";
	}
	if (r->generation) {
		buf_addf(out, "%srun %llu", before,
			 (unsigned long long)r->generation);
		before = ", ";
	}
	buf_adds(out, *before == ',' ? ")" : "");
}

bool words_replayed(struct str run, const char *before, struct buf *out)
{
	struct str from = scan_text(run, "replay");

	if (!from.n)
		return false;
	buf_addf(out, "%sreplayed from ", before);
	(void)!scan_string_cut(from, PATH_BYTES, out);
	return true;
}

void words_title(const struct report *r, bool is_full, struct buf *out)
{
	uint64_t us;

	buf_adds(out, r->routine);
	if (r->dry_run) {
		buf_adds(out, " — dry run");
		return;
	}
	if (is_full)
		(void)words_replayed(r->run, " — ", out);
	if (is_full && words_started(r->run, &us)) {
		buf_adds(out, " — ");
		words_time(us, out);
	}
	buf_adds(out, " — ");
	words_counts(r, out);
	if (!is_full)
		return;
	words_earlier(r, out);
	add_run(r, out);
}

void words_changes(const struct report_changes *c, struct buf *out)
{
	buf_addf(out, "%s since run %llu",
		 c->diff->n ? "changed" : "nothing changed",
		 (unsigned long long)c->since);
}
