/*
 * Servers at a URL: no process, and whole messages instead of bytes. That
 * they are told of the end, and may lose single requests, is all that differs.
 */
#include "core/base/scan.h"
#include "core/client/client_inner.h"

bool client_is_remote(const struct client *c)
{
	return c->transport && transport_has_messages(c->transport);
}

bool client_has_headers(const struct client *c)
{
	const struct mcp_revision *r = client_server(c)->revision;

	return client_is_remote(c) && r && r->era == MCP_ERA_PER_REQUEST;
}

/* What is known of the server at this URL; only where it may matter. */
static void recall_era(struct client *c)
{
	struct client_begin *b = &c->begin;

	if (b->protocol || b->has_key || !c->o.url)
		return;
	eras_key_url(&b->key, c->o.url);
	b->has_key = true;
	b->era = eras_find(c->ctx.eras, &b->key);
	b->is_remembered = b->era != SESSION_ERA_PROBE;
}

int client_open_remote(struct client *c, struct err *err)
{
	if (c->o.open(c->o.open_arg, &c->transport, err) < 0)
		return -1;
	recall_era(c);
	return 0;
}

static enum session_failure failure_of(enum transport_loss loss)
{
	switch (loss) {
	case TRANSPORT_BROKE:
		break;
	case TRANSPORT_DENIED:
		return SESSION_FAIL_AUTH;
	case TRANSPORT_LEASH:
		return SESSION_FAIL_LEASH;
	case TRANSPORT_TOO_LONG:
		return SESSION_FAIL_LIMIT;
	}
	return SESSION_FAIL_TRANSPORT;
}

/* It has said all that it will. */
static void on_transport_over(struct client *c)
{
	if (!c->is_open && !c->is_telling) {
		client_over(c);
		return;
	}
	loop_unwatch(c->ctx.loop, &c->in);
	session_eof(c->session, loop_now(c->ctx.loop));
	client_pump(c);
}

bool client_receive_messages(struct client *c, size_t budget)
{
	struct session *s = c->session;
	uint64_t now = loop_now(c->ctx.loop);
	struct transport_item item;

	/* an event may end all, or begin anew */
	while (budget && c->transport && c->session == s) {
		transport_next(c->transport, &item);
		switch (item.type) {
		case TRANSPORT_NONE:
			return true;
		case TRANSPORT_MESSAGE:
			c->bytes_in += item.message.n;
			session_message(s, item.message, now);
			budget -= item.message.n < budget ? item.message.n
							  : budget;
			break;
		case TRANSPORT_LOST:
			session_lost(s, item.id, failure_of(item.loss),
				     &item.err, now);
			break;
		case TRANSPORT_HELD:
		case TRANSPORT_RESUMED:
			session_hold(s, item.type == TRANSPORT_HELD, now);
			break;
		case TRANSPORT_OVER:
			on_transport_over(c);
			return true;
		}
		client_pump(c);
	}
	return false;
}

void client_write_remote(struct client *c, struct jw *w)
{
	struct scan_iter it;

	client_note_remote(c);
	scan_iter_init(&it, c->remote.n ? buf_str(&c->remote) : STR("{}"));
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		jw_key_str(w, buf_str(&key));
		jw_raw(w, it.value);
	}
}

void client_note_remote(struct client *c)
{
	AUTO(buf_release) struct buf facts = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!client_is_remote(c))
		return;
	jw_init(&w, &facts, false);
	jw_object(&w);
	transport_facts(c->transport, &w);
	if (c->o.open_facts)
		c->o.open_facts(c->o.open_arg, &w);
	jw_end(&w);
	/* the path of a URL may hold a key */
	buf_clear(&c->remote);
	if (scrub_is_empty(c->ctx.scrub))
		buf_add_str(&c->remote, buf_str(&facts));
	else
		(void)scrub_json(c->ctx.scrub, buf_str(&facts), &c->remote);
}
