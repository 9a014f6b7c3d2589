#include "gate/proxy/proxy_serve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/proxy/proxy_packets.h"
#include "gate/proxy/proxy_plan.h"

/* Addresses of one name that are tried. */
#define LOOKUP_ADDRESSES 16
/* Sent to the process when some lookup has ended; blocked, for a signalfd. */
#define LOOKUP_SIGNAL SIGUSR1
/* After accept() lacked descriptors or memory. */
#define PAUSE_NS (NS_PER_S / 10)

#define REQUEST_NS (10 * NS_PER_S) /* until the head has come */
#define LOOKUP_NS (20 * NS_PER_S)
#define CONNECT_NS (10 * NS_PER_S) /* for each address */
#define ANSWER_NS (5 * NS_PER_S)   /* to take a refusal */
/* One side has ended and the other says nothing. */
#define HALF_NS (600 * NS_PER_S)

/* ---- bytes in one direction ---- */

/* A head and what it grows by. */
#define PIPE_BYTES (PROXY_HEAD_BYTES + PROXY_HEAD_MORE)

/*
 * Between two sockets that never wait: pipe_fill() reads from the one,
 * pipe_flush() writes to the other, and shuts it down when the one has ended
 * and everything is written. Both return 0, also when nothing can be done now,
 * and -1 when the connection is broken.
 */
struct pipe {
	char bytes[PIPE_BYTES];
	size_t from, to;
	bool eof;  /* nothing more comes in */
	bool shut; /* and the other end was told */
};

/* Bytes that can still be added; makes room. */
static size_t pipe_room(struct pipe *p)
{
	if (p->from == p->to)
		p->from = p->to = 0;
	if (p->to == PIPE_BYTES && p->from) {
		memmove(p->bytes, p->bytes + p->from, p->to - p->from);
		p->to -= p->from;
		p->from = 0;
	}
	return PIPE_BYTES - p->to;
}

/* Was the last errno that of a socket which has nothing for us yet? */
static bool would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* max  no more bytes than these are kept */
static int pipe_fill(struct pipe *p, int fd, size_t max)
{
	size_t room = pipe_room(p);
	ssize_t n;

	if (p->eof || p->to >= max)
		return 0;
	n = recv(fd, p->bytes + p->to, room < max - p->to ? room : max - p->to,
		 0);
	if (n < 0)
		return would_block() ? 0 : -1;
	p->eof = n == 0;
	p->to += (size_t)n;
	return 0;
}

static int pipe_flush(struct pipe *p, int fd)
{
	while (p->from < p->to) {
		ssize_t n = send(fd, p->bytes + p->from, p->to - p->from,
				 MSG_NOSIGNAL);

		if (n < 0)
			return would_block() ? 0 : -1;
		p->from += (size_t)n;
	}
	if (p->eof && !p->shut) {
		p->shut = true;
		/* ENOTCONN: the other side was quicker */
		if (shutdown(fd, SHUT_WR) < 0 && errno != ENOTCONN)
			return -1;
	}
	return 0;
}

/* Add bytes of our own; none when there is no room for all of them. */
static void pipe_put(struct pipe *p, const struct buf *bytes)
{
	if (!bytes->n || bytes->n > pipe_room(p))
		return;
	memcpy(p->bytes + p->to, buf_str(bytes).p, bytes->n);
	p->to += bytes->n;
}

/* ---- connections ---- */

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
	struct proxy_served *served;
	struct proxy_known *known; /* of .served */
	struct clock *clock;
	uint64_t now_ns, pause_ns;
	int signals;
	size_t n_conns;
	struct conn conn[PROXY_CONNECTIONS];
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

	/* the first packet was seen and named before accept() */
	if (proxy_named_as(outcome) != NAMED_NOT &&
	    !(c->is_direct && l->served->sees_first &&
	      outcome == PROXY_UNLISTED))
		proxy_deny(l->known, c->target.port ? &c->target : NULL,
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

	proxy_reached(l->known, &c->target);
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
	for (size_t i = 0; c->grant == ENDPOINT_PUBLIC && i < l->served->n_own;
	     i++)
		if (address_same_peer(&l->served->own[i], a))
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
	c->grant = endpoint_judge(l->known->rows, l->known->n_rows, &c->target);
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
		proxy_resolve(l->known, (struct str){p->bytes + p->from + 2, n},
			      &out);
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
	     !would_block()))
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
	for (size_t i = 0; i < l->known->n_rows; i++) {
		const struct endpoint *row = &l->known->rows[i];

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
	const struct proxy_known *k = l->known;
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
	while (l->n_conns < l->served->max_conns) {
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
	int fd = l->served->sockets.fd[i];

	if (l->served->type[i] == SOCK_STREAM)
		accept_from(l, fd);
	else
		packets_serve(fd, l->served->type[i], l->known);
}

/* ---- the wait ---- */

enum { AT_GATE, AT_SIGNALS, AT_SOCKETS };

#define POLLS (AT_SOCKETS + PASS_MAX + 2 * PROXY_CONNECTIONS)

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
static const struct pollfd *wait_all(struct loop *l, struct pollfd *fd)
{
	bool accepts = l->n_conns < l->served->max_conns && !l->pause_ns;
	size_t n = AT_SOCKETS + l->served->sockets.n, first = n;

	fd[AT_GATE] = (struct pollfd){.fd = PROXY_FD_GATE};
	fd[AT_SIGNALS] = (struct pollfd){.fd = l->signals, .events = POLLIN};
	for (size_t i = 0; i < l->served->sockets.n; i++) {
		bool waits = l->served->type[i] == SOCK_STREAM && !accepts;

		fd[AT_SOCKETS + i] = (struct pollfd){
			.fd = waits ? -1 : l->served->sockets.fd[i],
			.events = POLLIN};
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

static void serve(struct loop *l)
{
	struct pollfd *fd = mem_zalloc(POLLS * sizeof(*fd));
	struct signalfd_siginfo info;
	const struct pollfd *at;
	size_t n;

	while ((at = wait_all(l, fd))) {
		while (fd[AT_SIGNALS].revents &&
		       read(l->signals, &info, sizeof(info)) == sizeof(info))
			;
		sweep_lookups();
		/* connections that end take slots away */
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
		for (size_t i = 0; i < l->served->sockets.n; i++)
			if (fd[AT_SOCKETS + i].revents)
				serve_socket(l, i);
	}
	/* the child has ended; its last packets are still to be named */
	for (size_t i = 0; i < l->served->sockets.n; i++)
		if (l->served->type[i] != SOCK_STREAM)
			serve_socket(l, i);
	free(fd);
}

void proxy_serve(struct proxy_served *served)
{
	struct loop *l = mem_zalloc(sizeof(*l));
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, LOOKUP_SIGNAL);
	l->served = served;
	l->known = &served->known;
	l->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	l->clock = clock_system();
	l->now_ns = l->clock->now_ns(l->clock);
	if (l->signals >= 0)
		serve(l);
	free(l);
}
