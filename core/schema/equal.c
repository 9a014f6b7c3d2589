#include "core/schema/equal.h"

#include "core/schema/number.h"

struct str value_text(const struct jdoc *string, struct buf *scratch)
{
	struct str raw = string->raw;

	if (!memchr(raw.p, '\\', raw.n))
		return (struct str){raw.p + 1, raw.n - 2};
	buf_clear(scratch);
	scan_string(raw, scratch);
	return buf_str(scratch);
}

const struct jdoc *value_member(const struct jdoc *object, struct str key)
{
	const struct jdoc *found = NULL;

	for (const struct jdoc *m = object->first; m; m = m->next)
		if (str_eq(m->key, key))
			found = m;
	return found;
}

static bool strings_equal(const struct jdoc *a, const struct jdoc *b)
{
	AUTO(buf_release) struct buf sa = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf sb = BUF_INIT(BUF_UNBOUNDED);

	return str_eq(value_text(a, &sa), value_text(b, &sb));
}

static bool numbers_equal(const struct jdoc *a, const struct jdoc *b)
{
	struct decimal da = decimal_of(a->raw), db = decimal_of(b->raw);

	return decimal_compare(&da, &db) == 0;
}

static bool arrays_equal(const struct jdoc *a, const struct jdoc *b)
{
	if (a->n != b->n)
		return false;
	for (a = a->first, b = b->first; a; a = a->next, b = b->next)
		if (!value_equal(a, b))
			return false;
	return true;
}

/* The next of the sorted members that is the last one of its key. */
static const struct jdoc *next_last(struct jdoc ***at)
{
	while (**at && (*at)[1] && str_eq((**at)->key, (*at)[1]->key))
		(*at)++;
	return **at ? *(*at)++ : NULL;
}

static bool objects_equal(const struct jdoc *a, const struct jdoc *b)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jdoc **la = jdoc_members(a, true, &arena);
	struct jdoc **lb = jdoc_members(b, true, &arena);

	for (;;) {
		const struct jdoc *ma = next_last(&la), *mb = next_last(&lb);

		if (!ma || !mb)
			return ma == mb;
		if (!str_eq(ma->key, mb->key) || !value_equal(ma, mb))
			return false;
	}
}

/* Depth is bounded by the scan that proved the texts. */
bool value_equal(const struct jdoc *a, const struct jdoc *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case SCAN_NUMBER:
		return numbers_equal(a, b);
	case SCAN_STRING:
		return strings_equal(a, b);
	case SCAN_ARRAY:
		return arrays_equal(a, b);
	case SCAN_OBJECT:
		return objects_equal(a, b);
	default:
		return true;
	}
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t hash_text(struct str s)
{
	uint64_t h = mix(SCAN_STRING, s.n);

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return mix(h, 0);
}

static uint64_t hash_object(const struct jdoc *object)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jdoc **list = jdoc_members(object, true, &arena);
	const struct jdoc *m;
	uint64_t h = mix(0, SCAN_OBJECT);

	while ((m = next_last(&list)))
		h = mix(mix(h, hash_text(m->key)), value_hash(m));
	return h;
}

uint64_t value_hash(const struct jdoc *value)
{
	AUTO(buf_release) struct buf scratch = BUF_INIT(BUF_UNBOUNDED);
	struct decimal d;
	uint64_t h = mix(0, value->type);

	switch (value->type) {
	case SCAN_NUMBER:
		d = decimal_of(value->raw);
		return mix(h, decimal_hash(&d));
	case SCAN_STRING:
		return hash_text(value_text(value, &scratch));
	case SCAN_ARRAY:
		for (const struct jdoc *e = value->first; e; e = e->next)
			h = mix(h, value_hash(e));
		return h;
	case SCAN_OBJECT:
		return hash_object(value);
	default:
		return h;
	}
}
