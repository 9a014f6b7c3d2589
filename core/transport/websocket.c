#include <errno.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/transport/websocket_inner.h"

#define CODE_NORMAL 1000
#define CODE_TOO_BIG 1009
/* Pings of a server that does not read what it is answered stay unanswered
   from here on: only the last one counts (RFC 6455, section 5.5.3). */
#define PONGS_BYTES (64 * 1024)

static struct websocket *of(struct transport *t)
{
	return (struct websocket *)t;
}

bool transport_is_websocket(const char *url)
{
	return strncmp(url, "ws://", 5) == 0 || strncmp(url, "wss://", 6) == 0;
}

/* ---- telling ---- */

void websocket_wake(struct websocket *w)
{
	const uint64_t one = 1;

	/* it cannot be full: it is read to nothing each time */
	if (write(w->event, &one, sizeof(one)) < 0)
		log_debug("eventfd: %s", strerror(errno));
}

static void calm(struct websocket *w)
{
	uint64_t n;

	if (read(w->event, &n, sizeof(n)) < 0 && errno != EAGAIN)
		log_debug("eventfd: %s", strerror(errno));
}

void websocket_close_tunnel(struct websocket *w)
{
	loop_timer_clear(w->o.loop, &w->timer);
	http_tunnel_free(w->tunnel);
	w->tunnel = NULL;
}

void websocket_end(struct websocket *w)
{
	websocket_close_tunnel(w);
	w->phase = PHASE_OVER;
	websocket_wake(w);
}

void websocket_fail(struct websocket *w, enum transport_loss loss,
		    const struct err *err)
{
	if (!w->is_failed && w->phase != PHASE_CLOSING) {
		w->is_failed = true;
		w->loss = loss;
		w->err = *err;
	}
	websocket_end(w);
}

void websocket_fail_text(struct websocket *w, const char *why)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "%.*s: %s", STR_ARG(w->url.host), why);
	websocket_fail(w, TRANSPORT_BROKE, &err);
}

/* ---- sending ---- */

static void random_mask(unsigned char mask[4])
{
	/* a mask is no secret: it keeps proxies from being fooled */
	if (getrandom(mask, 4, 0) != 4)
		memset(mask, 0x5a, 4);
}

/* Where the other side is slow, `out` may never be empty. */
static void forget_sent(struct websocket *w)
{
	if (w->sent <= w->out.n / 2)
		return;
	memmove(w->out.p, w->out.p + w->sent, w->out.n - w->sent);
	w->out.n -= w->sent;
	w->sent = 0;
}

void websocket_flush(struct websocket *w)
{
	while (w->tunnel && w->sent < w->out.n) {
		struct str rest = {w->out.p + w->sent, w->out.n - w->sent};
		ssize_t n = http_tunnel_write(w->tunnel, rest);

		if (n < 0 && errno == EAGAIN) {
			forget_sent(w);
			return;
		}
		if (n < 0) {
			websocket_fail_text(w, "the connection broke");
			return;
		}
		w->sent += (size_t)n;
	}
	mem_wipe(w->out.p, w->out.n);
	buf_clear(&w->out);
	w->sent = 0;
}

/* The lines that are whole become frames. */
void websocket_send_messages(struct websocket *w)
{
	size_t from = 0;
	const char *end_of;

	if (w->phase != PHASE_OPEN)
		return;
	while ((end_of = memchr(w->messages.p + from, '\n',
				w->messages.n - from))) {
		unsigned char mask[4];
		struct str line = {w->messages.p + from,
				   (size_t)(end_of - w->messages.p) - from};

		random_mask(mask);
		ws_write(&w->out, WS_OP_TEXT, line, mask);
		from += line.n + 1;
	}
	if (from) {
		memmove(w->messages.p, w->messages.p + from,
			w->messages.n - from);
		w->messages.n -= from;
	}
	websocket_flush(w);
}

static void say_pong(struct websocket *w, struct str payload)
{
	unsigned char mask[4];

	if (w->out.n - w->sent > PONGS_BYTES)
		return;
	random_mask(mask);
	ws_write(&w->out, WS_OP_PONG, payload, mask);
	websocket_flush(w);
}

static void say_close(struct websocket *w, uint16_t code)
{
	unsigned char mask[4];

	random_mask(mask);
	ws_write_close(&w->out, code, mask);
	websocket_flush(w);
}

/* ---- the vtable ---- */

static int in_fd(const struct transport *t)
{
	return ((const struct websocket *)t)->event;
}

static int out_fd(UNUSED const struct transport *t)
{
	return -1;
}

static ssize_t ws_send(struct transport *t, struct str bytes)
{
	struct websocket *w = of(t);

	if (w->phase == PHASE_OVER || w->phase == PHASE_CLOSING) {
		errno = EPIPE;
		return -1;
	}
	buf_add_str(&w->messages, bytes);
	if (w->phase == PHASE_IDLE)
		websocket_begin(w);
	else
		websocket_send_messages(w);
	return (ssize_t)bytes.n;
}

static void lost(struct transport_item *ret, enum transport_loss loss,
		 const struct err *err)
{
	ret->type = TRANSPORT_LOST;
	ret->loss = loss;
	ret->err = *err;
	ret->is_unknown = true;
}

/* An item of frames; false: there is none that anybody has to know of. */
static bool next_frame(struct websocket *w, struct transport_item *ret)
{
	enum ws_item_type type;

	while ((type = ws_next(&w->in, &w->item)) != WS_NONE) {
		switch (type) {
		case WS_MESSAGE:
			ret->type = TRANSPORT_MESSAGE;
			ret->message = w->item.payload;
			return true;
		case WS_PING:
			say_pong(w, w->item.payload);
			break;
		case WS_OVER:
			say_close(w, CODE_TOO_BIG);
			err_set(&w->err, ERR_LIMIT,
				"a message of more than %llu bytes; raise "
				"stdout_max where that much is expected",
				(unsigned long long)w->in.message_max);
			w->is_failed = true;
			w->loss = TRANSPORT_TOO_LONG;
			websocket_end(w);
			return false;
		case WS_BROKEN:
			websocket_fail(w, TRANSPORT_BROKE, &w->item.err);
			return false;
		case WS_CLOSE:
			say_close(w, CODE_NORMAL);
			log_debug("%.*s closed the WebSocket with code %u",
				  STR_ARG(w->url.host), w->item.code);
			websocket_end(w);
			return false;
		case WS_PONG:
		case WS_NONE:
			break;
		}
	}
	return false;
}

static void next(struct transport *t, struct transport_item *ret)
{
	struct websocket *w = of(t);

	*ret = (struct transport_item){.err = ERR_INIT};
	calm(w);
	if (w->is_held != w->is_held_told) {
		w->is_held_told = w->is_held;
		ret->type = w->is_held ? TRANSPORT_HELD : TRANSPORT_RESUMED;
		websocket_wake(w);
		return;
	}
	if (w->has_head && next_frame(w, ret)) {
		websocket_wake(w);
		return;
	}
	if (w->phase != PHASE_OVER)
		return;
	if (w->is_failed) {
		w->is_failed = false;
		lost(ret, w->loss, &w->err);
		websocket_wake(w);
	} else if (!w->is_end_told) {
		w->is_end_told = true;
		ret->type = TRANSPORT_OVER;
	}
}

static void end_output(struct transport *t)
{
	struct websocket *w = of(t);

	if (w->phase == PHASE_CLOSING || w->phase == PHASE_OVER)
		return;
	if (w->phase != PHASE_OPEN) {
		websocket_end(w);
		return;
	}
	say_close(w, CODE_NORMAL);
	if (w->phase != PHASE_OPEN)
		return;
	w->phase = PHASE_CLOSING;
	loop_timer_set(w->o.loop, &w->timer,
		       loop_now(w->o.loop) +
			       (w->o.end_ms ? w->o.end_ms : REMOTE_END_MS) *
				       NS_PER_MS);
}

static void end_input(UNUSED struct transport *t)
{
}

static void ws_free(struct transport *t)
{
	struct websocket *w = of(t);

	websocket_close_tunnel(w);
	if (w->o.auth)
		w->o.auth->changed = NULL;
	http_reader_release(&w->head);
	ws_reader_release(&w->in);
	buf_release(&w->line);
	buf_release(&w->messages);
	buf_release(&w->out);
	arena_release(&w->arena);
	fd_closep(&w->event);
	free(w);
}

static void facts(const struct transport *t, struct jw *w)
{
	const struct websocket *s = (const struct websocket *)t;

	jw_key_str(w, STR("websocket"));
	jw_object(w);
	jw_kv_bool(w, "opened", s->has_head);
	jw_kv_cstr(w, "library", http_library());
	jw_end(w);
}

static const struct transport_type type = {
	.name = "websocket",
	.in_fd = in_fd,
	.out_fd = out_fd,
	.send = ws_send,
	.end_output = end_output,
	.end_input = end_input,
	.free = ws_free,
	.next = next,
	.facts = facts,
};

int transport_websocket(const struct remote_options *options,
			struct transport **ret, struct err *err)
{
	struct websocket *w = mem_zalloc(sizeof(*w));

	w->base.type = &type;
	w->o = *options;
	w->arena = (struct arena)ARENA_INIT;
	w->head = (struct http_reader)HTTP_READER_INIT;
	w->line = w->messages = w->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	w->timer = (struct loop_timer){.fire = websocket_on_timer, .arg = w};
	ws_reader_init(&w->in, options->message_max);
	if (w->o.auth) {
		w->o.auth->changed = websocket_on_changed;
		w->o.auth->arg = w;
	}
	w->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->event < 0) {
		err_sys(err, errno, "eventfd");
		ws_free(&w->base);
		return -1;
	}
	if (url_parse(str_of(options->url), &w->arena, &w->url, err) < 0) {
		ws_free(&w->base);
		return -1;
	}
	*ret = &w->base;
	return 0;
}
