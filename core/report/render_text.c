#include "core/report/render_parts.h"

/*
 * Text of others is set in by two spaces, so that no line of it can be taken
 * for a heading or the summary; `head` stands before its first line instead.
 */
static void text(struct buf *out, const char *head, struct str s)
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

static void print_step(const struct report_step *s, struct buf *out)
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
			text(out, "  ", note);
	} else if (!report_step_success(s)) {
		text(out, "ERROR: ",
		     note.n ? note : str_of(report_reason_name(s->reason)));
	} else if (!output.n) {
		buf_adds(out, "(no output)\n");
	}
	if (output.n)
		text(out, "  ", output);
	buf_addc(out, '\n');
}

void render_text(const struct report *r, const struct render_options *o,
		 struct buf *out)
{
	struct arena arena = ARENA_INIT;

	buf_adds(out, "# ");
	render_title(out, r, o);
	buf_adds(out, "\n\n");
	for (size_t i = 0; i < r->n_steps; i++)
		print_step(&r->steps[i], out);
	buf_adds(out, "---\n");
	render_visible(out, str_of(report_summary(r, &arena)), false);
	buf_addc(out, '\n');
	arena_release(&arena);
}
