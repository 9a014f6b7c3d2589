/*
 * Process of the proxy: its start, whom it lets in, one connection after the
 * other served by turns. One thread; every number and size is bounded, and a
 * child that is slow, floods or vanishes harms itself only.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <resolv.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/child/pass.h"
#include "gate/gate.h"
#include "gate/proxy/proxy_confine.h"
#include "gate/proxy/proxy_packets.h"
#include "gate/proxy/proxy_pipe.h"
#include "gate/proxy/proxy_plan.h"
#include "gate/proxy/proxy_request.h"
#include "gate/proxy/proxy_resolve.h"
#include "gate/proxy/proxy_share.h"

/* Addresses of one name that are tried. */
#define LOOKUP_ADDRESSES 16
/* Sent to the process when some lookup has ended; blocked, for a signalfd. */
#define LOOKUP_SIGNAL SIGUSR1
/* Served at once; what comes beyond waits in the queue of the kernel. */
#define CONNECTIONS 1024
/* Descriptors beside two for each connection: of the start, and of lookups. */
#define FILES_MORE 192
/* After accept() lacked descriptors or memory. */
#define PAUSE_NS (NS_PER_S / 10)

#define REQUEST_NS (10 * NS_PER_S) /* until the head has come */
#define LOOKUP_NS (20 * NS_PER_S)
#define CONNECT_NS (10 * NS_PER_S) /* for each address */
#define ANSWER_NS (5 * NS_PER_S)   /* to take a refusal */
/* One side has ended and the other says nothing. */
#define HALF_NS (600 * NS_PER_S)

enum { STATUS_USAGE = 64 };

enum conn_state {
	CONN_FREE,
	CONN_REQUEST, /* the head is being read */
	CONN_LOOKUP,
	CONN_CONNECT,
	CONN_OPEN,  /* bytes go both ways */
	CONN_DNS,   /* questions come, each behind its length */
	CONN_ANSWER /* a refusal is being written; then the end is awaited */
};

/* One connection, a state machine over two sockets that never waits. */
struct conn {
	enum conn_state state;
	int client, server;
	bool is_direct; /* no word of ours is in it: a refusal is a reset */
	bool greeted;
	enum proxy_speaks speaks;
	struct endpoint_target target;
	enum endpoint_grant grant;
	struct lookup *lookup;
	struct address address[LOOKUP_ADDRESSES];
	size_t n_addresses, at;
	enum proxy_outcome outcome; /* of the last address that was tried */
	uint64_t deadline_ns;	    /* 0 = none */
	struct pipe *up, *down;	    /* to the server, to the client; owned */
	short client_is, server_is; /* events that poll() found */
};

struct loop {
	struct proxy_known known;
	struct passed sockets;
	int type[PASS_MAX];  /* of each: SOCK_STREAM listens */
	bool sees_first;     /* first packets, so that refusals are named */
	struct address *own; /* of this machine: as private as a network */
	size_t n_own;
	struct clock *clock;
	uint64_t now_ns, pause_ns;
	int signals;
	size_t n_conns, max_conns;
	struct conn conn[CONNECTIONS];
	size_t n_slots; /* of .conn, from the first to the last in use */
};

/* ---- names ---- */

/*
 * Look-up of a name by the C library, which knows /etc/hosts, the configuration
 * of this machine and the wire format; in a thread of its own, so that a dead
 * name server stops no other connection.
 */
struct lookup {
	struct lookup *next; /* among the abandoned ones */
	struct gaicb request;
	struct addrinfo hints;
	char name[ENDPOINT_HOST_BYTES];
};

static struct lookup *abandoned;

static void free_lookup(struct lookup *l)
{
	if (l->request.ar_result)
		freeaddrinfo(l->request.ar_result);
	free(l);
}

/* Returns NULL when it cannot be started. */
static struct lookup *start_lookup(const char *name)
{
	struct lookup *l = mem_zalloc(sizeof(*l));
	struct gaicb *list[1] = {&l->request};
	struct sigevent tell = {.sigev_notify = SIGEV_SIGNAL,
				.sigev_signo = LOOKUP_SIGNAL};

	snprintf(l->name, sizeof(l->name), "%s", name);
	l->hints.ai_family = AF_UNSPEC;
	l->hints.ai_socktype = SOCK_STREAM;
	l->request.ar_name = l->name;
	l->request.ar_request = &l->hints;
	if (getaddrinfo_a(GAI_NOWAIT, list, 1, &tell) == 0)
		return l;
	free(l);
	return NULL;
}

/* Give up on a result, or give it back. */
static void end_lookup(struct conn *c)
{
	struct lookup *l = c->lookup;

	c->lookup = NULL;
	if (!l)
		return;
	/* one that is being worked on cannot be taken back */
	if (gai_error(&l->request) != EAI_INPROGRESS ||
	    gai_cancel(&l->request) == EAI_CANCELED) {
		free_lookup(l);
		return;
	}
	l->next = abandoned;
	abandoned = l;
}

/* Free look-ups that were given up and have ended. */
static void sweep_lookups(void)
{
	struct lookup **at = &abandoned;

	while (*at) {
		struct lookup *l = *at;

		if (gai_error(&l->request) == EAI_INPROGRESS) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free_lookup(l);
	}
}

/* ---- the life of a connection ---- */

static void enter(struct loop *l, struct conn *c, enum conn_state state,
		  uint64_t within_ns)
{
	c->state = state;
	c->deadline_ns = within_ns ? l->now_ns + within_ns : 0;
}

/* Nothing of it is left; its place can be used again. */
static void close_conn(struct loop *l, struct conn *c)
{
	fd_closep(&c->client);
	fd_closep(&c->server);
	end_lookup(c);
	free(c->up);
	free(c->down);
	*c = (struct conn){.state = CONN_FREE, .client = -1, .server = -1};
	l->n_conns--;
	while (l->n_slots && l->conn[l->n_slots - 1].state == CONN_FREE)
		l->n_slots--;
}

/* As a server ends that is not there, or a network that fails: no peer takes
   the bytes so far for all there are. */
static void break_conn(struct loop *l, struct conn *c)
{
	const struct linger now = {.l_onoff = 1};

	for (int i = 0; i < 2; i++) {
		int fd = i ? c->server : c->client;

		if (fd >= 0)
			(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now,
					 sizeof(now));
	}
	close_conn(l, c);
}

static void refuse(struct loop *l, struct conn *c, enum proxy_outcome outcome)
{
	AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);

	/* its first packet was seen and named before it was accepted */
	if (proxy_is_denial(outcome) &&
	    !(c->is_direct && l->sees_first && outcome == PROXY_UNLISTED))
		proxy_deny(&l->known, c->target.port ? &c->target : NULL,
			   outcome);
	if (c->is_direct) {
		break_conn(l, c);
		return;
	}
	proxy_answer(c->speaks, outcome, c->target.port ? &c->target : NULL,
		     &out);
	pipe_put(c->down, &out);
	c->down->eof = true;
	fd_closep(&c->server);
	enter(l, c, CONN_ANSWER, ANSWER_NS);
}

static void start_relay(struct loop *l, struct conn *c)
{
	AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);
	const int on = 1;

	/* neither matters so much that the connection should end for it */
	(void)setsockopt(c->server, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(c->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!c->is_direct)
		proxy_answer(c->speaks, PROXY_CONNECTED, NULL, &out);
	pipe_put(c->down, &out);
	enter(l, c, CONN_OPEN, 0);
}

/* ---- connecting ---- */

static void note_errno(struct conn *c, int sys)
{
	c->outcome = sys == ECONNREFUSED ? PROXY_NOT_THERE
		     : sys == ETIMEDOUT	 ? PROXY_TOO_SLOW
					 : PROXY_UNREACHABLE;
}

/* Connect to the very address that was judged; the name is not looked up
   again. */
static void try_next(struct loop *l, struct conn *c)
{
	fd_closep(&c->server);
	while (c->at < c->n_addresses) {
		struct address_socket to =
			address_socket(&c->address[c->at++], c->target.port);

		c->server =
			socket(to.any.sa_family,
			       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (c->server >= 0 &&
		    (connect(c->server, &to.any, to.bytes) == 0 ||
		     errno == EINPROGRESS)) {
			enter(l, c, CONN_CONNECT, CONNECT_NS);
			return;
		}
		note_errno(c, errno);
		fd_closep(&c->server);
	}
	refuse(l, c, c->outcome);
}

static void step_connect(struct loop *l, struct conn *c)
{
	socklen_t n = sizeof(int);
	int sys = 0;

	if (!c->server_is)
		return;
	if (getsockopt(c->server, SOL_SOCKET, SO_ERROR, &sys, &n) < 0)
		sys = errno;
	if (!sys) {
		start_relay(l, c);
		return;
	}
	note_errno(c, sys);
	try_next(l, c);
}

/* ---- judging ---- */

static bool may_reach(const struct loop *l, const struct conn *c,
		      const struct address *a)
{
	for (size_t i = 0; c->grant == ENDPOINT_PUBLIC && i < l->n_own; i++)
		if (address_same_peer(&l->own[i], a))
			return false;
	return endpoint_reaches(c->grant, a);
}

/* Only what may be reached is left, and tried; else the reason is told. */
static void try_addresses(struct loop *l, struct conn *c)
{
	size_t n = 0;

	c->outcome = PROXY_LOCAL;
	for (size_t i = 0; i < c->n_addresses; i++) {
		if (may_reach(l, c, &c->address[i]))
			c->address[n++] = c->address[i];
		else if (address_class_of(&c->address[i]) <= ADDRESS_PRIVATE)
			c->outcome = PROXY_PRIVATE;
	}
	c->n_addresses = n;
	c->at = 0;
	if (n)
		try_next(l, c);
	else
		refuse(l, c, c->outcome);
}

static void step_lookup(struct loop *l, struct conn *c)
{
	int r = gai_error(&c->lookup->request);
	size_t n = 0;

	if (r == EAI_INPROGRESS)
		return;
	for (const struct addrinfo *ai = r ? NULL
					   : c->lookup->request.ar_result;
	     ai && n < LOOKUP_ADDRESSES; ai = ai->ai_next)
		n += address_of(ai->ai_addr, &c->address[n]);
	c->n_addresses = n;
	end_lookup(c);
	if (n)
		try_addresses(l, c);
	else
		refuse(l, c, PROXY_NO_HOST);
}

static void judge_target(struct loop *l, struct conn *c)
{
	c->grant = endpoint_judge(l->known.rows, l->known.n_rows, &c->target);
	if (c->grant == ENDPOINT_REFUSED) {
		refuse(l, c, PROXY_UNLISTED);
		return;
	}
	if (c->target.is_address) {
		c->address[0] = c->target.address;
		c->n_addresses = 1;
		try_addresses(l, c);
		return;
	}
	c->lookup = start_lookup(c->target.host);
	if (!c->lookup)
		refuse(l, c, PROXY_NO_HOST);
	else
		enter(l, c, CONN_LOOKUP, LOOKUP_NS);
}

/* ---- one round of a connection ---- */

/* Put the new head before what is left of the input, for the server. */
static void put_head(struct pipe *p, size_t used, const struct buf *head)
{
	size_t rest;

	p->from += used;
	rest = p->to - p->from;
	memmove(p->bytes + head->n, p->bytes + p->from, rest);
	if (head->n)
		memcpy(p->bytes, buf_str(head).p, head->n);
	p->from = 0;
	p->to = head->n + rest;
}

static void step_request(struct loop *l, struct conn *c)
{
	if (!c->client_is)
		return;
	/* a rewritten head is longer and needs the room */
	if (pipe_fill(c->up, c->client, PROXY_HEAD_BYTES) < 0) {
		close_conn(l, c);
		return;
	}
	for (;;) {
		AUTO(buf_release) struct buf head = BUF_INIT(PIPE_BYTES);
		AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);
		const struct str in = {c->up->bytes + c->up->from,
				       c->up->to - c->up->from};
		struct proxy_request r;

		switch (proxy_read(in, c->greeted, &head, &r)) {
		case PROXY_MORE:
			if (c->up->eof)
				close_conn(l, c);
			return;
		case PROXY_GREETED:
			c->greeted = true;
			c->up->from += r.used;
			proxy_greet(&out);
			pipe_put(c->down, &out);
			if (pipe_flush(c->down, c->client) == 0)
				continue;
			close_conn(l, c);
			return;
		case PROXY_ASKED:
			c->speaks = r.speaks;
			c->target = r.target;
			put_head(c->up, r.used, &head);
			judge_target(l, c);
			return;
		case PROXY_WRONG:
			c->speaks = r.speaks;
			refuse(l, c, r.outcome);
			return;
		}
	}
}

static void step_open(struct loop *l, struct conn *c)
{
	size_t before = c->up->to + c->down->to;

	if ((c->client_is && pipe_fill(c->up, c->client, PIPE_BYTES) < 0) ||
	    (c->server_is && pipe_fill(c->down, c->server, PIPE_BYTES) < 0) ||
	    pipe_flush(c->up, c->server) < 0 ||
	    pipe_flush(c->down, c->client) < 0)
		break_conn(l, c);
	else if (c->up->shut && c->down->shut)
		close_conn(l, c);
	else if ((c->up->eof || c->down->eof) &&
		 (!c->deadline_ns || before != c->up->to + c->down->to))
		enter(l, c, CONN_OPEN, HALF_NS);
}

/* Answer the questions that have come and whose answers have room. */
static int answer_questions(struct loop *l, struct conn *c)
{
	AUTO(buf_release) struct buf out = BUF_INIT(2 + DNS_ANSWER_BYTES);
	struct pipe *p = c->up;

	while (p->to - p->from > 2 &&
	       pipe_room(c->down) >= 2 + DNS_ANSWER_BYTES) {
		const uint8_t *at = (const uint8_t *)p->bytes + p->from;
		size_t n = (size_t)at[0] << 8 | at[1];

		if (!n || n > DNS_QUESTION_BYTES)
			return -1;
		if (p->to - p->from < 2 + n)
			return 0;
		buf_clear(&out);
		buf_add(&out, "\0", 2);
		proxy_resolve(&l->known,
			      (struct str){p->bytes + p->from + 2, n}, &out);
		out.p[0] = (char)((out.n - 2) >> 8);
		out.p[1] = (char)(out.n - 2);
		if (out.n > 2)
			pipe_put(c->down, &out);
		p->from += 2 + n;
	}
	return 0;
}

static void step_dns(struct loop *l, struct conn *c)
{
	if (!c->client_is)
		return;
	if (pipe_fill(c->up, c->client, PIPE_BYTES) < 0 ||
	    answer_questions(l, c) < 0 || pipe_flush(c->down, c->client) < 0 ||
	    (c->up->eof && c->down->from == c->down->to))
		close_conn(l, c);
	else
		enter(l, c, CONN_DNS, REQUEST_NS);
}

/*
 * A socket that is closed with bytes unread takes the answer back, so what
 * the client still says is read and forgotten.
 */
static void step_answer(struct loop *l, struct conn *c)
{
	char ignored[4096];

	if (pipe_flush(c->down, c->client) < 0 ||
	    (c->client_is &&
	     recv(c->client, ignored, sizeof(ignored), 0) <= 0 &&
	     !pipe_would_block()))
		close_conn(l, c);
}

/* Go on with what .client_is and .server_is say. */
static void (*const STEPS[])(struct loop *l, struct conn *c) = {
	[CONN_REQUEST] = step_request, [CONN_LOOKUP] = step_lookup,
	[CONN_CONNECT] = step_connect, [CONN_OPEN] = step_open,
	[CONN_DNS] = step_dns,	       [CONN_ANSWER] = step_answer,
};

/* Go on with one whose deadline has passed. */
static void expire(struct loop *l, struct conn *c)
{
	if (c->state == CONN_LOOKUP) {
		end_lookup(c);
		refuse(l, c, PROXY_TOO_SLOW);
	} else if (c->state == CONN_CONNECT) {
		c->outcome = PROXY_TOO_SLOW;
		try_next(l, c);
	} else {
		close_conn(l, c);
	}
}

static short open_events(struct pipe *in, const struct pipe *out)
{
	return (short)((!in->eof && pipe_room(in) ? POLLIN : 0) |
		       (out->from < out->to ? POLLOUT : 0));
}

/* Events of poll() for its two sockets; 0: leave that one out. */
static void find_events(const struct conn *c, short *client, short *server)
{
	*client = *server = 0;
	if (c->state == CONN_REQUEST || c->state == CONN_ANSWER)
		*client = POLLIN;
	if (c->state == CONN_ANSWER && c->down->from < c->down->to)
		*client |= POLLOUT;
	if (c->state == CONN_CONNECT)
		*server = POLLOUT;
	if (c->state == CONN_DNS)
		*client = open_events(c->up, c->down);
	if (c->state == CONN_OPEN) {
		*client = open_events(c->up, c->down);
		*server = open_events(c->down, c->up);
	}
}

/* ---- new connections ---- */

static const struct endpoint *find_forward(const struct loop *l,
					   const struct address *a,
					   uint16_t port)
{
	for (size_t i = 0; i < l->known.n_rows; i++) {
		const struct endpoint *row = &l->known.rows[i];

		if (row->kind == ENDPOINT_FORWARD && row->port == port &&
		    address_equal(&row->address, a))
			return row;
	}
	return NULL;
}

/* Begin with a connection that was made to this address. */
static void start_conn(struct loop *l, struct conn *c, const struct address *a,
		       uint16_t port)
{
	const struct proxy_known *k = &l->known;
	const struct endpoint *forward = find_forward(l, a, port);

	if (!forward && address_class_of(a) == ADDRESS_LOOPBACK &&
	    port == proxy_plan_port(k->rows, k->n_rows)) {
		enter(l, c, CONN_REQUEST, REQUEST_NS);
		return;
	}
	c->is_direct = true;
	proxy_names_target(&k->share->names, a, port, k->rows, k->n_rows,
			   &c->target);
	if (forward) {
		c->address[0] = *a;
		c->n_addresses = 1;
		try_next(l, c);
	} else if (port == PROXY_PORT_DNS &&
		   endpoint_judge(k->rows, k->n_rows, &c->target) ==
			   ENDPOINT_REFUSED) {
		enter(l, c, CONN_DNS, REQUEST_NS);
	} else {
		judge_target(l, c);
	}
}

static void add_conn(struct loop *l, int fd)
{
	struct address_socket at = {.bytes = sizeof(at.v6)};
	struct conn *c = l->conn;
	struct address a;

	while (c->state != CONN_FREE)
		c++;
	if (c == l->conn + l->n_slots)
		l->n_slots++;
	*c = (struct conn){.client = fd,
			   .server = -1,
			   .state = CONN_REQUEST,
			   .up = mem_zalloc(sizeof(*c->up)),
			   .down = mem_zalloc(sizeof(*c->down))};
	l->n_conns++;
	/* the ports of both families lie at one place */
	if (getsockname(fd, &at.any, &at.bytes) < 0 || !address_of(&at.any, &a))
		close_conn(l, c);
	else
		start_conn(l, c, &a, ntohs(at.v4.sin_port));
}

static void accept_from(struct loop *l, int listener)
{
	while (l->n_conns < l->max_conns) {
		int fd = accept4(listener, NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE ||
			    errno == ENOBUFS || errno == ENOMEM)
				l->pause_ns = l->now_ns + PAUSE_NS;
			return;
		}
		add_conn(l, fd);
	}
}

static void serve_socket(struct loop *l, size_t i)
{
	int fd = l->sockets.fd[i];

	if (l->type[i] == SOCK_STREAM)
		accept_from(l, fd);
	else if (l->type[i] == SOCK_RAW)
		packets_judge(fd, &l->known);
	else
		packets_answer(fd, &l->known);
}

/* ---- the wait ---- */

enum { AT_GATE, AT_SIGNALS, AT_SOCKETS };

#define POLLS (AT_SOCKETS + PASS_MAX + 2 * CONNECTIONS)

static int wait_ms(const struct loop *l)
{
	uint64_t next = l->pause_ns;

	for (size_t i = 0; i < l->n_slots; i++) {
		uint64_t at = l->conn[i].deadline_ns;

		if (at && (!next || at < next))
			next = at;
	}
	if (!next)
		return -1;
	return next <= l->now_ns ? 0
				 : (int)((next - l->now_ns) / NS_PER_MS) + 1;
}

/*
 * Wait for what can go on. Without events a descriptor is left out: its
 * POLLHUP would keep us awake.
 *
 * returns  the descriptors of the connections; NULL: the gate is gone
 */
static const struct pollfd *wait_all(struct loop *l, struct pollfd fd[POLLS])
{
	bool accepts = l->n_conns < l->max_conns && !l->pause_ns;
	size_t n = AT_SOCKETS + l->sockets.n, first = n;

	fd[AT_GATE] = (struct pollfd){.fd = PROXY_FD_GATE};
	fd[AT_SIGNALS] = (struct pollfd){.fd = l->signals, .events = POLLIN};
	for (size_t i = 0; i < l->sockets.n; i++) {
		bool waits = l->type[i] == SOCK_STREAM && !accepts;

		fd[AT_SOCKETS + i] = (struct pollfd){
			.fd = waits ? -1 : l->sockets.fd[i], .events = POLLIN};
	}
	for (size_t i = 0; i < l->n_slots; i++) {
		const struct conn *c = &l->conn[i];
		short client, server;

		find_events(c, &client, &server);
		fd[n++] = (struct pollfd){client ? c->client : -1, client, 0};
		fd[n++] = (struct pollfd){server ? c->server : -1, server, 0};
	}
	while (poll(fd, n, wait_ms(l)) < 0)
		if (errno != EINTR)
			return NULL;
	l->now_ns = l->clock->now_ns(l->clock);
	if (l->pause_ns <= l->now_ns)
		l->pause_ns = 0;
	return fd[AT_GATE].revents ? NULL : &fd[first];
}

/* Serve until the gate's end of the socket is closed. */
static void serve(struct loop *l)
{
	static struct pollfd fd[POLLS];
	struct signalfd_siginfo info;
	const struct pollfd *at;
	size_t n;

	while ((at = wait_all(l, fd))) {
		while (fd[AT_SIGNALS].revents &&
		       read(l->signals, &info, sizeof(info)) == sizeof(info))
			;
		sweep_lookups();
		/* those that end take slots away */
		n = l->n_slots;
		for (size_t i = 0; i < n; i++) {
			struct conn *c = &l->conn[i];

			c->client_is = at[2 * i].revents;
			c->server_is = at[2 * i + 1].revents;
			if (c->state != CONN_FREE)
				STEPS[c->state](l, c);
			if (c->state != CONN_FREE && c->deadline_ns &&
			    c->deadline_ns <= l->now_ns)
				expire(l, c);
		}
		for (size_t i = 0; i < l->sockets.n; i++)
			if (fd[AT_SOCKETS + i].revents)
				serve_socket(l, i);
	}
	/* the child has ended; its last packets are still to be named */
	for (size_t i = 0; i < l->sockets.n; i++)
		if (l->type[i] != SOCK_STREAM)
			serve_socket(l, i);
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

/*
 * A service that listens on all addresses is reached by the public one, too,
 * so all of them must be known. Kept until the process ends.
 */
static int find_own(struct loop *l, struct err *err)
{
	struct ifaddrs *list = NULL;
	size_t n = 0;

	if (getifaddrs(&list) < 0)
		return err_sys(err, errno, "addresses of this machine");
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		n++;
	l->own = mem_alloc((n + 1) * sizeof(*l->own));
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		l->n_own += i->ifa_addr &&
			    address_of(i->ifa_addr, &l->own[l->n_own]);
	freeifaddrs(list);
	return 0;
}

/* Domains that the resolver of a child puts behind names: it reads the same
   file. Without one there are none. */
static void find_search(struct proxy_known *k)
{
	struct __res_state state = {.options = 0};
	struct endpoint_target t;

	if (res_ninit(&state) < 0)
		return;
	for (size_t i = 0; i < PROXY_SEARCH_MAX && state.dnsrch[i]; i++)
		if (endpoint_target(str_of(state.dnsrch[i]), 1, &t) == 0)
			memcpy(k->search[k->n_search++], t.host,
			       sizeof(t.host));
	res_nclose(&state);
}

/* PROXY_READY, or the text of an error; a gate that is gone needs no answer. */
static void tell_gate(const char *text, size_t n)
{
	if (send(PROXY_FD_GATE, text, n, MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
}

static int take_sockets(struct loop *l, struct err *err)
{
	if (!pass_receive(PROXY_FD_GATE, 0, &l->sockets) || !l->sockets.n)
		return err_set(err, ERR_INTERNAL, "no sockets came");
	for (size_t i = 0; i < l->sockets.n; i++) {
		int family = 0, fd = l->sockets.fd[i];
		socklen_t n = sizeof(int);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &l->type[i], &n) < 0 ||
		    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n) < 0)
			return err_sys(err, errno, "sockets");
		if (l->type[i] != SOCK_STREAM &&
		    packets_prepare(fd, l->type[i], family == AF_INET6, err) <
			    0)
			return -1;
		l->sees_first |= l->type[i] == SOCK_RAW && family == AF_INET;
	}
	return 0;
}

/* Two descriptors for each connection. */
static int bound_conns(struct loop *l, struct err *err)
{
	struct rlimit files;
	size_t most = CONNECTIONS;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_sys(err, errno, "limits");
	if (files.rlim_cur < 2 * CONNECTIONS + FILES_MORE)
		most = files.rlim_cur > FILES_MORE + 1
			       ? (size_t)(files.rlim_cur - FILES_MORE) / 2
			       : 1;
	l->max_conns = most;
	return 0;
}

/* Become what serves only; the runner may have ended before the signal of its
   death was asked for. */
static int begin(struct loop *l, struct err *err)
{
	struct pollfd gate = {.fd = PROXY_FD_GATE};

	find_search(&l->known);
	if (find_own(l, err) < 0 ||
	    proxy_confine(2 * CONNECTIONS + FILES_MORE, err) < 0 ||
	    bound_conns(l, err) < 0)
		return -1;
	if (poll(&gate, 1, 0) < 0 ||
	    gate.revents & (POLLHUP | POLLERR | POLLNVAL))
		_exit(EXIT_FAILURE);
	return take_sockets(l, err);
}

static void take_rows(struct proxy_known *k)
{
	k->n_rows = k->share->n_rows < ARRAY_LEN(k->rows) ? k->share->n_rows
							  : ARRAY_LEN(k->rows);
	memcpy(k->rows, k->share->rows, k->n_rows * sizeof(k->rows[0]));
}

int gate_proxy_main(void)
{
	static const char ready = PROXY_READY;
	static struct loop l;
	struct err err = ERR_INIT;
	sigset_t signals;

	l.known.share = map_share();
	if (!l.known.share) {
		fprintf(stderr, "matins: " GATE_PROXY_NAME
				" is started by the gate only\n");
		return STATUS_USAGE;
	}
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	prctl(PR_SET_NAME, GATE_PROXY_NAME);
	take_rows(&l.known);
	if (begin(&l, &err) < 0) {
		tell_gate(err.msg, strlen(err.msg));
		_exit(EXIT_FAILURE);
	}
	tell_gate(&ready, 1);
	sigemptyset(&signals);
	sigaddset(&signals, LOOKUP_SIGNAL);
	l.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	l.clock = clock_system();
	l.now_ns = l.clock->now_ns(l.clock);
	if (l.signals >= 0)
		serve(&l);
	_exit(EXIT_SUCCESS);
}
