/*
 * What the caller is told: messages, losses, and the end, in their order.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/transport/remote_inner.h"

static void item_release(struct item *item)
{
	buf_release(&item->memory);
	*item = (struct item){.memory = BUF_INIT(BUF_UNBOUNDED)};
}

static struct item *add_item(struct remote *r)
{
	uint64_t one = 1;

	if (!r->is_readable && write(r->event, &one, sizeof(one)) < 0)
		log_debug("eventfd: %s", strerror(errno));
	r->is_readable = true;
	r->item = mem_grow(r->item, r->n_items + 1, &r->cap_items,
			   sizeof(*r->item));
	r->item[r->n_items] = (struct item){.memory = BUF_INIT(BUF_UNBOUNDED)};
	return &r->item[r->n_items++];
}

void remote_give(struct remote *r, struct str message, struct buf *memory)
{
	struct item *item;

	if (r->is_ending)
		return;
	item = add_item(r);
	item->item.type = TRANSPORT_MESSAGE;
	if (memory && message.p >= memory->p &&
	    message.p < memory->p + memory->n) {
		item->memory = *memory;
		memory->p = NULL;
		memory->n = memory->cap = 0;
		item->item.message = message;
	} else {
		buf_add_str(&item->memory, message);
		item->item.message = buf_str(&item->memory);
	}
}

void remote_give_item(struct remote *r, const struct transport_item *given)
{
	struct item *item = add_item(r);

	item->item = *given;
	if (!given->id.p)
		return;
	buf_add_str(&item->memory, given->id);
	item->item.id = buf_str(&item->memory);
}

void remote_hold(struct remote *r, bool is_held)
{
	const struct transport_item item = {
		.type = is_held ? TRANSPORT_HELD : TRANSPORT_RESUMED,
	};

	if (r->is_held == is_held)
		return;
	r->is_held = is_held;
	remote_give_item(r, &item);
}

void remote_lose(struct post *p, enum transport_loss loss, bool is_unknown,
		 const struct err *err)
{
	const struct transport_item item = {
		.type = TRANSPORT_LOST,
		.id = p->id,
		.loss = loss,
		.is_unknown = is_unknown,
		.err = *err,
	};

	if (p->answer) {
		post_answer_fn *answer = p->answer;

		p->answer = NULL;
		answer(p->remote, p, NULL, &item);
	} else if (p->kind == POST_REQUEST && !p->is_answered) {
		remote_give_item(p->remote, &item);
	} else {
		log_debug("%s", err->msg);
	}
	remote_drop(p);
}

void remote_lose_all(struct remote *r, enum transport_loss loss,
		     const struct err *err)
{
	const struct transport_item item = {
		.type = TRANSPORT_LOST,
		.loss = loss,
		.is_unknown = true,
		.err = *err,
	};

	while (r->first)
		remote_drop(r->first);
	remote_give_item(r, &item);
}

void remote_next(struct transport *t, struct transport_item *ret)
{
	struct remote *r = (struct remote *)t;
	uint64_t count;

	item_release(&r->given);
	*ret = (struct transport_item){.type = TRANSPORT_NONE};
	if (r->n_given < r->n_items) {
		r->given = r->item[r->n_given++];
		if (r->n_given == r->n_items)
			r->n_given = r->n_items = 0;
		*ret = r->given.item;
		return;
	}
	if (r->is_over) {
		ret->type = TRANSPORT_OVER;
		return;
	}
	if (r->is_readable && read(r->event, &count, sizeof(count)) < 0)
		log_debug("eventfd: %s", strerror(errno));
	r->is_readable = false;
}

void remote_items_release(struct remote *r)
{
	item_release(&r->given);
	for (size_t i = r->n_given; i < r->n_items; i++)
		item_release(&r->item[i]);
	free(r->item);
}
