/*
 * HTTP requests in the one loop: any number at once, connections reused. It
 * knows nothing of MCP.
 *
 * The one door to libcurl, which is loaded by the first http_new(): a process
 * without remote servers maps neither curl nor OpenSSL.
 *
 *	http_new(&options, &h, err);
 *	x = http_send(h, &request);	callbacks come from loop_turn() only,
 *	...				never from http_send()
 *	http_cancel(x);			no callback after it
 *	http_free(h);
 *
 * Redirects are never followed here (core/transport/remote_reply.c judges
 * them), cookies never kept, proxies of the environment not used (who may be
 * connected to is judged by address), TLS is verified always: there is no
 * switch. Each address that a name resolved to is judged before a socket is
 * opened to it.
 */
#ifndef CORE_TRANSPORT_HTTP_H
#define CORE_TRANSPORT_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/loop.h"
#include "core/base/str.h"
#include "core/transport/reach.h"

struct http;
struct http_exchange;

struct http_options {
	struct loop *loop;	/* borrowed */
	const char *user_agent; /* copied; "matins/1.2" */
	/* PEM file of more authorities beside those of the system; NULL none;
	   copied */
	const char *ca_file;
	uint32_t connections_max; /* 0: as many as the descriptors allow */
};

/*
 * errors  ERR_UNKNOWN  libcurl is not installed, with what to install
 *	   ERR_SYS	ca_file cannot be read
 *	   ERR_SYNTAX	it has no certificate
 */
int http_new(const struct http_options *options, struct http **ret,
	     struct err *err) MUST_USE;
/* Cancels what runs. Not from within a callback of it. Takes NULL. */
void http_free(struct http *h);
/* "libcurl/7.88.1 OpenSSL/3.0.19"; static after the first http_new(). */
const char *http_library(void) MUST_USE;

/* ---- headers ---- */

/* Lines "Name: value" of a request, owned. "Name;" is one without value. */
struct http_headers {
	char **line; /* owned, wiped when released: they may be secrets */
	size_t n;
};

/*
 * Instead of those of that name (in any case), or as a new one.
 *
 * errors  ERR_SYNTAX  the name is no token, or the value has CR, LF, NUL or
 *		       another control but tab
 * source  RFC 9110 section 5
 */
int http_headers_set(struct http_headers *h, const char *name, struct str value,
		     struct err *err) MUST_USE;
void http_headers_release(struct http_headers *h);

/* The head of an answer. Lives for the callback. */
struct http_head {
	int status;	       /* 200; the last one, after 100s */
	struct str media_type; /* lower case, no parameters; "" when absent */
	struct str lines;      /* "Name: value\n" of each header, as it came */
	bool is_http2;
	/* Of the address that answered: what reach_of_server() wants. */
	enum address_class range;
};

/*
 * The value of a header, trimmed; false when it is not there. Names in any
 * case. nth  0 for the first of that name
 */
bool http_head_get(const struct http_head *head, const char *name, size_t nth,
		   struct str *ret) MUST_USE;

/* ---- exchanges ---- */

#define HTTP_ENDS(X)                                                          \
	X(HTTP_DONE, "done")	   /* the whole body came */                  \
	X(HTTP_RESOLVE, "resolve") /* the name has no address */              \
	X(HTTP_CONNECT, "connect") /* no answer at that address */            \
	X(HTTP_REFUSED, "refused") /* by the judge of addresses */            \
	X(HTTP_TLS, "tls")	   /* certificate or handshake */             \
	X(HTTP_TIMEOUT, "timeout")                                            \
	X(HTTP_CUT, "cut")     /* the connection ended within head or body */ \
	X(HTTP_LIMIT, "limit") /* head over 256 KiB, body over its max */     \
	X(HTTP_BROKEN, "broken") /* no HTTP, bad encoding, and the rest */

enum http_end_kind { HTTP_ENDS(ROW_NAME) };

struct http_end {
	enum http_end_kind kind;
	bool is_sent;	/* a byte of the request may have reached the server */
	struct err err; /* ERR_PEER, a sentence without secrets */
};

struct http_request {
	const char *method;		    /* "POST"; copied, as all below */
	const char *url;		    /* url.text of a struct url */
	const struct http_headers *headers; /* NULL: none */
	struct str content;		    /* the body; {NULL, 0}: none */
	uint64_t connect_ms;		    /* 0: 10 s */
	uint64_t total_ms;		    /* 0: no bound */
	/* No byte for so long ends it; 0: no bound. */
	uint64_t idle_ms;
	uint64_t body_max; /* decoded bytes of the answer; 0: no bound */
	const struct reach *reach; /* addresses that may be used; copied */
	/*
	 * Head is told once, then body in portions, then end once; after end
	 * the exchange is gone. Each may be NULL but `end`.
	 * body  false: not wanted any more; end follows with HTTP_DONE
	 */
	void (*head)(void *arg, const struct http_head *head);
	bool (*body)(void *arg, struct str bytes);
	void (*end)(void *arg, const struct http_end *end);
	void *arg;
};

/* Send a request; never fails: errors are told by `end`, from the loop. */
struct http_exchange *http_send(struct http *h, const struct http_request *r)
	MUST_USE;
/*
 * Close it; no callback comes. May be called within its own callbacks but
 * `end`. Takes NULL.
 */
void http_cancel(struct http_exchange *x);

/* ---- small documents: metadata, tokens ---- */

struct http_fetched {
	int status;		      /* 0: no answer came, see end */
	const struct http_head *head; /* NULL with status 0 */
	struct str body;	      /* all of it, at most body_max */
	struct http_end end;
};

/*
 * The whole answer at once.
 *
 * r      head, body, end and arg are not read; body_max 0 is 1 MiB (SEC-6)
 * done   told once, from the loop
 */
struct http_exchange *http_fetch(struct http *h, const struct http_request *r,
				 void (*done)(void *arg,
					      const struct http_fetched *f),
				 void *arg) MUST_USE;

/* ---- a plain connection, for protocols that begin as HTTP ---- */

struct http_tunnel;

/* Any of them may free the tunnel. */
struct http_tunnel_handler {
	void (*opened)(void *arg); /* TLS is done; write may be used */
	/* Read until EAGAIN: bytes that TLS has unpacked already do not wake
	   the loop again. */
	void (*readable)(void *arg);
	void (*writable)(void *arg); /* after http_tunnel_write() took less */
	/* The tunnel was not opened. Later failures are told by read and write.
	 */
	void (*failed)(void *arg, const struct http_end *end);
	void *arg;
};

/*
 * Connect to host and port of a URL (https and wss with TLS).
 * r  url, connect_ms and reach are used, nothing else
 */
struct http_tunnel *http_tunnel_open(struct http *h,
				     const struct http_request *r,
				     const struct http_tunnel_handler *handler)
	MUST_USE;
/* As read(2) and write(2), non-blocking; errno EAGAIN, or it is broken. */
ssize_t http_tunnel_read(struct http_tunnel *t, char *into, size_t room)
	MUST_USE;
ssize_t http_tunnel_write(struct http_tunnel *t, struct str bytes) MUST_USE;
/* Close; takes NULL. */
void http_tunnel_free(struct http_tunnel *t);

#endif
