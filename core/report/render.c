#include "core/report/render.h"

#include <string.h>

#include "core/report/render_parts.h"

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

void render_visible(struct buf *out, struct str s, bool keep_newlines)
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

struct str render_trim_end(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

struct str render_output(const struct report_step *s, struct buf *body)
{
	if (s->output.n || !s->answer.content.n)
		return render_trim_end(s->output);
	report_step_output(body, s);
	return render_trim_end(buf_str(body));
}

void render_title(struct buf *out, const struct report *r,
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

struct str render_skipped(const struct report_step *s)
{
	struct str error = render_trim_end(s->error);

	if (is_cause(s, error))
		return error;
	return s->reason == REASON_DRY_RUN
		       ? STR("dry run")
		       : str_of(report_reason_name(s->reason));
}

struct str render_note(const struct report_step *s)
{
	struct str error = render_trim_end(s->error);

	if (s->reason == REASON_DISABLED || is_cause(s, error))
		return (struct str){NULL, 0};
	return error;
}
