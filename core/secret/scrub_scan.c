/*
 * Finds values in every reading of a text, in time linear in the text. Readings
 * that the escapes in sight do not tell apart are one, and one scanner, their
 * leader, reads.
 */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/secret/scrub_scanner.h"

/* Text that all scanners read before any of them goes on, bytes. */
#define BLOCK_BYTES (64 * 1024)

/* ---- all readings ---- */

static bool has_escape(const char *text, size_t n, bool has_space)
{
	return memchr(text, '\\', n) || memchr(text, '%', n) ||
	       memchr(text, '&', n) || (has_space && memchr(text, '+', n));
}

/* Stages that have something to do with the lead of a text. */
static unsigned stages_of_lead(struct str text, size_t *used)
{
	static const unsigned backslash = SCRUB_JSON | SCRUB_AGAIN | SCRUB_ODD;
	struct scrub_unit u;
	char c = text.n ? text.p[0] : '\0';

	*used = 1;
	if (str_starts(text, "\\\\\\\\"))
		return backslash;
	u = scrub_read_alone(text, SCRUB_STAGES | SCRUB_PLUS);
	if (u.used)
		*used = u.used;
	if (c == '+')
		return SCRUB_PLUS;
	if (u.used)
		return c == '\\'  ? SCRUB_JSON
		       : c == '%' ? SCRUB_PERCENT
				  : SCRUB_ENTITY;
	if (c == '\\')
		u = scrub_read_unit(text, SCRUB_JSON | SCRUB_AGAIN);
	return u.used && u.bytes != '%' && u.bytes != '&' && u.bytes != '+'
		       ? backslash
		       : ~0u;
}

/* Readings that differ in no other stage read the same. */
static unsigned stages_at_work(const struct piece *p, size_t from)
{
	size_t at = from - p->base, limit = p->limit - p->base, used;
	unsigned work = 0;

	if (at >= limit ||
	    !has_escape(p->text.p + at, limit - at, p->s->has_space))
		return 0;
	for (; at < limit && work != ~0u; at += used) {
		char c = p->text.p[at];

		used = 1;
		if (scrub_is_lead(c) || c == '+')
			work |= stages_of_lead(scrub_behind(p->text, at),
					       &used);
	}
	return work;
}

static bool is_leader(const struct scrub_scan *scan, size_t i)
{
	return scan->scanners[i].leader == i;
}

static void lead(struct scrub_scan *scan, size_t old, size_t leader,
		 unsigned work)
{
	unsigned stages = scan->scanners[leader].stages;

	for (size_t i = leader; i < scan->n; i++)
		if (scan->scanners[i].leader == old &&
		    !((scan->scanners[i].stages ^ stages) & work))
			scan->scanners[i].leader = leader;
}

/* Go on apart from a leader that would read something else. */
static void part(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;
	struct scrub_scanner *all = scan->scanners;
	size_t from = all[0].at;
	unsigned work;

	for (size_t i = 1; i < scan->n; i++)
		if (is_leader(scan, i) && all[i].at < from)
			from = all[i].at;
	work = stages_at_work(p, from);
	for (size_t i = 1; i < scan->n; i++) {
		size_t old = all[i].leader;

		if (!((all[i].stages ^ all[old].stages) & work) || old == i)
			continue;
		scanner_follow(p, &all[i], &all[old]);
		lead(scan, old, i, work);
	}
}

/* Scanners that read plain text for as long as what they follow. */
static bool is_same(const struct piece *p, const struct scrub_scanner *a,
		    const struct scrub_scanner *b)
{
	size_t needed = scrub_depth(p->s, a->plain.node) + RECENT;

	return a->at == b->at && a->plain.node == b->plain.node &&
	       a->is_asleep == b->is_asleep && a->plain_units >= needed &&
	       b->plain_units >= needed;
}

static void join(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;

	for (size_t i = 1; i < scan->n; i++)
		for (size_t k = 0; is_leader(scan, i) && k < i; k++)
			if (is_leader(scan, k) &&
			    is_same(p, &scan->scanners[k], &scan->scanners[i]))
				lead(scan, i, k, 0);
}

static void read_block(const struct piece *p)
{
	struct scrub_scan *scan = p->scan;

	part(p);
	for (size_t i = 0; i < scan->n; i++)
		if (is_leader(scan, i))
			scanner_go_on(p, &scan->scanners[i]);
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
	for (size_t i = 1; i < scan->n; i++) {
		size_t own = is_leader(scan, i)
				     ? scanner_decided(&p, &scan->scanners[i])
				     : decided;

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
	*scan = (struct scrub_scan){.scrub = s};
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
		scan->scanners[i].leader = 0;
	}
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
