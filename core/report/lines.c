#include "core/report/lines.h"

#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/log.h"

/* Bytes of one line that are shown, lines of one difference, and lines around
   each change. */
#define SHOWN_BYTES 200
#define SHOWN_LINES 100
#define CONTEXT 2
/* Lines that went and came; where there are more, all of them did. */
#define EDITS_MAX 1000

void lines_add(struct buf *out, char sign, struct str text, size_t from)
{
	size_t to = text.n;

	if (to - from > SHOWN_BYTES) {
		to = from + SHOWN_BYTES;
		/* not inside of a character */
		while (to < text.n &&
		       ((unsigned char)text.p[to] & 0xc0) == 0x80)
			to++;
	}
	/* no space at the end of a line */
	if (!text.n) {
		buf_adds(out, sign == ' '   ? "\n"
			      : sign == '-' ? "  -\n"
					    : "  +\n");
		return;
	}
	buf_addf(out, "  %c %s", sign, from ? "…" : "");
	log_visible(out, (struct str){text.p + from, to - from}, false);
	if (to < text.n)
		buf_addf(out, "… (%zu bytes)", text.n);
	buf_addc(out, '\n');
}

static void add_rest(struct buf *out, size_t n)
{
	if (n)
		buf_addf(out, "  … %zu more line%s\n", n, n == 1 ? "" : "s");
}

/* ---- lines ---- */

struct lines {
	struct str *item; /* arena */
	bool *changed;	  /* lines on one side only */
	size_t n;
};

static struct lines split(struct str text, struct arena *arena)
{
	struct lines l = {.n = 1};

	for (size_t i = 0; i < text.n; i++)
		l.n += text.p[i] == '\n';
	l.item = ARENA_ARRAY(arena, struct str, l.n);
	l.changed = ARENA_ARRAY(arena, bool, l.n);
	for (size_t i = 0; i < l.n; i++) {
		l.item[i] = str_cut(&text, '\n');
		l.changed[i] = false;
	}
	return l;
}

void lines_add_all(struct buf *out, char sign, struct str text)
{
	struct arena arena = ARENA_INIT;
	struct lines l = split(text, &arena);
	size_t shown = l.n < SHOWN_LINES ? l.n : SHOWN_LINES;

	for (size_t i = 0; i < shown; i++)
		lines_add(out, sign, l.item[i], 0);
	add_rest(out, l.n - shown);
	arena_release(&arena);
}

/* ---- the shortest way from one to the other ---- */

/*
 * Lines between the equal ones at both ends. reach[d][k + d] is how far
 * in `old` d edits come on the diagonal k = old - new.
 * source  E. Myers, "An O(ND) Difference Algorithm and Its Variations"
 */
struct middle {
	struct str *old, *new;
	bool *went, *came;
	int32_t n_old, n_new;
	int32_t *reach[EDITS_MAX + 1];
};

/* Does the way to diagonal k come from k + 1, by a line that came? */
static bool is_from_above(const int32_t *before, int32_t d, int32_t k)
{
	return k == -d ||
	       (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

/* As far as d edits come; true: to the end of both. */
static bool advance(struct middle *m, int32_t d)
{
	const int32_t *before = d ? m->reach[d - 1] : NULL;

	for (int32_t k = -d; k <= d; k += 2) {
		int32_t x = 0, y;

		if (d)
			x = is_from_above(before, d, k)
				    ? before[k + 1 + d - 1]
				    : before[k - 1 + d - 1] + 1;
		for (y = x - k; x < m->n_old && y >= 0 && y < m->n_new &&
				str_eq(m->old[x], m->new[y]);
		     y++)
			x++;
		m->reach[d][k + d] = x;
		if (x >= m->n_old && x - k >= m->n_new)
			return true;
	}
	return false;
}

static void walk_back(struct middle *m, int32_t d)
{
	int32_t x = m->n_old, y = m->n_new;

	for (; d > 0; d--) {
		const int32_t *before = m->reach[d - 1];
		int32_t k = x - y;
		bool above = is_from_above(before, d, k);
		int32_t from = above ? k + 1 : k - 1;

		x = before[from + d - 1];
		y = x - from;
		if (above)
			m->came[y] = true;
		else
			m->went[x] = true;
	}
}

static void compare_middle(struct middle *m, struct arena *arena)
{
	int64_t all = (int64_t)m->n_old + m->n_new;
	int32_t max = all < EDITS_MAX ? (int32_t)all : EDITS_MAX;

	for (int32_t d = 0; d <= max; d++) {
		m->reach[d] = ARENA_ARRAY(arena, int32_t, 2 * (size_t)d + 1);
		if (advance(m, d)) {
			walk_back(m, d);
			return;
		}
	}
	memset(m->went, true, (size_t)m->n_old * sizeof(*m->went));
	memset(m->came, true, (size_t)m->n_new * sizeof(*m->came));
}

static void compare(struct lines *old, struct lines *new, struct arena *arena)
{
	struct middle *m = ARENA_ARRAY(arena, struct middle, 1);
	size_t first = 0, n_old = old->n, n_new = new->n;

	while (first < n_old && first < n_new &&
	       str_eq(old->item[first], new->item[first]))
		first++;
	while (n_old > first && n_new > first &&
	       str_eq(old->item[n_old - 1], new->item[n_new - 1])) {
		n_old--;
		n_new--;
	}
	*m = (struct middle){
		.old = old->item + first,
		.new = new->item + first,
		.went = old->changed + first,
		.came = new->changed + first,
		.n_old = (int32_t)(n_old - first),
		.n_new = (int32_t)(n_new - first),
	};
	compare_middle(m, arena);
}

/* ---- shown ---- */

/* One line of the difference, in order. */
struct edit {
	char sign;
	struct str text;
	size_t old, new; /* lines before it */
};

static size_t make_edits(const struct lines *old, const struct lines *new,
			 struct edit *edit)
{
	size_t i = 0, j = 0, n = 0;

	while (i < old->n || j < new->n) {
		struct edit *e = &edit[n++];

		*e = (struct edit){.old = i, .new = j};
		if (i < old->n && old->changed[i]) {
			e->sign = '-';
			e->text = old->item[i++];
		} else if (j < new->n &&new->changed[j]) {
			e->sign = '+';
			e->text = new->item[j++];
		} else {
			e->sign = ' ';
			e->text = new->item[j++];
			i++;
		}
	}
	return n;
}

static bool is_near_change(const struct edit *edit, size_t n, size_t at)
{
	size_t from = at > CONTEXT ? at - CONTEXT : 0;

	for (size_t i = from; i < n && i <= at + CONTEXT; i++)
		if (edit[i].sign != ' ')
			return true;
	return false;
}

void lines_diff(struct buf *out, struct str old, struct str new)
{
	struct arena arena = ARENA_INIT;
	struct lines a = split(old, &arena), b = split(new, &arena);
	struct edit *edit = ARENA_ARRAY(&arena, struct edit, a.n + b.n);
	size_t n, shown = 0, left = 0;
	bool inside = false;

	compare(&a, &b, &arena);
	n = make_edits(&a, &b, edit);
	for (size_t i = 0; i < n; i++) {
		bool is_near = is_near_change(edit, n, i);

		if (is_near && shown == SHOWN_LINES) {
			left += edit[i].sign != ' ';
			continue;
		}
		if (is_near && !inside)
			buf_addf(out, "  @@ -%zu +%zu @@\n", edit[i].old + 1,
				 edit[i].new + 1);
		inside = is_near;
		if (!is_near)
			continue;
		lines_add(out, edit[i].sign, edit[i].text, 0);
		shown++;
	}
	add_rest(out, left);
	arena_release(&arena);
}
