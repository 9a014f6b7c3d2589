/*
 * What one start costs, from inside of a runner:
 *
 *	spawn N [PROGRAM]
 *
 * Starts /bin/true (or PROGRAM, which must end by itself) and waits for it, N
 * times in each of these ways, in turn, so that all see the same neighbours:
 *
 *	posix_spawn   and waitpid: what everything else is compared with
 *	no layers     the gate without filter and Landlock: cannot be had
 *		      otherwise, and is what these two are measured against
 *	off           isolate = "off": filter, Landlock, an owner of the tree
 *	light view    isolate = "require": namespaces and the light view too
 *	loopback      net = "loopback": a network namespace as well
 *	one host      net = ["api.example.com:443"]: and a proxy, which is
 *		      this program executed anew
 *
 * Prints medians, ratios to posix_spawn (medians of the ratios of one turn),
 * and the two differences that have a bar. Ways that this machine cannot go
 * are named and left out.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/child/launch.h"
#include "gate/prepare/prepare.h"
#include "tests/bench/bench.h"

extern char **environ;

static const char *program = "/bin/true";

static void die(const char *what, const struct err *err)
{
	fprintf(stderr, "spawn: %s: %s\n", what, err ? err->msg : "");
	exit(1);
}

static struct gate *make_gate(void)
{
	struct gate_config config = {
		.leash = {.fs_read = {.all = true},
			  .fs_write = {.all = true},
			  .exec = {.all = true},
			  .net = {.all = true},
			  .calls_unlimited = true,
			  .generations = {.all = true},
			  .interpreters = true,
			  .source = "bench"},
	};
	struct err err = ERR_INIT;
	struct gate *gate;

	if (gate_new(&config, &gate, &err) < 0)
		die("gate", &err);
	return gate;
}

/* ---- the ways ---- */

struct way {
	const char *name;
	int (*start)(struct way *w, struct err *err);
	struct gate_policy policy;
	struct gate *gate;
	double *us;
	double less_us; /* of the last start: does not count */
	bool is_out;
};

static int start_plain(struct way *w, struct err *err)
{
	char *const argv[] = {(char *)(uintptr_t)program, NULL};
	int status, r;
	pid_t pid;

	(void)w;
	r = posix_spawn(&pid, program, NULL, NULL, argv, environ);
	if (r != 0)
		return err_sys(err, r, "posix_spawn");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return 0;
}

static struct gate_request request_of(const struct way *w,
				      const char *const *argv)
{
	return (struct gate_request){.program = program,
				     .argv = argv,
				     .policy = &w->policy,
				     .stdio = {0, 1, 2}};
}

static int start_gate(struct way *w, struct err *err)
{
	const char *const argv[] = {program, NULL};
	const struct gate_request request = request_of(w, argv);
	struct gate_verdict verdict;
	struct gate_child *child;

	if (gate_spawn(w->gate, &request, &child, err) < 0)
		return -1;
	for (;;) {
		struct gate_child_fds fds = gate_child_fds(child);
		struct pollfd p[] = {{.fd = fds.pidfd, .events = POLLIN},
				     {.fd = fds.notify, .events = POLLIN}};

		poll(p, 2, -1);
		if (p[1].revents & POLLIN)
			gate_child_serve(child);
		if (p[0].revents && gate_child_wait(child, &verdict) == 0)
			break;
	}
	if (!verdict.exited)
		err_set(err, ERR_SYS, "ended by signal %d", verdict.signal);
	gate_child_free(child);
	return verdict.exited ? 0 : -1;
}

/* Make the ruleset once more: what making it takes. */
static double ruleset_us(const struct prepared *p, struct err *err)
{
	double start = bench_now_us();
	int fd;

	if (p->gate->landlock_abi < 1)
		return 0;
	if (landlock_create(&p->rules, &fd, err) < 0)
		die("ruleset", err);
	close(fd);
	return bench_now_us() - start;
}

/*
 * The same without a ruleset, and with a filter that allows everything. The
 * gate makes none of these ready without a ruleset, so the time that making it
 * took is taken off, and that of making it again, which is how it is known.
 */
static int start_unconfined(struct way *w, struct err *err)
{
	static struct sock_filter allow =
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const char *const argv[] = {program, NULL};
	const struct gate_request request = request_of(w, argv);
	struct child_state state = {.has_status = 0};
	struct launched run = LAUNCHED_INIT;
	struct cgroup_events events;
	struct prepared p;
	int r = prepare_by(w->gate, &request, true, prepare_until(&request), &p,
			   err);

	if (r == 0) {
		struct launch *l = &p.launch;

		w->less_us = 2 * ruleset_us(&p, err);
		fd_closep(&l->fd[FD_RULESET]);
		l->state = &state;
		l->until_ns = prepare_until(&request);
		l->filter = (struct sock_fprog){0, NULL};
		l->filter_errno = (struct sock_fprog){1, &allow};
		memcpy(&l->fd[FD_IN], request.stdio, sizeof(request.stdio));
		r = launch_start(l, p.clone_flags, &run, err);
	}
	if (r == 0)
		launched_release(&run);
	/* what gate_child_wait() asks its group; releasing gives it back */
	if (r == 0 && p.group)
		cgroup_read_events(&w->gate->cgroups, p.group, &events);
	prepared_release(&p);
	return r;
}

/* ---- rows ---- */

enum { PLAIN, NO_LAYERS, OFF, LIGHT, LOOPBACK, HOSTS, N_WAYS };

static const char *const loopback[] = {"loopback"};
static const char *const hosts[] = {"api.example.com:443"};

static struct way ways[N_WAYS] = {
	[PLAIN] = {.name = "posix_spawn", .start = start_plain},
	[NO_LAYERS] = {.name = "gate, no filter, no Landlock",
		       .start = start_unconfined,
		       .policy = {.isolate = GATE_ISOLATE_OFF}},
	[OFF] = {.name = "gate, isolate = off",
		 .start = start_gate,
		 .policy = {.isolate = GATE_ISOLATE_OFF}},
	[LIGHT] = {.name = "gate, light view",
		   .start = start_gate,
		   .policy = {.isolate = GATE_ISOLATE_REQUIRE}},
	[LOOPBACK] = {.name = "gate, net = loopback",
		      .start = start_gate,
		      .policy = {.isolate = GATE_ISOLATE_REQUIRE,
				 .net = {(const char **)(uintptr_t)loopback,
					 1}}},
	[HOSTS] = {.name = "gate, net = [one host]",
		   .start = start_gate,
		   .policy = {.isolate = GATE_ISOLATE_REQUIRE,
			      .net = {(const char **)(uintptr_t)hosts, 1}}},
};

/* The first start of each way fills caches, and says what cannot be had. */
static void warm_up(struct gate *gate, int n)
{
	for (int k = 0; k < N_WAYS; k++) {
		struct err err = ERR_INIT;

		ways[k].gate = gate;
		ways[k].us = bench_values(n);
		for (int i = 0; i < 3 && !ways[k].is_out; i++)
			ways[k].is_out = ways[k].start(&ways[k], &err) < 0;
		if (ways[k].is_out)
			printf("%-30s left out: %s\n", ways[k].name, err.msg);
	}
}

static void measure(int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < N_WAYS; k++) {
			struct way *w = &ways[(i + k) % N_WAYS];
			struct err err = ERR_INIT;
			double start = bench_now_us();

			if (w->is_out)
				continue;
			if (w->start(w, &err) < 0)
				die(w->name, &err);
			w->us[i] = bench_now_us() - start - w->less_us;
		}
	}
}

/* Median of what one way takes more than another in the same turn. */
static double more_ms(int a, int b, int n)
{
	double *more = bench_values(n), ms;

	for (int i = 0; i < n; i++)
		more[i] = (ways[a].us[i] - ways[b].us[i]) / 1e3;
	ms = bench_median(more, n);
	free(more);
	return ms;
}

static double ratio(int way, int n)
{
	double *r = bench_values(n), median;

	for (int i = 0; i < n; i++)
		r[i] = ways[way].us[i] / ways[PLAIN].us[i];
	median = bench_median(r, n);
	free(r);
	return median;
}

static void print_difference(const char *name, int on, int off, double bar,
			     double aim, int n)
{
	double ms;

	if (ways[on].is_out || ways[off].is_out)
		return;
	ms = more_ms(on, off, n);
	printf("%-30s %+8.3f ms                  ", name, ms);
	bench_print_bar(ms, bar, aim);
	putchar('\n');
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
	struct gate *gate;

	if (strcmp(argv[0], GATE_PROXY_NAME) == 0)
		return gate_proxy_main();
	if (n < 1) {
		fprintf(stderr, "usage: spawn N [PROGRAM]\n");
		return 64;
	}
	if (argc > 2)
		program = argv[2];
	gate = make_gate();
	warm_up(gate, n);
	measure(n);
	for (int k = 0; k < N_WAYS; k++) {
		double *us = bench_values(n);

		memcpy(us, ways[k].us, (size_t)n * sizeof(*us));
		if (!ways[k].is_out)
			printf("%-30s %8.3f ms  ratio %.2f\n", ways[k].name,
			       bench_median(us, n) / 1e3, ratio(k, n));
		free(us);
	}
	print_difference("filter and Landlock", OFF, NO_LAYERS, 0.12, 0.07, n);
	print_difference("full isolation", LIGHT, OFF, 0.6, 0.4, n);
	print_difference("private loopback", LOOPBACK, LIGHT, 0, 0, n);
	print_difference("proxy to one host", HOSTS, LOOPBACK, 0, 0, n);
	for (int k = 0; k < N_WAYS; k++)
		free(ways[k].us);
	gate_free(gate);
	return 0;
}
