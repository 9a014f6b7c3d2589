/*
 * The life of a child after its start: descriptors, signals, refused calls,
 * the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "gate/gate_child.h"
#include "gate/prepare/state.h"
#include "gate/tree_execs.h"

struct gate_child_fds gate_child_fds(const struct gate_child *c)
{
	return (struct gate_child_fds){
		.in = c->fd[0],
		.out = c->fd[1],
		.err = c->fd[2],
		.pidfd = c->run.init.pidfd,
		.notify = c->run.listener,
	};
}

void gate_child_close(struct gate_child *c, int which)
{
	fd_closep(&c->fd[which]);
}

pid_t gate_child_pid(const struct gate_child *c)
{
	return c->run.program;
}

const char *gate_child_path(const struct gate_child *c)
{
	return c->path;
}

const char *gate_child_cwd(const struct gate_child *c)
{
	return c->cwd;
}

const struct gate_fact *gate_child_facts(const struct gate_child *c,
					 size_t *ret_n)
{
	*ret_n = N_GUARANTEES;
	return c->facts;
}

struct gate_seen_bounds gate_child_seen_bounds(const struct gate_child *c)
{
	return c->seen_bounds;
}

static struct watch *watch_of(struct gate_child *c)
{
	return watch_wants(&c->watch) ? &c->watch : NULL;
}

void gate_child_serve(struct gate_child *c)
{
	if (c->run.listener >= 0 && notify_serve(c->run.listener, &c->denials,
						 watch_of(c)) != NOTIFY_OK)
		fd_closep(&c->run.listener);
}

static void send_init(const struct gate_child *c, int signal)
{
	if (c->run.init.pid > 0)
		kernel_pidfd_signal(c->run.init.pidfd, signal);
}

void gate_child_signal(struct gate_child *c, int signal)
{
	/* pid 1 takes its namespace with it; a subreaper has to be asked */
	c->killed |= signal == SIGKILL;
	if (signal == SIGKILL && !c->own_pids)
		signal = CHILD_SIGNAL_END;
	send_init(c, signal);
}

static uint64_t micros(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static void judge(struct gate_child *c, const siginfo_t *end,
		  const struct rusage *usage)
{
	struct gate_verdict *v = &c->verdict;
	int status = c->state.wait_status;

	*v = (struct gate_verdict){
		.cpu_us = micros(&usage->ru_utime) + micros(&usage->ru_stime),
		.max_rss_bytes = c->state.max_rss_kib * 1024,
		.execs = {c->exec_row, 1},
	};
	if (!__atomic_load_n(&c->state.has_status, __ATOMIC_ACQUIRE))
		/* the owner of the tree was ended, and the program with it */
		v->signal =
			end->si_code == CLD_EXITED ? SIGKILL : end->si_status;
	else if (WIFEXITED(status))
		v->exited = true, v->exit_status = WEXITSTATUS(status);
	else
		v->signal = WTERMSIG(status);
	if (c->watch.what & GATE_RECORD_EXEC)
		v->execs = records_list_execs(&c->watch.records);
	v->records = c->watch.records.row;
	v->n_records = c->watch.records.n;
	v->records_dropped = c->watch.records.dropped;
	tree_add_denials(c);
	v->denials = c->denials.row;
	v->n_denials = c->denials.n;
	v->denials_dropped = c->denials.dropped;
	v->proxy_unasked = c->proxy.share && !proxy_was_asked(&c->proxy);
}

/* Name the endpoints that the proxy refused beside the refused calls. */
static void add_refused(struct gate_child *c)
{
	struct proxy_denial r;

	for (size_t i = 0; proxy_denial(&c->proxy, i, &r); i++) {
		AUTO(buf_release) struct buf detail = BUF_INIT(LIMIT_ERR_MSG);

		buf_addf(&detail, "connect to %s: %s", r.name,
			 proxy_outcome_text(r.outcome));
		denials_add_row(&c->denials,
				&(struct gate_denial){
					.kind = "net",
					.name = r.name,
					.program = "the program",
					.detail = buf_cstr(&detail),
					.allow = proxy_allow(r.outcome, r.name),
					.count = r.count,
				});
	}
	c->denials.dropped += proxy_denials_dropped(&c->proxy);
}

static void find_hits(struct gate_child *c)
{
	struct gate_verdict *v = &c->verdict;
	struct cgroup_events events = {0, 0};
	struct hit_end end = {
		.cpu_us = c->state.cpu_us,
		.signal = v->exited ? 0 : v->signal,
		.ended_by_us = c->killed,
	};

	if (c->group)
		cgroup_read_events(c->cgroups, c->group, &events);
	end.oom_kills = events.oom_kills;
	end.forks_refused = events.forks_refused;
	hits_find(&c->bounds, &end, &c->hits);
	v->limits = (struct strlist){c->hits.row, c->hits.n};
}

/* Without a pid namespace a tree can lose its owner; its group ends it. */
static void end_group(struct gate_child *c)
{
	find_hits(c);
	cgroups_give(c->cgroups, c->group);
	c->group = NULL;
}

static void remove_private(struct gate_child *c)
{
	if (c->private_dir)
		private_remove(c->private_dir);
	free(c->private_dir);
	c->private_dir = NULL;
}

int gate_child_wait(struct gate_child *c, struct gate_verdict *ret)
{
	siginfo_t end = {.si_pid = 0};
	struct rusage usage = {.ru_maxrss = 0};

	if (!c->ended) {
		if (kernel_waitid(c->run.init.pidfd, &end,
				  WEXITED | WNOHANG | __WALL, &usage) < 0)
			return 1;
		if (!end.si_pid)
			return 1;
		c->ended = true;
		c->run.init.pid = 0;
		proxy_stop(&c->proxy);
		add_refused(c);
		judge(c, &end, &usage);
		end_group(c);
		remove_private(c);
	}
	*ret = c->verdict;
	return 0;
}

void gate_child_end(struct gate_child *c)
{
	struct gate_verdict ignored;

	if (c->gate) {
		*(c->prev ? &c->prev->next : &c->gate->children) = c->next;
		if (c->next)
			c->next->prev = c->prev;
		c->gate = NULL;
	}
	for (int i = 0; i < 3; i++)
		fd_closep(&c->fd[i]);
	/* a killed task does not wait for an answer */
	fd_closep(&c->run.listener);
	if (!c->ended)
		gate_child_signal(c, SIGKILL);
	while (gate_child_wait(c, &ignored) > 0) {
		struct pollfd p = {.fd = c->run.init.pidfd, .events = POLLIN};

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
	}
	launched_release(&c->run);
	proxy_release(&c->proxy);
}

void gate_child_free(struct gate_child *c)
{
	if (!c)
		return;
	gate_child_end(c);
	denials_release(&c->denials);
	watch_release(&c->watch);
	arena_release(&c->arena);
	free(c);
}
