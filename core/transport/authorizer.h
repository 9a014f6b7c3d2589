/*
 * The authorizer puts credentials on the requests to one remote server. The
 * transports ask; core/auth answers, with fixed headers or by OAuth. Neither
 * includes the other.
 *
 *	before each request	sign()	    GO: headers were added
 *	after each head		answered()  nonces and the like
 *	on 401 and 403		refused()   GO: sign and send once more
 *
 * WAIT: the answer needs time (a token is fetched, a person logs in): keep
 * the request, ask again when `changed` is called, which may say WAIT once
 * more: it is called, too, when a person begins to be waited for. From then on
 * until then the time of requests stands still where is_person() says so.
 *
 * A struct authorizer is the first member of what implements it.
 */
#ifndef CORE_TRANSPORT_AUTHORIZER_H
#define CORE_TRANSPORT_AUTHORIZER_H

#include "core/transport/http.h"

enum authorizer_verdict {
	AUTHORIZER_GO,
	AUTHORIZER_WAIT,
	AUTHORIZER_NO, /* err says why and what to do */
};

struct authorizer;

/* One request and how often it was refused, kept by the transport. */
struct authorizer_try {
	unsigned unauthorized; /* 401s so far, this one included */
	unsigned forbidden;    /* 403s so far */
};

struct authorizer_type {
	/* method and url as they will stand in the request; for proofs */
	enum authorizer_verdict (*sign)(struct authorizer *a,
					const char *method, const char *url,
					struct http_headers *headers,
					struct err *err);
	void (*answered)(struct authorizer *a, const struct http_head *head);
	/*
	 * url   that was asked
	 * head  status 401 or 403; lives for the call
	 * body  its beginning, may be empty
	 */
	enum authorizer_verdict (*refused)(struct authorizer *a,
					   const char *method, const char *url,
					   const struct http_head *head,
					   struct str body,
					   const struct authorizer_try *tries,
					   struct err *err);
	/* A person is waited for: clocks stand still. */
	bool (*is_person)(const struct authorizer *a);
	/* The server's session began with this revision (2025-03-26 has other
	   rules of discovery); NULL before it is known. */
	void (*spoke)(struct authorizer *a, const char *protocol);
};

struct authorizer {
	const struct authorizer_type *type;
	/* Set by the transport before the first sign(); called from the loop,
	   never from within sign() or refused(). */
	void (*changed)(void *arg);
	void *arg;
};

#endif
