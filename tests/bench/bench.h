/*
 * What the benchmarks share: a clock, medians, one line for each row.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double bench_median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), bench_compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Room for n values. */
static inline double *bench_values(int n)
{
	double *values = calloc((size_t)n, sizeof(*values));

	if (!values) {
		perror("bench");
		exit(1);
	}
	return values;
}

/* "  bar 1.40 aim 1.20  within the aim"; nothing where there is no bar. */
static inline void bench_print_bar(double value, double bar, double aim)
{
	if (bar <= 0)
		return;
	printf("  bar %.2f aim %.2f  %s", bar, aim,
	       value <= aim   ? "within the aim"
	       : value <= bar ? "within the bar"
			      : "OVER THE BAR");
}

#endif
