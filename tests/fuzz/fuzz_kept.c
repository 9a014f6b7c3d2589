/*
 * A list of tools that a process before this one kept, read from its file:
 * what is found is JSON, and good for no more than a day.
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/listing.h"
#include "core/client/kept_lists.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DAY_MS (UINT64_C(24) * 60 * 60 * 1000)

static char dir[64] = "/tmp/matins-fuzz.XXXXXX";
static char folder[80], path[160];
static struct kept_key key;

static void clean_up(void)
{
	(void)!unlink(path);
	(void)!rmdir(folder);
	(void)!rmdir(dir);
}

static void prepare(void)
{
	static bool is_done;

	if (is_done)
		return;
	is_done = true;
	sha256_hex(STR("fuzz"), key.hex);
	if (!mkdtemp(dir))
		abort();
	snprintf(folder, sizeof(folder), "%s/lists", dir);
	snprintf(path, sizeof(path), "%s/%s.json", folder, key.hex);
	if (fd_mkdirs(folder, 0700) < 0)
		abort();
	atexit(clean_up);
}

static uint64_t mono_now(UNUSED struct clock *c)
{
	return 1000 * NS_PER_S;
}

static int64_t wall_now(UNUSED struct clock *c)
{
	return INT64_C(1000000) * (int64_t)NS_PER_S;
}

static void read_pages(struct str pages)
{
	struct listing l;
	struct scan_iter it;
	struct err err = ERR_INIT;
	int got = LISTING_MORE;

	listing_init(&l, LISTING_TOOLS);
	scan_iter_init(&it, pages);
	while (got == LISTING_MORE && scan_next(&it))
		got = listing_add(&l, it.value, &err);
	listing_release(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct clock clock = {mono_now, wall_now};
	struct err err = ERR_INIT;
	struct kept_lists *k;
	struct str pages, value;
	uint64_t left;

	prepare();
	if (fd_replace_file(path, (struct str){(const char *)data, size}, 0600,
			    false, &err) < 0)
		return 0;
	k = kept_lists_open(dir);
	if (kept_lists_find(k, &key, &clock, &text, &pages, &left)) {
		if (!left || left > DAY_MS ||
		    scan_document(pages, NULL, &value, &err) < 0)
			abort();
		read_pages(pages);
	}
	kept_lists_free(k);
	return 0;
}
