#include <string.h>

#include "core/report/render_parts.h"

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

static void print_step(const struct report_step *s, struct buf *out)
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

void render_md(const struct report *r, const struct render_options *o,
	       struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct buf title = BUF_INIT(BUF_UNBOUNDED);

	render_title(&title, r, o);
	buf_adds(out, "# ");
	inline_text(out, buf_str(&title));
	buf_adds(out, "\n\n");
	for (size_t i = 0; i < r->n_steps; i++)
		print_step(&r->steps[i], out);
	buf_adds(out, "---\n\n");
	inline_text(out, str_of(report_summary(r, &arena)));
	buf_addc(out, '\n');
	buf_release(&title);
	arena_release(&arena);
}
