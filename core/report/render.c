/*
 * The forms of a report. Text, Markdown and HTML are one walk over it, by a
 * table of what stands around each part; JSON is another.
 */
#include "core/report/render.h"

#include <string.h>

#include "core/base/jw.h"
#include "core/base/log.h"

/* ---- texts of others, made harmless ---- */

/* log_visible(), with CR LF as a newline. */
static void add_visible(struct buf *out, struct str s, bool keep_newlines)
{
	struct buf unix_lines = BUF_INIT(BUF_UNBOUNDED);

	if (!s.n || !memchr(s.p, '\r', s.n)) {
		log_visible(out, s, keep_newlines);
		return;
	}
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\r' || i + 1 == s.n || s.p[i + 1] != '\n')
			buf_addc(&unix_lines, s.p[i]);
	log_visible(out, buf_str(&unix_lines), keep_newlines);
	buf_release(&unix_lines);
}

static void add_line(struct buf *out, const char *before, struct str s)
{
	buf_adds(out, before);
	add_visible(out, s, false);
}

/*
 * Set lines in by two spaces, so that none of them can be taken for a heading
 * or the summary; `before` stands before the first line instead.
 */
static void add_lines(struct buf *out, const char *before, struct str s)
{
	do {
		struct str line = str_cut(&s, '\n');

		if (s.p && str_ends(line, "\r"))
			line.n--;
		add_line(out, line.n ? before : "", line);
		buf_addc(out, '\n');
		before = "  ";
	} while (s.p);
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Would this byte mean something to Markdown at its place? */
static bool is_markup(struct str s, size_t i)
{
	char before = i ? s.p[i - 1] : ' ';
	char after = i + 1 < s.n ? s.p[i + 1] : ' ';

	if (strchr("\\`*[]<>|~&#", s.p[i]))
		return true;
	if (s.p[i] == '_')
		return !is_word(before) || !is_word(after);
	if (strchr("-+=", s.p[i]))
		return i == 0;
	/* "1." would begin a list */
	return (s.p[i] == '.' || s.p[i] == ')') &&
	       strspn(s.p, "0123456789") == i;
}

/* Inline text: nothing in it may mean anything to Markdown or HTML. */
static void add_markdown(struct buf *out, const char *before, struct str s)
{
	struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(out, before);
	add_visible(&plain, s, true);
	for (size_t i = 0; i < plain.n; i++) {
		if (is_markup(buf_str(&plain), i))
			buf_addc(out, '\\');
		buf_addc(out, plain.p[i] == '\n' ? ' ' : plain.p[i]);
	}
	buf_release(&plain);
}

/* A block that the text cannot end: its fence is longer than any inside. */
static void add_fenced(struct buf *out, const char *before, struct str s)
{
	struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	struct buf fence = BUF_INIT(BUF_UNBOUNDED);
	size_t run = 0;

	add_visible(&plain, s, true);
	buf_adds(&fence, "```");
	for (size_t i = 0; i < plain.n; i++) {
		run = plain.p[i] == '`' ? run + 1 : 0;
		if (run >= fence.n)
			buf_addc(&fence, '`');
	}
	buf_addf(out, "%s%stext\n%s\n%s\n", before, buf_cstr(&fence),
		 buf_cstr(&plain), buf_cstr(&fence));
	buf_release(&plain);
	buf_release(&fence);
}

static void add_html(struct buf *out, const char *before, struct str s)
{
	static const char special[] = "&<>\"'";
	static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;",
					     "&#39;"};
	struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(out, before);
	add_visible(&plain, s, true);
	for (size_t i = 0; i < plain.n; i++) {
		const char *at = strchr(special, plain.p[i]);

		if (at)
			buf_adds(out, entity[at - special]);
		else
			buf_addc(out, plain.p[i]);
	}
	buf_release(&plain);
}

/* ---- forms for people ---- */

/* Words around a text, and the way in which that is added. */
struct part {
	const char *before;
	void (*add)(struct buf *out, const char *before, struct str s);
	const char *after;
};

struct form {
	struct part title, step, skipped, note, error, nothing, output;
	const char *gap; /* between one of these three and the output */
	const char *end_step;
	struct part summary[2]; /* of a failure, of a success */
	bool has_state;		/* the state follows the name of a step */
};

static const struct form text_form = {
	.title = {"# ", add_line, "\n\n"},
	.step = {"## ", add_line, "\n"},
	.skipped = {"(skipped: ", add_line, ")\n"},
	.note = {"  ", add_lines, ""},
	.error = {"ERROR: ", add_lines, ""},
	.nothing = {"(no output)\n", add_line, ""},
	.output = {"  ", add_lines, ""},
	.gap = "",
	.end_step = "\n",
	.summary = {{"---\n", add_line, "\n"}, {"---\n", add_line, "\n"}},
};

static const struct form md_form = {
	.title = {"# ", add_markdown, "\n\n"},
	.step = {"## ", add_markdown, "\n\n"},
	.skipped = {"*(skipped: ", add_markdown, ")*\n"},
	.note = {"\n", add_markdown, "\n"},
	.error = {"**ERROR:** ", add_markdown, "\n"},
	.nothing = {"*(no output)*\n", add_markdown, ""},
	.output = {"", add_fenced, ""},
	.gap = "\n",
	.end_step = "\n",
	.summary = {{"---\n\n", add_markdown, "\n"},
		    {"---\n\n", add_markdown, "\n"}},
};

static const struct form html_form = {
	.title = {"<h1>", add_html, "</h1>\n"},
	.step = {"<section>\n<h2>", add_html, "\n"},
	.skipped = {"<p class=\"dim\">(skipped: ", add_html, ")</p>\n"},
	.note = {"<p>", add_html, "</p>\n"},
	.error = {"<p class=\"bad\">ERROR: ", add_html, "</p>\n"},
	.nothing = {"<p class=\"dim\">(no output)</p>\n", add_html, ""},
	/* an HTML parser drops a newline right behind <pre> */
	.output = {"<pre>\n", add_html, "</pre>\n"},
	.gap = "",
	.end_step = "</section>\n",
	.summary = {{"<footer class=\"bad\">", add_html, "</footer>\n"},
		    {"<footer class=\"ok\">", add_html, "</footer>\n"}},
	.has_state = true,
};

static void add_part(struct buf *out, const struct part *p, struct str s)
{
	p->add(out, p->before, s);
	buf_adds(out, p->after);
}

static struct str trim_end(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

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

static void print_step(const struct report_step *s, const struct form *f,
		       struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str output, error = trim_end(s->error);
	bool succeeded = report_step_success(s);
	bool is_skipped = s->state == STATE_SKIPPED;

	if (!s->output.n)
		report_step_output(&body, s);
	output = trim_end(s->output.n ? s->output : buf_str(&body));
	add_part(out, &f->step, str_of(s->name));
	if (f->has_state)
		buf_addf(out, "<span class=\"state %s\">%s</span></h2>\n",
			 !succeeded   ? "bad"
			 : is_skipped ? "skip"
				      : "ok",
			 report_state_name(s->state));
	if (is_skipped)
		print_skipped(s, f, out);
	else if (!succeeded)
		add_part(out, &f->error,
			 error.n ? error
				 : str_of(report_reason_name(s->reason)));
	else if (!output.n)
		add_part(out, &f->nothing, STR(""));
	if (output.n) {
		buf_adds(out, is_skipped || !succeeded ? f->gap : "");
		add_part(out, &f->output, output);
	}
	buf_adds(out, f->end_step);
}

/* "morning — gen 7", "morning — dry run" */
static void add_title(struct buf *out, const struct report *r,
		      const struct render_options *o)
{
	buf_adds(out, r->routine);
	if (r->dry_run)
		buf_adds(out, " — dry run");
	else if (o->view == VIEW_FULL && r->generation)
		buf_addf(out, " — gen %llu", (unsigned long long)r->generation);
}

static void print_form(const struct report *r, const struct render_options *o,
		       const struct form *f, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct buf title = BUF_INIT(BUF_UNBOUNDED);

	add_title(&title, r, o);
	add_part(out, &f->title, buf_str(&title));
	for (size_t i = 0; i < r->n_steps; i++)
		print_step(&r->steps[i], f, out);
	add_part(out, &f->summary[report_success(r)],
		 str_of(report_summary(r, &arena)));
	buf_release(&title);
	arena_release(&arena);
}

static void print_text(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	print_form(r, o, &text_form, out);
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
	"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1c1e21;--dim:#5c636a;"
	"--line:#d8dce0;--box:#f5f6f7;--ok:#1a7f37;--bad:#c01c28;"
	"--skip:#7a5b00}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e4e6e9;"
	"--dim:#9aa1a9;--line:#33383e;--box:#1d2024;--ok:#4cc26b;"
	"--bad:#ff7b72;--skip:#d9b44a}}\n"
	"body{margin:0 auto;padding:1rem;max-width:46rem;background:var(--bg);"
	"color:var(--fg);font:1rem/1.5 system-ui,sans-serif}\n"
	"h1{font-size:1.4rem;margin:.5rem 0 1rem}\n"
	"h2{font-size:1.1rem;margin:0;display:flex;flex-wrap:wrap;gap:.5rem;"
	"align-items:baseline;overflow-wrap:anywhere}\n"
	"section{border-top:1px solid var(--line);padding:.8rem 0}\n"
	".state{font-size:.8rem;font-weight:600}\n"
	".ok{color:var(--ok)}.bad{color:var(--bad)}.skip{color:var(--skip)}\n"
	"p{margin:.4rem 0;overflow-wrap:anywhere;white-space:pre-wrap}\n"
	"pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--box);"
	"border-radius:.4rem;font:.9rem/1.45 ui-monospace,monospace;"
	"white-space:pre-wrap;overflow-wrap:anywhere}\n"
	".dim{color:var(--dim)}\n"
	"footer{border-top:1px solid var(--line);padding:.8rem 0;"
	"font-weight:600}\n"
	"</style>\n";

static void print_html(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	struct buf title = BUF_INIT(BUF_UNBOUNDED);

	add_title(&title, r, o);
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		      "<meta charset=\"utf-8\">\n");
	buf_adds(out, head);
	add_html(out, "<title>", buf_str(&title));
	buf_adds(out, "</title>\n</head>\n<body>\n");
	print_form(r, o, &html_form, out);
	buf_adds(out, "</body>\n</html>\n");
	buf_release(&title);
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

/*
 * The data of a step; of an mcp-client step schema, content, isError, and
 * structuredContent when there is one. Slices are written as they came.
 */
static void write_data(struct jw *w, const struct report_step *s)
{
	const struct report_answer *a = &s->answer;
	bool is_pretty = w->pretty;

	if (s->data.n) {
		jw_raw(w, s->data);
		return;
	}
	/* JSON of a server is not indented */
	w->pretty = false;
	jw_object(w);
	jw_kv_cstr(w, "schema", MCP_CLIENT_SCHEMA);
	jw_kv_raw(w, "content", a->content);
	jw_kv_bool(w, "isError", a->is_error);
	if (a->structured.n)
		jw_kv_raw(w, "structuredContent", a->structured);
	jw_end(w);
	w->pretty = is_pretty;
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
	jw_kv_cstr(w, "state", report_state_name(s->state));
	if (s->state != STATE_OK) {
		jw_kv_str(w, "error", s->error);
		jw_kv_cstr(w, "reason", report_reason_name(s->reason));
	}
	if (s->n_advice && o->view == VIEW_FULL)
		write_advice(w, s);
	if (s->not_begun)
		jw_kv_bool(w, "begun", false);
	if (report_step_has_data(s)) {
		jw_key(w, "data");
		write_data(w, s);
	}
	if (s->run.n && o->view == VIEW_FULL)
		jw_kv_raw(w, "run", s->run);
	jw_end(w);
}

static void print_json(const struct report *r, const struct render_options *o,
		       struct buf *out)
{
	struct arena arena = ARENA_INIT;
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
	arena_release(&arena);
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
			write_data(&w, &r->steps[i]);
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
