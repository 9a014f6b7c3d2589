/*
 * The wait of one proxy, and who is let in: one thread, every number and size
 * is bounded, and a child that is slow, floods or vanishes harms itself only.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/proxy/proxy_conn.h"

/* After accept() lacked descriptors or memory. */
#define PAUSE_NS (NS_PER_S / 10)

/* ---- new connections ---- */

static struct conn *free_conn(struct proxy_loop *l)
{
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		if (l->conn[i].state == CONN_FREE)
			return &l->conn[i];
	return NULL;
}

static void accept_from(struct proxy_loop *l, size_t listener)
{
	while (l->n_conns < PROXY_CONNECTIONS) {
		struct conn *c = free_conn(l);
		int fd = accept4(l->sockets->fd[listener], NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE ||
			    errno == ENOBUFS || errno == ENOMEM)
				l->pause_ns = l->now_ns + PAUSE_NS;
			return;
		}
		l->share->is_asked = true;
		conn_open(l, c, fd, listener);
	}
}

/* ---- the wait ---- */

enum { AT_GATE, AT_SIGNALS, AT_LISTENERS };

#define POLLS (AT_LISTENERS + POLICY_FORWARDS_MAX + 1 + 2 * PROXY_CONNECTIONS)

struct polls {
	struct pollfd fd[POLLS];
	size_t n;
};

static void add(struct polls *p, int fd, short events)
{
	p->fd[p->n++] = (struct pollfd){.fd = fd, .events = events};
}

/* Without events a descriptor is left out: its POLLHUP would keep us awake. */
static void add_conn(struct polls *p, const struct conn *c)
{
	short client, server;

	conn_wants(c, &client, &server);
	add(p, client ? c->client : -1, client);
	add(p, server ? c->server : -1, server);
}

static int wait_ms(const struct proxy_loop *l)
{
	uint64_t next = l->pause_ns;

	for (size_t i = 0; i < PROXY_CONNECTIONS; i++) {
		uint64_t at = l->conn[i].deadline_ns;

		if (at && (!next || at < next))
			next = at;
	}
	if (!next)
		return -1;
	if (next <= l->now_ns)
		return 0;
	return (int)((next - l->now_ns) / NS_PER_MS) + 1;
}

/* False: the gate is gone. */
static bool wait_all(struct proxy_loop *l, struct polls *p)
{
	bool accepts = l->n_conns < PROXY_CONNECTIONS && !l->pause_ns;

	p->n = 0;
	add(p, PROXY_FD_GATE, 0);
	add(p, l->signals, POLLIN);
	for (size_t i = 0; i < l->sockets->n; i++)
		add(p, accepts ? l->sockets->fd[i] : -1, POLLIN);
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		add_conn(p, &l->conn[i]);
	while (poll(p->fd, p->n, wait_ms(l)) < 0)
		if (errno != EINTR)
			return false;
	l->now_ns = l->clock->now_ns(l->clock);
	if (l->pause_ns && l->pause_ns <= l->now_ns)
		l->pause_ns = 0;
	return !p->fd[AT_GATE].revents;
}

static void clear_signals(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		;
}

static void serve_round(struct proxy_loop *l, const struct polls *p)
{
	const struct pollfd *at = &p->fd[AT_LISTENERS + l->sockets->n];

	if (p->fd[AT_SIGNALS].revents)
		clear_signals(l->signals);
	lookup_sweep();
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++) {
		struct conn *c = &l->conn[i];

		c->client_is = at[2 * i].revents;
		c->server_is = at[2 * i + 1].revents;
		conn_step(l, c);
		if (c->state != CONN_FREE && c->deadline_ns &&
		    c->deadline_ns <= l->now_ns)
			conn_too_late(l, c);
	}
	for (size_t i = 0; i < l->sockets->n; i++)
		if (p->fd[AT_LISTENERS + i].revents)
			accept_from(l, i);
}

void proxy_serve(const struct passed *sockets, const struct endpoint *rows,
		 size_t n_rows, const struct address *own, size_t n_own,
		 struct proxy_share *share)
{
	static struct proxy_loop l;
	static struct polls p;
	sigset_t signals;

	l = (struct proxy_loop){.sockets = sockets,
				.rows = rows,
				.n_rows = n_rows,
				.own = own,
				.n_own = n_own,
				.share = share,
				.clock = clock_system()};
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		l.conn[i].client = l.conn[i].server = -1;
	sigemptyset(&signals);
	sigaddset(&signals, LOOKUP_SIGNAL);
	l.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.signals < 0)
		return;
	l.now_ns = l.clock->now_ns(l.clock);
	while (wait_all(&l, &p))
		serve_round(&l, &p);
}
