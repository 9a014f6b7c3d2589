#include "core/report/render.h"

#include <string.h>

#include "core/base/jw.h"
#include "core/base/log.h"

static void render_visible(struct buf *out, struct str s, bool keep_newlines)
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

static struct str render_trim_end(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

static struct str render_output(const struct report_step *s, struct buf *body)
{
	if (s->output.n || !s->answer.content.n)
		return render_trim_end(s->output);
	report_step_output(body, s);
	return render_trim_end(buf_str(body));
}

static void render_title(struct buf *out, const struct report *r,
			 const struct render_options *o)
{
	render_visible(out, str_of(r->routine), false);
	if (r->dry_run)
		buf_adds(out, " — dry run");
	else if (o->view == VIEW_FULL && r->generation)
		buf_addf(out, " — gen %llu", (unsigned long long)r->generation);
}

/* Does the error of a skipped step fit into one line that says why? */
static bool is_cause(const struct report_step *s, struct str error)
{
	return error.n && s->reason != REASON_DISABLED &&
	       s->reason != REASON_DRY_RUN && !memchr(error.p, '\n', error.n);
}

static struct str render_skipped(const struct report_step *s)
{
	struct str error = render_trim_end(s->error);

	if (is_cause(s, error))
		return error;
	return s->reason == REASON_DRY_RUN
		       ? STR("dry run")
		       : str_of(report_reason_name(s->reason));
}

static struct str render_note(const struct report_step *s)
{
	struct str error = render_trim_end(s->error);

	if (s->reason == REASON_DISABLED || is_cause(s, error))
		return (struct str){NULL, 0};
	return error;
}

/* ==== text ==== */

/*
 * Text of others is set in by two spaces, so that no line of it can be taken
 * for a heading or the summary; `head` stands before its first line instead.
 */
static void add_text(struct buf *out, const char *head, struct str s)
{
	do {
		struct str line = str_cut(&s, '\n');

		if (s.p && str_ends(line, "\r"))
			line.n--;
		if (line.n)
			buf_adds(out, head);
		render_visible(out, line, false);
		buf_addc(out, '\n');
		head = "  ";
	} while (s.p);
}

static void text_step(const struct report_step *s, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str output = render_output(s, &body);
	struct str note = render_trim_end(s->error);

	buf_adds(out, "## ");
	render_visible(out, str_of(s->name), false);
	buf_addc(out, '\n');
	if (s->state == STATE_SKIPPED) {
		buf_adds(out, "(skipped: ");
		render_visible(out, render_skipped(s), false);
		buf_adds(out, ")\n");
		note = render_note(s);
		if (note.n)
			add_text(out, "  ", note);
	} else if (!report_step_success(s)) {
		add_text(out, "ERROR: ",
			 note.n ? note : str_of(report_reason_name(s->reason)));
	} else if (!output.n) {
		buf_adds(out, "(no output)\n");
	}
	if (output.n)
		add_text(out, "  ", output);
	buf_addc(out, '\n');
}

static void render_text(const struct report *r, const struct render_options *o,
			struct buf *out)
{
	struct arena arena = ARENA_INIT;

	buf_adds(out, "# ");
	render_title(out, r, o);
	buf_adds(out, "\n\n");
	for (size_t i = 0; i < r->n_steps; i++)
		text_step(&r->steps[i], out);
	buf_adds(out, "---\n");
	render_visible(out, str_of(report_summary(r, &arena)), false);
	buf_addc(out, '\n');
	arena_release(&arena);
}

/* ==== md ==== */

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
	size_t digits = 0;

	if (strchr("\\`*[]<>|~&#", s.p[i]))
		return true;
	if (s.p[i] == '_')
		return !is_word(before) || !is_word(after);
	if (strchr("-+=", s.p[i]))
		return i == 0;
	if (s.p[i] != '.' && s.p[i] != ')')
		return false;
	while (digits < i && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	return digits == i; /* "1." would begin a list */
}

/* Inline text: nothing in it may mean anything to Markdown or HTML. */
static void inline_text(struct buf *out, struct str s)
{
	struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	render_visible(&plain, s, true);
	for (size_t i = 0; i < plain.n; i++) {
		if (is_markup(buf_str(&plain), i))
			buf_addc(out, '\\');
		buf_addc(out, plain.p[i] == '\n' ? ' ' : plain.p[i]);
	}
	buf_release(&plain);
}

static size_t longest_run(struct str s, char c)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i < s.n; i++) {
		run = s.p[i] == c ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/* A block that the text cannot end: its fence is longer than any inside. */
static void fenced(struct buf *out, struct str s)
{
	struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	struct buf fence = BUF_INIT(BUF_UNBOUNDED);
	size_t n;

	render_visible(&plain, s, true);
	n = longest_run(buf_str(&plain), '`') + 1;
	for (size_t i = 0; i < (n < 3 ? 3 : n); i++)
		buf_addc(&fence, '`');
	buf_addf(out, "%stext\n%s\n%s\n", buf_cstr(&fence), buf_cstr(&plain),
		 buf_cstr(&fence));
	buf_release(&plain);
	buf_release(&fence);
}

static void skipped(const struct report_step *s, struct buf *out)
{
	struct str note = render_note(s);

	buf_adds(out, "*(skipped: ");
	inline_text(out, render_skipped(s));
	buf_adds(out, ")*\n");
	if (!note.n)
		return;
	buf_addc(out, '\n');
	inline_text(out, note);
	buf_addc(out, '\n');
}

static void failed(const struct report_step *s, struct buf *out)
{
	struct str note = render_trim_end(s->error);

	buf_adds(out, "**ERROR:** ");
	inline_text(out, note.n ? note : str_of(report_reason_name(s->reason)));
	buf_addc(out, '\n');
}

static void md_step(const struct report_step *s, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str output = render_output(s, &body);
	bool said = true;

	buf_adds(out, "## ");
	inline_text(out, str_of(s->name));
	buf_adds(out, "\n\n");
	if (s->state == STATE_SKIPPED)
		skipped(s, out);
	else if (!report_step_success(s))
		failed(s, out);
	else if (!output.n)
		buf_adds(out, "*(no output)*\n");
	else
		said = false;
	if (output.n && said)
		buf_addc(out, '\n');
	if (output.n)
		fenced(out, output);
	buf_addc(out, '\n');
}

static void render_md(const struct report *r, const struct render_options *o,
		      struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct buf title = BUF_INIT(BUF_UNBOUNDED);

	render_title(&title, r, o);
	buf_adds(out, "# ");
	inline_text(out, buf_str(&title));
	buf_adds(out, "\n\n");
	for (size_t i = 0; i < r->n_steps; i++)
		md_step(&r->steps[i], out);
	buf_adds(out, "---\n\n");
	inline_text(out, str_of(report_summary(r, &arena)));
	buf_addc(out, '\n');
	buf_release(&title);
	arena_release(&arena);
}

/* ==== html ==== */

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

static void escaped(struct buf *out, struct str s)
{
	struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	render_visible(&plain, s, true);
	for (size_t i = 0; i < plain.n; i++) {
		switch (plain.p[i]) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addc(out, plain.p[i]);
		}
	}
	buf_release(&plain);
}

static void element(struct buf *out, const char *open, struct str text,
		    const char *close)
{
	buf_adds(out, open);
	escaped(out, text);
	buf_addf(out, "%s\n", close);
}

static const char *state_class(const struct report_step *s)
{
	if (!report_step_success(s))
		return "bad";
	return s->state == STATE_SKIPPED ? "skip" : "ok";
}

static void html_step(const struct report_step *s, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str output = render_output(s, &body);
	struct str note = render_trim_end(s->error);

	element(out, "<section>\n<h2>", str_of(s->name), "");
	buf_addf(out, "<span class=\"state %s\">%s</span></h2>\n",
		 state_class(s), report_state_name(s->state));
	if (s->state == STATE_SKIPPED) {
		element(out, "<p class=\"dim\">(skipped: ", render_skipped(s),
			")</p>");
		note = render_note(s);
		if (note.n)
			element(out, "<p>", note, "</p>");
	} else if (!report_step_success(s)) {
		element(out, "<p class=\"bad\">ERROR: ",
			note.n ? note : str_of(report_reason_name(s->reason)),
			"</p>");
	} else if (!output.n) {
		buf_adds(out, "<p class=\"dim\">(no output)</p>\n");
	}
	/* an HTML parser drops a newline right behind <pre> */
	if (output.n)
		element(out, "<pre>\n", output, "</pre>");
	buf_adds(out, "</section>\n");
}

static void render_html(const struct report *r, const struct render_options *o,
			struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct buf title = BUF_INIT(BUF_UNBOUNDED);

	render_title(&title, r, o);
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		      "<meta charset=\"utf-8\">\n");
	buf_adds(out, head);
	element(out, "<title>", buf_str(&title), "</title>\n</head>\n<body>");
	element(out, "<h1>", buf_str(&title), "</h1>");
	for (size_t i = 0; i < r->n_steps; i++)
		html_step(&r->steps[i], out);
	element(out,
		report_success(r) ? "<footer class=\"ok\">"
				  : "<footer class=\"bad\">",
		str_of(report_summary(r, &arena)), "</footer>");
	buf_adds(out, "</body>\n</html>\n");
	buf_release(&title);
	arena_release(&arena);
}

/* ==== json ==== */

static void write_text(void *arg, struct str piece)
{
	jw_text(arg, piece);
}

/* Output may be as long as the data: it is made while it is written. */
static void print_output(struct jw *w, const struct report_step *s)
{
	const struct buf_sink sink = {write_text, w};
	struct buf pieces = BUF_INIT(BUF_UNBOUNDED);

	pieces.sink = &sink;
	jw_text_begin(w);
	report_step_output(&pieces, s);
	buf_drain(&pieces);
	jw_text_end(w);
	buf_release(&pieces);
}

static void json_step(struct jw *w, const struct report_step *s,
		      const struct render_options *o)
{
	jw_object(w);
	jw_kv_cstr(w, "step_name", s->name);
	jw_kv_cstr(w, "step_type", s->type);
	jw_kv_bool(w, "success", report_step_success(s));
	jw_kv_bool(w, "skipped", s->state == STATE_SKIPPED);
	jw_key(w, "output");
	print_output(w, s);
	jw_kv_cstr(w, "state", report_state_name(s->state));
	if (s->state != STATE_OK) {
		jw_kv_str(w, "error", s->error);
		jw_kv_cstr(w, "reason", report_reason_name(s->reason));
	}
	if (s->not_begun)
		jw_kv_bool(w, "begun", false);
	if (report_step_has_data(s)) {
		jw_key(w, "data");
		report_step_data(w, s);
	}
	if (s->run.n && o->view == VIEW_FULL)
		jw_kv_raw(w, "run", s->run);
	jw_end(w);
}

static void render_json(const struct report *r, const struct render_options *o,
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
		json_step(&w, &r->steps[i], o);
	jw_end(&w);
	if (r->run.n && o->view == VIEW_FULL)
		jw_kv_raw(&w, "run", r->run);
	jw_end(&w);
	buf_addc(out, '\n');
	arena_release(&arena);
}

static void value_or_null(struct jw *w, const struct report_step *s)
{
	if (s && report_step_has_data(s))
		report_step_data(w, s);
	else
		jw_null(w);
}

static void render_data(const struct report *r, const struct render_options *o,
			struct buf *out)
{
	struct jw w;

	jw_init(&w, out, o->pretty);
	if (o->single) {
		value_or_null(&w, r->n_steps ? &r->steps[0] : NULL);
	} else {
		jw_object(&w);
		for (size_t i = 0; i < r->n_steps; i++) {
			jw_key(&w, r->steps[i].name);
			value_or_null(&w, &r->steps[i]);
		}
		jw_end(&w);
	}
	buf_addc(out, '\n');
}

static const struct renderer renderers[] = {
	{"text", render_text}, {"json", render_json}, {"data", render_data},
	{"md", render_md},     {"html", render_html},
};

const struct renderer *render_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(renderers); i++)
		if (!strcmp(renderers[i].name, name))
			return &renderers[i];
	return NULL;
}
