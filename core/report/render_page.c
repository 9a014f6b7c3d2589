#include "core/report/render_page.h"

#include "core/base/text.h"
#include "core/report/diff_print.h"
#include "core/report/escape.h"
#include "core/report/markdown.h"
#include "core/report/page.h"
#include "core/report/shape.h"
#include "core/report/words.h"

/* Base64 of one picture or sound in a page: 8 MiB. */
#define MEDIA_BYTES (8 * 1024 * 1024)
/* Longer results are folded until they are asked for. */
#define OPEN_BYTES 4000
#define OPEN_LINES 40
/* Units of a bar of durations: a step has at least some of them. */
#define BAR_UNITS 1000
#define BAR_MIN 6

static void add(struct buf *out, const char *before, struct str s,
		const char *after)
{
	escape_html(out, before, s);
	buf_adds(out, after);
}

static const char *class_of(const struct report_step *s)
{
	return !report_step_success(s)	   ? "bad"
	       : s->state == STATE_SKIPPED ? "skip"
					   : "ok";
}

static void print_state(const struct report_step *s, struct buf *out)
{
	buf_addf(out, "<span class=\"state %s\">%s</span>", class_of(s),
		 words_state(s));
}

/* Steps left out by hand have no section: one line names them. */
static bool is_shown(const struct report_step *s)
{
	return s->reason != REASON_ONLY_FILTER;
}

/* "<a href="#s3">issues</a>" */
static void add_link(const struct report *r, const struct report_step *s,
		     struct buf *out)
{
	buf_addf(out, "<a href=\"#s%zu\">", (size_t)(s - r->steps) + 1);
	add(out, "", str_of(s->name), "</a>");
}

/* ---- the verdict ---- */

/* Append it in some words. returns  its class */
static const char *add_verdict(const struct report *r, bool is_full,
			       struct buf *out)
{
	struct report_counts c = report_count(r);
	size_t shown = 0, lacks = c.lacks[LACKS_CONTENT] + c.lacks[LACKS_ITEMS];
	bool is_ok = report_success(r);

	for (size_t i = 0; i < r->n_steps; i++)
		shown += is_shown(&r->steps[i]);
	if (c.failed)
		buf_addf(out, "%zu of %zu failed", c.failed, shown);
	else
		buf_adds(out, r->dry_run    ? "Dry run"
			      : c.not_begun ? "Not finished"
			      : !c.ran	    ? "Nothing ran"
			      : c.refused   ? "All ran, some with refusals"
			      : lacks	    ? "All ran, some gave nothing"
			      : c.skipped   ? "All that ran is well"
					    : "All well");
	if (is_full && r->changes && r->changes->diff->n)
		buf_addf(out, ", %zu change%s", r->changes->diff->n,
			 r->changes->diff->n == 1 ? "" : "s");
	if (is_full && words_replayed(r->run, ", ", out))
		return is_ok ? "skip" : "bad";
	return !is_ok					    ? "bad"
	       : r->dry_run || !c.ran || c.refused || lacks ? "skip"
							    : "ok";
}

static void print_verdict(const struct report *r, bool is_full, struct buf *out)
{
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);
	const char *class = add_verdict(r, is_full, &words);
	uint64_t us;

	buf_addf(out, "<header class=\"verdict %s\">\n", class);
	add(out, "<h1><span>", str_of(r->routine), ":</span> ");
	add(out, "", buf_str(&words), "</h1>\n<p>");
	buf_clear(&words);
	words_counts(r, &words);
	if (is_full)
		words_earlier(r, &words);
	if (is_full && words_started(r->run, &us)) {
		buf_adds(&words, " · ");
		words_time(us, &words);
	}
	if (is_full && words_took(r->run, &us)) {
		buf_adds(&words, " · ");
		report_add_duration(&words, us);
	}
	if (is_full && r->generation)
		buf_addf(&words, " · run %llu",
			 (unsigned long long)r->generation);
	add(out, "", buf_str(&words), "</p>\n</header>\n<main>\n");
}

/* ---- what this machine lacks ---- */

static void print_lacks(struct buf *out)
{
	struct err err = ERR_INIT;

	if (markdown_load(&err) < 0)
		add(out, "<p class=\"dim\">", str_of(err.msg), "</p>\n");
}

/* ---- what failed, and what to do ---- */

static void print_advice(const struct report_step *s, struct buf *out)
{
	if (s->said.n)
		add(out, "<p>stderr:</p>\n<pre>\n", s->said, "</pre>\n");
	for (size_t i = 0; i < s->n_advice; i++) {
		add(out, "<p class=\"advice\">", str_trim(s->advice[i].text),
		    "</p>\n");
		if (s->advice[i].toml.n)
			add(out, "<pre class=\"toml\">\n", s->advice[i].toml,
			    "</pre>\n");
	}
}

static void print_trouble(const struct report *r, const struct report_step *s,
			  bool with_advice, struct buf *out)
{
	AUTO(buf_release) struct buf error = BUF_INIT(BUF_UNBOUNDED);
	bool is_ok = report_step_success(s);

	buf_addf(out, "<article class=\"%s\">\n<h3>", is_ok ? "skip" : "bad");
	add_link(r, s, out);
	buf_addf(out, " <span class=\"state %s\">%s</span></h3>\n",
		 is_ok ? "skip" : "bad",
		 !is_ok	      ? words_state(s)
		 : s->refused ? "refused"
			      : "note");
	if (!is_ok) {
		words_error(s, &error);
		add(out, "<p class=\"error\">", buf_str(&error), "</p>\n");
	}
	if (with_advice)
		print_advice(s, out);
	buf_adds(out, "</article>\n");
}

/* Failures in file order, then steps that succeeded in spite of refusals. */
static void print_troubles(const struct report *r, bool with_advice,
			   struct buf *out)
{
	const char *before = "<section class=\"troubles\">\n"
			     "<h2>What needs a look</h2>\n";
	bool any = false;

	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < r->n_steps; i++) {
			const struct report_step *s = &r->steps[i];
			bool is_ok = report_step_success(s);

			if (round ? !is_ok || !s->n_advice || !with_advice
				  : is_ok)
				continue;
			buf_adds(out, any ? "" : before);
			any = true;
			print_trouble(r, s, with_advice, out);
		}
	}
	buf_adds(out, any ? "</section>\n" : "");
}

/* ---- what changed ---- */

static void print_changes(const struct report_changes *c, struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	words_changes(c, &title);
	add(out, "<section class=\"changes\">\n<h2>", buf_str(&title),
	    "</h2>\n");
	if (c->diff->n)
		diff_print_part(c->diff, diff_format_find("html"), out);
	buf_adds(out, "</section>\n");
}

/* ---- all steps at a glance ---- */

/* From the first begin to the last end, in microseconds. */
struct extent {
	uint64_t from, to;
};

static bool read_extent(const struct report_step *s, struct extent *ret)
{
	uint64_t took;

	if (!words_started(s->run, &ret->from) || !words_took(s->run, &took))
		return false;
	ret->to = ret->from + took;
	return ret->to >= ret->from;
}

static struct extent extent_of(const struct report *r)
{
	struct extent all = {UINT64_MAX, 0}, one;

	for (size_t i = 0; i < r->n_steps; i++) {
		if (!read_extent(&r->steps[i], &one))
			continue;
		all.from = one.from < all.from ? one.from : all.from;
		all.to = one.to > all.to ? one.to : all.to;
	}
	return all;
}

/* When a step ran within the whole run; the time stands beside it as text. */
static void print_bar(const struct report_step *s, struct extent all,
		      struct buf *out)
{
	double unit = (double)(all.to - all.from) / BAR_UNITS;
	struct extent own;
	size_t from, width;

	buf_adds(out, "<td class=\"n\">");
	if (s->state == STATE_SKIPPED || !read_extent(s, &own)) {
		buf_adds(out, "</td><td></td>");
		return;
	}
	report_add_duration(out, own.to - own.from);
	width = unit > 0 ? (size_t)((double)(own.to - own.from) / unit)
			 : BAR_UNITS;
	width = width < BAR_MIN ? BAR_MIN : width;
	from = unit > 0 ? (size_t)((double)(own.from - all.from) / unit) : 0;
	from = from + width > BAR_UNITS ? BAR_UNITS - width : from;
	buf_addf(out,
		 "</td><td><svg class=\"bar %s\" viewBox=\"0 0 %d 1\" "
		 "preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		 "<rect x=\"%zu\" width=\"%zu\" height=\"1\" "
		 "fill=\"currentColor\"/></svg></td>",
		 class_of(s), BAR_UNITS, from, width);
}

static void print_glance(const struct report *r, bool is_full, struct buf *out)
{
	struct extent all = extent_of(r);
	bool has_bars = is_full && all.to >= all.from;

	buf_addf(out,
		 "<section class=\"glance\">\n<h2>At a glance</h2>\n"
		 "<table>\n<thead><tr><th scope=\"col\">step</th>"
		 "<th scope=\"col\">state</th>%s</tr></thead>\n<tbody>\n",
		 has_bars ? "<th scope=\"col\" class=\"n\">took</th>"
			    "<th scope=\"col\">when</th>"
			  : "");
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct report_step *s = &r->steps[i];

		if (!is_shown(s))
			continue;
		buf_adds(out, "<tr><th scope=\"row\">");
		add_link(r, s, out);
		buf_adds(out, "</th><td>");
		print_state(s, out);
		buf_adds(out, "</td>");
		if (has_bars)
			print_bar(s, all, out);
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</tbody>\n</table>\n</section>\n");
}

/* ---- texts ---- */

static bool is_long(struct str text)
{
	return text.n > OPEN_BYTES || str_count(text, '\n') > OPEN_LINES;
}

static bool add_json(struct str text, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str value;

	if (!shape_read(text, &arena, &value))
		return false;
	shape_html(value, out);
	return true;
}

/* JSON as a table, Markdown rendered, any other text as it is. */
static void print_text(struct str text, bool is_plain, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);

	if (!is_plain &&
	    (add_json(text, &body) || markdown_html(text, &body))) {
		buf_adds(out, "<div class=\"body\">\n");
		buf_add_str(out, buf_str(&body));
		buf_adds(out, "</div>\n");
	} else {
		/* an HTML parser drops a newline right behind <pre> */
		add(out, "<pre>\n", text, "</pre>\n");
	}
}

/* ---- pictures and sounds ---- */

/* Types that a browser shows without obeying anything. */
static const struct {
	const char *type, *mime, *before, *after;
} media[] = {
	{"image", "image/png", "<img alt=\"image of ", "\">\n"},
	{"image", "image/jpeg", "<img alt=\"image of ", "\">\n"},
	{"image", "image/gif", "<img alt=\"image of ", "\">\n"},
	{"image", "image/webp", "<img alt=\"image of ", "\">\n"},
	{"audio", "audio/wav", "<audio controls aria-label=\"sound of ",
	 "\"></audio>\n"},
	{"audio", "audio/mpeg", "<audio controls aria-label=\"sound of ",
	 "\"></audio>\n"},
	{"audio", "audio/ogg", "<audio controls aria-label=\"sound of ",
	 "\"></audio>\n"},
};

static bool is_base64(struct str s)
{
	while (s.n && s.p[s.n - 1] == '=')
		s.n--;
	for (size_t i = 0; i < s.n; i++)
		if (!text_is_alpha(s.p[i]) && !text_is_digit(s.p[i]) &&
		    s.p[i] != '+' && s.p[i] != '/')
			return false;
	return s.n > 0;
}

/* false: no block of these */
static bool print_medium(const char *name, struct str type, struct str mime,
			 struct str data, struct buf *out)
{
	size_t i = 0;

	if (!mime.n || !data.n || data.n > MEDIA_BYTES)
		return false;
	while (i < ARRAY_LEN(media) &&
	       ((type.n && !scan_is(type, media[i].type)) ||
		!scan_is(mime, media[i].mime)))
		i++;
	data = (struct str){data.p + 1, data.n - 2}; /* without the quotes */
	if (i == ARRAY_LEN(media) || !is_base64(data))
		return false;
	add(out, media[i].before, str_of(name), "\" src=\"data:");
	buf_addf(out, "%s;base64,", media[i].mime);
	buf_add_str(out, data);
	buf_adds(out, media[i].after);
	return true;
}

/* The text of an embedded resource, behind its name. */
static void print_resource(struct str resource, struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);
	struct str raw = scan_text(resource, "text");
	struct str name = scan_text(resource, "uri");
	struct str body;

	if (!raw.n || !scan_string(raw, &text) ||
	    (name.n && !scan_string(name, &uri)))
		return;
	body = words_trim_end(buf_str(&text));
	buf_addf(out, "<details class=\"facts\"%s>",
		 is_long(body) ? "" : " open");
	add(out, "<summary>", buf_str(&uri), "</summary>\n");
	print_text(body, false, out);
	buf_adds(out, "</details>\n");
}

/* returns  whether it is a picture or a sound */
static bool print_block(const char *name, struct str block, struct buf *out)
{
	struct str type = scan_text(block, "type");
	struct str resource = scan_some(block, "resource");

	if (!scan_is(type, "resource"))
		return type.n &&
		       print_medium(name, type, scan_text(block, "mimeType"),
				    scan_text(block, "data"), out);
	if (!resource.n || scan_type(resource) != SCAN_OBJECT)
		return false;
	print_resource(resource, out);
	return print_medium(name, STR(""), scan_text(resource, "mimeType"),
			    scan_text(resource, "blob"), out);
}

/* A member of the answer; of a report that was loaded it stands in the data. */
static struct str answer_of(const struct report_step *s, struct str member,
			    const char *name)
{
	return member.n || !s->data.n ? member : scan_some(s->data, name);
}

/* Media of a result, below its text, which names each of them. */
static bool print_media(const struct report_step *s, struct buf *out)
{
	struct str content = answer_of(s, s->answer.content, "content");
	bool any = false;

	for (struct scan_iter it = scan_over(content); scan_next(&it);)
		if (scan_type(it.value) == SCAN_OBJECT)
			any |= print_block(s->name, it.value, out);
	return any;
}

/* ---- results ---- */

/* Is the structured form the text once more, as most servers send it? */
static bool is_same(struct str structured, struct str text)
{
	AUTO(buf_release) struct buf a = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str value = scan_some(structured, "result"), shown;

	if (value.n && scan_count(structured) == 1)
		structured = value;
	if (scan_type(structured) == SCAN_STRING)
		return scan_string(structured, &a) &&
		       str_eq(words_trim_end(buf_str(&a)), text);
	if (!shape_read(text, &arena, &shown))
		return false;
	scan_compact(structured, &a);
	scan_compact(shown, &b);
	return str_eq(buf_str(&a), buf_str(&b));
}

static void print_structured(const struct report_step *s, struct str text,
			     struct buf *out)
{
	struct str structured =
		answer_of(s, s->answer.structured, "structuredContent");

	if (!structured.n || scan_type(structured) != SCAN_OBJECT ||
	    structured.n > SHAPE_BYTES || is_same(structured, text))
		return;
	buf_adds(out, "<div class=\"body\">\n");
	shape_html(structured, out);
	buf_adds(out, "</div>\n");
}

/* ---- how a step ran ---- */

/* Facts of a `run` that a person may look for. */
static const struct {
	const char *member, *heading;
} facts[] = {
	{"program", "Program"},
	{"attempts", "Attempts"},
	{"denials", "Refused"},
	{"unreached", "Granted, but not reached"},
	{"limits", "Limits that it met"},
	{"enforced", "Enforced"},
};

static size_t count_enforced(struct str enforced)
{
	size_t n = 0;

	for (struct scan_iter it = scan_over(enforced); scan_next(&it);)
		n += scan_is(scan_text(it.value, "level"), "enforced");
	return n;
}

/* "13 enforced, 1 not, 2 refused" */
static void add_kept(const struct report_step *s, struct str enforced,
		     struct buf *out)
{
	size_t all = scan_count(enforced), kept = count_enforced(enforced);
	struct str denials = scan_some(s->run, "denials");

	buf_addf(out, "%zu enforced", kept);
	if (kept < all)
		buf_addf(out, ", %zu not", all - kept);
	if (denials.n && scan_count(denials))
		buf_addf(out, ", %zu refused", scan_count(denials));
	else if (s->refused)
		buf_adds(out, ", with refusals");
}

/* like  the step before whose guarantees were written; NULL: none */
static const struct report_step *print_facts(const struct report *r,
					     const struct report_step *s,
					     const struct report_step *like,
					     struct buf *out)
{
	struct str enforced = s->run.n ? scan_some(s->run, "enforced") : s->run;

	if (!enforced.n || !scan_count(enforced))
		return like;
	buf_adds(out, "<details class=\"facts\"><summary>");
	add_kept(s, enforced, out);
	buf_adds(out, "</summary>\n");
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		struct str value = scan_some(s->run, facts[i].member);

		if (!value.n ||
		    (scan_type(value) == SCAN_ARRAY && !scan_count(value)))
			continue;
		buf_addf(out, "<h4>%s</h4>\n", facts[i].heading);
		if (like && str_eq(value, enforced) &&
		    str_eq(value, scan_some(like->run, "enforced"))) {
			buf_adds(out, "<p>As for ");
			add_link(r, like, out);
			buf_adds(out, ".</p>\n");
			continue;
		}
		shape_html(value, out);
	}
	buf_adds(out, "</details>\n");
	return like && str_eq(enforced, scan_some(like->run, "enforced")) ? like
									  : s;
}

/* ---- each step ---- */

static void print_skipped(const struct report_step *s, struct buf *out)
{
	struct str more, cause = words_skipped(s, &more);

	add(out, "<p class=\"dim\">(skipped: ", cause, ")</p>\n");
	if (more.n)
		add(out, "<p>", more, "</p>\n");
}

static void print_saved(const struct report_step *s, struct buf *out)
{
	struct str saved = words_all_saved(s);

	for (struct scan_iter it = scan_over(saved); scan_next(&it);) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		words_saved(it.value, &line);
		add(out, "<p class=\"dim\">saved: ", buf_str(&line), "</p>\n");
	}
}

static void print_heading(const struct report_step *s, bool is_full,
			  struct buf *out)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	uint64_t us;

	words_step(s, is_full, &name);
	add(out, "<summary><h3>", buf_str(&name), "</h3> ");
	print_state(s, out);
	if (is_full && s->state != STATE_SKIPPED && words_took(s->run, &us)) {
		buf_adds(out, " <span class=\"dim\">");
		report_add_duration(out, us);
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</summary>\n");
}

/* A link to what is inside opens it: so the inside has the name. */
static const struct report_step *print_step(const struct report *r,
					    const struct report_step *s,
					    const struct report_step *like,
					    bool is_full, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct str output = words_output(s, &body);
	bool has_media = print_media(s, &shown);

	buf_addf(out, "<details class=\"step\"%s>",
		 is_long(output) && !has_media ? "" : " open");
	print_heading(s, is_full, out);
	buf_addf(out, "<div id=\"s%zu\">\n", (size_t)(s - r->steps) + 1);
	if (s->state == STATE_SKIPPED)
		print_skipped(s, out);
	else if (!output.n && s->state == STATE_OK)
		buf_adds(out, "<p class=\"dim\">(no output)</p>\n");
	if (output.n)
		/* of a failure show the bytes that the error speaks of */
		print_text(output, s->state == STATE_FAILED, out);
	print_structured(s, output, out);
	buf_add_str(out, buf_str(&shown));
	if (is_full) {
		print_saved(s, out);
		like = print_facts(r, s, like, out);
	}
	buf_adds(out, "</div></details>\n");
	return like;
}

static void print_steps(const struct report *r, bool is_full, struct buf *out)
{
	const struct report_step *like = NULL;
	const char *before = "<p class=\"dim\">left out: ";
	bool any = false;

	buf_adds(out, "<section id=\"steps\">\n<h2>Steps</h2>\n");
	for (size_t i = 0; i < r->n_steps; i++)
		if (is_shown(&r->steps[i]))
			like = print_step(r, &r->steps[i], like, is_full, out);
	for (size_t i = 0; i < r->n_steps; i++) {
		if (is_shown(&r->steps[i]))
			continue;
		add(out, any ? ", " : before, str_of(r->steps[i].name), "");
		any = true;
	}
	buf_adds(out, any ? "</p>\n</section>\n" : "</section>\n");
}

void render_page(const struct report *r, const struct render_options *o,
		 struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);
	bool is_full = o->view == VIEW_FULL;

	words_title(r, is_full, &title);
	page_begin(buf_str(&title), out);
	buf_adds(out, "<a class=\"skip-link\" href=\"#steps\">"
		      "Skip to the steps</a>\n");
	print_verdict(r, is_full, out);
	print_troubles(r, is_full, out);
	if (r->changes && is_full)
		print_changes(r->changes, out);
	if (r->n_steps > 1)
		print_glance(r, is_full, out);
	print_steps(r, is_full, out);
	print_lacks(out);
	buf_addf(out, "</main>\n<footer class=\"%s\">",
		 report_success(r) ? "ok" : "bad");
	add(out, "", str_of(report_summary(r, &arena)), "</footer>\n");
	page_end(out);
}
