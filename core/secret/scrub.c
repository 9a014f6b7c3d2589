#include "core/secret/scrub.h"

#include "core/base/mem.h"
#include "core/secret/scrub_scan.h"

/* ---- rewriting ---- */

/*
 * Give what is decided; ranges behind it stay in scan->found. What lies
 * before `at` was given, or is replaced.
 */
static void give_decided(struct scrub_scan *scan, struct str text, size_t base,
			 struct scrub_given *g, struct buf *out)
{
	size_t i = 0;

	for (; i < scan->n_found && scan->found[i].from < g->decided; i++) {
		const struct scrub_range *f = &scan->found[i];

		if (f->from >= g->at) {
			buf_add(out, text.p + (g->at - base), f->from - g->at);
			buf_adds(out, SCRUB_STARS);
			g->hits++;
		}
		if (f->end > g->at)
			g->at = f->end;
	}
	scrub_scan_drop(scan, i);
	if (g->decided > g->at) {
		buf_add(out, text.p + (g->at - base), g->decided - g->at);
		g->at = g->decided;
	}
}

bool scrub_rewrite(struct scrub_scan *scan, struct str text, enum scrub_end end,
		   struct buf *out, size_t *hits)
{
	struct scrub_given g = {0};
	size_t limit = 0;

	while (limit < text.n && (!limit || scrub_goes_on(scan->scrub))) {
		limit = scrub_next_piece(limit, text.n);
		g.decided = scrub_scan_run(scan, text, 0, limit, end);
		give_decided(scan, text, 0, &g, out);
	}
	*hits += g.hits;
	return limit >= text.n;
}

static size_t apply(const struct scrub *s, struct str in, enum scrub_end end,
		    struct buf *out)
{
	struct scrub_scan scan;
	size_t hits = 0;

	if (scrub_is_empty(s)) {
		buf_add_str(out, in);
		return 0;
	}
	scrub_scan_init(&scan, s, SCRUB_BYTES);
	if (!scrub_rewrite(&scan, in, end, out, &hits))
		hits++; /* text that is missing counts as replaced */
	scrub_scan_release(&scan);
	return hits;
}

size_t scrub_apply(const struct scrub *s, struct str in, struct buf *out)
{
	return apply(s, in, SCRUB_LAST, out);
}

size_t scrub_cut(const struct scrub *s, struct str in, struct buf *out)
{
	return apply(s, in, SCRUB_CUT, out);
}

bool scrub_finds(const struct scrub *s, struct str in)
{
	struct scrub_scan scan;
	size_t limit = 0;
	bool found = false;

	if (scrub_is_empty(s) || scrub_scan_is_clean(s, in))
		return false;
	scrub_scan_init(&scan, s, SCRUB_BYTES);
	while (limit < in.n && !found) {
		limit = scrub_next_piece(limit, in.n);
		(void)scrub_scan_run(&scan, in, 0, limit, SCRUB_LAST);
		found = scan.n_found || (limit < in.n && !scrub_goes_on(s));
	}
	scrub_scan_release(&scan);
	return found;
}

void scrub_log_filter(struct buf *line, void *scrub)
{
	const struct scrub *s = scrub;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (!scrub_is_empty(s)) {
		scrub_apply(s, buf_str(line), &out);
		buf_wipe(line);
		*line = out;
	}
	for (struct scrub *w = s ? s->first_within : NULL; w;
	     w = w->next_within)
		scrub_log_filter(line, w);
}

void scrub_set_patience(struct scrub *s, bool (*go_on)(void *arg), void *arg)
{
	s->go_on = go_on;
	s->go_on_arg = arg;
}

/* ---- pieces ---- */

struct scrub_stream_state {
	struct scrub_scan scan;
	struct scrub_given given;
	size_t base;	 /* offset of what is held */
	size_t n_values; /* known to the scan */
};

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s)
{
	*st = (struct scrub_stream){
		.scrub = s,
		.held = BUF_INIT(BUF_UNBOUNDED),
	};
}

/* Readings depend on the values: with more of them what is held is read anew */
static struct scrub_stream_state *state_of(struct scrub_stream *st)
{
	struct scrub_stream_state *t = st->state;

	if (t && t->n_values == st->scrub->n_values)
		return t;
	if (!t)
		t = st->state = mem_zalloc(sizeof(*t));
	else
		scrub_scan_release(&t->scan);
	scrub_scan_init(&t->scan, st->scrub, SCRUB_BYTES);
	scrub_scan_clear(&t->scan, t->base);
	t->n_values = st->scrub->n_values;
	return t;
}

/* Read what is held, or in place what is not held with anything before it. */
static size_t read_piece(struct scrub_stream *st, struct str text,
			 enum scrub_end end, struct buf *out)
{
	struct scrub_stream_state *t = state_of(st);

	t->given.decided =
		scrub_scan_run(&t->scan, text, t->base, t->base + text.n, end);
	give_decided(&t->scan, text, t->base, &t->given, out);
	st->hits = t->given.hits;
	return t->given.decided - t->base;
}

void scrub_stream_feed(struct scrub_stream *st, struct str in, struct buf *out)
{
	size_t done;

	if (scrub_is_empty(st->scrub)) {
		buf_add_str(out, in);
		return;
	}
	if (!in.n)
		return;
	if (!st->held.n) {
		done = read_piece(st, in, SCRUB_MORE, out);
		buf_add_str(&st->held, scrub_behind(in, done));
	} else {
		buf_add_str(&st->held, in);
		done = read_piece(st, buf_str(&st->held), SCRUB_MORE, out);
		if (done)
			buf_drop(&st->held, done);
	}
	st->state->base += done;
}

static void stream_end(struct scrub_stream *st, enum scrub_end end,
		       struct buf *out)
{
	if (st->held.n)
		(void)read_piece(st, buf_str(&st->held), end, out);
	scrub_stream_release(st);
}

void scrub_stream_end(struct scrub_stream *st, struct buf *out)
{
	stream_end(st, SCRUB_LAST, out);
}

void scrub_stream_cut(struct scrub_stream *st, struct buf *out)
{
	stream_end(st, SCRUB_CUT, out);
}

void scrub_stream_release(struct scrub_stream *st)
{
	buf_wipe(&st->held);
	if (st->state)
		scrub_scan_release(&st->state->scan);
	free(st->state);
	st->state = NULL;
}
