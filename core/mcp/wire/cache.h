/*
 * Results that a server allows to be kept for a while (2026-07-28): of
 * server/discover, of lists, of resources/read.
 *
 *	if (cache_find(&cache, method, params, now, &result))
 *		... no need to ask
 *	... a result came:
 *	cache_put(&cache, method, params, result, now);
 *	... a notice of change came:
 *	cache_stale(&cache, "notifications/tools/list_changed", uri);
 *	cache_release(&cache);
 *
 * A cache belongs to one server as one caller knows it (one session, or one
 * kept configuration): nothing is shared beyond that, so `cacheScope` makes no
 * difference here (CH-4). What is asked again after a question, and what is
 * no result, is not for it (CH-8): the caller does not put it.
 *
 * Pure. Source: MCP 2026-07-28, server/utilities/caching
 */
#ifndef CORE_MCP_WIRE_CACHE_H
#define CORE_MCP_WIRE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* Entries, and bytes of all of them; the oldest go first. */
#define CACHE_ENTRIES_MAX 256
#define CACHE_BYTES_MAX (16 * 1024 * 1024)
/* However long a server says, milliseconds (CH-3). */
#define CACHE_TTL_MAX_MS (24ULL * 60 * 60 * 1000)

struct cache_entry {
	struct buf key;	   /* method, NUL, params without _meta; owned */
	struct buf result; /* JSON; owned */
	uint64_t until_ns; /* monotonic */
	uint64_t used;	   /* when it was put, as a count */
};

struct cache {
	struct cache_entry *item; /* owned */
	size_t n, cap;
	size_t bytes;
	uint64_t count;
};

#define CACHE_INIT           \
	{                    \
		.item = NULL \
	}

void cache_release(struct cache *c);

/*
 * A result that is still fresh; borrowed until the next change of the cache.
 * params  as they are sent: `_meta` makes no difference (CH-2)
 */
bool cache_find(const struct cache *c, const char *method, struct str params,
		uint64_t now_ns, struct str *ret_result) MUST_USE;

/* Time until which an entry is good, monotonic; 0: no entry. */
uint64_t cache_until(const struct cache *c, const char *method,
		     struct str params) MUST_USE;

/*
 * Keep a result, when its method and its `ttlMs` allow that; an entry of the
 * same key is replaced either way.
 * returns  whether it was kept
 */
bool cache_put(struct cache *c, const char *method, struct str params,
	       struct str result, uint64_t now_ns);

/*
 * A notification says that something has changed: forget what it concerns.
 * uri  of notifications/resources/updated, else ""
 */
void cache_stale(struct cache *c, const char *notice, struct str uri);

#endif
