#include "core/client/link.h"

#include <errno.h>

#include "core/base/scan.h"

#define CHUNK_BYTES (64 * 1024)

/* ---- begin and end ---- */

static void close_pipe(void *arg, int which)
{
	struct link *l = arg;

	child_close_fd(&l->child, which);
}

int link_spawn(struct link *l, struct gate *gate,
	       const struct gate_request *request, struct err *err)
{
	struct transport_stdio_options pipes = {.close = close_pipe, .arg = l};
	struct gate_child_fds fds;

	if (child_start(&l->child, gate, request, err) < 0)
		return -1;
	fds = child_fds(&l->child);
	pipes.in = fds.out;
	pipes.out = fds.in;
	l->transport = transport_stdio(&pipes);
	return 0;
}

void link_begin(struct link *l, const struct session_options *options)
{
	session_free(l->session);
	l->session = session_new(options);
	session_start(l->session, loop_now(l->loop));
}

static void note_remote(struct link *l)
{
	AUTO(buf_release) struct buf facts = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!link_is_remote(l))
		return;
	jw_init(&w, &facts, false);
	jw_object(&w);
	transport_facts(l->transport, &w);
	if (l->open_facts)
		l->open_facts(l->open_arg, &w);
	jw_end(&w);
	/* the path of a URL may hold a key */
	buf_clear(&l->remote_facts);
	if (scrub_is_empty(l->scrub))
		buf_add_str(&l->remote_facts, buf_str(&facts));
	else
		(void)scrub_json(l->scrub, buf_str(&facts), &l->remote_facts);
}

void link_drop(struct link *l)
{
	note_remote(l);
	loop_unwatch(l->loop, &l->in);
	loop_unwatch(l->loop, &l->out);
	transport_free(l->transport);
	l->transport = NULL;
}

void link_release(struct link *l)
{
	link_drop(l);
	child_release(&l->child);
	session_free(l->session);
	buf_release(&l->remote_facts);
}

/* ---- reading ---- */

void link_end_input(struct link *l)
{
	if (!l->transport)
		return;
	loop_unwatch(l->loop, &l->in);
	transport_end_input(l->transport);
	session_eof(l->session, loop_now(l->loop));
}

static void spend(size_t *budget, size_t n)
{
	if (*budget != LINK_TO_THE_END)
		*budget -= n < *budget ? n : *budget;
}

static enum link_news read_bytes(struct link *l, size_t *budget)
{
	char chunk[CHUNK_BYTES];
	ssize_t r;

	if (transport_in_fd(l->transport) < 0)
		return LINK_QUIET;
	r = transport_receive(l->transport, chunk, sizeof(chunk));
	if (r < 0 && errno == EAGAIN)
		return LINK_QUIET;
	if (r <= 0) {
		link_end_input(l);
		return LINK_NEWS;
	}
	l->bytes_in += (uint64_t)r;
	session_feed(l->session, (struct str){chunk, (size_t)r},
		     loop_now(l->loop));
	/* a short read means that the pipe is empty; epoll tells of more */
	spend(budget, (size_t)r < sizeof(chunk) ? *budget : (size_t)r);
	return LINK_NEWS;
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

static enum link_news read_message(struct link *l, size_t *budget)
{
	uint64_t now = loop_now(l->loop);
	struct transport_item item;

	transport_next(l->transport, &item);
	switch (item.type) {
	case TRANSPORT_NONE:
		return LINK_QUIET;
	case TRANSPORT_MESSAGE:
		l->bytes_in += item.message.n;
		session_message(l->session, item.message, now);
		spend(budget, item.message.n);
		break;
	case TRANSPORT_LOST:
		session_lost(l->session, item.id, failure_of(item.loss),
			     &item.err, now);
		break;
	case TRANSPORT_HELD:
	case TRANSPORT_RESUMED:
		session_hold(l->session, item.type == TRANSPORT_HELD, now);
		break;
	case TRANSPORT_OVER:
		return LINK_OVER;
	}
	return LINK_NEWS;
}

enum link_news link_read(struct link *l, size_t *budget)
{
	if (!l->transport || !*budget)
		return LINK_QUIET;
	return link_is_remote(l) ? read_message(l, budget)
				 : read_bytes(l, budget);
}

/* ---- writing ---- */

void link_end_output(struct link *l)
{
	if (!l->transport)
		return;
	loop_unwatch(l->loop, &l->out);
	transport_end_output(l->transport);
}

void link_output_broke(struct link *l)
{
	session_output_broke(l->session);
	link_end_output(l);
}

static bool is_ending(const struct session *s)
{
	return session_state(s) == SESSION_CLOSING ||
	       session_state(s) == SESSION_CLOSED ||
	       session_state(s) == SESSION_FAILED;
}

void link_flush(struct link *l)
{
	struct str bytes = session_output(l->session);
	ssize_t w;

	while (l->transport && bytes.n) {
		w = transport_send(l->transport, bytes);
		if (w < 0 && errno == EAGAIN)
			break;
		if (w < 0) {
			link_output_broke(l);
			break;
		}
		session_wrote(l->session, (size_t)w);
		bytes = session_output(l->session);
	}
	if (l->transport && session_output(l->session).n)
		loop_rewatch(l->loop, &l->out, EPOLLOUT);
	else if (l->transport && is_ending(l->session))
		link_end_output(l);
	else
		loop_rewatch(l->loop, &l->out, 0);
}

/* ---- state and facts ---- */

bool link_is_remote(const struct link *l)
{
	return l->transport && transport_has_messages(l->transport);
}

bool link_prints_result(const struct link *l)
{
	return l->session && !link_server(l)->revision &&
	       mcp_looks_like_result(session_noise(l->session));
}

const struct mcp_peer *link_server(const struct link *l)
{
	static const struct mcp_peer none;

	return l->session ? session_server(l->session) : &none;
}

const struct session_stats *link_stats(const struct link *l)
{
	static const struct session_stats none;

	return l->session ? session_stats(l->session) : &none;
}

bool link_is_modern(const struct link *l)
{
	const struct mcp_revision *r = link_server(l)->revision;

	return r && r->era == MCP_ERA_PER_REQUEST;
}

static void write_remote(struct link *l, struct jw *w)
{
	struct scan_iter it;

	note_remote(l);
	scan_iter_init(&it, l->remote_facts.n ? buf_str(&l->remote_facts)
					      : STR("{}"));
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		jw_key_str(w, buf_str(&key));
		jw_raw(w, it.value);
	}
}

static void write_mcp(const struct link *l, struct cleaner *clean, struct jw *w)
{
	const struct mcp_peer *server = link_server(l);
	const struct session_stats *stats = link_stats(l);
	struct str noise = l->session ? session_noise(l->session) : STR("");

	jw_kv_object(w, "mcp");
	if (server->revision) {
		jw_kv_cstr(w, "protocol", server->revision->date);
		facts_text(clean, w, "server", server->name);
		facts_text(clean, w, "version", server->version);
	}
#define SESSION_STAT(name) jw_kv_int(w, #name, (int64_t)stats->name);
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
	jw_kv_int(w, "restarts", l->restarts);
	if (noise.n)
		facts_cut_text(clean, w, "noise", noise);
	jw_end(w);
}

void link_write_facts(struct link *l, struct cleaner *clean, struct jw *w)
{
	write_remote(l, w);
	if (l->child.program)
		facts_child(clean, w, &l->child, l->bytes_in);
	write_mcp(l, clean, w);
}
