/*
 * The forms of a report. Text and Markdown are one walk over it, by a table of
 * what stands around each part; JSON is another; HTML is a page of its own.
 */
#include "core/report/render.h"

#include "core/report/diff_print.h"
#include "core/report/escape.h"
#include "core/report/render_page.h"
#include "core/report/shape.h"
#include "core/report/words.h"

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
	struct part step, skipped, note, nothing, output, saved;
	const char *end_step;
	struct part left_out;
	struct part changes; /* heading of what changed, and in which form */
	const char *changes_as, *end_changes;
	struct part summary[2]; /* of a failure, of a success */
};

static void add_part(struct buf *out, const struct part *p, struct str s)
{
	p->add(out, p->before, s);
	buf_adds(out, p->after);
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
		text = words_trim_end(buf_str(&lines));
	}
	add_part(out, &f->output, text);
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
		.saved = {"  saved: ", escape_line, "\n"},                   \
		.output = {"  ", escape_lines, ""}, .end_step = "\n",        \
		.left_out = {"left out: ", escape_line, "\n\n"},             \
		.changes = {strong "## ", escape_line, plain "\n"},          \
		.changes_as = "text", .end_changes = "\n",                   \
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
	.saved = {"saved: ", escape_markdown, "\n\n"},
	.end_step = "",
	.left_out = {"*left out: ", escape_markdown, "*\n\n"},
	.changes = {"## ", escape_markdown, "\n\n"},
	.changes_as = "md",
	.end_changes = "\n",
	.summary = {{"---\n\n", escape_markdown, "\n"},
		    {"---\n\n", escape_markdown, "\n"}},
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

/* "the tool reported an error: no such city" */
static void print_error(const struct report_step *s, const struct form *f,
			struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	words_error(s, &text);
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

/* "issues (List issues) — failed" */
static void print_heading(const struct report_step *s, const struct form *f,
			  bool with_tool, struct buf *out)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	words_step(s, with_tool, &name);
	if (s->state != STATE_OK && s->state != STATE_SKIPPED)
		buf_addf(&name, " — %s", words_state(s));
	add_part(out, &f->step, buf_str(&name));
}

/* Say why a step was skipped: in one line, and what else there is beneath. */
static void print_skipped(const struct report_step *s, const struct form *f,
			  struct buf *out)
{
	struct str more;

	add_part(out, &f->skipped, words_skipped(s, &more));
	if (more.n)
		add_part(out, &f->note, more);
}

/* "saved: /srv/report/chart.png, 12 KiB" */
static void print_saved(const struct report_step *s, const struct form *f,
			struct buf *out)
{
	struct str saved = words_all_saved(s);

	for (struct scan_iter it = scan_over(saved); scan_next(&it);) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		words_saved(it.value, &line);
		add_part(out, &f->saved, buf_str(&line));
	}
}

static void print_step(const struct report_step *s, const struct form *f,
		       const struct render_options *o, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str output = words_output(s, &body);

	print_heading(s, f, o->view == VIEW_FULL, out);
	if (s->state == STATE_SKIPPED)
		print_skipped(s, f, out);
	else if (!output.n && s->state == STATE_OK)
		add_part(out, &f->nothing, STR(""));
	/* of a failure show the bytes that the error speaks of */
	if (output.n && s->state == STATE_FAILED)
		add_part(out, &f->output, output);
	else if (output.n)
		print_body(out, f, output, o);
	if (o->view == VIEW_FULL)
		print_saved(s, f, out);
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

/* "changed since run 7", and what did */
static void print_changes(const struct report_changes *c, const struct form *f,
			  struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	words_changes(c, &title);
	add_part(out, &f->changes, buf_str(&title));
	if (c->diff->n)
		diff_print_part(c->diff, diff_format_find(f->changes_as), out);
	buf_adds(out, f->end_changes);
}

static void print_form(const struct report *r, const struct render_options *o,
		       const struct form *f, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	words_title(r, o->view == VIEW_FULL, &title);
	add_part(out, &f->title, buf_str(&title));
	print_troubles(r, f, o->view == VIEW_FULL, out);
	if (r->changes && o->view == VIEW_FULL)
		print_changes(r->changes, f, out);
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
	if (s->lacks)
		jw_kv_cstr(w, "lacks", REPORT_LACKS[s->lacks]);
	if (report_step_has_data(s)) {
		jw_key(w, "data");
		report_step_data(w, s);
	}
	if (s->run.n && o->view == VIEW_FULL)
		jw_kv_raw(w, "run", s->run);
	jw_end(w);
}

static void write_changes(struct jw *w, const struct report_changes *c)
{
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);

	diff_print(c->diff, diff_format_find("json"), &diff);
	jw_kv_object(w, "changes");
	jw_kv_uint(w, "since", c->since);
	jw_kv_raw(w, "diff", str_trim(buf_str(&diff)));
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
	if (o->view == VIEW_FULL)
		jw_kv_uint(&w, "generation", r->generation);
	jw_kv_cstr(&w, "routine", r->routine);
	jw_kv_bool(&w, "dry_run", r->dry_run);
	jw_kv_bool(&w, "success", report_success(r));
	jw_kv_cstr(&w, "summary", report_summary(r, &arena));
	jw_kv_array(&w, "step_results");
	for (size_t i = 0; i < r->n_steps; i++)
		write_step(&w, &r->steps[i], o);
	jw_end(&w);
	if (r->changes && o->view == VIEW_FULL)
		write_changes(&w, r->changes);
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
		{"text", print_text},  {"json", print_json},
		{"data", print_data},  {"md", print_md},
		{"html", render_page},
	};

	for (size_t i = 0; i < ARRAY_LEN(renderers); i++)
		if (!strcmp(renderers[i].name, name))
			return &renderers[i];
	return NULL;
}
