/*
 * The HTTP server of the tests, in the loop of the client that is tested. It
 * reads whole requests; what is answered is the caller's. Plain; loopback
 * only. http_world.h tests the HTTP of the program with it, http_peer.h is a
 * server of MCP on it.
 *
 *	http_server_open(&s, &loop);
 *	s.answer = ...		called for each whole request
 *	http_server_close(&s);
 */
#ifndef TESTS_UNIT_HTTP_SERVER_H
#define TESTS_UNIT_HTTP_SERVER_H

#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/loop.h"
#include "core/base/mem.h"

#define CONNECTIONS_MAX 512

struct connection {
	struct http_server *server;
	struct loop_watch watch;
	struct buf in;
	int number; /* 1 is the first that was accepted */
};

struct http_server {
	struct loop *loop;
	struct loop_watch watch;
	int fd;
	uint16_t port;
	/* The whole request, head and body, as it came. */
	void (*answer)(struct connection *c, const char *request);
	/* It is closed, by whom ever; may be NULL. */
	void (*ended)(struct connection *c);
	struct connection *connection[CONNECTIONS_MAX];
	int accepted, requests;
	struct buf last; /* the last request */
};

static inline void connection_end(struct connection *c)
{
	int fd = c->watch.fd;

	if (fd < 0)
		return;
	loop_unwatch(c->server->loop, &c->watch);
	close(fd);
	if (c->server->ended)
		c->server->ended(c);
}

static inline void say(struct connection *c, struct str bytes)
{
	assert_int_equal(fd_write_all(c->watch.fd, bytes.p, bytes.n), 0);
}

#define SAY(c, literal) say(c, STR(literal))

/* Bytes of the first request in `in`; 0: not whole yet. */
static inline size_t request_len(const struct buf *in)
{
	const char *end = strstr(buf_cstr(in), "\r\n\r\n");
	const char *length = strcasestr(buf_cstr(in), "\r\nContent-Length: ");
	size_t n;

	if (!end)
		return 0;
	n = (size_t)(end - in->p) + 4;
	if (length && length < end)
		n += strtoul(length + 18, NULL, 10);
	return n <= in->n ? n : 0;
}

static inline void on_connection(void *arg, UNUSED uint32_t events)
{
	struct connection *c = arg;
	char bytes[65536];
	ssize_t n = read(c->watch.fd, bytes, sizeof(bytes));
	size_t whole;

	if (n <= 0) {
		connection_end(c);
		return;
	}
	buf_add(&c->in, bytes, (size_t)n);
	while (c->watch.fd >= 0 && (whole = request_len(&c->in))) {
		AUTO(mem_freep) char *text = mem_strndup(c->in.p, whole);

		buf_drop(&c->in, whole);
		c->server->requests++;
		buf_clear(&c->server->last);
		buf_adds(&c->server->last, text);
		c->server->answer(c, text);
	}
}

static inline void on_accept(void *arg, UNUSED uint32_t events)
{
	struct http_server *s = arg;
	struct connection *c = mem_zalloc(sizeof(*c));
	struct err err = ERR_INIT;
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);

	assert_true(fd >= 0 && s->accepted < CONNECTIONS_MAX);
	c->server = s;
	c->in = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->connection[s->accepted++] = c;
	c->number = s->accepted;
	assert_int_equal(loop_watch(s->loop, &c->watch, fd, EPOLLIN,
				    on_connection, c, &err),
			 0);
}

static inline void http_server_open(struct http_server *s, struct loop *loop)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof(a);
	struct err err = ERR_INIT;

	*s = (struct http_server){.loop = loop,
				  .last = BUF_INIT(BUF_UNBOUNDED)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(s->fd >= 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(s->fd, 512), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &n), 0);
	s->port = ntohs(a.sin_port);
	assert_int_equal(
		loop_watch(loop, &s->watch, s->fd, EPOLLIN, on_accept, s, &err),
		0);
}

static inline void http_server_close(struct http_server *s)
{
	for (int i = 0; i < s->accepted; i++) {
		connection_end(s->connection[i]);
		buf_release(&s->connection[i]->in);
		free(s->connection[i]);
	}
	loop_unwatch(s->loop, &s->watch);
	fd_closep(&s->fd);
	buf_release(&s->last);
}

#endif
