#include "core/report/render_parts.h"

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

static void print_step(const struct report_step *s, struct buf *out)
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

void render_html(const struct report *r, const struct render_options *o,
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
		print_step(&r->steps[i], out);
	element(out,
		report_success(r) ? "<footer class=\"ok\">"
				  : "<footer class=\"bad\">",
		str_of(report_summary(r, &arena)), "</footer>");
	buf_adds(out, "</body>\n</html>\n");
	buf_release(&title);
	arena_release(&arena);
}
