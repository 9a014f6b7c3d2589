#include "core/transport/post.h"

#include <assert.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"

#define META(name) "io.modelcontextprotocol/" name

/* ---- the state ---- */

static const struct {
	const char *word;
	unsigned next; /* bits of states */
} states[] = {
#define TO(name) (1u << POST_##name)
#define POST_STATE(name, word, next) [name] = {word, next},
	POST_STATES(POST_STATE)
#undef POST_STATE
#undef TO
};

void post_close(struct post *p)
{
	http_cancel(p->x);
	p->x = NULL;
	p->reply.status = 0;
	p->reply.is_stream = p->reply.is_too_long = false;
	buf_release(&p->reply.body);
	buf_clear(&p->reply.media_type);
	buf_clear(&p->reply.lines);
}

static void unlink_post(struct post *p)
{
	struct posts *all = p->all;

	*(p->prev ? &p->prev->next : &all->first) = p->next;
	*(p->next ? &p->next->prev : &all->last) = p->prev;
	p->next = all->gone;
	all->gone = p;
}

void post_to(struct post *p, enum post_state state, uint64_t in_ms)
{
	struct loop *loop = p->all->loop;

	assert(states[p->state].next & (1u << state));
	log_debug("%s: %s -> %s", post_name(p), states[p->state].word,
		  states[state].word);
	p->state = state;
	/* a reply is kept that may still be told, or is still being read */
	if (state != POST_LINGERS && state != POST_ELSEWHERE)
		post_close(p);
	if (in_ms == POST_NO_TIME)
		loop_timer_clear(loop, &p->timer);
	else
		loop_timer_set(loop, &p->timer,
			       loop_now(loop) + in_ms * NS_PER_MS);
	if (state == POST_GONE)
		unlink_post(p);
	if (state == POST_GONE || state == POST_QUEUED)
		posts_wake(p->all);
}

/* ---- a message of ours ---- */

static char *decoded(struct str json)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	scan_string(json, &text);
	return buf_steal(&text);
}

static char *own_protocol(struct str params)
{
	struct str meta, date;

	if (!scan_get(params, "_meta", &meta) ||
	    !scan_get(meta, META("protocolVersion"), &date) ||
	    scan_type(date) != SCAN_STRING)
		return NULL;
	return decoded(date);
}

static void read_message(struct post *p)
{
	struct err ignored = ERR_INIT;
	struct rpc_message m;
	struct str v;

	p->params = STR("{}");
	if (scan_document(buf_str(&p->body), NULL, &v, &ignored) < 0)
		v = STR("null");
	rpc_read(v, &m);
	if (m.type == RPC_REQUEST || m.type == RPC_NOTIFICATION) {
		p->method = decoded(m.method);
		p->params = m.params;
		p->protocol = own_protocol(m.params);
	} else {
		p->method = mem_strdup("");
	}
	if (m.type == RPC_REQUEST)
		p->id = m.id.raw;
	else
		p->kind = POST_NOTICE;
}

bool post_is(const struct post *p, const char *method)
{
	return p->method && strcmp(p->method, method) == 0;
}

bool post_is_safe(const struct post *p)
{
	static const char *const safe[] = {
		"resources/read", "prompts/get", "completion/complete",
		"tasks/get",	  "ping",	 "server/discover",
	};

	if (p->kind != POST_REQUEST)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(safe); i++)
		if (post_is(p, safe[i]))
			return true;
	return str_ends(str_of(p->method), "/list");
}

bool post_is_get(const struct post *p)
{
	return p->kind == POST_LISTENER || p->kind == POST_EVENTS ||
	       p->is_resuming;
}

const char *post_name(const struct post *p)
{
	switch (p->kind) {
	case POST_LISTENER:
	case POST_EVENTS:
		return "GET";
	case POST_DELETE:
		return "DELETE";
	case POST_REQUEST:
	case POST_NOTICE:
		break;
	}
	return p->method && *p->method ? p->method : "an answer of ours";
}

/* ---- all of them ---- */

void posts_wake(struct posts *all)
{
	loop_timer_set(all->loop, &all->flow, loop_now(all->loop));
}

struct post *posts_add(struct posts *all, enum post_kind kind, struct str body)
{
	struct post *p = mem_zalloc(sizeof(*p));
	bool is_first = kind == POST_LISTENER;

	p->all = all;
	p->kind = kind;
	p->body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	p->reply.media_type = p->reply.lines = p->reply.body =
		(struct buf)BUF_INIT(BUF_UNBOUNDED);
	p->timer = (struct loop_timer){.fire = all->late, .arg = p};
	sse_init(&p->sse, all->message_max);
	buf_add_str(&p->body, body);
	if (kind == POST_REQUEST)
		read_message(p);
	p->prev = is_first ? NULL : all->last;
	p->next = is_first ? all->first : NULL;
	*(p->prev ? &p->prev->next : &all->first) = p;
	*(p->next ? &p->next->prev : &all->last) = p;
	posts_wake(all);
	return p;
}

void posts_sweep(struct posts *all)
{
	while (all->gone) {
		struct post *p = all->gone;

		all->gone = p->next;
		sse_release(&p->sse);
		buf_release(&p->body);
		buf_release(&p->reply.media_type);
		buf_wipe(&p->reply.lines);
		buf_release(&p->reply.body);
		free(p->method);
		free(p->protocol);
		free(p);
	}
}

const struct url *route_of(const struct route *r, const struct post *p)
{
	if (p->url)
		return p->url;
	if (r->endpoint && p->kind != POST_EVENTS)
		return r->endpoint;
	return r->moved ? r->moved : &r->url;
}
