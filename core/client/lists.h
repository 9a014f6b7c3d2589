/*
 * Lists of one server over all pages: asked for when a caller needs one, shared
 * by all callers that wait, held until something says that they have changed.
 */
#ifndef CORE_CLIENT_LISTS_H
#define CORE_CLIENT_LISTS_H

#include "core/client/calls.h"
#include "core/mcp/wire/cache.h"

#define LISTING_KINDS (LISTING_PROMPTS + 1)

struct list_wait {
	uint64_t ticket;
	client_listed_fn *done;
	void *arg;
};

/* One kind of list. */
struct list_state {
	struct lists *of;
	struct listing held;   /* whole, when is_held */
	struct listing making; /* while is_asking */
	bool is_asking;	       /* pages are on their way */
	bool is_held;
	bool is_stale;	/* something has changed since it was asked for */
	bool has_known; /* a page of `making` was there already */
	uint64_t until_ns, making_until_ns; /* 0: nothing was said */
	uint64_t call;			    /* ticket of the page asked for */
	uint64_t rounds;	/* of the session, when asking began */
	struct list_wait *wait; /* in the order of asking; owned */
	size_t n_wait, cap_wait;
};

struct lists {
	struct calls *calls; /* borrowed, as is the next */
	const char *name;    /* of the server, for people */
	bool watches;	     /* subscribe to notices of change */
	struct cache cache;  /* single pages (CH-9) */
	struct list_state kind[LISTING_KINDS];
	uint64_t last_ticket;
	uint64_t listen;     /* ticket of the subscription; 0: none */
	unsigned n_listens;  /* subscriptions that were made */
	bool is_listen_vain; /* the server refuses subscriptions */
};

void lists_init(struct lists *l, struct calls *calls, const char *name,
		bool watches);
void lists_release(struct lists *l);

/* As client_list(), client_unlist(), client_take_list(). */
int lists_ask(struct lists *l, const struct client_list *list,
	      uint64_t *ret_ticket, struct err *err) MUST_USE;
void lists_leave(struct lists *l, uint64_t ticket);
void lists_take(struct lists *l, enum listing_kind kind, struct listing *ret);
/* Must the list be asked for again before it is used? */
bool lists_are_stale(const struct lists *l, enum listing_kind kind) MUST_USE;

/* A notice of the server says that something has changed. uri  or "" */
void lists_change(struct lists *l, const char *notice, struct str uri);

#endif
