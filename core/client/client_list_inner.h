/*
 * What the two files of a client's lists share.
 *
 *	client_list.c	    who waits, pages, what is held
 *	client_list_keep.c  how long: changes, doubts
 */
#ifndef CORE_CLIENT_CLIENT_LIST_INNER_H
#define CORE_CLIENT_CLIENT_LIST_INNER_H

#include "core/mcp/wire/cache.h"
#include "core/mcp/wire/rpc.h"
#include "core/client/client_inner.h"

struct list_wait {
	uint64_t ticket;
	client_listed_fn *done;
	void *arg;
};

enum list_phase {
	LIST_IDLE,
	LIST_DUE,    /* somebody waits, and the server is not ready */
	LIST_ASKING, /* pages are on their way */
};

/* One kind of list of one server. */
struct list_state {
	struct client *client;
	enum list_phase phase;
	struct listing held;   /* whole, when is_held */
	struct listing making; /* while asking */
	bool is_held;
	bool is_stale; /* something has changed since it was asked for */
	bool is_anew;  /* who waits wants none of before */
	uint64_t until_ns, making_until_ns; /* 0: nothing was said */
	bool has_known;			    /* a page of it was there already */
	uint64_t call;		/* ticket of the page that is asked for */
	uint64_t rounds;	/* of the session, when asking began */
	struct list_wait *wait; /* in the order of asking; owned */
	size_t n_wait, cap_wait;
};

#define LISTING_KINDS (LISTING_PROMPTS + 1)

struct client_lists {
	struct cache cache; /* single pages (CH-9) */
	struct list_state of[LISTING_KINDS];
	uint64_t next_ticket;
	uint64_t listen;     /* ticket of the subscription; 0: none */
	unsigned n_listens;  /* that were opened */
	bool is_listen_vain; /* the server does not do that */
};

/* client_list_keep.c */
bool client_is_modern(const struct client *c) MUST_USE;
/* Nothing that is known counts any more. */
void client_lists_drop(struct list_state *s);
/* To be told of changes, where that pays. */
void client_lists_watch(struct client *c, enum listing_kind kind);

#endif
