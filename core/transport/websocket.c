#include "core/transport/remote.h"

#include <assert.h>
#include <errno.h>
#include <strings.h>
#include <sys/random.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/url.h"
#include "core/mcp/wire/websocket.h"
#include "core/transport/http_head.h"
#include "core/transport/items.h"

#define CODE_NORMAL 1000
#define CODE_TOO_BIG 1009
/* Pings of a server that does not read its pongs stay unanswered from here on:
   only the last one counts (RFC 6455, section 5.5.3). */
#define PONGS_BYTES (64 * 1024)
/* For the connection and the handshake on it. */
#define OPEN_MS 20000
#define CHUNK_BYTES (64 * 1024)
/* Bytes read in one turn of the loop, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)

/* phase, its word, and the phases that may follow */
#define WEBSOCKET_PHASES(X)                                               \
	X(PHASE_IDLE, "idle", TO(WAITING) | TO(OPENING) | TO(OVER))       \
	/* for credentials */                                             \
	X(PHASE_WAITING, "waiting", TO(WAITING) | TO(OPENING) | TO(OVER)) \
	/* the connection, and the handshake on it */                     \
	X(PHASE_OPENING, "opening",                                       \
	  TO(WAITING) | TO(OPENING) | TO(OPEN) | TO(OVER))                \
	X(PHASE_OPEN, "open", TO(CLOSING) | TO(OVER))                     \
	/* our Close frame was written */                                 \
	X(PHASE_CLOSING, "closing", TO(OVER))                             \
	X(PHASE_OVER, "over", 0)

enum websocket_phase { WEBSOCKET_PHASES(ROW_NAME) };

struct websocket {
	struct transport base; /* first */
	struct remote_options o;
	struct arena arena;
	struct url url;
	enum websocket_phase phase; /* set by phase_to() only */
	struct items items;
	struct loop_timer timer; /* deadline of the phase */
	struct http_tunnel *tunnel;
	struct http_reader head;
	struct buf line; /* of the head, half read */
	bool has_head;
	char accept[WS_ACCEPT_BYTES];
	struct authorizer_try tries;
	struct ws_reader in;
	struct buf messages; /* of ours, not yet whole or not yet sent */
	struct buf out;	     /* frames */
	size_t sent;	     /* of them */
};

bool transport_is_websocket(const char *url)
{
	return strncmp(url, "ws://", 5) == 0 || strncmp(url, "wss://", 6) == 0;
}

/* ---- the phase ---- */

static void close_tunnel(struct websocket *w)
{
	loop_timer_clear(w->o.loop, &w->timer);
	http_tunnel_free(w->tunnel);
	w->tunnel = NULL;
}

/* in_ms  until the phase ends by itself; 0: it does not */
static void phase_to(struct websocket *w, enum websocket_phase phase,
		     uint64_t in_ms)
{
	static const struct {
		const char *word;
		unsigned next; /* bits of phases */
	} phases[] = {
#define TO(name) (1u << PHASE_##name)
#define WEBSOCKET_PHASE(name, word, next) [name] = {word, next},
		WEBSOCKET_PHASES(WEBSOCKET_PHASE)
#undef WEBSOCKET_PHASE
#undef TO
	};

	assert(phases[w->phase].next & (1u << phase));
	log_debug("websocket: %s -> %s", phases[w->phase].word,
		  phases[phase].word);
	w->phase = phase;
	if (in_ms)
		loop_timer_in(w->o.loop, &w->timer, in_ms);
	else
		loop_timer_clear(w->o.loop, &w->timer);
}

/* The end, also of a connection that did not fail. */
static void end(struct websocket *w)
{
	if (w->phase == PHASE_OVER)
		return;
	close_tunnel(w);
	phase_to(w, PHASE_OVER, 0);
	items_add(&w->items, &(struct transport_item){.type = TRANSPORT_OVER});
}

/* The first reason counts; none does once we said that we close. */
static void fail(struct websocket *w, enum transport_loss loss,
		 const struct err *err)
{
	if (w->phase != PHASE_OVER && w->phase != PHASE_CLOSING)
		items_add(&w->items, &(struct transport_item){
					     .type = TRANSPORT_LOST,
					     .loss = loss,
					     .is_unknown = true,
					     .err = *err,
				     });
	end(w);
}

/* Fail with the host before the reason. */
static void fail_text(struct websocket *w, const char *why)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "%.*s: %s", STR_ARG(w->url.host), why);
	fail(w, TRANSPORT_BROKE, &err);
}

/* ---- frames out ---- */

/* false: the kernel gave none, and the connection is over. */
static bool make_random(struct websocket *w, unsigned char *to, size_t n)
{
	if (getrandom(to, n, 0) == (ssize_t)n)
		return true;
	fail_text(w, "the kernel gives no random bytes");
	return false;
}

static void flush(struct websocket *w)
{
	while (w->tunnel && w->sent < w->out.n) {
		struct str rest = {w->out.p + w->sent, w->out.n - w->sent};
		ssize_t n = http_tunnel_write(w->tunnel, rest);

		if (n < 0 && errno == EAGAIN) {
			/* where the other side is slow, it may never be empty
			 */
			if (w->sent > w->out.n / 2) {
				buf_drop(&w->out, w->sent);
				w->sent = 0;
			}
			return;
		}
		if (n < 0) {
			fail_text(w, "the connection broke");
			return;
		}
		w->sent += (size_t)n;
	}
	mem_wipe(w->out.p, w->out.n);
	buf_clear(&w->out);
	w->sent = 0;
}

static bool add_frame(struct websocket *w, enum ws_opcode op,
		      struct str payload)
{
	unsigned char mask[4];

	if (!make_random(w, mask, sizeof(mask)))
		return false;
	ws_write(&w->out, op, payload, mask);
	return true;
}

/* Whole lines become frames. */
static void send_messages(struct websocket *w)
{
	const char *end_of;
	size_t from = 0;

	while (w->phase == PHASE_OPEN &&
	       (end_of = memchr(w->messages.p + from, '\n',
				w->messages.n - from))) {
		struct str line = {w->messages.p + from,
				   (size_t)(end_of - w->messages.p) - from};

		if (!add_frame(w, WS_OP_TEXT, line))
			return;
		from += line.n + 1;
	}
	buf_drop(&w->messages, from);
	if (w->phase == PHASE_OPEN)
		flush(w);
}

static void send_close(struct websocket *w, uint16_t code)
{
	unsigned char mask[4];

	if (!make_random(w, mask, sizeof(mask)))
		return;
	ws_write_close(&w->out, code, mask);
	flush(w);
}

/* ---- frames in ---- */

static void take_frames(struct websocket *w)
{
	struct err err = ERR_INIT;
	struct ws_item item;
	enum ws_item_type type;

	while (w->phase != PHASE_OVER &&
	       (type = ws_next(&w->in, &item)) != WS_NONE) {
		switch (type) {
		case WS_MESSAGE:
			items_add_message(&w->items, item.payload, NULL);
			break;
		case WS_PING:
			if (w->out.n - w->sent <= PONGS_BYTES &&
			    add_frame(w, WS_OP_PONG, item.payload))
				flush(w);
			break;
		case WS_OVER:
			send_close(w, CODE_TOO_BIG);
			err_set(&err, ERR_LIMIT,
				"a message of more than %llu bytes; raise "
				"stdout_max where that much is expected",
				(unsigned long long)w->in.message_max);
			fail(w, TRANSPORT_TOO_LONG, &err);
			break;
		case WS_BROKEN:
			fail(w, TRANSPORT_BROKE, &item.err);
			break;
		case WS_CLOSE:
			send_close(w, CODE_NORMAL);
			log_debug("%.*s closed the WebSocket with code %u",
				  STR_ARG(w->url.host), item.code);
			end(w);
			break;
		case WS_PONG:
		case WS_NONE:
			break;
		}
	}
}

/* ---- credentials ---- */

static void begin(struct websocket *w);

/* Until the authorizer calls; clocks stand still while it asks a person. */
static void wait_for_authorizer(struct websocket *w)
{
	phase_to(w, PHASE_WAITING, 0);
	items_hold(&w->items, w->o.auth->type->is_person(w->o.auth));
}

static const char *http_url(struct websocket *w)
{
	if (!transport_is_websocket(w->url.text.p))
		return w->url.text.p;
	return arena_printf(&w->arena, "http%s", w->url.text.p + 2);
}

static void ask_authorizer(struct websocket *w, const struct http_head *head)
{
	struct err err = ERR_INIT;
	enum authorizer_verdict v;

	*(head->status == 401 ? &w->tries.unauthorized : &w->tries.forbidden) +=
		1;
	close_tunnel(w);
	v = w->o.auth->type->refused(w->o.auth, "GET", http_url(w), head,
				     (struct str){NULL, 0}, &w->tries, &err);
	if (v == AUTHORIZER_GO)
		begin(w);
	else if (v == AUTHORIZER_NO)
		fail(w, TRANSPORT_DENIED, &err);
	else
		wait_for_authorizer(w);
}

static void on_authorizer_changed(void *arg)
{
	struct websocket *w = arg;

	if (w->phase != PHASE_WAITING)
		return;
	items_hold(&w->items, false);
	begin(w);
}

/* ---- the handshake ---- */

static bool add_request(struct websocket *w, const struct http_headers *more)
{
	unsigned char random[16];
	char key[WS_KEY_BYTES];
	bool has_port = w->url.port != (w->url.is_tls ? 443 : 80);

	if (!make_random(w, random, sizeof(random)))
		return false;
	ws_key(random, key);
	ws_accept(key, w->accept);
	buf_addf(&w->out, "GET %.*s", STR_ARG(w->url.path));
	if (w->url.query.p)
		buf_addf(&w->out, "?%.*s", STR_ARG(w->url.query));
	buf_addf(&w->out, " HTTP/1.1\r\nHost: %s%.*s%s",
		 w->url.is_ipv6 ? "[" : "", STR_ARG(w->url.host),
		 w->url.is_ipv6 ? "]" : "");
	if (has_port)
		buf_addf(&w->out, ":%u", w->url.port);
	buf_addf(&w->out,
		 "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		 "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
		 "Sec-WebSocket-Protocol: mcp\r\nUser-Agent: matins/%s\r\n",
		 key, MATINS_VERSION);
	http_headers_write(more, &w->out);
	buf_adds(&w->out, "\r\n");
	return true;
}

/* true: the request is in `out`. */
static bool sign_request(struct websocket *w)
{
	struct http_headers headers = {0};
	struct err err = ERR_INIT;
	enum authorizer_verdict v = AUTHORIZER_GO;
	bool is_ready = false;

	if (w->o.auth)
		v = w->o.auth->type->sign(w->o.auth, "GET", http_url(w),
					  &headers, &err);
	if (v == AUTHORIZER_GO)
		is_ready = add_request(w, &headers);
	else if (v == AUTHORIZER_NO)
		fail(w, TRANSPORT_DENIED, &err);
	else
		wait_for_authorizer(w);
	http_headers_release(&headers);
	return is_ready;
}

/* A fault of the answer to the handshake, or NULL. */
static const char *find_fault(struct websocket *w, const struct http_head *head)
{
	struct str v;

	if (!http_head_get(head, "Upgrade", 0, &v) || v.n != 9 ||
	    strncasecmp(v.p, "websocket", 9) != 0)
		return "its answer does not say \"Upgrade: websocket\"";
	if (!http_head_get(head, "Sec-WebSocket-Accept", 0, &v) ||
	    !str_is(v, w->accept))
		return "its Sec-WebSocket-Accept is not that of our key";
	if (http_head_get(head, "Sec-WebSocket-Extensions", 0, &v) && v.n)
		return "it chose an extension that was not offered";
	if (http_head_get(head, "Sec-WebSocket-Protocol", 0, &v) &&
	    !str_is(v, "mcp"))
		return "it speaks another sub-protocol than mcp";
	return NULL;
}

static void take_head(struct websocket *w)
{
	struct http_head head;
	struct err err = ERR_INIT;
	bool is_denied;
	const char *fault;

	http_reader_head(&w->head, &head);
	w->has_head = head.status == 101;
	is_denied = head.status == 401 || head.status == 403;
	if (w->o.auth && w->o.auth->type->answered)
		w->o.auth->type->answered(w->o.auth, &head);
	if (is_denied && w->o.auth) {
		ask_authorizer(w, &head);
		return;
	}
	if (head.status != 101) {
		err_set(&err, ERR_PEER,
			"%.*s answered the WebSocket handshake with HTTP %d; "
			"is there a WebSocket server at this path?",
			STR_ARG(w->url.host), head.status);
		fail(w, is_denied ? TRANSPORT_DENIED : TRANSPORT_BROKE, &err);
		return;
	}
	fault = find_fault(w, &head);
	if (fault) {
		fail_text(w, fault);
	} else {
		phase_to(w, PHASE_OPEN, 0);
		send_messages(w);
	}
}

/* Bytes of the head; frames follow it. */
static void read_head(struct websocket *w, struct str bytes)
{
	while (bytes.n && !w->has_head) {
		const char *nl = memchr(bytes.p, '\n', bytes.n);
		size_t n = nl ? (size_t)(nl - bytes.p) + 1 : bytes.n;

		buf_add(&w->line, bytes.p, n);
		bytes.p += n;
		bytes.n -= n;
		if (!nl && w->line.n <= LIMIT_HEAD_BYTES)
			return;
		switch (http_reader_line(&w->head, buf_str(&w->line))) {
		case HTTP_READ_MORE:
			break;
		case HTTP_READ_WHOLE:
			w->has_head = true;
			break;
		case HTTP_READ_FULL:
		case HTTP_READ_BAD:
			fail_text(w, "its answer to the handshake is not HTTP");
			return;
		}
		buf_clear(&w->line);
	}
	if (!w->has_head)
		return;
	take_head(w);
	/* a page of a refusal is no frame */
	if (w->phase == PHASE_OPEN)
		ws_add(&w->in, bytes);
}

/* ---- the connection ---- */

static void on_readable(void *arg)
{
	struct websocket *w = arg;
	char chunk[CHUNK_BYTES];
	size_t budget = TURN_BYTES;
	bool is_ended = false;

	while (w->tunnel && budget) {
		ssize_t n = http_tunnel_read(w->tunnel, chunk, sizeof(chunk));

		is_ended = n == 0 || (n < 0 && errno != EAGAIN);
		if (n <= 0)
			break;
		if (w->phase == PHASE_OPENING)
			read_head(w, (struct str){chunk, (size_t)n});
		else
			ws_add(&w->in, (struct str){chunk, (size_t)n});
		budget -= (size_t)n < budget ? (size_t)n : budget;
	}
	if (w->has_head)
		take_frames(w);
	if (is_ended && w->phase != PHASE_OVER)
		fail_text(w, w->phase == PHASE_OPENING
				     ? "the connection ended within the "
				       "handshake"
				     : "the connection ended");
}

static void on_writable(void *arg)
{
	flush(arg);
}

static void on_failed(void *arg, const struct http_end *e)
{
	fail(arg, e->kind == HTTP_REFUSED ? TRANSPORT_LEASH : TRANSPORT_BROKE,
	     &e->err);
}

static void on_late(void *arg)
{
	struct websocket *w = arg;

	if (w->phase == PHASE_OPENING)
		fail_text(w,
			  "no answer to the WebSocket handshake within 20 s");
	else
		end(w);
}

/* Connect, or wait for credentials first. */
static void begin(struct websocket *w)
{
	const struct http_tunnel_handler handler = {
		.opened = on_writable,
		.readable = on_readable,
		.writable = on_writable,
		.failed = on_failed,
		.arg = w,
	};
	const struct http_request request = {
		.url = w->url.text.p,
		.connect_ms = w->o.connect_ms,
		.reach = &w->o.reach,
	};

	buf_clear(&w->out);
	w->sent = 0;
	http_reader_release(&w->head);
	w->head = (struct http_reader)HTTP_READER_INIT;
	w->has_head = false;
	if (!sign_request(w))
		return;
	phase_to(w, PHASE_OPENING, OPEN_MS);
	w->tunnel = http_tunnel_open(w->o.http, &request, &handler);
}

/* ---- for the caller ---- */

static int websocket_in_fd(const struct transport *t)
{
	return ((const struct websocket *)t)->items.event;
}

static ssize_t websocket_send(struct transport *t, struct str bytes)
{
	struct websocket *w = (struct websocket *)t;

	if (w->phase == PHASE_OVER || w->phase == PHASE_CLOSING) {
		errno = EPIPE;
		return -1;
	}
	buf_add_str(&w->messages, bytes);
	if (w->phase == PHASE_IDLE)
		begin(w);
	else
		send_messages(w);
	return (ssize_t)bytes.n;
}

static void websocket_next(struct transport *t, struct transport_item *ret)
{
	items_next(&((struct websocket *)t)->items, ret);
}

static void websocket_end_output(struct transport *t)
{
	struct websocket *w = (struct websocket *)t;

	if (w->phase == PHASE_OPEN)
		send_close(w, CODE_NORMAL);
	if (w->phase == PHASE_OPEN)
		phase_to(w, PHASE_CLOSING,
			 w->o.end_ms ? w->o.end_ms : REMOTE_END_MS);
	else if (w->phase != PHASE_CLOSING)
		end(w);
}

static void websocket_free(struct transport *t)
{
	struct websocket *w = (struct websocket *)t;

	close_tunnel(w);
	if (w->o.auth)
		w->o.auth->changed = NULL;
	http_reader_release(&w->head);
	ws_reader_release(&w->in);
	buf_release(&w->line);
	buf_release(&w->messages);
	buf_release(&w->out);
	arena_release(&w->arena);
	items_release(&w->items);
	free(w);
}

static void websocket_facts(const struct transport *t, struct jw *w)
{
	const struct websocket *s = (const struct websocket *)t;

	jw_key_str(w, STR("websocket"));
	jw_object(w);
	jw_kv_bool(w, "opened", s->has_head);
	jw_kv_cstr(w, "library", http_library());
	jw_end(w);
}

static const struct transport_type websocket_type = {
	.name = "websocket",
	.in_fd = websocket_in_fd,
	.send = websocket_send,
	.end_output = websocket_end_output,
	.free = websocket_free,
	.next = websocket_next,
	.facts = websocket_facts,
};

int transport_websocket(const struct remote_options *options,
			struct transport **ret, struct err *err)
{
	struct websocket *w = mem_zalloc(sizeof(*w));

	w->base.type = &websocket_type;
	w->o = *options;
	w->head = (struct http_reader)HTTP_READER_INIT;
	w->line = w->messages = w->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	w->timer = (struct loop_timer){.fire = on_late, .arg = w};
	ws_reader_init(&w->in, options->message_max);
	if (w->o.auth) {
		w->o.auth->changed = on_authorizer_changed;
		w->o.auth->arg = w;
	}
	if (items_init(&w->items, err) < 0 ||
	    url_parse(str_of(options->url), &w->arena, &w->url, err) < 0) {
		websocket_free(&w->base);
		return -1;
	}
	*ret = &w->base;
	return 0;
}
