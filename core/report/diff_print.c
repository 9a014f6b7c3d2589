#include "core/report/diff_print.h"

#include <string.h>

#include "core/base/log.h"
#include "core/report/escape.h"
#include "core/report/page.h"

/* One difference, as forms print it. */
struct diff_shown {
	const struct edit *e;
	const struct edit *step; /* that it is in; NULL: in none */
	const char *name;	 /* of the step */
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

/* Members of a step, as people call them; the longest first. */
static const struct {
	const char *path, *words;
} members[] = {
	{".data.content[0].text", "text"},
	{".data.content", "content"},
	{".data.structuredContent", "structured content"},
	{".data.isError", "whether it is an error"},
	{".data", "result"},
	{".output", "text"},
};

/* Append what of a step or of the run differs: "structured content,
   days[0].max"; nothing for the whole. */
static void add_what(const struct diff_shown *s, struct buf *out)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	const char *words = "";
	struct str rest;

	diff_path(s->e, s->step, &path);
	rest = str_skip(buf_str(&path), s->step ? 0 : strlen("$"));
	for (size_t i = 0; s->step && !*words && i < ARRAY_LEN(members); i++) {
		struct str behind = str_skip(rest, strlen(members[i].path));

		if (!str_starts(rest, members[i].path) ||
		    (behind.n && *behind.p != '.' && *behind.p != '['))
			continue;
		words = members[i].words;
		rest = behind;
	}
	buf_addf(out, "%s%s", words, *words && rest.n ? ", " : "");
	buf_add_str(out, str_skip(rest, str_starts(rest, ".")));
}

static void html(const struct diff_shown *s, struct buf *out)
{
	AUTO(buf_release) struct buf what = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_trim(buf_str(&s->lines));

	add_what(s, &what);
	buf_addf(out, "<details class=\"change\"%s>",
		 s->is_of_many ? "" : " open");
	escape_html(out, "<summary><strong>",
		    str_of(s->step ? s->name : "the run"));
	escape_html(out, what.n ? "</strong>: " : "</strong>", buf_str(&what));
	buf_addf(out,
		 " <span class=\"state dim\">%s</span></summary>\n"
		 "<p class=\"dim\">%s at ",
		 diff_kinds[s->e->kind], diff_classes[s->e->class]);
	escape_html(out, "<code>", buf_str(&s->path));
	buf_adds(out, "</code></p>\n<pre>");
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

/* ---- for a notice ---- */

static const struct edit *state_of(const struct edit *step)
{
	const struct edit *e = step->kind == DIFF_WITHIN ? step->first : NULL;

	while (e && (e->kind != DIFF_CHANGED || !str_is(e->old->key, "state")))
		e = e->next;
	return e;
}

/* A step that ended otherwise, came or went is one line: its other members,
   and the counts of the run, follow from that. */
static void news(const struct diff_shown *s, struct buf *out)
{
	const struct edit *state = s->step ? state_of(s->step) : NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf what = BUF_INIT(BUF_UNBOUNDED);
	const struct jdoc *error;

	if (s->step ? state && s->e != state : s->e->class == DIFF_STATE)
		return;
	escape_line(out, "", str_of(s->step ? s->name : "the run"));
	if (!state) {
		add_what(s, &what);
		escape_line(out, what.n ? ": " : "", buf_str(&what));
		buf_addf(out, " %s\n", diff_kinds[s->e->kind]);
		if (s->e != s->step)
			buf_add_str(out, buf_str(&s->lines));
		return;
	}
	escape_line(out, ": was ", str_of(jdoc_text(state->old, &arena)));
	escape_line(out, ", is ", str_of(jdoc_text(state->new, &arena)));
	error = jdoc_get(s->step->new, "error");
	if (error)
		escape_line(out, ": ", str_of(jdoc_text(error, &arena)));
	buf_addc(out, '\n');
}

const struct diff_format diff_news = {
	.style = {"  ", 2, 100, 200, false},
	.max = DIFF_SHOWN_MAX,
	.one = news,
};

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
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct diff_shown s = {.e = e,
			       .path = BUF_INIT(BUF_UNBOUNDED),
			       .lines = BUF_INIT(BUF_UNBOUNDED),
			       .is_of_many = is_of_many};

	s.step = diff_step(e, &arena, &s.name);
	diff_path(e, NULL, &s.path);
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
