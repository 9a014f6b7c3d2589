#include "core/auth/redirect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/address.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/url.h"
#include "core/transport/http.h"

/* Browsers open connections that they never use. */
#define CONNECTIONS 8
/* A request line and headers, cookies of other programs on localhost too. */
#define REQUEST_BYTES (64 * 1024)

struct connection {
	struct redirect *r; /* NULL while free */
	struct loop_watch watch;
	struct buf in; /* wiped: it holds the code */
	int fd;	       /* owned */
};

struct redirect {
	struct loop *loop;
	struct redirect_handler handler;
	struct loop_watch watch;
	int fd; /* owned; -1 when closed */
	char *uri, *path;
	char *host; /* as it stands in the URI, with brackets */
	struct connection connection[CONNECTIONS];
	size_t next; /* to be used, or used again */
};

static void drop(struct connection *c)
{
	if (!c->r)
		return;
	loop_unwatch(c->r->loop, &c->watch);
	fd_closep(&c->fd);
	buf_wipe(&c->in);
	c->r = NULL;
}

static void stop(struct redirect *r)
{
	loop_unwatch(r->loop, &r->watch);
	fd_closep(&r->fd);
	for (size_t i = 0; i < CONNECTIONS; i++)
		drop(&r->connection[i]);
}

static void answer(struct connection *c, const char *status, const char *text)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf html = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&html,
		 "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
		 "<title>matins</title><p>%s</p></html>\n",
		 text);
	buf_addf(&b,
		 "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
		 "Content-Length: %zu\r\nCache-Control: no-store\r\n"
		 "Referrer-Policy: no-referrer\r\n"
		 "Content-Security-Policy: default-src 'none'\r\n"
		 "Connection: close\r\n\r\n%s",
		 status, html.n, buf_cstr(&html));
	/* a fresh socket takes so much at once; a browser that has gone does
	   not matter */
	(void)!send(c->fd, b.p, b.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(c->fd, SHUT_WR);
}

/*
 * Is it a person who was led here? Pictures, frames and scripts of other pages
 * are no answer, and neither is who took us for another host (a name of his
 * that now leads to this machine).
 */
static bool is_visit(const struct redirect *r, struct str fields)
{
	const struct http_head head = {.lines = fields};
	size_t n = strlen(r->host);
	struct str v;

	if (http_head_get(&head, "Sec-Fetch-Mode", 0, &v) &&
	    !str_is(v, "navigate"))
		return false;
	if (http_head_get(&head, "Sec-Fetch-Dest", 0, &v) &&
	    !str_is(v, "document"))
		return false;
	if (!http_head_get(&head, "Host", 0, &v))
		return true;
	return v.n >= n && strncasecmp(v.p, r->host, n) == 0 &&
	       (v.n == n || v.p[n] == ':');
}

/* "GET /callback?code=... HTTP/1.1" */
static void request(struct connection *c)
{
	static const struct {
		const char *status, *text;
	} pages[] = {
		[REDIRECT_GOOD] = {"200 OK", "You are signed in. This page can "
					     "be closed."},
		[REDIRECT_BAD] = {"200 OK",
				  "This did not work; the program says why. "
				  "This page can be closed."},
		[REDIRECT_OTHERS] = {"400 Bad Request",
				     "This is not the answer to the login that "
				     "is waited for here."},
	};
	struct str head = buf_str(&c->in);
	struct str line = str_trim(str_cut(&head, '\n'));
	struct str method = str_cut(&line, ' '), target = str_cut(&line, ' ');
	enum redirect_verdict verdict = REDIRECT_OTHERS;
	struct redirect *r = c->r;

	if (!str_is(str_cut(&target, '?'), r->path) || !is_visit(r, head)) {
		answer(c, "404 Not Found", "There is nothing here.");
	} else if (!str_is(method, "GET")) {
		answer(c, "405 Method Not Allowed", "Only GET is understood.");
	} else {
		verdict = r->handler.judge(r->handler.arg, target);
		answer(c, pages[verdict].status, pages[verdict].text);
	}
	if (verdict == REDIRECT_OTHERS) {
		drop(c);
		return;
	}
	stop(r);
	r->handler.closed(r->handler.arg);
}

static void readable(void *arg, UNUSED uint32_t events)
{
	struct connection *c = arg;
	struct buf *in = &c->in;
	char *room = buf_room(in, 4096);
	ssize_t n = room ? recv(c->fd, room, 4096, MSG_DONTWAIT) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	in->n += (size_t)n;
	in->p[in->n] = '\0';
	if (memmem(in->p, in->n, "\r\n\r\n", 4) ||
	    memmem(in->p, in->n, "\n\n", 2))
		request(c);
}

/* ---- who connects ---- */

/* An end of a connection as /proc/net/tcp has it; an address of IPv4 as well as
   it stands in tcp6, for a socket of both. */
static void add_end(struct buf *out, const struct address_socket *end,
		    bool is_mapped)
{
	uint32_t word[4];

	if (end->any.sa_family == AF_INET) {
		buf_addf(out, " %s%08X:%04X",
			 is_mapped ? "0000000000000000FFFF0000" : "",
			 end->v4.sin_addr.s_addr, ntohs(end->v4.sin_port));
		return;
	}
	memcpy(word, &end->v6.sin6_addr, sizeof(word));
	buf_addf(out, " %08X%08X%08X%08X:%04X", word[0], word[1], word[2],
		 word[3], ntohs(end->v6.sin6_port));
}

/* The user who has the other end open. False: nobody has; *ret_can_tell is
   false where there is no such table. */
static bool find_user_of(const char *table, const char *ends, uid_t *ret,
			 bool *ret_can_tell)
{
	FILE *f = fopen(table, "re");
	bool found = false;
	char line[512];

	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, ends);

		found = at;
		at = found ? at + strlen(ends) : "";
		/* queues, timer, retransmits */
		for (int i = 0; i < 3; i++) {
			at += strspn(at, " ");
			at += strcspn(at, " ");
		}
		if (found)
			*ret = (uid_t)strtoul(at, NULL, 10);
	}
	*ret_can_tell |= f != NULL;
	if (f)
		fclose(f);
	return found;
}

/*
 * Is it another user of this machine? The address that a browser was started
 * with can be read by all, and what it names is enough to answer for another
 * account, into which the person would then be logged. One who has closed the
 * connection by now is nobody's. Root has browsers of others, and serves them.
 */
static bool is_stranger(int fd)
{
	static const char established[] = " 01";
	struct address_socket ours = {.bytes = sizeof(ours.v6)}, theirs = ours;
	bool can_tell = false;

	if (!geteuid())
		return false;
	if (getsockname(fd, &ours.any, &ours.bytes) < 0 ||
	    getpeername(fd, &theirs.any, &theirs.bytes) < 0)
		return true;
	for (int is_v6 = 0; is_v6 < 2; is_v6++) {
		AUTO(buf_release) struct buf ends = BUF_INIT(BUF_UNBOUNDED);
		uid_t uid = 0;

		add_end(&ends, &theirs, is_v6);
		add_end(&ends, &ours, is_v6);
		buf_adds(&ends, established);
		if (find_user_of(is_v6 ? "/proc/self/net/tcp6"
				       : "/proc/self/net/tcp",
				 buf_cstr(&ends), &uid, &can_tell))
			return uid && uid != geteuid();
	}
	return can_tell;
}

static void connected(void *arg, UNUSED uint32_t events)
{
	struct redirect *r = arg;
	struct connection *c = &r->connection[r->next];
	struct err err = ERR_INIT;
	int fd = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (is_stranger(fd)) {
		log_warning("login: a connection of another user of this "
			    "machine is not listened to");
		close(fd);
		return;
	}
	drop(c); /* the oldest */
	r->next = (r->next + 1) % CONNECTIONS;
	*c = (struct connection){
		.r = r, .fd = fd, .in = BUF_INIT(REQUEST_BYTES)};
	if (loop_watch(r->loop, &c->watch, fd, EPOLLIN, readable, c, &err) < 0)
		drop(c);
}

static int bind_to(struct redirect *r, bool is_ipv6, uint16_t port,
		   uint16_t *ret_port, struct err *err)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	struct sockaddr *address =
		is_ipv6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;
	socklen_t n = is_ipv6 ? sizeof(in6) : sizeof(in);
	int yes = 1;

	r->fd = socket(is_ipv6 ? AF_INET6 : AF_INET,
		       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* a fixed port shall be free again at once */
	if (r->fd < 0 ||
	    setsockopt(r->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(r->fd, address, n) < 0 || listen(r->fd, CONNECTIONS) < 0 ||
	    getsockname(r->fd, address, &n) < 0)
		return err_sys(err, errno, "port %u of the redirect address",
			       port);
	*ret_port = ntohs(is_ipv6 ? in6.sin6_port : in.sin_port);
	return 0;
}

/* The port that is written, 0 where none is. */
static uint16_t port_of(const char *uri, const struct url *u)
{
	struct str authority = uri_parts(str_of(uri)).authority;
	const char *colon = memrchr(authority.p, ':', authority.n);

	/* the colons of an IPv6 address are within brackets */
	return colon && !memchr(colon, ']',
				(size_t)(authority.p + authority.n - colon))
		       ? u->port
		       : 0;
}

int redirect_open(struct loop *loop, const char *uri,
		  const struct redirect_handler *handler, struct redirect **ret,
		  struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *text = uri ? uri : "http://127.0.0.1/callback";
	struct redirect *r;
	uint16_t port, found = 0;
	struct url u;

	if (url_parse(str_of(text), &arena, &u, err) < 0)
		return err_wrap(err, "redirect address");
	if (u.query.p || u.fragment.p)
		return err_set(err, ERR_SYNTAX,
			       "redirect address: has a query or a fragment");
	if (u.is_tls || !url_is_loopback(&u))
		return 1;
	r = mem_zalloc(sizeof(*r));
	*r = (struct redirect){.loop = loop, .handler = *handler, .fd = -1};
	port = port_of(text, &u);
	if (bind_to(r, u.is_ipv6, port, &found, err) < 0 ||
	    loop_watch(loop, &r->watch, r->fd, EPOLLIN, connected, r, err) <
		    0) {
		redirect_free(r);
		return -1;
	}
	r->host = mem_printf("%s%.*s%s", u.is_ipv6 ? "[" : "", STR_ARG(u.host),
			     u.is_ipv6 ? "]" : "");
	r->path = mem_strndup(u.path.p, u.path.n);
	/* as it was written, or with the port that was found */
	r->uri = port ? mem_strdup(text)
		      : mem_printf("http://%s:%u%s", r->host, found, r->path);
	*ret = r;
	return 0;
}

const char *redirect_uri(const struct redirect *r)
{
	return r->uri;
}

void redirect_free(struct redirect *r)
{
	if (!r)
		return;
	stop(r);
	free(r->uri);
	free(r->path);
	free(r->host);
	free(r);
}
