/*
 * The forms of a report. Text, Markdown and HTML are one walk over it, by a
 * table of what stands around each part; JSON is another.
 */
#include "core/report/render.h"

#include <string.h>
#include <time.h>

#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/report/escape.h"
#include "core/report/markdown.h"
#include "core/report/shape.h"

/* Base64 of one picture or sound in a page: 8 MiB. */
#define MEDIA_BYTES (8 * 1024 * 1024)
/* Name of a tool in a heading: longer ones say nothing more. */
#define WORD_BYTES 100

/* ---- forms for people ---- */

/* Words around a text, and the way in which that is added. */
struct part {
	const char *before;
	void (*add)(struct buf *out, const char *before, struct str s);
	const char *after;
};

struct form {
	struct part title;
	struct part failed, error; /* name and sentence, on top */
	struct part refused;	   /* name of a step that went on without */
	struct part noted;	   /* name of one that nothing was refused to */
	struct part said, advice, toml;
	const char *end_troubles;
	struct part step, skipped, note, nothing, output;
	void (*body)(struct buf *out, const struct form *f, struct str text,
		     const struct render_options *o);
	const char *end_step;
	struct part left_out;
	struct part summary[2]; /* of a failure, of a success */
	bool is_html;
};

static void add_part(struct buf *out, const struct part *p, struct str s)
{
	p->add(out, p->before, s);
	buf_adds(out, p->after);
}

/* Without white space at the end; spaces at the begin may set a line in. */
static struct str trim_end(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

/* JSON in lines, any other text as it is. */
static void print_body(struct buf *out, const struct form *f, struct str text,
		       const struct render_options *o)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	struct str value;

	if (shape_read(text, &arena, &value)) {
		/* lines are set in by two */
		shape_text(value, o->columns > 2 ? o->columns - 2 : 0, &lines);
		text = trim_end(buf_str(&lines));
	}
	add_part(out, &f->output, text);
}

static void print_html_body(struct buf *out, const struct form *f,
			    struct str text, const struct render_options *o)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str value;
	bool is_json = shape_read(text, &arena, &value);

	(void)o;
	if (!is_json && !markdown_html(text, &body)) {
		add_part(out, &f->output, text);
		return;
	}
	buf_adds(out, "<div class=\"body\">\n");
	if (is_json)
		shape_html(value, out);
	else
		buf_add_str(out, buf_str(&body));
	buf_adds(out, "</div>\n");
}

/* Pictures and sounds that a browser shows without obeying anything. */
static const struct {
	const char *type, *mime, *before, *after;
} media[] = {
	{"image", "image/png", "<img alt=\"image\" src=\"", "\">\n"},
	{"image", "image/jpeg", "<img alt=\"image\" src=\"", "\">\n"},
	{"image", "image/gif", "<img alt=\"image\" src=\"", "\">\n"},
	{"image", "image/webp", "<img alt=\"image\" src=\"", "\">\n"},
	{"audio", "audio/wav", "<audio controls src=\"", "\"></audio>\n"},
	{"audio", "audio/mpeg", "<audio controls src=\"", "\"></audio>\n"},
	{"audio", "audio/ogg", "<audio controls src=\"", "\"></audio>\n"},
};

static bool is_base64(struct str s)
{
	while (s.n && s.p[s.n - 1] == '=')
		s.n--;
	for (size_t i = 0; i < s.n; i++)
		if (!text_is_alpha(s.p[i]) && !text_is_digit(s.p[i]) &&
		    s.p[i] != '+' && s.p[i] != '/')
			return false;
	return s.n > 0;
}

static void print_block(struct str block, struct buf *out)
{
	struct str type = scan_text(block, "type");
	struct str mime = scan_text(block, "mimeType");
	struct str data = scan_text(block, "data");
	size_t i = 0;

	if (!type.n || !mime.n || !data.n || data.n > MEDIA_BYTES)
		return;
	while (i < ARRAY_LEN(media) &&
	       (!scan_is(type, media[i].type) || !scan_is(mime, media[i].mime)))
		i++;
	data = (struct str){data.p + 1, data.n - 2}; /* without the quotes */
	if (i == ARRAY_LEN(media) || !is_base64(data))
		return;
	buf_addf(out, "%sdata:%s;base64,", media[i].before, media[i].mime);
	buf_add_str(out, data);
	buf_adds(out, media[i].after);
}

/* Media of a result, below its text, which names each of them. */
static void print_media(const struct report_step *s, struct buf *out)
{
	struct str content = s->answer.content;

	/* of a report that was loaded */
	if (!content.n && s->data.n)
		content = scan_some(s->data, "content");
	if (!content.n)
		return;
	for (struct scan_iter it = scan_over(content); scan_next(&it);)
		if (scan_type(it.value) == SCAN_OBJECT)
			print_block(it.value, out);
}

/* Text, and before and behind its parts what a terminal obeys, or nothing. */
#define TEXT_FORM(strong, bad, good, warn, plain)                            \
	{                                                                    \
		.title = {strong "# ", escape_line, plain "\n\n"},           \
		.failed = {bad "ERROR:" plain " ", escape_line, ": "},       \
		.error = {"", escape_lines, ""},                             \
		.refused = {warn "refused:" plain " ", escape_line, "\n"},   \
		.noted = {"note: ", escape_line, "\n"},                      \
		.said = {"  stderr: ", escape_lines, ""},                    \
		.advice = {"  ", escape_lines, ""},                          \
		.toml = {"      " good, escape_line, plain "\n"},            \
		.end_troubles = "\n",                                        \
		.step = {strong "## ", escape_line, plain "\n"},             \
		.skipped = {warn "(skipped: ", escape_line, ")" plain "\n"}, \
		.note = {"  ", escape_lines, ""},                            \
		.nothing = {"(no output)\n", escape_line, ""},               \
		.output = {"  ", escape_lines, ""}, .body = print_body,      \
		.end_step = "\n",                                            \
		.left_out = {"left out: ", escape_line, "\n\n"},             \
		.summary = {{"---\n" bad, escape_line, plain "\n"},          \
			    {"---\n" good, escape_line, plain "\n"}},        \
	}

static const struct form text_form = TEXT_FORM("", "", "", "", "");
static const struct form colour_form =
	TEXT_FORM("\033[1m", "\033[1;31m", "\033[32m", "\033[33m", "\033[0m");

static const struct form md_form = {
	.title = {"# ", escape_markdown, "\n\n"},
	.failed = {"**ERROR:** ", escape_markdown, ": "},
	.error = {"", escape_markdown, "\n\n"},
	.refused = {"**refused:** ", escape_markdown, "\n\n"},
	.noted = {"**note:** ", escape_markdown, "\n\n"},
	.said = {"stderr", escape_fenced, "\n"},
	.advice = {"- ", escape_markdown, "\n\n"},
	.toml = {"toml", escape_fenced, "\n"},
	.end_troubles = "",
	.step = {"## ", escape_markdown, "\n\n"},
	.skipped = {"*(skipped: ", escape_markdown, ")*\n\n"},
	.note = {"> ", escape_markdown, "\n\n"},
	.nothing = {"*(no output)*\n\n", escape_markdown, ""},
	.output = {"text", escape_fenced, "\n"},
	.body = print_body,
	.end_step = "",
	.left_out = {"*left out: ", escape_markdown, "*\n\n"},
	.summary = {{"---\n\n", escape_markdown, "\n"},
		    {"---\n\n", escape_markdown, "\n"}},
};

static const struct form html_form = {
	.title = {"<h1>", escape_html, "</h1>\n"},
	.failed = {"<p class=\"bad\">ERROR: ", escape_html, ": "},
	.error = {"", escape_html, "</p>\n"},
	.refused = {"<p class=\"skip\">refused: ", escape_html, "</p>\n"},
	.noted = {"<p class=\"skip\">note: ", escape_html, "</p>\n"},
	.said = {"<p class=\"advice\">stderr:</p>\n<pre class=\"advice\">\n",
		 escape_html, "</pre>\n"},
	.advice = {"<p class=\"advice\">", escape_html, "</p>\n"},
	.toml = {"<pre class=\"advice\">\n", escape_html, "</pre>\n"},
	.end_troubles = "",
	.step = {"<section>\n<h2>", escape_html, ""},
	.skipped = {"<p class=\"dim\">(skipped: ", escape_html, ")</p>\n"},
	.note = {"<p>", escape_html, "</p>\n"},
	.nothing = {"<p class=\"dim\">(no output)</p>\n", escape_html, ""},
	/* an HTML parser drops a newline right behind <pre> */
	.output = {"<pre>\n", escape_html, "</pre>\n"},
	.body = print_html_body,
	.end_step = "</section>\n",
	.left_out = {"<p class=\"dim\">left out: ", escape_html, "</p>\n"},
	.summary = {{"<footer class=\"bad\">", escape_html, "</footer>\n"},
		    {"<footer class=\"ok\">", escape_html, "</footer>\n"}},
	.is_html = true,
};

/* ---- troubles, on top ---- */

static void print_advice(const struct report_step *s, const struct form *f,
			 struct buf *out)
{
	if (s->said.n)
		add_part(out, &f->said, s->said);
	for (size_t i = 0; i < s->n_advice; i++) {
		add_part(out, &f->advice, str_trim(s->advice[i].text));
		if (s->advice[i].toml.n)
			add_part(out, &f->toml, s->advice[i].toml);
	}
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

/* "the tool reported an error: no such city" */
static void print_error(const struct report_step *s, const struct form *f,
			struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str error = str_trim(s->error);

	buf_add_str(&text,
		    error.n ? error : str_of(report_reason_name(s->reason)));
	add_tool_words(s, &text);
	add_part(out, &f->failed, str_of(s->name));
	add_part(out, &f->error, buf_str(&text));
}

/* Failures in file order, then steps that succeeded in spite of refusals. */
static void print_troubles(const struct report *r, const struct form *f,
			   bool with_advice, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < r->n_steps; i++) {
		const struct report_step *s = &r->steps[i];

		if (report_step_success(s))
			continue;
		any = true;
		print_error(s, f, out);
		if (with_advice)
			print_advice(s, f, out);
	}
	for (size_t i = 0; with_advice && i < r->n_steps; i++) {
		const struct report_step *s = &r->steps[i];

		if (!report_step_success(s) || !s->n_advice)
			continue;
		any = true;
		add_part(out, s->refused ? &f->refused : &f->noted,
			 str_of(s->name));
		print_advice(s, f, out);
	}
	buf_adds(out, any ? f->end_troubles : "");
}

/* ---- steps ---- */

/* Say why a step was skipped: in one line, and what else there is beneath. */
static void print_skipped(const struct report_step *s, const struct form *f,
			  struct buf *out)
{
	struct str error = trim_end(s->error);
	bool is_disabled = s->reason == REASON_DISABLED;
	bool is_dry_run = s->reason == REASON_DRY_RUN;
	/* does the error fit into that line? */
	bool is_cause = error.n && !is_disabled && !is_dry_run &&
			!memchr(error.p, '\n', error.n);

	add_part(out, &f->skipped,
		 is_cause     ? error
		 : is_dry_run ? STR("dry run")
			      : str_of(report_reason_name(s->reason)));
	if (error.n && !is_disabled && !is_cause)
		add_part(out, &f->note, error);
}

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

/* "issues (List issues) — failed" */
static void print_heading(const struct report_step *s, const struct form *f,
			  bool with_tool, struct buf *out)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	bool has_failed = s->state != STATE_OK && s->state != STATE_SKIPPED;
	struct str from;

	buf_adds(&name, s->name);
	if (with_tool && s->run.n)
		add_tool(s, &name);
	if (with_tool && s->run.n && scan_get(s->run, "taken_from", &from))
		buf_addf(&name, " (taken from run %.*s)", STR_ARG(from));
	if (has_failed && !f->is_html)
		buf_addf(&name, " — %s", REPORT_STATES[s->state].says);
	add_part(out, &f->step, buf_str(&name));
	if (f->is_html)
		buf_addf(out, "\n<span class=\"state %s\">%s</span></h2>\n",
			 !report_step_success(s)     ? "bad"
			 : s->state == STATE_SKIPPED ? "skip"
						     : "ok",
			 REPORT_STATES[s->state].says);
}

static void print_step(const struct report_step *s, const struct form *f,
		       const struct render_options *o, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str output;

	if (!s->output.n)
		report_step_output(&body, s);
	output = trim_end(s->output.n ? s->output : buf_str(&body));
	print_heading(s, f, o->view == VIEW_FULL, out);
	if (s->state == STATE_SKIPPED)
		print_skipped(s, f, out);
	else if (!output.n && s->state == STATE_OK)
		add_part(out, &f->nothing, STR(""));
	/* of a failure show the bytes that the error speaks of */
	if (output.n && s->state == STATE_FAILED)
		add_part(out, &f->output, output);
	else if (output.n)
		f->body(out, f, output, o);
	if (f->is_html)
		print_media(s, out);
	buf_adds(out, f->end_step);
}

/* Steps left out by hand have no section: one line names them. */
static void print_steps(const struct report *r, const struct form *f,
			const struct render_options *o, struct buf *out)
{
	AUTO(buf_release) struct buf left_out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < r->n_steps; i++) {
		const struct report_step *s = &r->steps[i];

		if (s->reason != REASON_ONLY_FILTER) {
			print_step(s, f, o, out);
			continue;
		}
		buf_addf(&left_out, "%s%s", left_out.n ? ", " : "", s->name);
	}
	if (left_out.n)
		add_part(out, &f->left_out, buf_str(&left_out));
}

/* ---- the first line ---- */

/* "16 ok, 2 failed, 1 skipped" */
static void add_counts(struct buf *out, const struct report *r)
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
		      {c.not_begun, "not begun"}};
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (!counts[i].n)
			continue;
		buf_addf(out, "%s%zu %s", comma, counts[i].n, counts[i].word);
		comma = ", ";
	}
	buf_adds(out, *comma ? "" : "nothing ran");
}

/* "Sun 22 Nov 2026, 07:00", in the time zone of the reader. */
static void add_time(struct buf *out, struct str run)
{
	struct str text = scan_text(run, "started");
	struct tm tm = {.tm_isdst = 0};
	char shown[64];
	time_t at;

	if (text.n < 2 || !strptime(text.p + 1, "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	at = timegm(&tm);
	if (localtime_r(&at, &tm) &&
	    strftime(shown, sizeof(shown), "%a %d %b %Y, %H:%M", &tm))
		buf_addf(out, " — %s", shown);
}

/* "0.3 s", "6.0 s", "2 min 5 s", "1 h 12 min" */
static void add_duration(struct buf *out, uint64_t us)
{
	uint64_t s = us / 1000000;

	if (us < 100000)
		buf_addf(out, "%llu ms", (unsigned long long)us / 1000);
	else if (s < 60)
		buf_addf(out, "%.1f s", (double)us / 1e6);
	else if (s < 3600)
		buf_addf(out, "%llu min %llu s", (unsigned long long)s / 60,
			 (unsigned long long)s % 60);
	else
		buf_addf(out, "%llu h %llu min", (unsigned long long)s / 3600,
			 (unsigned long long)s / 60 % 60);
}

/* " (6.0 s, run 52)" */
static void add_run(struct buf *out, const struct report *r)
{
	struct str value = r->run.n ? scan_some(r->run, "duration_us")
				    : (struct str){NULL, 0};
	const char *before = " (";
	uint64_t us;

	if (value.n && str_uint64(value, &us)) {
		buf_adds(out, before);
		add_duration(out, us);
		before = ", ";
	}
	if (r->generation) {
		buf_addf(out, "%srun %llu", before,
			 (unsigned long long)r->generation);
		before = ", ";
	}
	buf_adds(out, *before == ',' ? ")" : "");
}

/* "morning — Sun 22 Nov 2026, 07:00 — 16 ok, 2 failed (6.0 s, run 52)" */
static void add_title(struct buf *out, const struct report *r,
		      const struct render_options *o)
{
	bool is_full = o->view == VIEW_FULL;

	buf_adds(out, r->routine);
	if (r->dry_run) {
		buf_adds(out, " — dry run");
		return;
	}
	if (is_full && r->run.n)
		add_time(out, r->run);
	buf_adds(out, " — ");
	add_counts(out, r);
	if (is_full)
		add_run(out, r);
}

static void print_form(const struct report *r, const struct render_options *o,
		       const struct form *f, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	add_title(&title, r, o);
	add_part(out, &f->title, buf_str(&title));
	print_troubles(r, f, o->view == VIEW_FULL, out);
	print_steps(r, f, o, out);
	add_part(out, &f->summary[report_success(r)],
		 str_of(report_summary(r, &arena)));
}

static void print_text(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	print_form(r, o, o->colour ? &colour_form : &text_form, out);
}

static void print_md(const struct report *r, const struct render_options *o,
		     struct buf *out)
{
	print_form(r, o, &md_form, out);
}

/* No script, nothing loaded from elsewhere; colours follow the reader's. */
static const char head[] =
	"<meta name=\"viewport\" "
	"content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" "
	"content=\"default-src 'none'; style-src 'unsafe-inline'; "
	"img-src data:; media-src data:\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1c1e21;--dim:#5c636a;"
	"--line:#d8dce0;--box:#f5f6f7;--ok:#1a7f37;--bad:#c01c28;"
	"--skip:#7a5b00;--link:#0b57d0}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e4e6e9;"
	"--dim:#9aa1a9;--line:#33383e;--box:#1d2024;--ok:#4cc26b;"
	"--bad:#ff7b72;--skip:#d9b44a;--link:#8ab4f8}}\n"
	"body{margin:0 auto;padding:1rem;max-width:54rem;background:var(--bg);"
	"color:var(--fg);font:1rem/1.5 system-ui,sans-serif}\n"
	"h1{font-size:1.3rem;line-height:1.3;margin:.5rem 0 1rem;"
	"overflow-wrap:anywhere}\n"
	"h2{font-size:1.1rem;margin:0;display:flex;flex-wrap:wrap;gap:.5rem;"
	"align-items:baseline;overflow-wrap:anywhere}\n"
	"section{border-top:1px solid var(--line);padding:.8rem 0}\n"
	".state{font-size:.8rem;font-weight:600}\n"
	".ok{color:var(--ok)}.bad{color:var(--bad)}.skip{color:var(--skip)}\n"
	"p{margin:.4rem 0;overflow-wrap:anywhere;white-space:pre-wrap}\n"
	"pre,.body{margin:.4rem 0;padding:.6rem .8rem;background:var(--box);"
	"border:1px solid var(--line);border-radius:.4rem;"
	"overflow-wrap:anywhere}\n"
	"pre{font:.85rem/1.45 ui-monospace,monospace;white-space:pre-wrap}\n"
	".body pre{background:var(--bg)}.body>:first-child{margin-top:0}\n"
	".body h4,.body h5,.body h6{font-size:1rem;margin:.6rem 0 .3rem}\n"
	".body ul,.body ol{margin:.3rem 0;padding-left:1.4rem}\n"
	"code{font:.9em ui-monospace,monospace}a{color:var(--link)}\n"
	"blockquote{margin:.4rem 0;padding-left:.8rem;"
	"border-left:3px solid var(--line);color:var(--dim)}\n"
	"hr{border:0;border-top:1px solid var(--line)}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}"
	"\n"
	"th,td{text-align:start;vertical-align:top;padding:.2rem .8rem .2rem 0;"
	"overflow-wrap:break-word;white-space:pre-wrap}\n"
	"td ul{white-space:normal}td li{white-space:pre-wrap}\n"
	".wide table{width:max-content}.wide td{max-width:min(22rem,60vw)}\n"
	"tr+tr>*{border-top:1px solid var(--line)}\n"
	"th{color:var(--dim);font-weight:600}.n{text-align:end}\n"
	"img{display:block;max-width:100%;height:auto;margin:.4rem 0;"
	"border-radius:.4rem}\n"
	"audio{display:block;max-width:100%;margin:.4rem 0}\n"
	".dim{color:var(--dim)}.advice{margin-left:1rem}\n"
	"footer{border-top:1px solid var(--line);padding:.8rem 0;"
	"font-weight:600}\n"
	"@media print{body{max-width:none}}\n"
	"</style>\n";

static void print_html(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	add_title(&title, r, o);
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		      "<meta charset=\"utf-8\">\n");
	buf_adds(out, head);
	escape_html(out, "<title>", buf_str(&title));
	buf_adds(out, "</title>\n</head>\n<body>\n");
	print_form(r, o, &html_form, out);
	buf_adds(out, "</body>\n</html>\n");
}

/* ---- JSON ---- */

static void write_text(void *arg, struct str piece)
{
	jw_text(arg, piece);
}

/* Output may be as long as the data: it is made while it is written. */
static void write_output(struct jw *w, const struct report_step *s)
{
	const struct buf_sink sink = {write_text, w};
	struct buf pieces = {.max = BUF_UNBOUNDED, .sink = &sink};

	jw_text_begin(w);
	report_step_output(&pieces, s);
	buf_drain(&pieces);
	jw_text_end(w);
	buf_release(&pieces);
}

static void write_advice(struct jw *w, const struct report_step *s)
{
	jw_kv_array(w, "advice");
	for (size_t i = 0; i < s->n_advice; i++) {
		jw_object(w);
		jw_kv_str(w, "text", s->advice[i].text);
		jw_kv_str(w, "toml", s->advice[i].toml);
		jw_end(w);
	}
	jw_end(w);
}

static void write_step(struct jw *w, const struct report_step *s,
		       const struct render_options *o)
{
	jw_object(w);
	jw_kv_cstr(w, "step_name", s->name);
	jw_kv_cstr(w, "step_type", s->type);
	jw_kv_bool(w, "success", report_step_success(s));
	jw_kv_bool(w, "skipped", s->state == STATE_SKIPPED);
	jw_key(w, "output");
	write_output(w, s);
	jw_kv_cstr(w, "state", REPORT_STATES[s->state].word);
	if (s->state != STATE_OK) {
		jw_kv_str(w, "error", s->error);
		jw_kv_cstr(w, "reason", report_reason_name(s->reason));
	}
	if (s->said.n && o->view == VIEW_FULL)
		jw_kv_str(w, "said", s->said);
	if (s->n_advice && o->view == VIEW_FULL)
		write_advice(w, s);
	if (s->not_begun)
		jw_kv_bool(w, "begun", false);
	if (s->refused)
		jw_kv_bool(w, "refused", true);
	if (report_step_has_data(s)) {
		jw_key(w, "data");
		report_step_data(w, s);
	}
	if (s->run.n && o->view == VIEW_FULL)
		jw_kv_raw(w, "run", s->run);
	jw_end(w);
}

static void print_json(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jw w;

	jw_init(&w, out, o->pretty);
	jw_object(&w);
	jw_kv_cstr(&w, "schema", REPORT_SCHEMA);
	if (o->view == VIEW_FULL) {
		jw_key(&w, "generation");
		jw_uint(&w, r->generation);
	}
	jw_kv_cstr(&w, "routine", r->routine);
	jw_kv_bool(&w, "dry_run", r->dry_run);
	jw_kv_bool(&w, "success", report_success(r));
	jw_kv_cstr(&w, "summary", report_summary(r, &arena));
	jw_kv_array(&w, "step_results");
	for (size_t i = 0; i < r->n_steps; i++)
		write_step(&w, &r->steps[i], o);
	jw_end(&w);
	if (r->run.n && o->view == VIEW_FULL)
		jw_kv_raw(&w, "run", r->run);
	jw_end(&w);
	buf_addc(out, '\n');
}

static void print_data(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	size_t n = o->single ? 1 : r->n_steps;
	struct jw w;

	jw_init(&w, out, o->pretty);
	if (!o->single)
		jw_object(&w);
	for (size_t i = 0; i < n; i++) {
		if (!o->single)
			jw_key(&w, r->steps[i].name);
		if (i < r->n_steps && report_step_has_data(&r->steps[i]))
			report_step_data(&w, &r->steps[i]);
		else
			jw_null(&w);
	}
	if (!o->single)
		jw_end(&w);
	buf_addc(out, '\n');
}

/* ---- by name ---- */

const struct renderer *render_find(const char *name)
{
	static const struct renderer renderers[] = {
		{"text", print_text}, {"json", print_json},
		{"data", print_data}, {"md", print_md},
		{"html", print_html},
	};

	for (size_t i = 0; i < ARRAY_LEN(renderers); i++)
		if (!strcmp(renderers[i].name, name))
			return &renderers[i];
	return NULL;
}
