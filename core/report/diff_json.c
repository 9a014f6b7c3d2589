#include <string.h>

#include "core/base/jw.h"
#include "core/report/canon.h"
#include "core/report/diff_print.h"

const char *const diff_kinds[] = {"added", "removed", "changed", "moved"};
const char *const diff_classes[] = {"state", "schema", "value"};

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
		jw_key(w, cut_name);
		jw_uint(w, text.n);
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

void diff_print_json(const struct diff *d, struct buf *out)
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
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] == '~' || key.p[i] == '/')
			buf_adds(&p->at, key.p[i] == '~' ? "~0" : "~1");
		else
			buf_addc(&p->at, key.p[i]);
	}
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

void diff_print_patch(const struct diff *d, struct buf *out)
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
