/* How a WebSocket begins: credentials, the connection, the handshake. */
#include <errno.h>
#include <strings.h>
#include <sys/random.h>

#include "core/base/limits.h"
#include "core/transport/websocket_inner.h"

#define OPEN_MS 20000
#define OPEN_TEXT "20 s"
#define CHUNK_BYTES (64 * 1024)
/* A read of all that is there, so that others have their turn. */
#define TURN_BYTES (1024 * 1024)

/* ---- the handshake ---- */

static void add_request(struct websocket *w, const struct http_headers *more)
{
	unsigned char random[16];
	char key[WS_KEY_BYTES];
	bool has_port = w->url.port != (w->url.is_tls ? 443 : 80);

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		memset(random, 0, sizeof(random));
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
}

static const char *http_url(struct websocket *w)
{
	if (!transport_is_websocket(w->url.text.p))
		return w->url.text.p;
	return arena_printf(&w->arena, "http%s", w->url.text.p + 2);
}

/* True: the request is in `out`. */
static bool sign(struct websocket *w, struct err *err)
{
	struct http_headers headers = {0};
	enum authorizer_verdict v = AUTHORIZER_GO;

	if (w->o.auth)
		v = w->o.auth->type->sign(w->o.auth, "GET", http_url(w),
					  &headers, err);
	if (v == AUTHORIZER_GO)
		add_request(w, &headers);
	http_headers_release(&headers);
	if (v == AUTHORIZER_NO)
		websocket_fail(w, TRANSPORT_DENIED, err);
	if (v == AUTHORIZER_WAIT) {
		w->phase = PHASE_WAITING;
		w->is_held = w->o.auth->type->is_person(w->o.auth);
		websocket_wake(w);
	}
	return v == AUTHORIZER_GO;
}

static void on_refused(struct websocket *w, const struct http_head *head)
{
	struct err err = ERR_INIT;
	enum authorizer_verdict v;

	if (head->status == 401)
		w->tries.unauthorized++;
	else
		w->tries.forbidden++;
	websocket_close_tunnel(w);
	v = w->o.auth->type->refused(w->o.auth, "GET", http_url(w), head,
				     (struct str){NULL, 0}, &w->tries, &err);
	if (v == AUTHORIZER_GO) {
		websocket_begin(w);
	} else if (v == AUTHORIZER_NO) {
		websocket_fail(w, TRANSPORT_DENIED, &err);
	} else {
		w->phase = PHASE_WAITING;
		w->is_held = w->o.auth->type->is_person(w->o.auth);
		websocket_wake(w);
	}
}

/* What is wrong with the answer to the handshake, or NULL. */
static const char *fault(struct websocket *w, const struct http_head *head)
{
	struct str v;

	if (!http_head_get(head, "Upgrade", 0, &v) || v.n != 9 ||
	    strncasecmp(v.p, "websocket", 9) != 0)
		return "its answer does not say \"Upgrade: websocket\"";
	if (!http_head_get(head, "Sec-WebSocket-Accept", 0, &v) ||
	    !str_is(v, w->accept))
		return "its Sec-WebSocket-Accept is not that of our key";
	if (http_head_get(head, "Sec-WebSocket-Extensions", 0, &v) && v.n)
		return "it wants an extension that was not offered";
	if (http_head_get(head, "Sec-WebSocket-Protocol", 0, &v) &&
	    !str_is(v, "mcp"))
		return "it speaks another sub-protocol than mcp";
	return NULL;
}

static void on_head(struct websocket *w)
{
	struct http_head head;
	struct err err = ERR_INIT;
	const char *why;

	http_reader_head(&w->head, &head);
	w->has_head = head.status == 101;
	if (w->o.auth && w->o.auth->type->answered)
		w->o.auth->type->answered(w->o.auth, &head);
	if ((head.status == 401 || head.status == 403) && w->o.auth) {
		on_refused(w, &head);
		return;
	}
	if (head.status != 101) {
		err_set(&err, ERR_PEER,
			"%.*s answered the WebSocket handshake with HTTP %d; "
			"is there a WebSocket server at this path?",
			STR_ARG(w->url.host), head.status);
		websocket_fail(w,
			       head.status == 401 || head.status == 403
				       ? TRANSPORT_DENIED
				       : TRANSPORT_BROKE,
			       &err);
		return;
	}
	why = fault(w, &head);
	if (why) {
		websocket_fail_text(w, why);
		return;
	}
	loop_timer_clear(w->o.loop, &w->timer);
	w->phase = PHASE_OPEN;
	websocket_send_messages(w);
}

/* Bytes of the head; what follows it are frames. */
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
			websocket_fail_text(
				w, "its answer to the handshake is no HTTP");
			return;
		}
		buf_clear(&w->line);
	}
	if (!w->has_head)
		return;
	on_head(w);
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

	while (w->tunnel && budget) {
		ssize_t n = http_tunnel_read(w->tunnel, chunk, sizeof(chunk));

		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			websocket_fail_text(
				w, w->phase == PHASE_OPENING
					   ? "the connection ended within "
					     "the handshake"
					   : "the connection ended");
			return;
		}
		if (w->phase == PHASE_OPENING)
			read_head(w, (struct str){chunk, (size_t)n});
		else
			ws_add(&w->in, (struct str){chunk, (size_t)n});
		budget -= (size_t)n < budget ? (size_t)n : budget;
	}
	websocket_wake(w);
}

static void on_writable(void *arg)
{
	websocket_flush(arg);
}

static void on_failed(void *arg, const struct http_end *e)
{
	struct websocket *w = arg;

	websocket_fail(
		w, e->kind == HTTP_REFUSED ? TRANSPORT_LEASH : TRANSPORT_BROKE,
		&e->err);
}

void websocket_on_timer(void *arg)
{
	struct websocket *w = arg;

	if (w->phase == PHASE_OPENING)
		websocket_fail_text(w, "no answer to the WebSocket handshake "
				       "within " OPEN_TEXT);
	else
		websocket_end(w);
}

void websocket_begin(struct websocket *w)
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
	struct err err = ERR_INIT;

	buf_clear(&w->out);
	w->sent = 0;
	http_reader_release(&w->head);
	w->head = (struct http_reader)HTTP_READER_INIT;
	w->has_head = false;
	if (!sign(w, &err))
		return;
	w->phase = PHASE_OPENING;
	loop_timer_set(w->o.loop, &w->timer,
		       loop_now(w->o.loop) + OPEN_MS * NS_PER_MS);
	w->tunnel = http_tunnel_open(w->o.http, &request, &handler);
}

/* Credentials are there, or will never be. */
void websocket_on_changed(void *arg)
{
	struct websocket *w = arg;

	if (w->phase != PHASE_WAITING)
		return;
	w->is_held = false;
	websocket_wake(w);
	websocket_begin(w);
}
