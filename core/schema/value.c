#include "core/schema/value.h"

#include <assert.h>

#include "core/base/text.h"

/* 15 digits; sums with it and with the length of any text do not overflow. */
#define EXP_MAX INT64_C(999999999999999)

static int64_t exponent_of(struct str s)
{
	bool is_negative = s.n && s.p[0] == '-';
	int64_t v = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!text_is_digit(s.p[i]))
			continue;
		v = v * 10 + (s.p[i] - '0');
		if (v > EXP_MAX)
			v = EXP_MAX;
	}
	return is_negative ? -v : v;
}

struct decimal decimal_of(struct str number)
{
	struct decimal d = {.is_negative = number.n && number.p[0] == '-'};
	size_t i = d.is_negative, seen = 0;
	bool is_fraction = false;

	for (; i < number.n; i++) {
		char c = number.p[i];

		if (c == '.') {
			is_fraction = true;
			continue;
		}
		if (!text_is_digit(c))
			break;
		if (!is_fraction)
			d.exp++;
		if (c == '0' && !d.p) {
			d.exp--;
			continue;
		}
		if (!d.p)
			d.p = number.p + i;
		seen++;
		if (c != '0')
			d.n = seen;
	}
	if (!d.n)
		return (struct decimal){.p = ""};
	if (i < number.n)
		d.exp += exponent_of(str_skip(number, i + 1));
	return d;
}

static char next_digit(const char **p)
{
	if (**p == '.')
		(*p)++;
	return *(*p)++;
}

static int compare_digits(const struct decimal *a, const struct decimal *b)
{
	const char *pa = a->p, *pb = b->p;
	size_t n = a->n < b->n ? a->n : b->n;

	for (size_t i = 0; i < n; i++) {
		int order = next_digit(&pa) - next_digit(&pb);

		if (order)
			return order;
	}
	return (a->n > b->n) - (a->n < b->n);
}

static int compare_size(const struct decimal *a, const struct decimal *b)
{
	if (!a->n || !b->n)
		return (a->n > 0) - (b->n > 0);
	if (a->exp != b->exp)
		return a->exp < b->exp ? -1 : 1;
	return compare_digits(a, b);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	if (a->is_negative != b->is_negative)
		return a->is_negative ? -1 : 1;
	return a->is_negative ? compare_size(b, a) : compare_size(a, b);
}

bool decimal_is_integer(const struct decimal *d)
{
	return !d->n || (d->exp > 0 && (uint64_t)d->exp >= d->n);
}

uint64_t decimal_count(const struct decimal *d)
{
	const char *p = d->p;
	uint64_t v = 0;

	if (!d->n)
		return 0;
	if (d->exp > 20)
		return UINT64_MAX;
	for (int64_t i = 0; i < d->exp; i++) {
		uint64_t digit = (uint64_t)i < d->n
					 ? (uint64_t)(next_digit(&p) - '0')
					 : 0;

		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return UINT64_MAX;
	}
	return v;
}

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t modulus)
{
	return (uint64_t)((unsigned __int128)a * b % modulus);
}

static uint64_t power_of_ten(uint64_t exponent, uint64_t modulus)
{
	uint64_t result = 1 % modulus, base = 10 % modulus;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = multiply(result, base, modulus);
		base = multiply(base, base, modulus);
	}
	return result;
}

/* The significant digits as an integer; they fit. */
static uint64_t digits_value(const struct decimal *d)
{
	const char *p = d->p;
	uint64_t v = 0;

	for (size_t i = 0; i < d->n; i++)
		v = v * 10 + (uint64_t)(next_digit(&p) - '0');
	return v;
}

/* Any number of them, modulo what has DECIMAL_DIVISOR_DIGITS at most. */
static uint64_t digits_modulo(const struct decimal *d, uint64_t modulus)
{
	const char *p = d->p;
	uint64_t v = 0;

	for (size_t i = 0; i < d->n; i++)
		v = (v * 10 + (uint64_t)(next_digit(&p) - '0')) % modulus;
	return v;
}

/*
 * With A and B the significant digits as integers, a / b is A times ten to
 * some power, over B. A does not end in 0, so below the power 0 the quotient
 * is never an integer.
 */
bool decimal_is_multiple(const struct decimal *a, const struct decimal *b)
{
	int64_t power = (a->exp - (int64_t)a->n) - (b->exp - (int64_t)b->n);
	uint64_t divisor;

	if (!a->n)
		return true;
	if (power < 0)
		return false;
	divisor = digits_value(b);
	assert(divisor > 0);
	return multiply(digits_modulo(a, divisor),
			power_of_ten((uint64_t)power, divisor), divisor) == 0;
}

uint64_t decimal_hash(const struct decimal *d)
{
	const uint64_t prime = UINT64_C(0x100000001b3);
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)d->exp;
	const char *p = d->p;

	h = (h ^ d->is_negative) * prime;
	for (size_t i = 0; i < d->n; i++)
		h = (h ^ (uint64_t)(unsigned char)next_digit(&p)) * prime;
	return h;
}

/* ---- equality ---- */

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
