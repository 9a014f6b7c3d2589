/*
 * A transport carries a session: messages of ours to the server, one a line,
 * and its messages to us, as bytes or whole. A transport never waits.
 *
 *	t = transport_stdio(&options)		or another that opens one
 *	watch transport_in_fd(t) for reading, transport_out_fd(t) for writing
 *	transport_receive(t, room, n)		as read(2)
 *	transport_send(t, bytes)		as write(2)
 *	transport_end_output(t);		no more will be sent
 *	transport_free(t);
 *
 * A new kind is a struct that begins with struct transport, a table of its
 * functions, and a function that makes it. One that has no descriptor of its
 * own for each direction (many sockets, or none) gives an epoll or eventfd
 * descriptor to be watched.
 */
#ifndef CORE_TRANSPORT_TRANSPORT_H
#define CORE_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/str.h"

struct transport;

/* ---- transports of whole messages ---- */

enum transport_item_type {
	TRANSPORT_NONE,	   /* wait for in_fd */
	TRANSPORT_MESSAGE, /* JSON, whatever its lines */
	TRANSPORT_LOST,	   /* no answer to `id` will come: err */
	TRANSPORT_HELD,	   /* a person is asked: stop clocks */
	TRANSPORT_RESUMED, /* and go on */
	TRANSPORT_PUT_OFF, /* a request is sent once more, when refusal says */
	TRANSPORT_OVER,	   /* nothing more will come */
};

/* Reasons for an answer that will not come. */
enum transport_loss {
	TRANSPORT_BROKE,    /* connection, TLS, HTTP status */
	TRANSPORT_DENIED,   /* credentials: none, or refused */
	TRANSPORT_LEASH,    /* the leash or a judge of addresses */
	TRANSPORT_TOO_LONG, /* over message_max */
	TRANSPORT_DIFFERS,  /* another request than the one recorded */
};

/* Lives until the next transport_next(). */
/* A request that was refused by the status of HTTP. */
struct transport_refusal {
	int status;	 /* 0: it was not */
	bool has_time;	 /* the server says when to come again */
	int64_t after_s; /* in so many seconds; INT64_MAX: a date */
};
/* How a program ended, for one that is only replayed. */
struct transport_exit {
	bool is_known;
	int status, signal;    /* signal 0: it exited */
	struct str said;       /* the end of its stderr */
	struct strlist limits; /* limits hit, in words */
	bool is_itself;	       /* output ended before it was told to end */
	bool is_told;	       /* to end, by a signal */
	bool is_over;	       /* more was printed than may be kept */
	bool is_refused;       /* something was refused to it */
};
struct transport_item {
	enum transport_item_type type;
	struct str message;
	/* LOST: the JSON text of the request's id; {NULL, 0}: all of them, and
	   the session with them. OVER with err: why */
	struct str id;
	enum transport_loss loss;
	bool is_unknown; /* the server may have received it: never repeat it */
	struct transport_refusal refusal;
	struct transport_exit exit; /* of OVER */
	struct err err;
};

struct transport_type {
	const char *name; /* "stdio" */
	/* Readable when receive() has something; -1 when it never will. */
	int (*in_fd)(const struct transport *t);
	/* Writable when send() takes something; NULL: send() tells. */
	int (*out_fd)(const struct transport *t);
	/* NULL where next() is */
	ssize_t (*receive)(struct transport *t, char *into, size_t room);
	ssize_t (*send)(struct transport *t, struct str bytes);
	void (*end_output)(struct transport *t);
	void (*end_input)(struct transport *t); /* may be NULL */
	void (*free)(struct transport *t);
	/*
	 * Of transports that carry whole messages (HTTP): instead of receive().
	 * NULL for those of bytes.
	 */
	void (*next)(struct transport *t, struct transport_item *ret);
	/* The messages are lines of a program, whatever they say. */
	bool is_lines;
	/* Members of an open JSON object for reports; may be NULL. */
	void (*facts)(const struct transport *t, struct jw *w);
};

struct transport {
	const struct transport_type *type;
};

MUST_USE static inline int transport_in_fd(const struct transport *t)
{
	return t->type->in_fd(t);
}

MUST_USE static inline int transport_out_fd(const struct transport *t)
{
	return t->type->out_fd ? t->type->out_fd(t) : -1;
}

/* true: transport_next() instead of transport_receive(). */
MUST_USE static inline bool transport_has_messages(const struct transport *t)
{
	return t->type->next != NULL;
}

static inline void transport_next(struct transport *t,
				  struct transport_item *ret)
{
	t->type->next(t, ret);
}

/* Members for reports; nothing where the type has none. */
static inline void transport_facts(const struct transport *t, struct jw *w)
{
	if (t->type->facts)
		t->type->facts(t, w);
}

/*
 * Read what is there.
 * returns  bytes; 0: it has ended; -1 and errno, EAGAIN when nothing is there
 */
MUST_USE static inline ssize_t transport_receive(struct transport *t,
						 char *into, size_t room)
{
	return t->type->receive(t, into, room);
}

/*
 * Give bytes of whole messages, in any portions.
 * returns  bytes taken; -1 and errno: EAGAIN, or it broke
 */
MUST_USE static inline ssize_t transport_send(struct transport *t,
					      struct str bytes)
{
	return t->type->send(t, bytes);
}

/* No more will be sent; harmless twice. */
static inline void transport_end_output(struct transport *t)
{
	t->type->end_output(t);
}

/* No more will be received; harmless twice. */
static inline void transport_end_input(struct transport *t)
{
	if (t->type->end_input)
		t->type->end_input(t);
}

/* Takes NULL. */
static inline void transport_free(struct transport *t)
{
	if (t)
		t->type->free(t);
}

/* ---- over two descriptors that somebody else opened ---- */

struct transport_stdio_options {
	int in, out; /* borrowed, non-blocking; in: bytes of the server */
	/* Close one: its owner is told, 0 is `out`, the server's stdin, and 1
	   its stdout. */
	void (*close)(void *arg, int which);
	void *arg;
};

struct transport *transport_stdio(const struct transport_stdio_options *options)
	MUST_USE;

#endif
