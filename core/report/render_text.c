#include "core/report/render_parts.h"

static void line(struct buf *out, struct str s)
{
	render_visible(out, s, true);
	buf_addc(out, '\n');
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
		buf_addf(out, "(skipped: %s)\n", report_reason_name(s->reason));
		note = render_note(s);
		if (note.n)
			line(out, note);
	} else if (!report_step_success(s)) {
		buf_adds(out, "ERROR: ");
		line(out,
		     note.n ? note : str_of(report_reason_name(s->reason)));
	} else if (!output.n) {
		buf_adds(out, "(no output)\n");
	}
	if (output.n)
		line(out, output);
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
