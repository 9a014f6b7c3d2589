#include "core/report/number.h"

#include <ctype.h>

#include "core/base/scan.h"

/* Digits before and behind the point; the first four stay free for carries. */
#define HALF 64
#define FREE 4

/* d[HALF - 1] counts ones. */
struct fixed {
	bool is_negative;
	uint8_t d[2 * HALF];
};

/* False: not a number of that size. */
static bool fixed_of(struct str s, struct fixed *ret)
{
	size_t mantissa = 0, whole;
	int64_t exponent = 0;

	*ret = (struct fixed){.is_negative = s.n && s.p[0] == '-'};
	if (ret->is_negative)
		s = str_skip(s, 1);
	while (mantissa < s.n &&
	       (isdigit((unsigned char)s.p[mantissa]) || s.p[mantissa] == '.'))
		mantissa++;
	if (mantissa < s.n) {
		struct str e = str_skip(s, mantissa + 1);

		if (!str_int64(e.n && *e.p == '+' ? str_skip(e, 1) : e,
			       &exponent) ||
		    exponent < -1000 || exponent > 1000)
			return false;
	}
	s.n = mantissa;
	whole = str_find(s, '.');
	for (size_t i = 0; i < s.n; i++) {
		int64_t behind = (int64_t)(i > whole ? i - 1 : i);
		int64_t at = HALF + behind - (int64_t)whole - exponent;

		if (i == whole || s.p[i] == '0')
			continue;
		if (at < FREE || at >= 2 * HALF)
			return false;
		ret->d[at] = (uint8_t)(s.p[i] - '0');
	}
	return true;
}

/* Add, or take away what is not more; signs do not count. */
static void combine(struct fixed *a, const struct fixed *b, int sign)
{
	int carry = 0;

	for (size_t i = 2 * HALF; i-- > 0;) {
		int sum = a->d[i] + sign * b->d[i] + carry;

		carry = sum < 0 ? -1 : sum > 9;
		a->d[i] = (uint8_t)(sum - 10 * carry);
	}
}

static struct fixed distance(const struct fixed *a, const struct fixed *b)
{
	bool is_less = memcmp(a->d, b->d, sizeof(a->d)) < 0;
	struct fixed d = is_less ? *b : *a;

	combine(&d, is_less ? a : b, a->is_negative == b->is_negative ? -1 : 1);
	return d;
}

/* So many hundredths; digits below the last one are dropped. */
static bool hundredths(struct fixed *a, const struct fixed *percent)
{
	int sum[2 * HALF] = {0};

	for (size_t i = 0; i < 2 * HALF; i++)
		for (size_t k = 0; k < 2 * HALF; k++) {
			size_t at = i + k + 3;

			if (at < HALF && a->d[i] && percent->d[k])
				return false;
			if (at >= HALF && at < 3 * HALF)
				sum[at - HALF] += a->d[i] * percent->d[k];
		}
	for (size_t i = 2 * HALF - 1; i > 0; i--) {
		sum[i - 1] += sum[i] / 10;
		a->d[i] = (uint8_t)(sum[i] % 10);
	}
	a->d[0] = 0;
	return sum[0] == 0;
}

static bool is_percent(struct str *text)
{
	bool is = text->n && text->p[text->n - 1] == '%';

	text->n -= is;
	return is;
}

bool number_is_tolerance(struct str text)
{
	struct fixed value;
	struct str raw;

	(void)!is_percent(&text);
	return scan_document(text, NULL, &raw, ERR_IGNORED) == 0 &&
	       scan_type(raw) == SCAN_NUMBER && raw.n == text.n &&
	       fixed_of(raw, &value) && !value.is_negative;
}

bool number_is_near(struct str old, struct str new, struct str tolerance)
{
	bool percent = is_percent(&tolerance);
	struct fixed a, b, bound, apart;

	if (!fixed_of(old, &a) || !fixed_of(new, &b) ||
	    !fixed_of(tolerance, &bound))
		return false;
	apart = distance(&a, &b);
	if (percent) {
		if (!hundredths(&a, &bound))
			return false;
		bound = a;
	}
	return memcmp(apart.d, bound.d, sizeof(bound.d)) <= 0;
}
