/*
 * Runs two commands in turn and compares their times.
 *
 *	pairs N LABEL [BAR AIM] :: COMMAND A... :: COMMAND B...
 *		[:: COUNT :: SHORTER A... :: SHORTER B...]
 *
 * Each of the N pairs runs A then B (every second pair B then A) with output
 * to /dev/null and input from there, or from the file $INPUT, so that both see
 * the same disk and the same neighbours. Ends at once when a command fails.
 * Prints medians, the median of the paired ratios and their middle half, the
 * peak memory of each, and how the ratio stands to BAR and AIM where they are
 * given. Words NAME=VALUE before a command are added to its environment.
 *
 * With shorter commands, which do COUNT things fewer, the time of each is
 * taken from that of the longer one run just before it, and one of these
 * COUNT things is what is compared. Where $PAYLOAD is a number of bytes, the
 * peak memory of A is held against 1.5 times that and 8 MiB.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

extern char **environ;

struct side {
	char **argv, **shorter; /* shorter: or NULL */
	double *ms;
	long max_rss_kib;
};

/* The environment with the words before a command; moves *argv behind them. */
static char **environment(char ***argv)
{
	static char *env[1024];
	size_t n = 0, room = sizeof(env) / sizeof(env[0]) - 1;

	/* the first of two values counts */
	for (; **argv && strchr(**argv, '=') && n < room; ++*argv)
		env[n++] = **argv;
	if (!n)
		return environ;
	for (char **e = environ; *e && n < room; e++)
		env[n++] = *e;
	env[n] = NULL;
	return env;
}

/* Run one command and return its milliseconds. */
static double run_command(struct side *s, char **argv)
{
	char **env = environment(&argv);
	const char *input = getenv("INPUT");
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double start, ms;
	pid_t pid;
	int status, rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
		&actions, 0, input ? input : "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	start = bench_now_us();
	rc = posix_spawn(&pid, argv[0], &actions, NULL, argv, env);
	if (rc != 0) {
		fprintf(stderr, "%s: %s\n", argv[0], strerror(rc));
		exit(1);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	ms = (bench_now_us() - start) / 1e3;
	posix_spawn_file_actions_destroy(&actions);
	if (status != 0) {
		fprintf(stderr, "%s: wait status %#x\n", argv[0], status);
		exit(1);
	}
	if (usage.ru_maxrss > s->max_rss_kib)
		s->max_rss_kib = usage.ru_maxrss;
	return ms;
}

/* Time one side; n is the index of the run, negative to warm up. */
static void run(struct side *s, int n)
{
	double ms = run_command(s, s->argv);

	if (s->shorter)
		ms -= run_command(s, s->shorter);
	if (n >= 0)
		s->ms[n] = ms;
}

/* The command between two "::"; moves *at behind it. */
static char **command(char **argv, int argc, int *at)
{
	char **start;

	if (*at >= argc || strcmp(argv[*at], "::") != 0) {
		fprintf(stderr,
			"usage: pairs N LABEL [BAR AIM] :: A... :: B... "
			"[:: COUNT :: A... :: B...]\n");
		exit(64);
	}
	start = argv + ++*at;
	while (*at < argc && strcmp(argv[*at], "::") != 0)
		++*at;
	return start;
}

/* The shorter commands, where there are any; returns COUNT or 1. */
static double read_shorter(struct side *a, struct side *b, int argc,
			   char **argv, int *at)
{
	char **count;
	double n;

	if (*at >= argc)
		return 1;
	count = command(argv, argc, at);
	n = *at < argc ? strtod(*count, NULL) : 0;
	a->shorter = command(argv, argc, at);
	b->shorter = command(argv, argc, at);
	count[-1] = NULL;
	a->shorter[-1] = NULL;
	b->shorter[-1] = NULL;
	return n;
}

static void print_memory(const struct side *a, const struct side *b)
{
	const char *payload = getenv("PAYLOAD");
	double peak = (double)a->max_rss_kib / 1024, bar;

	printf("  peak %5.1f and %5.1f MiB", peak,
	       (double)b->max_rss_kib / 1024);
	if (!payload)
		return;
	bar = 1.5 * strtod(payload, NULL) / (1 << 20) + 8;
	printf(" (bar %.1f: %s)", bar, peak <= bar ? "within" : "OVER");
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0, at = 3;
	double bar = 0, aim = 0, count, ratio, *ratios;
	double scale = 1;
	static struct side a, b;
	const char *unit = "ms";
	const char *label = argc > 2 ? argv[2] : "";

	if (argc > 5 && strcmp(argv[3], "::") != 0) {
		bar = strtod(argv[3], NULL);
		aim = strtod(argv[4], NULL);
		at = 5;
	}
	a.argv = command(argv, argc, &at);
	b.argv = command(argv, argc, &at);
	a.argv[b.argv - a.argv - 1] = NULL;
	count = read_shorter(&a, &b, argc, argv, &at);
	if (n < 1 || count < 1 || !*a.argv || !*b.argv)
		return 64;
	a.ms = bench_values(n);
	b.ms = bench_values(n);
	ratios = bench_values(n);
	for (int warm = 0; warm < (n < 10 ? 1 : 3); warm++) {
		run(&a, -1);
		run(&b, -1);
	}
	for (int i = 0; i < n; i++) {
		run(i % 2 ? &b : &a, i);
		run(i % 2 ? &a : &b, i);
		ratios[i] = a.ms[i] / b.ms[i];
	}
	ratio = bench_median(ratios, n);
	if (a.shorter) {
		unit = "us";
		scale = 1e3 / count;
	}
	printf("%-34s %9.3f %s  against %9.3f %s  ratio %5.2f (%.2f to %.2f)",
	       label, bench_median(a.ms, n) * scale, unit,
	       bench_median(b.ms, n) * scale, unit, ratio, ratios[n / 4],
	       ratios[3 * n / 4]);
	print_memory(&a, &b);
	bench_print_bar(ratio, bar, aim);
	putchar('\n');
	return 0;
}
