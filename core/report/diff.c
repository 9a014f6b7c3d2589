#include "core/report/diff.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/report/canon.h"
#include "core/report/path.h"
#include "core/report/report.h"

#define SHOWN_BYTES 200
#define SHOWN_COMMON 40

static const char *const kinds[] = {"added", "removed", "changed", "moved"};
static const char *const classes[] = {"state", "schema", "value"};

/* Parent of a node. */
enum level { IN_NOTHING, IN_REPORT, IN_STEPS, IN_STEP, BELOW };

/* Members that say how a run or a step ended, not what it said. */
static const char *const state_members[] = {
	"state", "success", "skipped", "reason", "summary", "dry_run",
};

struct comparison {
	struct diff *diff;
	struct arena *arena;
	struct buf path;  /* of where we are */
	const char *step; /* the step we are in; NULL outside */
};

static enum level level_below(enum level level, struct str key)
{
	return level == IN_NOTHING				   ? IN_REPORT
	       : level == IN_STEPS				   ? IN_STEP
	       : level == IN_REPORT && str_is(key, "step_results") ? IN_STEPS
								   : BELOW;
}

static bool is_state(enum level level, struct str key, enum diff_kind kind)
{
	if (level == IN_STEPS)
		return kind != DIFF_MOVED;
	if (level != IN_REPORT && level != IN_STEP)
		return false;
	/* present with the state only; the wording is a value */
	if (str_is(key, "error"))
		return kind != DIFF_CHANGED;
	for (size_t i = 0; i < ARRAY_LEN(state_members); i++)
		if (str_is(key, state_members[i]))
			return true;
	return false;
}

static bool is_bool(const struct jdoc *j)
{
	return j->type == SCAN_TRUE || j->type == SCAN_FALSE;
}

/* Add an entry; one side of it may be NULL: it came or went. */
static void add_entry(struct comparison *c, enum level level,
		      struct diff_entry entry)
{
	const struct jdoc *any = entry.new ? entry.new : entry.old;
	struct diff *d = c->diff;

	if ((entry.old && entry.old->ignored) ||
	    (entry.new &&entry.new->ignored))
		return;
	if (d->n == DIFF_ENTRIES_MAX) {
		d->dropped++;
		return;
	}
	assert(any);
	if (!entry.old || !entry.new)
		entry.kind = entry.old ? DIFF_REMOVED : DIFF_ADDED;
	if (is_state(level, any->key, entry.kind))
		entry.class = DIFF_STATE;
	else if (entry.kind == DIFF_CHANGED &&
		 (entry.old->type == entry.new->type ||
		  (is_bool(entry.old) && is_bool(entry.new))))
		entry.class = DIFF_VALUE;
	else
		entry.class = DIFF_SCHEMA;
	entry.path = arena_strndup(c->arena, buf_cstr(&c->path), c->path.n);
	entry.step = c->step;
	d->entry[d->n++] = entry;
}

static void path_cut(struct comparison *c, size_t n)
{
	c->path.n = n;
	c->path.p[n] = '\0';
}

static void compare(struct comparison *c, enum level level,
		    const struct jdoc *old, const struct jdoc *new);

/* One side may be NULL: it came or went. */
static void compare_child(struct comparison *c, enum level level,
			  const struct jdoc *old, const struct jdoc *new)
{
	if (old && new)
		compare(c, level, old, new);
	else
		add_entry(c, level,
			  (struct diff_entry){.old = old, .new = new});
}

static void compare_objects(struct comparison *c, enum level level,
			    const struct jdoc *old, const struct jdoc *new)
{
	struct jdoc **mo = jdoc_members(old, true, c->arena);
	struct jdoc **mn = jdoc_members(new, true, c->arena);
	size_t here = c->path.n;

	/* both lists are sorted and end in NULL */
	while (*mo || *mn) {
		int order = !*mo   ? 1
			    : !*mn ? -1
				   : jdoc_key_order((*mo)->key, (*mn)->key);
		struct jdoc *a = order <= 0 ? *mo++ : NULL;
		struct jdoc *b = order >= 0 ? *mn++ : NULL;

		path_add(&c->path, NULL, a ? a->key : b->key);
		compare_child(c, level, a, b);
		path_cut(c, here);
	}
}

/*
 * By position; when the lengths differ, what is equal at both ends is left
 * out first, so that one element more is one difference.
 */
static void compare_arrays(struct comparison *c, const struct jdoc *old,
			   const struct jdoc *new)
{
	struct jdoc **eo = jdoc_members(old, false, c->arena);
	struct jdoc **en = jdoc_members(new, false, c->arena);
	size_t from = 0, no = old->n, nn = new->n, here = c->path.n;

	if (no != nn) {
		while (from < no && from < nn &&
		       canon_equal(eo[from], en[from]))
			from++;
		while (no > from && nn > from &&
		       canon_equal(eo[no - 1], en[nn - 1])) {
			no--;
			nn--;
		}
	}
	for (size_t i = from; i < no || i < nn; i++) {
		buf_addf(&c->path, "[%zu]", i);
		compare_child(c, BELOW, i < no ? eo[i] : NULL,
			      i < nn ? en[i] : NULL);
		path_cut(c, here);
	}
}

/* The names of all elements, or NULL when they do not tell them apart. */
static const char **step_names(struct comparison *c, const struct jdoc *steps)
{
	const char **name;
	size_t n = 0;

	/* each is compared with all; no report of ours has more */
	if (steps->n > LIMIT_STEPS)
		return NULL;
	name = ARENA_ARRAY(c->arena, const char *, steps->n + 1);
	for (const struct jdoc *s = steps->first; s; s = s->next, n++) {
		const struct jdoc *member = jdoc_get(s, "step_name");

		name[n] = jdoc_text(member, c->arena);
		if (!name[n] || member->ignored)
			return NULL;
		for (size_t i = 0; i < n; i++)
			if (!strcmp(name[i], name[n]))
				return NULL;
	}
	return name;
}

static size_t find_name(const char *const *name, size_t n, const char *wanted)
{
	size_t i = 0;

	while (i < n && strcmp(name[i], wanted))
		i++;
	return i;
}

/* ---- each change once ---- */

/* A text is JSON that is equal to the value. */
static bool holds(struct comparison *c, const struct jdoc *text,
		  const struct jdoc *value)
{
	AUTO(buf_release) struct buf decoded = BUF_INIT(BUF_UNBOUNDED);
	struct jdoc *inner;

	return value && text && text->type == SCAN_STRING &&
	       scan_string(text->raw, &decoded) &&
	       jdoc_parse(arena_str(c->arena, buf_str(&decoded)), c->arena,
			  &inner, ERR_IGNORED) == 0 &&
	       canon_equal(inner, value);
}

static bool has_ignored(const struct jdoc *data)
{
	bool any = data && data->ignored;

	for (const struct jdoc *c = data ? data->first : NULL; c && !any;
	     c = c->next)
		any = has_ignored(c);
	return any;
}

/*
 * Report whether a rule leaves out a part of the data that the output is made
 * of; that of a script is its own.
 */
static bool is_partly_ignored(const struct jdoc *step)
{
	return !jdoc_is(jdoc_get(step, "step_type"), "script") &&
	       has_ignored(jdoc_get(step, "data"));
}

/* The output of a step is what is made of its data for people. */
static bool is_made_of_data(struct comparison *c, const struct jdoc *step)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf output = BUF_INIT(BUF_UNBOUNDED);
	const struct jdoc *data = jdoc_get(step, "data");
	const struct jdoc *content = jdoc_get(data, "content");
	const struct jdoc *shown = jdoc_get(step, "output");

	if (holds(c, shown, data) ||
	    holds(c, shown, jdoc_get(data, "structuredContent")))
		return true;
	if (!content || content->type != SCAN_ARRAY || !shown ||
	    !scan_string(shown->raw, &output))
		return false;
	report_mcp_output(&body, content->raw);
	return str_eq(buf_str(&body), buf_str(&output));
}

static bool is_below(const struct diff_entry *e, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(e->path, path, n) &&
	       (!e->path[n] || strchr(".[", e->path[n]));
}

/* Does another entry from `first` on, at or below that path, stay? */
static bool is_other_below(const struct diff *d, size_t first, size_t self,
			   const char *path)
{
	for (size_t i = first; i < d->n; i++)
		if (i != self && is_below(&d->entry[i], path))
			return true;
	return false;
}

/* Does the entry say once more what others of the step say better? */
static bool is_repeated(struct comparison *c, size_t first, size_t at,
			const struct jdoc *old, const struct jdoc *new)
{
	const struct diff *d = c->diff;
	const struct diff_entry *e = &d->entry[at];
	const char *data = arena_printf(c->arena, "%s.data", c->path.p);
	const char *structured =
		arena_printf(c->arena, "%s.structuredContent", data);

	if (e->kind != DIFF_CHANGED)
		return false;
	if (e->old == jdoc_get(old, "output")) {
		for (size_t i = first; i < d->n; i++)
			if (i != at && d->entry[i].old &&
			    d->entry[i].new &&canon_equal(d->entry[i].old,
							  e->old) &&
			    canon_equal(d->entry[i].new, e->new))
				return true;
		if (is_partly_ignored(old) || is_partly_ignored(new))
			return true;
		return is_other_below(d, first, at, data) &&
		       is_made_of_data(c, old) && is_made_of_data(c, new);
	}
	/* servers put the structured content into a text block as well */
	return is_below(e, data) && !is_below(e, structured) &&
	       is_other_below(d, first, at, structured) &&
	       holds(c, e->old,
		     jdoc_get(jdoc_get(old, "data"), "structuredContent")) &&
	       holds(c, e->new,
		     jdoc_get(jdoc_get(new, "data"), "structuredContent"));
}

/* Entries of one step, from `first` on. */
static void drop_repeats(struct comparison *c, size_t first,
			 const struct jdoc *old, const struct jdoc *new)
{
	struct diff *d = c->diff;

	for (size_t i = d->n; old && new &&i-- > first;) {
		if (!is_repeated(c, first, i, old, new))
			continue;
		d->n--;
		memmove(&d->entry[i], &d->entry[i + 1],
			(d->n - i) * sizeof(*d->entry));
	}
}

/* ---- steps ---- */

/* moved  NULL: compare the two */
static void compare_step(struct comparison *c, const char *name,
			 const struct jdoc *old, const struct jdoc *new,
			 const struct diff_entry *moved)
{
	size_t here = c->path.n, first = c->diff->n;

	c->step = name;
	path_add(&c->path, "step_name", str_of(name));
	if (moved)
		add_entry(c, IN_STEPS, *moved);
	else
		compare_child(c, IN_STEPS, old, new);
	if (!moved)
		drop_repeats(c, first, old, new);
	path_cut(c, here);
	c->step = NULL;
}

static void compare_steps(struct comparison *c, const struct jdoc *old,
			  const struct jdoc *new)
{
	struct jdoc **so = jdoc_members(old, false, c->arena);
	struct jdoc **sn = jdoc_members(new, false, c->arena);
	const char **no = step_names(c, old), **nn = step_names(c, new);
	size_t furthest = 0;

	if (!no || !nn) {
		compare_arrays(c, old, new);
		return;
	}
	for (size_t i = 0; i < old->n; i++) {
		size_t k = find_name(nn, new->n, no[i]);

		const struct diff_entry moved = {
			.kind = DIFF_MOVED,
			.old = so[i],
			.new = sn[k],
			.old_index = i,
			.new_index = k,
		};

		/* the list of members ends in NULL */
		compare_step(c, no[i], so[i], sn[k], NULL);
		if (k < furthest)
			compare_step(c, no[i], so[i], sn[k], &moved);
		else if (k < new->n)
			furthest = k;
	}
	for (size_t k = 0; k < new->n; k++)
		if (find_name(no, old->n, nn[k]) == old->n)
			compare_step(c, nn[k], NULL, sn[k], NULL);
}

static void compare(struct comparison *c, enum level level,
		    const struct jdoc *old, const struct jdoc *new)
{
	const struct diff_entry changed = {
		.kind = DIFF_CHANGED, .old = old, .new = new};
	enum level below = level_below(level, new->key);

	if (old->ignored || new->ignored || str_eq(old->raw, new->raw))
		return;
	if (old->type == SCAN_OBJECT && new->type == SCAN_OBJECT)
		compare_objects(c, below, old, new);
	else if (old->type != SCAN_ARRAY || new->type != SCAN_ARRAY) {
		if (!canon_equal(old, new))
			add_entry(c, level, changed);
	} else if (below == IN_STEPS) {
		compare_steps(c, old, new);
	} else {
		compare_arrays(c, old, new);
	}
}

void diff_reports(const struct jdoc *old, const struct jdoc *new,
		  struct arena *arena, struct diff *ret)
{
	struct comparison c = {
		.diff = ret,
		.arena = arena,
		.path = BUF_INIT(BUF_UNBOUNDED),
	};

	*ret = (struct diff){0};
	ret->entry = ARENA_ARRAY(arena, struct diff_entry, DIFF_ENTRIES_MAX);
	buf_addc(&c.path, '$');
	compare(&c, IN_NOTHING, old, new);
	buf_release(&c.path);
}

/* ==== lines ==== */

#define LINE_SHOWN_BYTES 200
#define SHOWN_LINES 100
#define CONTEXT 2
/* Lines that went and came; where there are more, all of them did. */
#define EDITS_MAX 1000

/* Away from a cut inside of a character. */
static size_t character_start(struct str s, size_t at)
{
	while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static void add_line(struct buf *out, char sign, struct str text, size_t from)
{
	size_t to = text.n;

	if (to - from > LINE_SHOWN_BYTES)
		to = character_start(text, from + LINE_SHOWN_BYTES);
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

static void add_all_lines(struct buf *out, char sign, struct str text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct lines l = split(text, &arena);
	size_t shown = l.n < SHOWN_LINES ? l.n : SHOWN_LINES;

	for (size_t i = 0; i < shown; i++)
		add_line(out, sign, l.item[i], 0);
	add_rest(out, l.n - shown);
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

static void find_way(struct middle *m, struct arena *arena)
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

static void compare_lines(struct lines *old, struct lines *new,
			  struct arena *arena)
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
	find_way(m, arena);
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

static void diff_lines(struct buf *out, struct str old, struct str new)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct lines a = split(old, &arena), b = split(new, &arena);
	struct edit *edit = ARENA_ARRAY(&arena, struct edit, a.n + b.n);
	size_t n, shown = 0, left = 0;
	bool inside = false;

	compare_lines(&a, &b, &arena);
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
		add_line(out, edit[i].sign, edit[i].text, 0);
		shown++;
	}
	add_rest(out, left);
}

/* ==== printing ==== */

static void value_text(const struct jdoc *j, struct buf *out)
{
	if (j && j->type == SCAN_STRING)
		canon_string(j->raw, out);
	else if (j)
		scan_compact(j->raw, out);
}

/* Decode a string; true for NULL, too. */
static bool is_text(const struct jdoc *j, struct buf *text)
{
	return !j || (j->type == SCAN_STRING && scan_string(j->raw, text));
}

/* Print texts of several lines; false: these are none. */
static bool print_lines(const struct diff_entry *e, struct buf *out)
{
	AUTO(buf_release) struct buf old = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf new = BUF_INIT(BUF_UNBOUNDED);

	if (!is_text(e->old, &old) || !is_text(e->new, &new) ||
	    (str_find(buf_str(&old), '\n') == old.n &&
	     str_find(buf_str(&new), '\n') == new.n))
		return false;
	if (e->old && e->new)
		diff_lines(out, buf_str(&old), buf_str(&new));
	else
		add_all_lines(out, e->old ? '-' : '+',
			      buf_str(e->old ? &old : &new));
	return true;
}

static void print_values(const struct diff_entry *e, struct buf *out)
{
	AUTO(buf_release) struct buf old = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf new = BUF_INIT(BUF_UNBOUNDED);
	size_t from = 0;

	if (print_lines(e, out))
		return;
	value_text(e->old, &old);
	value_text(e->new, &new);
	/* of long values show where they begin to differ */
	if (e->old && e->new && (old.n > SHOWN_BYTES || new.n > SHOWN_BYTES)) {
		while (from < old.n &&
		       from < new.n &&old.p[from] == new.p[from])
			from++;
		from = from > SHOWN_COMMON ? from - SHOWN_COMMON : 0;
		from = character_start(buf_str(&old), from);
	}
	if (e->old)
		add_line(out, '-', buf_str(&old), from);
	if (e->new)
		add_line(out, '+', buf_str(&new), from);
}

static void print_text(const struct diff *d, struct buf *out)
{
	size_t count[ARRAY_LEN(classes)] = {0};

	for (size_t i = 0; i < d->n; i++) {
		const struct diff_entry *e = &d->entry[i];

		count[e->class]++;
		log_visible(out, str_of(e->path), false);
		buf_addf(out, "  (%s %s)\n", classes[e->class], kinds[e->kind]);
		if (e->kind == DIFF_MOVED)
			buf_addf(out, "  step %zu -> %zu\n", e->old_index + 1,
				 e->new_index + 1);
		else
			print_values(e, out);
	}
	if (!d->n)
		return;
	buf_addf(out, "%zu difference%s:", d->n + d->dropped,
		 d->n + d->dropped == 1 ? "" : "s");
	for (size_t i = 0, first = 1; i < ARRAY_LEN(classes); i++) {
		if (!count[i])
			continue;
		buf_addf(out, "%s %zu %s", first ? "" : ",", count[i],
			 classes[i]);
		first = 0;
	}
	if (d->dropped)
		buf_addf(out, "; %zu more not shown", d->dropped);
	buf_addc(out, '\n');
}

static void json_value(struct jw *w, const char *name, const char *cut_name,
		       const struct jdoc *j)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!j)
		return;
	scan_compact(j->raw, &text);
	jw_key(w, name);
	if (text.n <= DIFF_VALUE_BYTES) {
		jw_raw(w, buf_str(&text));
	} else {
		size_t n = character_start(buf_str(&text), DIFF_VALUE_BYTES);

		jw_str(w, (struct str){text.p, n});
		jw_key(w, cut_name);
		jw_uint(w, text.n);
	}
}

static void json_entry(struct jw *w, const struct diff_entry *e)
{
	jw_object(w);
	jw_kv_cstr(w, "path", e->path);
	jw_kv_cstr(w, "kind", kinds[e->kind]);
	if (e->kind == DIFF_MOVED) {
		jw_kv_int(w, "old", (int64_t)e->old_index);
		jw_kv_int(w, "new", (int64_t)e->new_index);
	} else {
		json_value(w, "old", "old_bytes", e->old);
		json_value(w, "new", "new_bytes", e->new);
	}
	jw_key(w, "step");
	if (e->step)
		jw_cstr(w, e->step);
	else
		jw_null(w);
	jw_kv_cstr(w, "class", classes[e->class]);
	jw_end(w);
}

void diff_print(const struct diff *d, enum diff_format format, struct buf *out)
{
	struct jw w;

	if (format == DIFF_TEXT) {
		print_text(d, out);
		return;
	}
	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_bool(&w, "same", d->n == 0);
	jw_kv_array(&w, "entries");
	for (size_t i = 0; i < d->n; i++)
		json_entry(&w, &d->entry[i]);
	jw_end(&w);
	jw_kv_int(&w, "dropped", (int64_t)d->dropped);
	jw_end(&w);
	buf_addc(out, '\n');
}
