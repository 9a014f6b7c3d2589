#include "core/mcp/wire/cache.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/scan.h"

/* Results that may be kept, and the notice that makes them stale, or NULL. */
static const struct row {
	const char *method, *notice;
} rows[] = {
	{"server/discover", NULL},
	{"tools/list", "notifications/tools/list_changed"},
	{"prompts/list", "notifications/prompts/list_changed"},
	{"resources/list", "notifications/resources/list_changed"},
	{"resources/templates/list", "notifications/resources/list_changed"},
	{"resources/read", "notifications/resources/updated"},
};

static void entry_release(struct cache_entry *e)
{
	buf_release(&e->key);
	buf_release(&e->result);
}

void cache_release(struct cache *c)
{
	for (size_t i = 0; i < c->n; i++)
		entry_release(&c->item[i]);
	free(c->item);
	*c = (struct cache)CACHE_INIT;
}

static void remove_at(struct cache *c, size_t at)
{
	c->bytes -= c->item[at].key.n + c->item[at].result.n;
	entry_release(&c->item[at]);
	c->item[at] = c->item[--c->n];
}

/* Write "method\0uri\0cursor\0": the result depends on these alone. */
static void write_key(const char *method, struct str params, struct buf *out)
{
	static const char *const members[] = {"uri", "cursor"};
	struct str v;

	buf_add(out, method, strlen(method) + 1);
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (params.n && scan_get_some(params, members[i], &v)) {
			buf_addc(out, '=');
			scan_string(v, out);
		}
		buf_addc(out, '\0');
	}
}

static struct cache_entry *find(const struct cache *c, const char *method,
				struct str params)
{
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

	write_key(method, params, &key);
	for (size_t i = 0; i < c->n; i++)
		if (str_eq(buf_str(&c->item[i].key), buf_str(&key)))
			return &c->item[i];
	return NULL;
}

bool cache_find(const struct cache *c, const char *method, struct str params,
		uint64_t now_ns, struct str *ret_result)
{
	const struct cache_entry *e = find(c, method, params);

	if (!e || e->until_ns <= now_ns)
		return false;
	*ret_result = buf_str(&e->result);
	return true;
}

uint64_t cache_until(const struct cache *c, const char *method,
		     struct str params)
{
	const struct cache_entry *e = find(c, method, params);

	return e ? e->until_ns : 0;
}

/* Time that a result may be kept, 0: not at all. */
static uint64_t ttl_ms(const char *method, struct str result)
{
	struct str v = scan_some(result, "ttlMs");
	int64_t ms;

	/* a time that is missing, negative or not an integer is 0 (CH-3,
	   RW-81) */
	if (!v.p || !scan_int64(v, &ms) || ms <= 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].method, method) == 0)
			return (uint64_t)ms < CACHE_TTL_MAX_MS
				       ? (uint64_t)ms
				       : CACHE_TTL_MAX_MS;
	return 0;
}

static void drop_oldest(struct cache *c)
{
	size_t oldest = 0;

	for (size_t i = 1; i < c->n; i++)
		if (c->item[i].used < c->item[oldest].used)
			oldest = i;
	remove_at(c, oldest);
}

bool cache_put(struct cache *c, const char *method, struct str params,
	       struct str result, uint64_t now_ns)
{
	struct cache_entry e = {.key = BUF_INIT(BUF_UNBOUNDED),
				.result = BUF_INIT(BUF_UNBOUNDED)};
	uint64_t ttl = ttl_ms(method, result);
	struct cache_entry *old = find(c, method, params);

	if (old)
		remove_at(c, (size_t)(old - c->item));
	write_key(method, params, &e.key);
	if (!ttl || e.key.n + result.n > CACHE_BYTES_MAX / 2 ||
	    __builtin_add_overflow(now_ns, ttl * NS_PER_MS, &e.until_ns)) {
		buf_release(&e.key);
		return false;
	}
	buf_add_str(&e.result, result);
	e.used = ++c->count;
	c->bytes += e.key.n + e.result.n;
	while (c->n == CACHE_ENTRIES_MAX || c->bytes > CACHE_BYTES_MAX)
		drop_oldest(c);
	c->item = mem_grow(c->item, c->n + 1, &c->cap, sizeof(*c->item));
	c->item[c->n++] = e;
	return true;
}

/* A change may name a place beneath the resource that was read (RES-7). */
static bool concerns(const struct cache_entry *e, const struct row *row,
		     struct str uri)
{
	struct str key = buf_str(&e->key);
	size_t head = strlen(row->method) + 1;
	struct str own;

	if (!str_is((struct str){key.p, head - 1}, row->method) ||
	    key.p[head - 1] != '\0')
		return false;
	if (!uri.n || strcmp(row->method, "resources/read") != 0)
		return true;
	own = str_skip(key, head + 1);
	own.n = str_find(own, '\0');
	return own.n <= uri.n && memcmp(own.p, uri.p, own.n) == 0;
}

void cache_stale(struct cache *c, const char *notice, struct str uri)
{
	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		if (!rows[r].notice || strcmp(rows[r].notice, notice) != 0)
			continue;
		for (size_t i = c->n; i-- > 0;)
			if (concerns(&c->item[i], &rows[r], uri))
				remove_at(c, i);
	}
}
