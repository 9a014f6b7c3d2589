#include "core/client/replay.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/transport/items.h"

struct replay {
	struct transport base; /* first */
	struct items items;
	struct recording *of;
	bool is_over;
};

static struct replay *of(const struct transport *t)
{
	return (struct replay *)t;
}

static void end(struct transport *t)
{
	struct replay *r = of(t);
	const struct transport_item over = {
		.type = TRANSPORT_OVER,
		.exit = r->of->end,
	};

	if (!r->is_over)
		items_add(&r->items, &over);
	r->is_over = true;
}

/* Say what comes next. */
static void go_on(struct replay *r)
{
	struct transport_item item;

	for (;;) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (r->is_over || !recording_next(r->of, &item, &text))
			break;
		if (item.type == TRANSPORT_MESSAGE)
			items_add_message(&r->items, buf_str(&text), &text);
		else
			items_add(&r->items, &item);
	}
	if (recording_is_over(r->of))
		end(&r->base);
}

static void take(struct replay *r, struct str message)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct transport_item lost = {
		.type = TRANSPORT_LOST,
		.loss = TRANSPORT_DIFFERS,
	};

	if (recording_take(r->of, message, &why)) {
		go_on(r);
		return;
	}
	/* a notice expects nothing; when a call is given up, time decides */
	lost.id = scan_some(message, "id");
	if (!lost.id.p)
		return;
	if (!scan_some(message, "method").p)
		lost.id.p = NULL;
	err_set(&lost.err, ERR_PEER, "%s", buf_cstr(&why));
	items_add(&r->items, &lost);
}

static int in_fd(const struct transport *t)
{
	return of(t)->items.event;
}

/* All is taken, so that messages come whole. */
static ssize_t send(struct transport *t, struct str bytes)
{
	size_t n = bytes.n;

	while (bytes.n)
		take(of(t), str_cut(&bytes, '\n'));
	return (ssize_t)n;
}

static void next(struct transport *t, struct transport_item *ret)
{
	items_next(&of(t)->items, ret);
}

static void free_replay(struct transport *t)
{
	items_release(&of(t)->items);
	free(t);
}

#define REPLAY(lines)                                                 \
	{                                                             \
		.name = "replay", .in_fd = in_fd, .send = send,       \
		.end_output = end, .free = free_replay, .next = next, \
		.is_lines = lines                                     \
	}
static const struct transport_type of_messages = REPLAY(false);
static const struct transport_type of_lines = REPLAY(true);

int replay_new(struct recording *recording, struct transport **ret,
	       struct err *err)
{
	struct replay *r = mem_zalloc(sizeof(*r));

	r->base.type =
		recording->kind == RECORDING_LINES ? &of_lines : &of_messages;
	r->of = recording;
	if (items_init(&r->items, err) < 0) {
		free_replay(&r->base);
		return -1;
	}
	go_on(r);
	*ret = &r->base;
	return 0;
}
