/*
 * Process of the proxy: its start, whom it lets in, its wait. One thread;
 * every number and size is bounded, and a child that is slow, floods or
 * vanishes harms itself only.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "gate/gate.h"
#include "gate/proxy/proxy_confine.h"
#include "gate/proxy/proxy_conn.h"

/* After accept() lacked descriptors or memory. */
#define PAUSE_NS (NS_PER_S / 10)

enum { STATUS_USAGE = 64 };

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

static void add_poll(struct polls *p, int fd, short events)
{
	p->fd[p->n++] = (struct pollfd){.fd = fd, .events = events};
}

/* Without events a descriptor is left out: its POLLHUP would keep us awake. */
static void add_conn(struct polls *p, const struct conn *c)
{
	short client, server;

	conn_events(c, &client, &server);
	add_poll(p, client ? c->client : -1, client);
	add_poll(p, server ? c->server : -1, server);
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
	add_poll(p, PROXY_FD_GATE, 0);
	add_poll(p, l->signals, POLLIN);
	for (size_t i = 0; i < l->sockets->n; i++)
		add_poll(p, accepts ? l->sockets->fd[i] : -1, POLLIN);
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
			conn_expire(l, c);
	}
	for (size_t i = 0; i < l->sockets->n; i++)
		if (p->fd[AT_LISTENERS + i].revents)
			accept_from(l, i);
}

/*
 * Serve until the gate's end of the socket is closed.
 *
 * sockets  listening; the first one is the proxy's own
 * own      addresses of this machine, as private as a private network
 * share    rows are read from `rows`, a copy; denials are written
 */
static void serve(const struct passed *sockets, const struct endpoint *rows,
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

/* ---- the start ---- */

/* NULL: the program was given this name by hand, and has no such memory. */
static struct proxy_share *map_share(void)
{
	struct stat st;
	void *p;

	if (fstat(PROXY_FD_SHARE, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size != sizeof(struct proxy_share))
		return NULL;
	p = mmap(NULL, sizeof(struct proxy_share), PROT_READ | PROT_WRITE,
		 MAP_SHARED, PROXY_FD_SHARE, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* The runner may have ended before the signal of its death was asked for. */
static bool has_runner(void)
{
	struct pollfd p = {.fd = PROXY_FD_GATE};

	return poll(&p, 1, 0) >= 0 &&
	       !(p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/*
 * A service that listens on all addresses is reached by the public one, too,
 * so all of them must be known. Kept until the process ends.
 */
static int own_addresses(struct address **ret, size_t *ret_n, struct err *err)
{
	struct ifaddrs *list = NULL;
	struct address *all;
	size_t n = 0;

	if (getifaddrs(&list) < 0)
		return err_sys(err, errno, "addresses of this machine");
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		n++;
	all = mem_alloc((n + 1) * sizeof(*all));
	n = 0;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		n += i->ifa_addr && address_of(i->ifa_addr, &all[n]);
	freeifaddrs(list);
	*ret = all;
	*ret_n = n;
	return 0;
}

static int receive_sockets(struct passed *ret, struct err *err)
{
	if (!pass_receive(PROXY_FD_GATE, 0, ret) || !ret->n ||
	    ret->n > POLICY_FORWARDS_MAX + 1)
		return err_set(err, ERR_INTERNAL, "no sockets came");
	return 0;
}

static void tell_gate(const char *text, size_t n)
{
	/* a gate that is gone needs no answer */
	if (send(PROXY_FD_GATE, text, n, MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
}

static NORETURN void fail_start(const struct err *err)
{
	tell_gate(err->msg, strlen(err->msg));
	_exit(EXIT_FAILURE);
}

int gate_proxy_main(void)
{
	static struct endpoint rows[POLICY_ENDPOINTS_MAX];
	static const char ready = PROXY_READY;
	struct proxy_share *share = map_share();
	struct passed sockets;
	struct address *own = NULL;
	struct err err = ERR_INIT;
	size_t n_own = 0, n_rows;
	sigset_t all;

	if (!share) {
		fprintf(stderr, "matins: " GATE_PROXY_NAME
				" is started by the gate only\n");
		return STATUS_USAGE;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, GATE_PROXY_NAME);
	n_rows = share->n_rows < ARRAY_LEN(rows) ? share->n_rows
						 : ARRAY_LEN(rows);
	memcpy(rows, share->rows, n_rows * sizeof(rows[0]));
	if (own_addresses(&own, &n_own, &err) < 0 || proxy_confine(&err) < 0)
		fail_start(&err);
	if (!has_runner())
		_exit(EXIT_FAILURE);
	if (receive_sockets(&sockets, &err) < 0)
		fail_start(&err);
	tell_gate(&ready, 1);
	serve(&sockets, rows, n_rows, own, n_own, share);
	_exit(EXIT_SUCCESS);
}
