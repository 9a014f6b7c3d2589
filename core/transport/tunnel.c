/* A plain connection, made by libcurl, with TLS where the URL says so. */
#include <errno.h>

#include "core/base/mem.h"
#include "core/transport/http_exchange.h"

/* Bytes that TLS has begun to send must be offered again at one address. */
#define OUT_BYTES 16384

struct http_tunnel {
	struct http_exchange *x; /* NULL when it failed, or http_free() came */
	struct http_tunnel_handler handler;
	struct loop *loop;
	struct loop_watch watch; /* of the socket once it is connected */
	char out[OUT_BYTES];	 /* taken, not yet sent */
	size_t sent, taken;	 /* of `out` */
	bool has_asked;		 /* write() took less: `writable` is due */
};

/* Send what was taken; false: no more of it for now. */
static bool flush_taken(struct http_tunnel *t)
{
	const struct curl *lib = t->x->h->lib;
	CURLcode code;
	size_t n = 0;

	while (t->sent < t->taken) {
		code = lib->curl_easy_send(t->x->easy, t->out + t->sent,
					   t->taken - t->sent, &n);
		if (code != CURLE_OK) {
			errno = code == CURLE_AGAIN ? EAGAIN : EPIPE;
			return false;
		}
		t->sent += n;
	}
	t->sent = t->taken = 0;
	return true;
}

/* The handler may free the tunnel: one of the two, the other next turn. */
static void on_ready(void *arg, uint32_t events)
{
	struct http_tunnel *t = arg;

	if (!(events & EPOLLOUT)) {
		t->handler.readable(t->handler.arg);
		return;
	}
	/* a broken connection is told by read() */
	if (!flush_taken(t) && errno == EAGAIN)
		return;
	loop_rewatch(t->loop, &t->watch, EPOLLIN);
	if (!t->has_asked)
		return;
	t->has_asked = false;
	t->handler.writable(t->handler.arg);
}

static void on_connected(void *arg)
{
	struct http_tunnel *t = arg;
	struct http_exchange *x = t->x;
	curl_socket_t fd = CURL_SOCKET_BAD;
	struct err err = ERR_INIT;

	x->h->lib->curl_easy_getinfo(x->easy, CURLINFO_ACTIVESOCKET, &fd);
	if (fd != CURL_SOCKET_BAD &&
	    loop_watch(t->loop, &t->watch, fd, EPOLLIN, on_ready, t, &err) == 0)
		t->handler.opened(t->handler.arg);
	else
		http_give_up(x, HTTP_CUT, "the connection ended at once");
}

static void on_end(void *arg, const struct http_end *end)
{
	struct http_tunnel *t = arg;

	loop_unwatch(t->loop, &t->watch);
	t->x->release = NULL;
	t->x = NULL;
	t->handler.failed(t->handler.arg, end);
}

/* http_free() came first. */
static void on_release(void *arg)
{
	struct http_tunnel *t = arg;

	loop_unwatch(t->loop, &t->watch);
	t->x = NULL;
}

/* libcurl connects for http and https. */
static char *as_http(const char *url)
{
	if (strncmp(url, "ws", 2) == 0)
		return mem_printf("http%s", url + 2);
	return mem_strdup(url);
}

struct http_tunnel *http_tunnel_open(struct http *h,
				     const struct http_request *r,
				     const struct http_tunnel_handler *handler)
{
	struct http_tunnel *t = mem_zalloc(sizeof(*t));
	AUTO(mem_freep) char *url = as_http(r->url);
	struct http_request own = {
		.url = url,
		.connect_ms = r->connect_ms,
		.reach = r->reach,
		.end = on_end,
		.arg = t,
	};

	t->handler = *handler;
	t->loop = h->loop;
	t->watch.fd = -1;
	t->x = http_start(h, &own, on_connected);
	t->x->release = on_release;
	return t;
}

ssize_t http_tunnel_read(struct http_tunnel *t, char *into, size_t room)
{
	CURLcode code;
	size_t n = 0;

	if (!t->x || t->watch.fd < 0) {
		/* nothing came as long as it is not open */
		errno = t->x ? EAGAIN : ENOTCONN;
		return -1;
	}
	code = t->x->h->lib->curl_easy_recv(t->x->easy, into, room, &n);
	if (code == CURLE_OK)
		return (ssize_t)n;
	errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET;
	return -1;
}

/* As much as fits; flush_taken() says by errno what became of it. */
static bool take_some(struct http_tunnel *t, struct str *rest)
{
	size_t n = rest->n < OUT_BYTES ? rest->n : OUT_BYTES;

	if (!flush_taken(t))
		return false;
	if (n)
		memcpy(t->out, rest->p, n);
	t->taken = n;
	*rest = (struct str){rest->p + n, rest->n - n};
	return flush_taken(t);
}

ssize_t http_tunnel_write(struct http_tunnel *t, struct str bytes)
{
	struct str rest = bytes;

	if (!t->x || t->watch.fd < 0) {
		errno = ENOTCONN;
		return -1;
	}
	while (rest.n && take_some(t, &rest))
		;
	if (t->sent < t->taken && errno != EAGAIN)
		return -1;
	if (t->sent < t->taken)
		loop_rewatch(t->loop, &t->watch, EPOLLIN | EPOLLOUT);
	if (!rest.n)
		return (ssize_t)bytes.n;
	t->has_asked = true;
	if (rest.n < bytes.n)
		return (ssize_t)(bytes.n - rest.n);
	errno = EAGAIN;
	return -1;
}

void http_tunnel_free(struct http_tunnel *t)
{
	if (!t)
		return;
	loop_unwatch(t->loop, &t->watch);
	if (t->x)
		t->x->release = NULL;
	http_cancel(t->x);
	mem_wipe(t->out, sizeof(t->out));
	free(t);
}
