/*
 * Files of the catalogue: entries that are found can be searched, and a list
 * that is merged into them leaves each name once.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/client/catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static size_t search(struct catalogue *c)
{
	size_t n = 0;

	for (int k = 0; k < CATALOGUE_LISTS; k++) {
		struct catalogue_list *l = &c->list[k];

		for (size_t i = 0; i < l->n; i++) {
			struct catalogue_entry *e = &l->entry[i];

			expect(e->name.n && e->first_seen && e->last_seen);
			expect(catalogue_find(c, k, e->name) != NULL);
			(void)!catalogue_may_fit(STR("s"), e, STR("a b"));
			if (catalogue_prove(e))
				(void)!catalogue_score(STR("s"), e, STR("a b"));
			else
				e->item = STR("{}");
		}
		n += l->n;
	}
	return n;
}

static void merge(struct catalogue *c)
{
	struct catalogue_changes changes = {NULL, 0};
	const size_t before = c->list[LISTING_TOOLS].n;
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	expect(listing_add(&l,
			   STR("{\"tools\":[{\"name\":\"a\",\"description\":"
			       "\"d\",\"inputSchema\":{\"type\":"
			       "\"object\"}}]}"),
			   ERR_IGNORED) == LISTING_DONE);
	catalogue_merge(c, &l, NULL, "now", true, &changes);
	expect(catalogue_find(c, LISTING_TOOLS, STR("a")) != NULL);
	expect(c->list[LISTING_TOOLS].n <= before + 1);
	for (size_t i = 0; i < changes.n; i++)
		expect(changes.item[i].name.n);
	listing_release(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(catalogue_release)
	struct catalogue c = {.arena = ARENA_INIT,
			      .text = BUF_INIT(BUF_UNBOUNDED)};

	buf_add(&c.text, data, size);
	if (catalogue_parse(&c) && search(&c) < 1000)
		merge(&c);
	return 0;
}
