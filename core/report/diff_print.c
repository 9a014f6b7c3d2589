#include "core/report/diff_print.h"

#include <string.h>

#include "core/base/log.h"
#include "core/report/escape.h"
#include "core/report/page.h"

/* One difference, as forms print it. */
struct diff_shown {
	const struct edit *e;
	struct buf path;
	struct buf lines; /* in the style of the form */
	bool is_of_many;
};

/* "3 differences: 1 state, 2 value" */
static void add_counts(const struct diff *d, struct buf *out)
{
	size_t count[DIFF_VALUE + 1] = {0};
	const char *before = ":";
	size_t shown = d->n < DIFF_SHOWN_MAX ? d->n : DIFF_SHOWN_MAX;

	for (size_t i = 0; i < shown; i++)
		count[d->shown[i]->class]++;
	buf_addf(out, "%zu difference%s", d->n, d->n == 1 ? "" : "s");
	for (size_t i = 0; i <= DIFF_VALUE; i++) {
		if (!count[i])
			continue;
		buf_addf(out, "%s %zu %s", before, count[i], diff_classes[i]);
		before = ",";
	}
	if (d->n > shown)
		buf_addf(out, "; %zu more not shown", d->n - shown);
}

static void add_head(const struct edit *e, const char *between, struct buf *out)
{
	buf_addf(out, "%s%s %s", between, diff_classes[e->class],
		 diff_kinds[e->kind]);
}

/* ---- one difference ---- */

static void text(const struct diff_shown *s, struct buf *out)
{
	log_visible(out, buf_str(&s->path), false);
	add_head(s->e, "  (", out);
	buf_adds(out, ")\n");
	buf_add_str(out, buf_str(&s->lines));
}

/* Each value is a file of its own. */
static void unified(const struct diff_shown *s, struct buf *out)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&plain, buf_str(&s->path), false);
	buf_addf(out, "--- %s\n+++ %s\n",
		 s->e->old ? buf_cstr(&plain) : "/dev/null",
		 s->e->new ? buf_cstr(&plain) : "/dev/null");
	buf_add_str(out, buf_str(&s->lines));
}

static void md(const struct diff_shown *s, struct buf *out)
{
	escape_markdown(out, "- **", buf_str(&s->path));
	add_head(s->e, "** — ", out);
	buf_adds(out, "\n\n");
	escape_fenced(out, "diff", str_trim(buf_str(&s->lines)));
	buf_addc(out, '\n');
}

static void html(const struct diff_shown *s, struct buf *out)
{
	struct str rest = str_trim(buf_str(&s->lines));

	buf_addf(out, "<details class=\"change\"%s>",
		 s->is_of_many ? "" : " open");
	escape_html(out, "<summary><code>", buf_str(&s->path));
	add_head(s->e, "</code> <span class=\"state dim\">", out);
	buf_adds(out, "</span></summary>\n<pre>");
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		const char sign = line.n ? line.p[0] : ' ';

		buf_addf(out, "<span class=\"%s\">",
			 sign == '-'   ? "bad"
			 : sign == '+' ? "ok"
			 : sign == '@' ? "dim"
				       : "");
		escape_html(out, "", line);
		buf_adds(out, "</span>\n");
	}
	buf_adds(out, "</pre></details>\n");
}

/* ---- forms ---- */

static const struct diff_format formats[] = {
	{.name = "text",
	 .style = {"  ", 2, 100, 200, false},
	 .max = DIFF_SHOWN_MAX,
	 .one = text,
	 .same = ""},
	{.name = "unified",
	 .style = {"", 3, SIZE_MAX, SIZE_MAX, true},
	 .max = SIZE_MAX,
	 .one = unified},
	{.name = "json", .json = diff_print_json},
	{.name = "patch", .json = diff_print_patch},
	{.name = "md",
	 .style = {"", 3, 1000, 2000, false},
	 .max = DIFF_SHOWN_MAX,
	 .one = md,
	 .same = "no differences\n"},
	{.name = "html",
	 .style = {"", 3, 1000, 2000, false},
	 .max = DIFF_SHOWN_MAX,
	 .one = html},
};

const struct diff_format *diff_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static void print_one(const struct diff_format *f, const struct edit *e,
		      bool is_of_many, struct buf *out)
{
	struct diff_shown s = {e, BUF_INIT(BUF_UNBOUNDED),
			       BUF_INIT(BUF_UNBOUNDED), is_of_many};

	diff_path(e, &s.path);
	diff_lines(e, &f->style, &s.lines);
	f->one(&s, out);
	buf_release(&s.path);
	buf_release(&s.lines);
}

void diff_print_edit(const struct edit *e, struct buf *out)
{
	print_one(&formats[0], e, false, out);
}

void diff_print_part(const struct diff *d, const struct diff_format *f,
		     struct buf *out)
{
	if (f->json) {
		f->json(d, out);
		return;
	}
	for (size_t i = 0; i < d->n && i < f->max; i++)
		print_one(f, d->shown[i], d->n > DIFF_OPEN_MAX, out);
	if (f->same && d->n) {
		add_counts(d, out);
		buf_addc(out, '\n');
	} else if (f->same) {
		buf_adds(out, f->same);
	}
}

void diff_print(const struct diff *d, const struct diff_format *f,
		struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	if (f->one != html) {
		diff_print_part(d, f, out);
		return;
	}
	if (d->n)
		add_counts(d, &title);
	else
		buf_adds(&title, "no differences");
	page_begin(buf_str(&title), out);
	escape_html(out, "<h1>", buf_str(&title));
	buf_adds(out, "</h1>\n");
	diff_print_part(d, f, out);
	page_end(out);
}
