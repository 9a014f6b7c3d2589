#include "core/report/diff_lines.h"

#include <string.h>

#include "core/base/log.h"
#include "core/report/align.h"
#include "core/report/canon.h"

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
	struct lines l = {.n = text != NULL};

	for (size_t i = 0; i < rest.n; i++)
		l.n += rest.p[i] == '\n';
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

void diff_lines(const struct edit *e, const struct line_style *style,
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
