/*
 * HTTP+SSE of 2024-11-05: one stream for all that the server says, which
 * begins by telling where our messages go.
 */
#include "core/base/log.h"
#include "core/transport/remote_inner.h"

/* It did not begin: what led here fails, or all. */
static void failed(struct remote *r, enum transport_loss loss,
		   const struct err *why)
{
	struct post *p = r->refused;
	struct err err = ERR_INIT;

	if (!p) {
		remote_lose_all(r, loss, why);
		return;
	}
	r->refused = NULL;
	r->is_sse = false;
	err_set(&err, r->refusal.kind,
		"no MCP server is there: %s (HTTP+SSE was tried as well: %s)",
		r->refusal.msg, why->msg);
	err.sys = r->refusal.sys;
	remote_refuse(p, &err);
}

static void on_lost(struct remote *r, UNUSED struct post *p,
		    UNUSED const struct rpc_message *m,
		    const struct transport_item *lost)
{
	r->events = NULL;
	failed(r, lost->loss, &lost->err);
}

static void give_up(struct post *p, const struct err *err)
{
	remote_lose(p, TRANSPORT_BROKE, false, err);
}

void remote_sse_begin(struct remote *r, struct post *p, const struct err *err)
{
	r->is_sse = true;
	r->refused = p;
	if (p) {
		p->state = POST_ELSEWHERE;
		r->refusal = *err;
	}
	r->events = remote_post(r, POST_EVENTS, STR(""));
	r->events->answer = on_lost;
}

void remote_sse_late(struct post *p)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "it did not say where messages go within %d s",
		REMOTE_ENDPOINT_MS / 1000);
	give_up(p, &err);
}

static void on_endpoint(struct post *p, struct str reference)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct remote *r = p->remote;
	struct url *url = ARENA_NEW(&r->arena, struct url);
	struct err err = ERR_INIT;

	if (url_resolve(post_url(p), str_trim(reference), &r->arena, url,
			&err) < 0) {
		err_wrap(&err, "its endpoint");
		give_up(p, &err);
		return;
	}
	/* credentials would leave the server they are for (HS-2) */
	if (!url_same_origin(url, &r->url)) {
		url_origin(url, &shown);
		err_set(&err, ERR_PEER,
			"it wants messages to go to another place, %s; that "
			"is refused",
			buf_cstr(&shown));
		give_up(p, &err);
		return;
	}
	loop_timer_clear(r->o.loop, &p->timer);
	r->endpoint = url;
	if (r->refused)
		post_again(r->refused);
	r->refused = NULL;
	remote_wake(r);
}

void remote_sse_event(struct post *p, const struct sse_event *e)
{
	/* a second one would move a session that is under way */
	if (str_is(e->name, "endpoint") && !p->remote->endpoint)
		on_endpoint(p, e->data);
}

void remote_sse_ended(struct post *p, const struct http_end *end)
{
	struct remote *r = p->remote;
	int status = p->reply.status;
	struct err err = ERR_INIT;

	if (r->endpoint) {
		err_set(&err, ERR_PEER,
			"the server closed its event stream, and the session "
			"with it");
		remote_lose_all(r, TRANSPORT_BROKE, &err);
		return;
	}
	if (!status || p->reply.is_stream) {
		post_say_end(p, end, &err);
		give_up(p, &err);
	} else if (status == 401 || status == 403) {
		post_denied(p);
	} else if (status < 300 || status >= 400 || !post_redirect(p, &err)) {
		post_say_status(p, &err);
		give_up(p, &err);
	} else {
		post_again(p);
	}
}
