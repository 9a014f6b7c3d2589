/*
 * The smallest MCP server over HTTP: what a call costs when the server costs
 * nothing.
 *
 * Prints its port on 127.0.0.1, then answers each POST at once and keeps the
 * connection, until standard input ends. Speaks the revision without sessions:
 * server/discover, tools/list and tools/call. Knows of HTTP and JSON only what
 * two clients need that write them without frills.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 64

struct connection {
	char in[64 << 10];
	size_t n;
};

static struct pollfd polls[CONNECTIONS + 2]; /* input, listener, the rest */
static struct connection connections[CONNECTIONS + 2];
static nfds_t n_polls = 2;

static int listen_anywhere(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(fd, CONNECTIONS) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
		perror("http_stub");
		exit(1);
	}
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

static const char *result_of(const char *body)
{
	if (strstr(body, "\"tools/call\""))
		return "{\"resultType\":\"complete\",\"content\":[{\"type\":"
		       "\"text\",\"text\":\"hello\"}]}";
	if (strstr(body, "\"tools/list\""))
		return "{\"resultType\":\"complete\",\"tools\":[{\"name\":"
		       "\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}";
	return "{\"resultType\":\"complete\",\"supportedVersions\":"
	       "[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}";
}

static bool answer(int fd, const char *body)
{
	char text[1024], all[2048];
	const char *id = strstr(body, "\"id\":");
	int id_len = id ? (int)strcspn(id + 5, ",}") : 1, n;

	n = snprintf(text, sizeof(text),
		     "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}", id_len,
		     id ? id + 5 : "0", result_of(body));
	n = snprintf(all, sizeof(all),
		     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		     "Content-Length: %d\r\n\r\n%s",
		     n, text);
	return send(fd, all, (size_t)n, MSG_NOSIGNAL) == n;
}

/* One whole request from the front; false: there is none yet. */
static bool take(int fd, struct connection *c)
{
	char *end, *length;
	size_t head, body;
	char kept;

	c->in[c->n] = '\0';
	end = strstr(c->in, "\r\n\r\n");
	if (!end)
		return false;
	head = (size_t)(end - c->in) + 4;
	length = strcasestr(c->in, "\r\nContent-Length:");
	body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
	if (c->n < head + body)
		return false;
	kept = c->in[head + body];
	c->in[head + body] = '\0';
	if (!answer(fd, c->in + head))
		exit(1);
	c->in[head + body] = kept;
	c->n -= head + body;
	memmove(c->in, c->in + head + body, c->n);
	return true;
}

/* false: it is over */
static bool serve(int fd, struct connection *c)
{
	ssize_t got = read(fd, c->in + c->n, sizeof(c->in) - 1 - c->n);

	if (got <= 0)
		return false;
	c->n += (size_t)got;
	while (take(fd, c))
		;
	return c->n < sizeof(c->in) - 1;
}

static void accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), one = 1;

	if (fd < 0 || n_polls == CONNECTIONS + 2) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	connections[n_polls].n = 0;
	polls[n_polls++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

int main(void)
{
	polls[0] = (struct pollfd){.fd = 0, .events = POLLIN};
	polls[1] = (struct pollfd){.fd = listen_anywhere(), .events = POLLIN};
	while (poll(polls, n_polls, -1) >= 0) {
		if (polls[0].revents)
			return 0;
		for (nfds_t i = n_polls - 1; i >= 2; i--) {
			if (!polls[i].revents ||
			    serve(polls[i].fd, &connections[i]))
				continue;
			close(polls[i].fd);
			polls[i] = polls[--n_polls];
			connections[i] = connections[n_polls];
		}
		if (polls[1].revents)
			accept_one(polls[1].fd);
	}
	return 1;
}
