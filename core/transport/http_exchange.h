/*
 * One exchange with a server, from request to end, and the handle of libcurl
 * behind it. For core/transport/http.c, which drives exchanges in the loop,
 * and core/transport/tunnel.c; others use core/transport/http.h.
 */
#ifndef CORE_TRANSPORT_HTTP_EXCHANGE_H
#define CORE_TRANSPORT_HTTP_EXCHANGE_H

#include "core/transport/curl.h"
#include "core/transport/http.h"
#include "core/transport/http_head.h"

struct http_list {
	struct http_exchange *first, *last;
};

struct http {
	const struct curl *lib; /* static */
	CURLM *multi;		/* owned */
	struct loop *loop;	/* borrowed */
	char *user_agent;	/* owned */
	/* PEM text of the authorities that are not in `ca_folder`; owned */
	struct buf authorities;
	const char *ca_folder;	  /* of the system, hashed; static; or NULL */
	struct loop_timer timer;  /* libcurl's */
	struct loop_timer kick;	  /* to begin and to remove, from the loop */
	struct http_list queue;	  /* not yet given to libcurl; owned */
	struct http_list running; /* owned */
	unsigned depth;		  /* > 0: libcurl is on the stack */
	bool has_cancelled;	  /* among those that run */
	bool is_deaf; /* a socket could not be watched: nothing runs on */
	struct err deaf_err;
};

struct http_exchange {
	struct http *h;
	struct http_exchange *prev, *next;
	struct http_request r; /* texts are owned and of `url` and so on */
	CURL *easy;	       /* owned; NULL while it is queued */
	char *method, *url;    /* owned */
	char *where;	       /* "host:port", for sentences; owned */
	struct str host;       /* slice of `where` */
	bool is_https;
	char *content; /* owned; NULL none */
	struct http_headers headers;
	struct curl_slist *lines; /* array of its nodes; owned */
	struct reach reach;
	struct http_reader reader;
	struct loop_timer idle;
	uint64_t last_ns;    /* when a byte came or went */
	curl_off_t uploaded; /* at that time */
	uint64_t body_bytes;
	enum address_class range; /* of the address in use */
	bool is_added;		  /* libcurl has it */
	bool is_cancelled;
	bool is_refused; /* one address at least was, as `refusal` says */
	bool is_decided; /* `end` stays, whatever libcurl says later */
	struct http_end end;
	struct err refusal;
	char detail[CURL_ERROR_SIZE]; /* libcurl's own words */
	/* Connect only; told when that is done. NULL: an ordinary exchange. */
	void (*connected)(void *arg);
	/* Told when it is freed, for what lies around it; may be NULL. */
	void (*release)(void *arg);
};

/* ---- http_exchange.c ---- */

/* Make and fill the easy handle. false: `end` says why. */
bool http_exchange_prepare(struct http_exchange *x) MUST_USE;
/* Decide how it ends; the first failure counts. */
void http_exchange_fail(struct http_exchange *x, enum http_end_kind kind,
			const char *fmt, ...) PRINTF(3, 4);
/* Decide how it ends by the code of libcurl, unless that is decided. */
void http_exchange_conclude(struct http_exchange *x, CURLcode code);

/* ---- http.c ---- */

/* Queue it: copies all of `r`. `connected` as in struct http_exchange. */
struct http_exchange *http_start(struct http *h, const struct http_request *r,
				 void (*connected)(void *arg)) MUST_USE;

/* End it now; not from within a callback of libcurl. */
void http_give_up(struct http_exchange *x, enum http_end_kind kind,
		  const char *why);

#endif
