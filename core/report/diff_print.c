#include "core/report/diff_print.h"

#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/report/align.h"
#include "core/report/canon.h"
#include "core/report/escape.h"
#include "core/report/page.h"

/* ---- diff json ---- */

static const char *const diff_kinds[] = {"added", "removed", "changed",
					 "moved"};
static const char *const diff_classes[] = {"state", "schema", "value"};

/* ---- entries ---- */

static void json_value(struct jw *w, const char *name, const char *cut_name,
		       const struct jdoc *j)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!j)
		return;
	canon_compact(j, &text);
	jw_key(w, name);
	if (text.n <= DIFF_VALUE_BYTES) {
		jw_raw(w, buf_str(&text));
	} else {
		jw_str(w, str_first(buf_str(&text), DIFF_VALUE_BYTES));
		jw_kv_uint(w, cut_name, text.n);
	}
}

static void json_entry(struct jw *w, const struct edit *e)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	const char *step;

	(void)!diff_step(e, &arena, &step);
	diff_path(e, NULL, &path);
	jw_object(w);
	jw_kv_str(w, "path", buf_str(&path));
	jw_kv_cstr(w, "kind", diff_kinds[e->kind]);
	if (e->kind == DIFF_MOVED) {
		jw_kv_int(w, "old", (int64_t)e->old_index);
		jw_kv_int(w, "new", (int64_t)e->new_index);
	} else {
		json_value(w, "old", "old_bytes", e->old);
		json_value(w, "new", "new_bytes", e->new);
	}
	jw_key(w, "step");
	if (step)
		jw_cstr(w, step);
	else
		jw_null(w);
	jw_kv_cstr(w, "class", diff_classes[e->class]);
	jw_end(w);
}

static void print_json(const struct diff *d, struct buf *out)
{
	size_t n = d->n < DIFF_SHOWN_MAX ? d->n : DIFF_SHOWN_MAX;
	struct jw w = jw_begin(out);

	jw_kv_bool(&w, "same", d->n == 0);
	jw_kv_array(&w, "entries");
	for (size_t i = 0; i < n; i++)
		json_entry(&w, d->shown[i]);
	jw_end(&w);
	jw_kv_int(&w, "dropped", (int64_t)(d->n - n));
	jw_end(&w);
	buf_addc(out, '\n');
}

/* ---- RFC 6902 ---- */

/* In place of an index: the value where we are itself. */
#define HERE SIZE_MAX

/* Pointers lead to where things are in the old document: what shifts the
   elements of an array is done after what is below them. */
struct patch {
	struct jw *w;
	struct buf at; /* JSON pointer of where we are */
	struct arena *arena;
};

/* Append "/3"; returns where the pointer ended before. */
static size_t go_down(struct patch *p, size_t index)
{
	size_t here = p->at.n;

	if (index != HERE)
		buf_addf(&p->at, "/%zu", index);
	return here;
}

static size_t go_to(struct patch *p, const struct edit *e)
{
	size_t here = p->at.n;
	struct str key = e->old ? e->old->key : e->new->key;

	if (e->up->old->type == SCAN_ARRAY)
		return go_down(p, e->old_index);
	buf_addc(&p->at, '/');
	text_add_pointer(&p->at, key);
	return here;
}

/* from, index  of elements of the value where we are, or HERE; from: of none */
static void add_op(struct patch *p, const char *op, size_t from, size_t index,
		   const struct jdoc *value)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t here = go_down(p, from);

	jw_object(p->w);
	jw_kv_cstr(p->w, "op", op);
	if (from != HERE)
		jw_kv_str(p->w, "from", buf_str(&p->at));
	p->at.n = here;
	(void)!go_down(p, index);
	jw_kv_str(p->w, "path", buf_str(&p->at));
	p->at.n = here;
	if (value) {
		canon_compact(value, &text);
		jw_kv_raw(p->w, "value", buf_str(&text));
	}
	jw_end(p->w);
}

/* Operation of an edit. */
static void replace(struct patch *p, const struct edit *e, size_t index)
{
	if (e->old)
		add_op(p, "test", HERE, index, e->old);
	add_op(p,
	       !e->new	 ? "remove"
	       : !e->old ? "add"
			 : "replace",
	       HERE, index, e->new);
}

/* Elements by kind, in their order. */
static const struct edit **list(const struct patch *p, const struct edit *e,
				enum diff_kind kind, size_t *ret_n)
{
	const struct edit **found =
		ARENA_ARRAY(p->arena, const struct edit *,
			    (size_t)e->old->n + e->new->n + 1);

	*ret_n = 0;
	for (const struct edit *b = e->first; b; b = b->next)
		if (b->kind == kind)
			found[(*ret_n)++] = b;
	return found;
}

/* Bring the elements that stayed into the new order, new ones between them. */
static void reorder(struct patch *p, const struct edit *e,
		    const struct edit *const *removed, size_t n_removed,
		    const struct edit *const *added)
{
	size_t *now = ARENA_ARRAY(p->arena, size_t, e->old->n + 1);
	size_t n = 0, to = 0, r = 0, a = 0;

	for (size_t i = 0; i < e->old->n; i++) {
		if (r < n_removed && removed[r]->old_index == i)
			r++;
		else
			now[n++] = i;
	}
	for (size_t k = 0; k < e->new->n; k++) {
		size_t from = 0;

		if (e->order[k] == DIFF_NONE && added[a]) {
			replace(p, added[a++], to++);
			continue;
		}
		while (from < n && now[from] != e->order[k])
			from++;
		if (from == n)
			continue;
		if (from)
			add_op(p, "move", to + from, to, NULL);
		memmove(&now[from], &now[from + 1],
			(--n - from) * sizeof(*now));
		to++;
	}
}

static void patch_elements(struct patch *p, const struct edit *e)
{
	size_t n_removed, n_added, gone = 0;
	const struct edit **removed = list(p, e, DIFF_REMOVED, &n_removed);
	const struct edit **added = list(p, e, DIFF_ADDED, &n_added);

	for (size_t i = n_removed; i-- > 0;)
		replace(p, removed[i], removed[i]->old_index);
	if (e->order) {
		reorder(p, e, removed, n_removed, added);
		return;
	}
	for (size_t i = 0; i < n_added; i++) {
		while (gone < n_removed &&
		       removed[gone]->old_index < added[i]->old_index)
			gone++;
		replace(p, added[i], added[i]->old_index - gone + i);
	}
}

static void patch_below(struct patch *p, const struct edit *e)
{
	const bool is_array = e->old && e->old->type == SCAN_ARRAY;

	if (e->kind != DIFF_WITHIN || e->is_whole) {
		replace(p, e, HERE);
		return;
	}
	for (const struct edit *b = e->first; b; b = b->next) {
		size_t here;

		if (is_array && b->kind != DIFF_WITHIN &&
		    b->kind != DIFF_CHANGED)
			continue;
		here = go_to(p, b);
		patch_below(p, b);
		p->at.n = here;
	}
	if (is_array)
		patch_elements(p, e);
}

static void print_patch(const struct diff *d, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jw w;
	struct patch p = {&w, BUF_INIT(BUF_UNBOUNDED), &arena};

	jw_init(&w, out, false);
	jw_array(&w);
	if (d->root)
		patch_below(&p, d->root);
	jw_end(&w);
	buf_addc(out, '\n');
	buf_release(&p.at);
}

/*
 * ---- diff lines ----
 *
 * The two sides of one difference as lines: "- old", "+ new", "@@ -2 +2 @@".
 */

/* Bytes before the difference of two long values. */
#define SHOWN_COMMON 40

/* Away from a cut inside of a character. */
static size_t character_start(struct str s, size_t at)
{
	while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static void add_line(const struct line_style *style, struct buf *out, char sign,
		     struct str text, size_t from)
{
	size_t to = text.n;

	if (to - from > style->max_bytes)
		to = character_start(text, from + style->max_bytes);
	/* no space at the end of a line */
	if (!text.n && sign == ' ') {
		buf_addc(out, '\n');
		return;
	}
	buf_addf(out, "%s%c", style->indent, sign);
	if (text.n && !style->has_counts)
		buf_addc(out, ' ');
	buf_adds(out, from ? "…" : "");
	log_visible(out, (struct str){text.p + from, to - from}, false);
	if (to < text.n)
		buf_addf(out, "… (%zu bytes)", text.n);
	buf_addc(out, '\n');
}

/* ---- lines ---- */

struct lines {
	struct str *item; /* arena */
	uint32_t *id;
	bool *alone; /* lines on one side only */
	size_t n;
};

/* text  NULL: no lines */
static struct lines split(const struct buf *text, struct arena *arena)
{
	struct str rest = text ? buf_str(text) : (struct str){NULL, 0};
	struct lines l = {.n = text ? str_count(rest, '\n') + 1 : 0};

	l.item = ARENA_ARRAY(arena, struct str, l.n + 1);
	l.id = ARENA_ARRAY(arena, uint32_t, l.n + 1);
	l.alone = ARENA_ARRAY(arena, bool, l.n + 1);
	for (size_t i = 0; i < l.n; i++) {
		l.item[i] = str_cut(&rest, '\n');
		l.id[i] = align_item(l.item[i]);
	}
	return l;
}

/* One line of the difference, in order. */
struct row {
	char sign;
	struct str text;
	size_t old, new; /* lines before it */
};

/* Rows in `arena`; *ret_n of them. Lines of one hash may differ. */
static struct row *make_rows(const struct lines *old, const struct lines *new,
			     struct arena *arena, size_t *ret_n)
{
	struct row *row = ARENA_ARRAY(arena, struct row, old->n + new->n + 1);
	size_t i = 0, k = 0, n = 0;

	while (i < old->n || k < new->n) {
		struct row r = {.old = i, .new = k, .sign = ' '};

		if (i < old->n && old->alone[i])
			r.sign = '-';
		else if (k < new->n &&new->alone[k])
			r.sign = '+';
		else if (!str_eq(old->item[i], new->item[k])) {
			new->alone[k] = true;
			r.sign = '-';
		}
		r.text = r.sign == '+' ? new->item[k] : old->item[i];
		i += r.sign != '+';
		k += r.sign != '-';
		row[n++] = r;
	}
	*ret_n = n;
	return row;
}

static bool is_near_change(const struct row *row, size_t n, size_t at,
			   size_t context)
{
	size_t from = at > context ? at - context : 0;

	for (size_t i = from; i < n && i <= at + context; i++)
		if (row[i].sign != ' ')
			return true;
	return false;
}

static void add_place(const struct line_style *style, struct buf *out,
		      const struct row *row, size_t n)
{
	size_t went = 0, came = 0;

	for (size_t i = 0; i < n; i++) {
		went += row[i].sign != '+';
		came += row[i].sign != '-';
	}
	if (style->has_counts)
		buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", row->old + !!went,
			 went, row->new + !!came, came);
	else
		buf_addf(out, "%s@@ -%zu +%zu @@\n", style->indent,
			 row->old + 1, row->new + 1);
}

static void add_rows(const struct line_style *style, struct buf *out,
		     const struct row *row, size_t n, bool has_places)
{
	size_t shown = 0, left = 0, end;

	for (size_t i = 0; i < n; i = end) {
		bool is_near = is_near_change(row, n, i, style->context);

		for (end = i + 1;
		     end < n &&
		     is_near == is_near_change(row, n, end, style->context);)
			end++;
		if (has_places && is_near && shown < style->max_lines)
			add_place(style, out, row + i, end - i);
		for (size_t k = i; is_near && k < end; k++) {
			if (shown++ < style->max_lines)
				add_line(style, out, row[k].sign, row[k].text,
					 0);
			else
				left += row[k].sign != ' ';
		}
	}
	if (left)
		buf_addf(out, "%s… %zu more line%s\n", style->indent, left,
			 left == 1 ? "" : "s");
}

/* ---- values ---- */

/* Decode a string; true for NULL, too. */
static bool is_text(const struct jdoc *j, struct buf *text)
{
	return !j || (j->type == SCAN_STRING && scan_string(j->raw, text));
}

/* Texts of several lines; false: these are none. */
static bool add_texts(const struct edit *e, const struct line_style *style,
		      struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf old = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf new = BUF_INIT(BUF_UNBOUNDED);
	struct lines a, b;
	struct row *row;
	size_t n;

	if (!is_text(e->old, &old) || !is_text(e->new, &new) ||
	    (str_find(buf_str(&old), '\n') == old.n &&
	     str_find(buf_str(&new), '\n') == new.n))
		return false;
	a = split(e->old ? &old : NULL, &arena);
	b = split(e->new ? &new : NULL, &arena);
	align(&(struct align_side){a.id, a.alone, a.n},
	      &(struct align_side){b.id, b.alone, b.n});
	row = make_rows(&a, &b, &arena, &n);
	add_rows(style, out, row, n, style->has_counts || (e->old && e->new));
	return true;
}

/* Where two long values begin to differ, a little before it. */
static size_t first_shown(struct str old, struct str new, size_t max)
{
	size_t from = 0;

	if (!old.n || !new.n || (old.n <= max && new.n <= max))
		return 0;
	while (from < old.n && from < new.n &&old.p[from] == new.p[from])
		from++;
	from = from > SHOWN_COMMON ? from - SHOWN_COMMON : 0;
	return character_start(old, from);
}

/*
 * Append the lines. Texts of several lines are compared by line; other values
 * stand on one line each, and long ones begin near where they differ.
 * Characters that a terminal would obey are made visible.
 */
static void diff_lines(const struct edit *e, const struct line_style *style,
		       struct buf *out)
{
	AUTO(buf_release) struct buf old = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf new = BUF_INIT(BUF_UNBOUNDED);
	size_t from;

	if (e->kind == DIFF_MOVED) {
		buf_addf(out, "%sstep %zu -> %zu\n", style->indent,
			 e->old_index + 1, e->new_index + 1);
		return;
	}
	if (add_texts(e, style, out))
		return;
	if (e->old)
		canon_compact(e->old, &old);
	if (e->new)
		canon_compact(e->new, &new);
	from = first_shown(buf_str(&old), buf_str(&new), style->max_bytes);
	if (style->has_counts)
		buf_addf(out, "@@ -%s +%s @@\n", e->old ? "1" : "0,0",
			 e->new ? "1" : "0,0");
	if (e->old)
		add_line(style, out, '-', buf_str(&old), from);
	if (e->new)
		add_line(style, out, '+', buf_str(&new), from);
}

/* One difference, as forms print it. */
struct diff_shown {
	const struct edit *e;
	const struct edit *step; /* step that it is in; NULL: in none */
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
	{.name = "json", .json = print_json},
	{.name = "patch", .json = print_patch},
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
