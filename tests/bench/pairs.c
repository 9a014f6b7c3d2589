/*
 * Runs two commands in turn and compares their times.
 *
 *	pairs N LABEL -- COMMAND A... -- COMMAND B...
 *
 * Each of the N pairs runs A then B (every second pair B then A) with output
 * to /dev/null, so that both see the same disk and the same neighbours. Ends
 * at once when a command fails. Prints medians, the ratio of the medians, the
 * median of the paired ratios, and the peak memory of each.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct side {
	char **argv;
	double *ms;
	long max_rss_kib;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Time one command; n is the index of the run, negative to warm up. */
static void run(struct side *s, int n)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double start;
	pid_t pid;
	int status, rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	start = now_ms();
	rc = posix_spawn(&pid, s->argv[0], &actions, NULL, s->argv, environ);
	if (rc != 0) {
		fprintf(stderr, "%s: %s\n", s->argv[0], strerror(rc));
		exit(1);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (n >= 0)
		s->ms[n] = now_ms() - start;
	posix_spawn_file_actions_destroy(&actions);
	if (status != 0) {
		fprintf(stderr, "%s: wait status %#x\n", s->argv[0], status);
		exit(1);
	}
	if (usage.ru_maxrss > s->max_rss_kib)
		s->max_rss_kib = usage.ru_maxrss;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The command between two "--"; moves *at behind it. */
static char **command(char **argv, int argc, int *at)
{
	char **start;

	if (*at >= argc || strcmp(argv[*at], "--") != 0) {
		fprintf(stderr, "usage: pairs N LABEL -- A... -- B...\n");
		exit(64);
	}
	start = argv + ++*at;
	while (*at < argc && strcmp(argv[*at], "--") != 0)
		++*at;
	return start;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0, at = 3;
	static struct side a, b;
	static double *ratios;
	double ma, mb;
	const char *label = argc > 2 ? argv[2] : "";

	a.argv = command(argv, argc, &at);
	b.argv = command(argv, argc, &at);
	a.argv[b.argv - a.argv - 1] = NULL;
	if (n < 1 || !*a.argv || !*b.argv)
		return 64;
	a.ms = calloc((size_t)n, sizeof(double));
	b.ms = calloc((size_t)n, sizeof(double));
	ratios = calloc((size_t)n, sizeof(double));
	if (!a.ms || !b.ms || !ratios)
		return 1;

	for (int warm = 0; warm < 3; warm++) {
		run(&a, -1);
		run(&b, -1);
	}
	for (int i = 0; i < n; i++) {
		run(i % 2 ? &b : &a, i);
		run(i % 2 ? &a : &b, i);
		ratios[i] = a.ms[i] / b.ms[i];
	}
	ma = median(a.ms, n);
	mb = median(b.ms, n);
	printf("%-22s %8.3f ms  bare %8.3f ms  ratio of medians %.2f  "
	       "median of ratios %.2f  (%d pairs)  peak %.1f MiB, bare %.1f "
	       "MiB\n",
	       label, ma, mb, ma / mb, median(ratios, n), n,
	       (double)a.max_rss_kib / 1024, (double)b.max_rss_kib / 1024);
	return 0;
}
