/*
 * Pages of a list as a server gives them: the first byte picks what is
 * listed, each line is one page. What comes out is JSON, every item is an
 * object that can be found by its name, and no name stands twice.
 */
#include <stdint.h>

#include "core/base/scan.h"
#include "core/mcp/wire/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void check(struct listing *l)
{
	struct err err = ERR_INIT;
	struct str v;

	for (size_t i = 0; i < l->n; i++) {
		expect(scan_document(l->item[i].json, NULL, &v, &err) == 0);
		expect(scan_type(l->item[i].json) == SCAN_OBJECT);
		expect(listing_find(l, l->item[i].name) == &l->item[i]);
	}
	expect(l->pages <= LISTING_PAGES_MAX);
	v = listing_params(l);
	expect(!v.p || scan_document(v, NULL, &v, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = {(const char *)data + 1, size - 1}, line, page;
	struct err err = ERR_INIT;
	int restarts = 0;
	struct listing l;

	if (!size)
		return 0;
	listing_init(&l, (enum listing_kind)(data[0] % 4));
	while (in.n) {
		line = str_cut(&in, '\n');
		if (line.n == 1 && line.p[0] == '!')
			restarts += listing_restart(&l);
		if (scan_document(line, NULL, &page, &err) < 0)
			continue;
		if (listing_add(&l, page, &err) != LISTING_MORE)
			break;
	}
	expect(restarts <= 1);
	check(&l);
	listing_release(&l);
	return 0;
}
