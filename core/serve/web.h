/*
 * Clients over Streamable HTTP, at /mcp, by libmicrohttpd, which is loaded on
 * first use.
 *
 *	web_new(&options, &w, err);
 *	... loop_turn()
 *	web_changed(w, notice);		a list has changed
 *	web_free(w);
 *
 * Each request has a bearer token, a Host that is ours and no foreign Origin. A
 * client of the older era has sessions, by Mcp-Session-Id; all its requests of
 * the newer era share one, since they stand alone. An answer is a JSON document
 * where nothing comes before it, else an event stream. Nothing that one client
 * sends, or does not read, holds another up.
 */
#ifndef CORE_SERVE_WEB_H
#define CORE_SERVE_WEB_H

#include "core/base/loop.h"
#include "core/server/server.h"

/* Tokens, of a client each. A client is what has a token: the address proves
   nothing, and neither do the names and sessions that it makes up, of which it
   may have as many as it wants. Each bound below is one of all clients, and
   what is too much goes of the client that has the most. */
#define WEB_CLIENTS 16
/* Sessions of the older era at one time; of more the one that was idle longest
   goes. */
#define WEB_SESSIONS 256
/* A session that was idle so long ends, seconds. */
#define WEB_IDLE_S 3600
/* A call of the older era whose connection has ended, and whose session has no
   other, ends then, seconds: its result would reach nobody. */
#define WEB_GONE_S 5
/* A call of the newer era that waits for input is given up then, seconds: a
   person may have to log in elsewhere. */
#define WEB_INPUT_S 600
/* Connections at one time. */
#define WEB_CONNECTIONS 512
/* So many of them stay free, and are for those that have shown no token yet.
   For a new one the oldest of these goes where they are more, else one of the
   client that has the most: without a request, then a stream, then the oldest
   call. Within a client it is one of the session that has the most; its
   requests of the newer era lose connections to each other where they have more
   than half, first those of the name that has the most. */
#define WEB_SPARE 64
/* Seconds for a head with the token, and for the whole of a body. */
#define WEB_PATIENCE_S 30
#define WEB_BODY_S 120
/* Bytes of requests, and of answers that clients do not read, of all and of one
   client; of more only small requests are taken. */
#define WEB_HELD_BYTES (512 * 1024 * 1024)
#define WEB_HELD_EACH (WEB_HELD_BYTES / 4 * 3)

struct web;

/* All of it is borrowed. */
struct web_options {
	struct loop *loop;
	const struct server_info *info;
	void *arg;	       /* of the methods */
	const char *address;   /* "127.0.0.1:8765"; port 0: any */
	struct strlist tokens; /* one to WEB_CLIENTS, of a client each */
};

/*
 * errors  ERR_USAGE    the address is none, or of no network of this machine
 *	   ERR_UNKNOWN  libmicrohttpd is not installed
 *	   ERR_SYS      it is in use
 */
int web_new(const struct web_options *o, struct web **ret, struct err *err)
	MUST_USE;
/* Open calls are gone. Takes NULL. */
void web_free(struct web *w);
/* URL of the endpoint; borrowed. */
const char *web_url(const struct web *w) MUST_USE;
/* As server_changed(), to every client. */
void web_changed(struct web *w, const char *notice);
/* As server_updated(), to every client. */
bool web_updated(struct web *w, struct str watched, struct str uri);

#endif
