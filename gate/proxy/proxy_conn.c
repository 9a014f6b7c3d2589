/*
 * One connection: its bytes both ways, what it asks for, whom it leads to.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/proxy/proxy_conn.h"

#define REQUEST_NS (10 * NS_PER_S) /* until the head has come */
#define LOOKUP_NS (20 * NS_PER_S)
#define CONNECT_NS (10 * NS_PER_S) /* for each address */
#define ANSWER_NS (5 * NS_PER_S)   /* to take a refusal */
/* One side has ended and the other says nothing. */
#define HALF_NS (600 * NS_PER_S)

/*
 * Bytes on their way in one direction, between two sockets that never wait:
 * pipe_fill() reads from the one, pipe_flush() writes to the other, and shuts
 * it down when the one has ended and everything is written.
 */

/* A head and what it grows by. */
#define PIPE_BYTES (PROXY_HEAD_BYTES + PROXY_HEAD_MORE)

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

/* Bytes on their way; borrowed until the pipe changes. */
static struct str pipe_str(const struct pipe *p)
{
	return (struct str){p->bytes + p->from, p->to - p->from};
}

/* Was the last errno that of a socket which has nothing for us yet? */
static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/*
 * Both return 0, also when nothing can be done now, and -1 when the
 * connection is broken.
 *
 * max  no more bytes than these are kept
 */
static int pipe_fill(struct pipe *p, int fd, size_t max)
{
	size_t room = pipe_room(p);
	ssize_t n;

	if (p->eof || p->to >= max)
		return 0;
	room = room < max - p->to ? room : max - p->to;
	n = recv(fd, p->bytes + p->to, room, 0);
	if (n < 0)
		return would_block() ? 0 : -1;
	if (n == 0)
		p->eof = true;
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
static void pipe_put(struct pipe *p, struct str bytes)
{
	if (bytes.n > pipe_room(p))
		return;
	memcpy(p->bytes + p->to, bytes.p, bytes.n);
	p->to += bytes.n;
}

/* ---- the life of a connection ---- */

static void conn_enter(struct proxy_loop *l, struct conn *c,
		       enum conn_state state, uint64_t within_ns)
{
	c->state = state;
	c->deadline_ns = within_ns ? l->now_ns + within_ns : 0;
}

static void conn_close(struct proxy_loop *l, struct conn *c)
{
	fd_closep(&c->client);
	fd_closep(&c->server);
	lookup_end(c->lookup);
	free(c->up);
	free(c->down);
	*c = (struct conn){.state = CONN_FREE, .client = -1, .server = -1};
	l->n_conns--;
}

/* Written before the child can read its answer, so it is there when it ends. */
static void record_denial(struct proxy_loop *l, const struct conn *c,
			  enum proxy_outcome outcome)
{
	struct proxy_share *s = l->share;
	char name[ENDPOINT_TEXT_BYTES] = "?";
	size_t i = 0;

	if (c->target.port)
		endpoint_target_text(&c->target, name);
	while (i < s->n_denials && (s->denials[i].outcome != outcome ||
				    strcmp(s->denials[i].name, name) != 0))
		i++;
	if (i == PROXY_DENIALS_MAX) {
		s->denials_dropped++;
		return;
	}
	if (i == s->n_denials) {
		s->denials[i].outcome = outcome;
		memcpy(s->denials[i].name, name, sizeof(name));
		s->n_denials++;
	}
	s->denials[i].count++;
}

static void give_answer(struct proxy_loop *l, struct conn *c,
			enum proxy_outcome outcome)
{
	AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);

	if (proxy_is_denial(outcome))
		record_denial(l, c, outcome);
	if (c->is_forward) {
		conn_close(l, c);
		return;
	}
	proxy_answer(c->speaks, outcome, c->target.port ? &c->target : NULL,
		     &out);
	pipe_put(c->down, buf_str(&out));
	c->down->eof = true;
	fd_closep(&c->server);
	conn_enter(l, c, CONN_ANSWER, ANSWER_NS);
}

static void start_relay(struct proxy_loop *l, struct conn *c)
{
	AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);
	const int on = 1;

	/* neither matters so much that the connection should end for it */
	(void)setsockopt(c->server, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(c->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!c->is_forward)
		proxy_answer(c->speaks, PROXY_CONNECTED, NULL, &out);
	pipe_put(c->down, buf_str(&out));
	conn_enter(l, c, CONN_OPEN, 0);
}

/* ---- connecting ---- */

static enum proxy_outcome outcome_of_errno(int sys)
{
	switch (sys) {
	case ECONNREFUSED:
		return PROXY_NOT_THERE;
	case ETIMEDOUT:
		return PROXY_TOO_SLOW;
	default:
		return PROXY_UNREACHABLE;
	}
}

/* Connect to the very address that was judged; the name is not looked up
   again. */
static int connect_to(struct conn *c, const struct address *a)
{
	struct address_socket to = address_socket(a, c->target.port);

	c->server = socket(to.any.sa_family,
			   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->server < 0)
		return errno;
	if (connect(c->server, &to.any, to.bytes) == 0 || errno == EINPROGRESS)
		return 0;
	return errno;
}

static void try_next(struct proxy_loop *l, struct conn *c)
{
	fd_closep(&c->server);
	while (c->at < c->n_addresses) {
		int sys = connect_to(c, &c->address[c->at++]);

		if (sys == 0) {
			conn_enter(l, c, CONN_CONNECT, CONNECT_NS);
			return;
		}
		fd_closep(&c->server);
		c->outcome = outcome_of_errno(sys);
	}
	give_answer(l, c, c->outcome);
}

static void finish_connect(struct proxy_loop *l, struct conn *c)
{
	socklen_t n = sizeof(int);
	int sys = 0;

	if (getsockopt(c->server, SOL_SOCKET, SO_ERROR, &sys, &n) < 0)
		sys = errno;
	if (sys) {
		c->outcome = outcome_of_errno(sys);
		try_next(l, c);
		return;
	}
	start_relay(l, c);
}

/* ---- judging ---- */

static bool is_own(const struct proxy_loop *l, const struct address *a)
{
	for (size_t i = 0; i < l->n_own; i++)
		if (address_same_peer(&l->own[i], a))
			return true;
	return false;
}

static bool may_reach(const struct proxy_loop *l, const struct conn *c,
		      const struct address *a)
{
	if (c->grant == ENDPOINT_PUBLIC && is_own(l, a))
		return false;
	return endpoint_reaches(c->grant, a);
}

/* Only what may be reached is left; the reason when that is nothing. */
static bool judge_addresses(struct proxy_loop *l, struct conn *c)
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
	return n > 0;
}

static void try_addresses(struct proxy_loop *l, struct conn *c)
{
	c->at = 0;
	if (!judge_addresses(l, c))
		give_answer(l, c, c->outcome);
	else
		try_next(l, c);
}

static void check_lookup(struct proxy_loop *l, struct conn *c)
{
	enum lookup_state is =
		lookup_state(c->lookup, c->address, &c->n_addresses);

	if (is == LOOKUP_PENDING)
		return;
	lookup_end(c->lookup);
	c->lookup = NULL;
	if (is == LOOKUP_NOTHING)
		give_answer(l, c, PROXY_NO_HOST);
	else
		try_addresses(l, c);
}

static void judge_target(struct proxy_loop *l, struct conn *c)
{
	c->grant = endpoint_judge(l->rows, l->n_rows, &c->target);
	if (c->grant == ENDPOINT_REFUSED) {
		give_answer(l, c, PROXY_UNLISTED);
		return;
	}
	if (c->target.is_address) {
		c->address[0] = c->target.address;
		c->n_addresses = 1;
		try_addresses(l, c);
		return;
	}
	c->lookup = lookup_start(c->target.host);
	if (!c->lookup)
		give_answer(l, c, PROXY_NO_HOST);
	else
		conn_enter(l, c, CONN_LOOKUP, LOOKUP_NS);
}

/* ---- reading a request ---- */

/* Put the new head before what is left of the input, for the server. */
static void put_head(struct pipe *p, size_t used, struct str head)
{
	size_t rest;

	p->from += used;
	rest = p->to - p->from;
	memmove(p->bytes + head.n, p->bytes + p->from, rest);
	if (head.n)
		memcpy(p->bytes, head.p, head.n);
	p->from = 0;
	p->to = head.n + rest;
}

static void read_request(struct proxy_loop *l, struct conn *c)
{
	for (;;) {
		AUTO(buf_release) struct buf head = BUF_INIT(PIPE_BYTES);
		AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);
		struct proxy_request r;

		switch (proxy_read(pipe_str(c->up), c->greeted, &head, &r)) {
		case PROXY_MORE:
			if (c->up->eof)
				conn_close(l, c);
			return;
		case PROXY_GREETED:
			c->greeted = true;
			c->up->from += r.used;
			proxy_greet(&out);
			pipe_put(c->down, buf_str(&out));
			if (pipe_flush(c->down, c->client) == 0)
				continue;
			conn_close(l, c);
			return;
		case PROXY_ASKED:
			c->speaks = r.speaks;
			c->target = r.target;
			put_head(c->up, r.used, buf_str(&head));
			judge_target(l, c);
			return;
		case PROXY_WRONG:
			c->speaks = r.speaks;
			give_answer(l, c, r.outcome);
			return;
		}
	}
}

/* ---- one round ---- */

static void step_open(struct proxy_loop *l, struct conn *c)
{
	size_t before = c->up->to + c->down->to;

	if ((c->client_is && pipe_fill(c->up, c->client, PIPE_BYTES) < 0) ||
	    (c->server_is && pipe_fill(c->down, c->server, PIPE_BYTES) < 0) ||
	    pipe_flush(c->up, c->server) < 0 ||
	    pipe_flush(c->down, c->client) < 0 ||
	    (c->up->shut && c->down->shut)) {
		conn_close(l, c);
		return;
	}
	if ((c->up->eof || c->down->eof) &&
	    (!c->deadline_ns || before != c->up->to + c->down->to))
		conn_enter(l, c, CONN_OPEN, HALF_NS);
}

/*
 * A socket that is closed with bytes unread takes the answer back, so what
 * the client still says is read and forgotten.
 */
static void step_answer(struct proxy_loop *l, struct conn *c)
{
	char ignored[4096];

	if (pipe_flush(c->down, c->client) < 0) {
		conn_close(l, c);
		return;
	}
	if (c->client_is && recv(c->client, ignored, sizeof(ignored), 0) <= 0 &&
	    !would_block())
		conn_close(l, c);
}

void conn_step(struct proxy_loop *l, struct conn *c)
{
	switch (c->state) {
	case CONN_FREE:
		break;
	case CONN_REQUEST:
		if (!c->client_is)
			break;
		/* a rewritten head is longer and needs the room */
		if (pipe_fill(c->up, c->client, PROXY_HEAD_BYTES) < 0)
			conn_close(l, c);
		else
			read_request(l, c);
		break;
	case CONN_LOOKUP:
		check_lookup(l, c);
		break;
	case CONN_CONNECT:
		if (c->server_is)
			finish_connect(l, c);
		break;
	case CONN_OPEN:
		step_open(l, c);
		break;
	case CONN_ANSWER:
		step_answer(l, c);
		break;
	}
}

void conn_expire(struct proxy_loop *l, struct conn *c)
{
	switch (c->state) {
	case CONN_LOOKUP:
		lookup_end(c->lookup);
		c->lookup = NULL;
		give_answer(l, c, PROXY_TOO_SLOW);
		break;
	case CONN_CONNECT:
		c->outcome = PROXY_TOO_SLOW;
		try_next(l, c);
		break;
	default:
		conn_close(l, c);
		break;
	}
}

/* ---- its beginning, and what it waits for ---- */

/* The address of the n-th FORWARD row. */
static const struct endpoint *forward_row(const struct proxy_loop *l, size_t n)
{
	for (size_t i = 0; i < l->n_rows; i++)
		if (l->rows[i].kind == ENDPOINT_FORWARD && n-- == 0)
			return &l->rows[i];
	return NULL;
}

static void start_forward(struct proxy_loop *l, struct conn *c, size_t listener)
{
	const struct endpoint *row = forward_row(l, listener - 1);

	if (!row) {
		conn_close(l, c);
		return;
	}
	c->is_forward = true;
	c->target.port = row->port;
	c->address[0] = row->address;
	c->n_addresses = 1;
	try_next(l, c);
}

void conn_open(struct proxy_loop *l, struct conn *c, int client,
	       size_t listener)
{
	*c = (struct conn){.client = client,
			   .server = -1,
			   .up = mem_alloc(sizeof(*c->up)),
			   .down = mem_alloc(sizeof(*c->down))};
	*c->up = *c->down = (struct pipe){.from = 0};
	l->n_conns++;
	conn_enter(l, c, CONN_REQUEST, REQUEST_NS);
	if (listener > 0)
		start_forward(l, c, listener);
}

static short open_events(struct pipe *in, const struct pipe *out)
{
	short events = 0;

	if (!in->eof && pipe_room(in))
		events |= POLLIN;
	if (out->from < out->to)
		events |= POLLOUT;
	return events;
}

void conn_events(const struct conn *c, short *ret_client, short *ret_server)
{
	*ret_client = *ret_server = 0;
	switch (c->state) {
	case CONN_FREE:
	case CONN_LOOKUP:
		break;
	case CONN_REQUEST:
		*ret_client = POLLIN;
		break;
	case CONN_CONNECT:
		*ret_server = POLLOUT;
		break;
	case CONN_OPEN:
		*ret_client = open_events(c->up, c->down);
		*ret_server = open_events(c->down, c->up);
		break;
	case CONN_ANSWER:
		*ret_client = POLLIN;
		if (c->down->from < c->down->to)
			*ret_client |= POLLOUT;
		break;
	}
}
