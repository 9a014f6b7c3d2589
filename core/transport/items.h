/*
 * Items for the caller of a transport of whole messages: a queue behind one
 * eventfd, which is readable while items wait.
 *
 *	items_init(&q, err);
 *	items_add_message(&q, text, &memory);	items_add(&q, &item);
 *	items_next(&q, &item);		TRANSPORT_NONE: the queue is empty
 *	items_release(&q);
 */
#ifndef CORE_TRANSPORT_ITEMS_H
#define CORE_TRANSPORT_ITEMS_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/transport/transport.h"

struct item;

struct items {
	int event; /* eventfd, owned; -1: not made */
	bool is_readable;
	bool is_held;	   /* the last of HELD and RESUMED */
	struct item *item; /* array owned */
	size_t n, cap, n_given;
	struct item *given; /* owned; lives until the next items_next() */
};

/* errors  ERR_SYS */
int items_init(struct items *q, struct err *err) MUST_USE;
/* Also of a queue whose items_init() failed. */
void items_release(struct items *q);
/* A copy; the id of a lost request is copied, too. */
void items_add(struct items *q, const struct transport_item *item);
/* memory  taken where message lies in it; NULL: copy the message */
void items_add_message(struct items *q, struct str message, struct buf *memory);
/* Add HELD or RESUMED, where that changes anything. */
void items_hold(struct items *q, bool is_held);
/* ret  lives until the next call */
void items_next(struct items *q, struct transport_item *ret);

#endif
