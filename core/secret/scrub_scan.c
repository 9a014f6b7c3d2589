/*
 * Finds values in every reading of a text, in time linear in the text. Without
 * an escape in sight all readings are one, and one scanner reads.
 */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/secret/scrub_scanner.h"

/* Text that all scanners read before any of them goes on, bytes. */
#define BLOCK_BYTES (64 * 1024)

/* ---- all readings ---- */

/*
 * Where no escape stands all readings are the same, and so are scanners that
 * have read nothing else for as long as what they follow.
 */
static bool has_escape(const struct piece *p, size_t from)
{
	const char *text = p->text.p + (from - p->base);
	size_t n = p->limit > from ? p->limit - from : 0;

	return memchr(text, '\\', n) || memchr(text, '%', n) ||
	       memchr(text, '&', n) ||
	       (p->s->has_space && memchr(text, '+', n));
}

static bool is_same(const struct piece *p, const struct scrub_scanner *a,
		    const struct scrub_scanner *b)
{
	return a->at == b->at && a->plain.node == b->plain.node &&
	       a->is_asleep == b->is_asleep &&
	       b->plain_units >= scrub_depth(p->s, a->plain.node) + RECENT;
}

static void join(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;

	scan->is_together = true;
	for (size_t i = 0; i < scan->n; i++)
		scan->is_together &=
			is_same(p, &scan->scanners[0], &scan->scanners[i]);
}

/* Each goes its own way from where the first one is. */
static void part(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;

	scan->is_together = false;
	for (size_t i = 1; i < scan->n; i++)
		scanner_follow(p, &scan->scanners[i], &scan->scanners[0]);
}

static void read_block(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;

	if (scan->is_together && has_escape(p, scan->scanners[0].at))
		part(p);
	for (size_t i = 0; i < (scan->is_together ? 1 : scan->n); i++)
		scanner_go_on(p, &scan->scanners[i]);
	if (!scan->is_together)
		join(p);
}

static int by_begin(const void *a, const void *b)
{
	const struct scrub_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

size_t scrub_scan_run(struct scrub_scan *scan, struct str text, size_t base,
		      size_t limit, enum scrub_end end)
{
	struct piece p = {scan, scan->scrub, text, base, 0, end};
	size_t decided;

	for (size_t i = 0; i < scan->n; i++)
		scan->scanners[i].last = SIZE_MAX;
	for (size_t at = base; at < limit; at = p.limit) {
		p.limit = limit - at > BLOCK_BYTES ? at + BLOCK_BYTES : limit;
		read_block(&p);
	}
	decided = scanner_decided(&p, &scan->scanners[0]);
	for (size_t i = 1; i < scan->n && !scan->is_together; i++) {
		size_t own = scanner_decided(&p, &scan->scanners[i]);

		decided = own < decided ? own : decided;
	}
	if (scan->n_found > 1)
		qsort(scan->found, scan->n_found, sizeof(*scan->found),
		      by_begin);
	return decided;
}

bool scrub_scan_is_clean(const struct scrub *s, struct str text)
{
	static const bool special[256] = {
		['\\'] = true, ['%'] = true,  ['&'] = true,
		['+'] = true,  ['\n'] = true, ['\r'] = true,
	};

	if (text.n < LIMIT_SECRET_SCRUB_MIN)
		return true;
	if (scrub_next_gram(s->any_gram, text, 0, text.n) != SIZE_MAX)
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (special[(unsigned char)text.p[i]])
			return false;
	return true;
}

/* ---- which readings ---- */

static bool has_reading(const struct scrub_scan *scan, unsigned stages)
{
	for (size_t i = 0; i < scan->n; i++)
		if (scan->scanners[i].stages == stages)
			return true;
	return false;
}

static void add_scanner(struct scrub_scan *scan, unsigned stages, bool is_coded)
{
	static const struct {
		unsigned stage;
		char c;
	} specials[] = {
		{SCRUB_JSON, '\\'},
		{SCRUB_PERCENT, '%'},
		{SCRUB_ENTITY, '&'},
		{SCRUB_PLUS, '+'},
	};
	struct scrub_scanner *sc = &scan->scanners[scan->n++];
	size_t n = 0;

	sc->stages = stages;
	sc->is_coded = is_coded;
	for (size_t i = 0; i < ARRAY_LEN(specials); i++)
		if (stages & specials[i].stage)
			sc->special[n++] = specials[i].c;
	if (is_coded) {
		sc->special[n++] = '\n';
		sc->special[n++] = '\r';
	}
}

void scrub_scan_init(struct scrub_scan *scan, const struct scrub *s,
		     enum scrub_place place)
{
	static const struct {
		unsigned stages, places;
	} readings[] = {
		/* the first looks for codings, too */
		{SCRUB_STAGES, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_STAGES | SCRUB_PLUS, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_AGAIN, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_PERCENT, SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_PERCENT | SCRUB_PLUS,
		 SCRUB_BYTES | SCRUB_STRING},
		{SCRUB_JSON | SCRUB_ENTITY, SCRUB_STRING},
		{SCRUB_JSON | SCRUB_ODD, SCRUB_BYTES},
		{SCRUB_PERCENT, SCRUB_BYTES},
		{SCRUB_PERCENT | SCRUB_PLUS, SCRUB_BYTES},
		{SCRUB_ENTITY, SCRUB_BYTES},
		{0, SCRUB_BYTES | SCRUB_LITERAL},
	};

	scrub_prepare(s);
	*scan = (struct scrub_scan){.scrub = s, .is_together = true};
	scan->scanners =
		mem_zalloc(ARRAY_LEN(readings) * sizeof(*scan->scanners));
	for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
		unsigned stages = readings[i].stages;

		/* where it hides no value, a stage is always undone */
		if (place != SCRUB_LITERAL)
			stages |= scrub_always(s, stages);
		if ((readings[i].places & place) &&
		    (s->has_space || !(stages & SCRUB_PLUS)) &&
		    !has_reading(scan, stages))
			add_scanner(scan, stages,
				    !scan->n && place != SCRUB_LITERAL);
	}
}

void scrub_scan_clear(struct scrub_scan *scan, size_t at)
{
	for (size_t i = 0; i < scan->n; i++) {
		scanner_clear(&scan->scanners[i]);
		scan->scanners[i].at = at;
	}
	scan->is_together = true;
	scan->n_found = 0;
}

void scrub_scan_drop(struct scrub_scan *scan, size_t n)
{
	if (!n)
		return;
	scan->n_found -= n;
	memmove(scan->found, scan->found + n,
		scan->n_found * sizeof(*scan->found));
}

void scrub_scan_release(struct scrub_scan *scan)
{
	for (size_t i = 0; i < scan->n; i++)
		scanner_release(&scan->scanners[i]);
	free(scan->scanners);
	free(scan->found);
	*scan = (struct scrub_scan){0};
}
