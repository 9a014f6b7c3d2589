#include "core/transport/items.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"

struct item {
	struct transport_item item;
	struct buf memory; /* owned: message or id */
};

int items_init(struct items *q, struct err *err)
{
	*q = (struct items){.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (q->event < 0)
		return err_sys(err, errno, "eventfd");
	q->given = mem_zalloc(sizeof(*q->given));
	return 0;
}

void items_release(struct items *q)
{
	if (q->given)
		buf_release(&q->given->memory);
	for (size_t i = q->n_given; i < q->n; i++)
		buf_release(&q->item[i].memory);
	free(q->given);
	free(q->item);
	fd_closep(&q->event);
}

static struct item *add(struct items *q)
{
	uint64_t one = 1;

	if (!q->is_readable && write(q->event, &one, sizeof(one)) < 0)
		log_debug("eventfd: %s", strerror(errno));
	q->is_readable = true;
	q->item = mem_grow(q->item, q->n + 1, &q->cap, sizeof(*q->item));
	q->item[q->n] = (struct item){.memory = BUF_INIT(BUF_UNBOUNDED)};
	return &q->item[q->n++];
}

void items_add(struct items *q, const struct transport_item *given)
{
	struct item *item = add(q);

	item->item = *given;
	if (!given->id.p)
		return;
	buf_add_str(&item->memory, given->id);
	item->item.id = buf_str(&item->memory);
}

void items_add_message(struct items *q, struct str message, struct buf *memory)
{
	struct item *item = add(q);

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

void items_hold(struct items *q, bool is_held)
{
	const struct transport_item item = {
		.type = is_held ? TRANSPORT_HELD : TRANSPORT_RESUMED,
	};

	if (q->is_held == is_held)
		return;
	q->is_held = is_held;
	items_add(q, &item);
}

void items_next(struct items *q, struct transport_item *ret)
{
	uint64_t count;

	buf_release(&q->given->memory);
	*q->given = (struct item){.memory = BUF_INIT(BUF_UNBOUNDED)};
	*ret = (struct transport_item){.type = TRANSPORT_NONE};
	if (q->n_given < q->n) {
		*q->given = q->item[q->n_given++];
		if (q->n_given == q->n)
			q->n_given = q->n = 0;
		*ret = q->given->item;
		return;
	}
	if (q->is_readable && read(q->event, &count, sizeof(count)) < 0)
		log_debug("eventfd: %s", strerror(errno));
	q->is_readable = false;
}
