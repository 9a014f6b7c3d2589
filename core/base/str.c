#include "core/base/str.h"

#include <endian.h>

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

bool str_fits(struct str s, const char *pattern)
{
	const char *after = NULL; /* the last star */
	size_t i = 0, from = 0;	  /* where that star's text ends */

	while (i < s.n || *pattern) {
		if (*pattern == '*') {
			after = ++pattern;
			from = i;
		} else if (i < s.n && *pattern &&
			   (*pattern == '?' || *pattern == s.p[i])) {
			pattern++;
			i++;
		} else if (after && from < s.n) {
			pattern = after;
			i = ++from;
		} else {
			return false;
		}
	}
	return true;
}

struct str str_trim(struct str s)
{
	static const char space[] = {' ', '\t', '\r', '\n'};

	while (s.n && memchr(space, s.p[0], sizeof(space))) {
		s.p++;
		s.n--;
	}
	while (s.n && memchr(space, s.p[s.n - 1], sizeof(space)))
		s.n--;
	return s;
}

size_t str_find(struct str s, char c)
{
	const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;

	return hit ? (size_t)(hit - s.p) : s.n;
}

size_t str_count(struct str s, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == c;
	return n;
}

struct str str_cut(struct str *rest, char sep)
{
	size_t at = str_find(*rest, sep);
	struct str head = {rest->p, at};

	if (at == rest->n)
		*rest = (struct str){NULL, 0};
	else
		*rest = str_skip(*rest, at + 1);
	return head;
}

static bool ends_word(char c)
{
	return !c || c == ' ';
}

bool str_has_word(const char *words, struct str word)
{
	while (word.n && *words) {
		size_t n = 0;

		while (n < word.n && !ends_word(words[n]) &&
		       words[n] == word.p[n])
			n++;
		if (n == word.n && ends_word(words[n]))
			return true;
		while (!ends_word(*words))
			words++;
		words += *words == ' ';
	}
	return false;
}

bool str_uint64(struct str s, uint64_t *ret_value)
{
	uint64_t v = 0;

	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
			return false;
	}
	*ret_value = v;
	return true;
}

bool str_int64(struct str s, int64_t *ret_value)
{
	bool minus = s.n && s.p[0] == '-';
	uint64_t v;

	if (minus)
		s = str_skip(s, 1);
	if (!str_uint64(s, &v) || v > (uint64_t)INT64_MAX + minus)
		return false;
	*ret_value = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

struct unit {
	const char *suffix;
	uint64_t scale;
};

/*
 * Digits, an optional fraction of up to three digits, and a unit. Thousandths
 * are exact because every scale with a fraction is a multiple of 1000 or the
 * product is rounded down.
 */
static bool number_with_unit(struct str s, const struct unit *units, size_t n,
			     uint64_t bare_scale, uint64_t max, uint64_t *ret)
{
	uint64_t scale = bare_scale, whole, frac = 0, frac_scale = 1;
	struct str rest, head;

	for (size_t i = 0; i < n; i++) {
		if (!str_ends(s, units[i].suffix))
			continue;
		scale = units[i].scale;
		s.n -= strlen(units[i].suffix);
		break;
	}
	rest = s;
	head = str_cut(&rest, '.');
	if (!str_uint64(head, &whole))
		return false;
	if (rest.p) {
		if (rest.n > 3 || !str_uint64(rest, &frac))
			return false;
		for (size_t i = 0; i < rest.n; i++)
			frac_scale *= 10;
	}
	if (__builtin_mul_overflow(whole, scale, &whole) ||
	    __builtin_add_overflow(whole, frac * scale / frac_scale, &whole))
		return false;
	if (whole > max)
		return false;
	*ret = whole;
	return true;
}

bool str_duration_ms(struct str s, uint64_t *ret_ms)
{
	static const struct unit units[] = {
		{"ms", 1},	{"s", 1000},	 {"m", 60000},
		{"h", 3600000}, {"d", 86400000},
	};

	return number_with_unit(s, units, ARRAY_LEN(units), 1000,
				3652ULL * 86400000, ret_ms);
}

bool str_size_bytes(struct str s, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"KiB", 1ULL << 10},
		{"MiB", 1ULL << 20},
		{"GiB", 1ULL << 30},
		{"TiB", 1ULL << 40},
		{"B", 1},
	};

	return number_with_unit(s, units, ARRAY_LEN(units), 1, 1ULL << 62,
				ret_bytes);
}

const char *str_size_text(uint64_t bytes, char text[STR_SIZE_BYTES])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;

	for (; i + 1 < ARRAY_LEN(units) && bytes && bytes % 1024 == 0; i++)
		bytes /= 1024;
	snprintf(text, STR_SIZE_BYTES, "%llu%s", (unsigned long long)bytes,
		 units[i]);
	return text;
}

static bool is_cont(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t str_utf8_len(struct str s)
{
	unsigned char a, b;

	if (!s.n)
		return 0;
	a = (unsigned char)s.p[0];
	if (a < 0x80)
		return 1;
	if (a < 0xc2 || s.n < 2 || !is_cont(s.p[1]))
		return 0;
	if (a < 0xe0)
		return 2;
	b = (unsigned char)s.p[1];
	if (s.n < 3 || !is_cont(s.p[2]))
		return 0;
	if (a < 0xf0)
		return (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) ? 0
									  : 3;
	if (a > 0xf4 || s.n < 4 || !is_cont(s.p[3]))
		return 0;
	return (a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f) ? 0 : 4;
}

size_t str_beyond_ascii(struct str s)
{
	size_t n = 0, len;

	while (n < s.n && (unsigned char)s.p[n] >= 0x80) {
		len = str_utf8_len(str_skip(s, n));
		if (!len)
			break;
		n += len;
	}
	return n;
}

struct str str_first(struct str s, size_t max)
{
	size_t n = max;

	if (s.n <= max)
		return s;
	for (int i = 0; i < 3 && n && is_cont(s.p[n]); i++)
		n--;
	/* bytes that are no UTF-8 are cut anywhere */
	return (struct str){s.p, is_cont(s.p[n]) ? max : n};
}

bool str_is_utf8(struct str s)
{
	while (s.n) {
		size_t n = str_utf8_len(s);

		if (!n)
			return false;
		s.p += n;
		s.n -= n;
	}
	return true;
}

/* Sixteen bytes at once, by whatever the processor has for that. */
typedef signed char bytes16 __attribute__((vector_size(16)));

/*
 * So many bytes, a multiple of sixteen, of which each is plain; bytes from
 * 0x80 on are negative.
 */
static inline bool is_plain(const char *p, int n)
{
	bytes16 not_plain = {0};
	uint64_t any[2];

	for (int i = 0; i < n; i += 16) {
		bytes16 v;

		memcpy(&v, p + i, sizeof(v));
		not_plain |= (v < ' ') | (v == '"') | (v == '\\') | (v == 0x7f);
	}
	memcpy(any, &not_plain, sizeof(any));
	return !(any[0] | any[1]);
}

/*
 * The plain bytes before the first that is none, of eight. Sums and
 * differences carry into the bytes behind only, so the first mark is right.
 */
static size_t plain_of_8(const char *p)
{
	const uint64_t ones = 0x0101010101010101, high = ones << 7;
	uint64_t w, quote, slash, marks;

	memcpy(&w, p, sizeof(w));
	w = le64toh(w);
	quote = w ^ ones * '"';
	slash = w ^ ones * '\\';
	marks = (w | (w - ones * ' ') | (w + ones) | ((quote - ones) & ~quote) |
		 ((slash - ones) & ~slash)) &
		high;
	return marks ? (size_t)__builtin_ctzll(marks) / 8 : 8;
}

size_t str_plain(struct str s)
{
	size_t n = 0;

	while (s.n - n >= 8) {
		size_t some = plain_of_8(s.p + n);

		n += some;
		if (some < 8)
			return n;
		/* most strings are shorter than blocks pay for */
		if (n < 24)
			continue;
		while (s.n - n >= 64 && is_plain(s.p + n, 64))
			n += 64;
		while (s.n - n >= 16 && is_plain(s.p + n, 16))
			n += 16;
	}
	while (n < s.n && s.p[n] >= ' ' && s.p[n] < 0x7f && s.p[n] != '"' &&
	       s.p[n] != '\\')
		n++;
	return n;
}

size_t str_distance(struct str a, struct str b)
{
	enum { MAX = 64 };
	size_t row[3][MAX + 1];
	size_t *before = row[0], *prev = row[1], *cur = row[2], *spare;

	if (a.n > MAX || b.n > MAX)
		return a.n > b.n ? a.n : b.n;
	for (size_t j = 0; j <= b.n; j++)
		prev[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		cur[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t best =
				prev[j] < cur[j - 1] ? prev[j] : cur[j - 1];

			cur[j] = prev[j - 1] + (a.p[i - 1] != b.p[j - 1]);
			if (best + 1 < cur[j])
				cur[j] = best + 1;
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
			    a.p[i - 2] == b.p[j - 1] &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		spare = before;
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[b.n];
}

size_t str_index(struct str s, const char *const *names, size_t n)
{
	size_t i = 0;

	while (i < n && !str_is(s, names[i]))
		i++;
	return i;
}

bool str_choose(const char *s, const char *const *names, size_t n,
		unsigned *ret)
{
	size_t i = str_index(str_of(s), names, n);

	if (i < n)
		*ret = (unsigned)i;
	return i < n;
}

const char *str_nearest(struct str s, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t best_distance = (size_t)-1;

	for (size_t i = 0; i < n; i++) {
		struct str name = str_of(names[i]);
		size_t d = str_distance(s, name);
		size_t longer = s.n > name.n ? s.n : name.n;

		if (d < best_distance && d * 3 <= longer + 1) {
			best = names[i];
			best_distance = d;
		}
	}
	return best;
}
