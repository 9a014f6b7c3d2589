/*
 * Which era the server is of. A server of the newer one answers
 * server/discover; one of the older begins with initialize, and may answer
 * the question by any error, by silence, or by its own end.
 */
#include <inttypes.h>
#include <string.h>

#include "core/mcp/session/session_inner.h"

static struct request *handshake(struct session *s, const char *method)
{
	bool is_first = s->state == SESSION_NEW;
	uint64_t id = is_first ? 1 : s->next_id++;
	uint64_t ticket = is_first ? 1 : s->next_ticket++;
	struct request *r = requests_add(&s->requests, id, ticket, method);

	r->is_handshake = true;
	return r;
}

static bool is_probe(const struct request *r)
{
	return strcmp(r->method, "server/discover") == 0;
}

/* A message of its own: its time is that of the start, not of a request. */
static void send_handshake(struct session *s, struct request *r,
			   uint64_t deadline_ns)
{
	session_send(s, r);
	r->deadline_ns = deadline_ns;
	r->total_deadline_ns = UINT64_MAX;
	requests_timed(&s->requests, r);
}

static uint64_t start_deadline(const struct session *s)
{
	uint64_t ns = s->opt.initialize_timeout_ms * NS_PER_MS;

	if (s->opt.initialize_timeout_ms > UINT64_MAX / NS_PER_MS ||
	    __builtin_add_overflow(s->start_ns, ns, &ns))
		return UINT64_MAX;
	return ns;
}

static void send_initialize(struct session *s)
{
	const struct mcp_revision *asked = mcp_revision_find(str_of(s->date));
	struct request *r = handshake(s, "initialize");
	struct buf declared = BUF_INIT(BUF_UNBOUNDED);
	struct mcp_initialize init = {
		.protocol = str_of(s->date),
		.name = str_of(s->opt.client_name),
		.version = str_of(s->opt.client_version),
	};
	struct jw w;

	jw_init(&w, &declared, false);
	mcp_write_declared(&w, &s->opt.declared, asked);
	init.capabilities = buf_str(&declared);
	jw_init(&w, &r->params, false);
	mcp_write_initialize(&w, &init);
	buf_release(&declared);
	session_set_state(s, SESSION_INITIALIZING);
	send_handshake(s, r, start_deadline(s));
}

static void send_probe(struct session *s)
{
	struct request *r = handshake(s, "server/discover");
	uint64_t probe = session_after_ms(s, s->opt.probe_timeout_ms);
	uint64_t start = start_deadline(s);

	s->probed = true;
	session_set_state(s, SESSION_PROBING);
	/* a pinned revision waits as long as a start may take */
	send_handshake(s, r, s->opt.protocol || start < probe ? start : probe);
}

void session_begin(struct session *s)
{
	const struct mcp_revision *asked =
		s->opt.protocol ? mcp_revision_find(str_of(s->opt.protocol))
				: NULL;

	s->start_ns = s->now_ns;
	s->refused = s->opt.protocol && !asked;
	if (s->refused) {
		session_set_state(s, SESSION_INITIALIZING);
	} else if (asked ? asked->era == MCP_ERA_INITIALIZE
			 : s->opt.era == SESSION_ERA_INITIALIZE) {
		session_set_date(s, asked ? asked->date
					  : mcp_revision_newest()->date);
		send_initialize(s);
	} else {
		session_set_date(s, asked ? asked->date
					  : mcp_revision_modern()->date);
		send_probe(s);
	}
}

enum outcome session_refuse_to_start(struct session *s,
				     struct session_event *ev)
{
	struct buf ours = BUF_INIT(BUF_UNBOUNDED);

	mcp_revision_list(&ours);
	err_set(&ev->err, ERR_PEER,
		"protocol version \"%s\" is not known; known are %s",
		s->opt.protocol, buf_cstr(&ours));
	buf_release(&ours);
	return session_fail(s, SESSION_FAIL_HANDSHAKE, ev);
}

/* ---- the older era ---- */

/* It is one after all: initialize, unless that was sent already. */
static enum outcome go_on_with_initialize(struct session *s, const char *date)
{
	if (s->state != SESSION_PROBING)
		return DONE;
	session_set_date(s, date);
	send_initialize(s);
	return DONE;
}

bool session_probe_silent(struct session *s, struct request *probe)
{
	probe->deadline_ns = start_deadline(s);
	if (probe->deadline_ns <= s->now_ns)
		return false;
	go_on_with_initialize(s, mcp_revision_newest()->date);
	return true;
}

bool session_probe_lost(struct session *s, struct request *r)
{
	if (!r->is_handshake || !is_probe(r) || s->opt.protocol)
		return false;
	requests_remove(&s->requests, r);
	go_on_with_initialize(s, mcp_revision_newest()->date);
	return true;
}

/*
 * The revision that an answer to initialize begins, or NULL. A date of the
 * other era is none: it has no initialize.
 */
static const struct mcp_revision *accepted(const struct session *s,
					   struct str date)
{
	const struct mcp_revision *r = mcp_revision_find(date);

	if (r && r->era == MCP_ERA_INITIALIZE)
		return r;
	return s->opt.accept_unknown_protocol ? mcp_revision_nearest(date)
					      : NULL;
}

static enum outcome refuse_revision(struct session *s, struct str result,
				    struct session_event *ev)
{
	struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	struct str theirs, said;

	mcp_revision_list(&ours);
	if (scan_get(result, "protocolVersion", &theirs)) {
		said = session_shown(theirs, VERSION_BYTES, &s->shown);
		err_set(&ev->err, ERR_PEER,
			"the server answered initialize (%s) with protocol "
			"version \"%.*s\"; known are %s",
			s->date, STR_ARG(said), buf_cstr(&ours));
	} else if (mcp_looks_like_result(result)) {
		err_set(&ev->err, ERR_PEER, "%s",
			"the server did not answer "
			"initialize: " MCP_IS_PRINTED);
	} else {
		err_set(&ev->err, ERR_PEER,
			"the server's answer to initialize has no "
			"protocolVersion; known are %s",
			buf_cstr(&ours));
	}
	buf_release(&ours);
	return session_fail(s, SESSION_FAIL_HANDSHAKE, ev);
}

/* The other question, when both were asked, is not waited for (RW-27). */
static void drop_handshakes(struct session *s)
{
	for (struct request *r = s->requests.first, *next; r; r = next) {
		next = r->next;
		if (r->is_handshake)
			requests_remove(&s->requests, r);
	}
}

static enum outcome ready(struct session *s, struct session_event *ev)
{
	drop_handshakes(s);
	if (s->state == SESSION_INITIALIZING || s->state == SESSION_PROBING)
		session_set_state(s, SESSION_READY);
	if (!session_is_modern(s))
		session_send_initialized(s);
	session_send_pending(s);
	ev->type = SESSION_EVENT_READY;
	return EVENT;
}

static enum outcome on_initialized(struct session *s, struct str result,
				   struct session_event *ev)
{
	struct mcp_initialize_result init;
	const struct mcp_revision *revision;

	mcp_read_initialize_result(result, &s->arena, &init);
	s->stats.oddities += init.oddities;
	revision = accepted(s, init.protocol);
	if (!revision)
		return refuse_revision(s, result, ev);
	s->server = (struct session_server){
		.revision = revision,
		.name = init.name,
		.version = init.version,
		.instructions = init.instructions,
		.capabilities = arena_str(&s->arena, init.capabilities),
	};
	return ready(s, ev);
}

/* ---- the newer era ---- */

/* The newest date of a list that is of that era and not `but`; or NULL. */
static const char *newest_common(struct str list, enum mcp_era era,
				 const char *but)
{
	const struct mcp_revision *best = NULL;
	struct buf date = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;

	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		const struct mcp_revision *r;

		buf_clear(&date);
		if (!scan_string_cut(it.value, VERSION_BYTES, &date))
			continue;
		r = mcp_revision_find(buf_str(&date));
		if (r && r->era == era && (!best || r > best) &&
		    (!but || strcmp(r->date, but) != 0))
			best = r;
	}
	buf_release(&date);
	return best ? best->date : NULL;
}

static enum outcome nothing_common(struct session *s, struct str list,
				   struct session_event *ev)
{
	struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	struct str theirs = session_shown(list, SENTENCE_BYTES, &s->shown);

	if (s->opt.protocol)
		buf_adds(&ours, s->opt.protocol);
	else
		mcp_revision_list(&ours);
	err_set(&ev->err, ERR_PEER,
		"no common protocol version: the server speaks %.*s, we speak "
		"%s",
		STR_ARG(theirs), buf_cstr(&ours));
	buf_release(&ours);
	return session_fail(s, SESSION_FAIL_HANDSHAKE, ev);
}

/*
 * The server named what it speaks. With a date of the newer era: that one;
 * of the older alone: initialize (PRB-8).
 */
static const char *choose(struct session *s, struct str list,
			  enum mcp_era *ret_era)
{
	const char *date = newest_common(list, MCP_ERA_PER_REQUEST, NULL);

	*ret_era = MCP_ERA_PER_REQUEST;
	if (date || s->opt.protocol)
		return date && (!s->opt.protocol ||
				strcmp(date, s->opt.protocol) == 0)
			       ? date
			       : NULL;
	*ret_era = MCP_ERA_INITIALIZE;
	return newest_common(list, MCP_ERA_INITIALIZE, NULL);
}

static enum outcome on_discovered(struct session *s,
				  const struct mcp_discovered *d,
				  struct session_event *ev)
{
	enum mcp_era era;
	const char *date = choose(s, d->versions, &era);

	if (!date)
		return nothing_common(s, d->versions, ev);
	if (era == MCP_ERA_INITIALIZE)
		return go_on_with_initialize(s, date);
	s->stats.oddities += d->oddities;
	session_set_date(s, date);
	s->server = (struct session_server){
		.revision = mcp_revision_find(str_of(date)),
		.name = d->name,
		.version = d->version,
		.instructions = d->instructions,
		.capabilities = arena_str(&s->arena, d->capabilities),
	};
	return ready(s, ev);
}

/* A pinned revision of the newer era, and the server is of the older. */
static enum outcome is_of_older_era(struct session *s, struct session_event *ev)
{
	err_set(&ev->err, ERR_PEER,
		"the server does not speak %s: it has no server/discover; "
		"leave the pinned protocol out, or name an older one",
		s->date);
	return session_fail(s, SESSION_FAIL_HANDSHAKE, ev);
}

static enum outcome not_modern(struct session *s, struct session_event *ev)
{
	if (s->opt.protocol)
		return is_of_older_era(s, ev);
	return go_on_with_initialize(s, mcp_revision_newest()->date);
}

static enum outcome refused(struct session *s, const struct rpc_message *m,
			    const char *method, struct session_event *ev)
{
	ev->code = m->code;
	ev->message = session_error_text(s, m);
	ev->data = m->data;
	buf_clear(&s->shown);
	buf_add_cut(&s->shown, ev->message, SENTENCE_BYTES);
	err_set(&ev->err, ERR_PEER,
		"the server refused %s: %s (code %" PRId64 ")", method,
		buf_cstr(&s->shown), m->code);
	return session_fail(s, SESSION_FAIL_HANDSHAKE, ev);
}

/* -32022 with a list: it is of the newer era and wants another date. */
static enum outcome on_other_version(struct session *s, struct str list,
				     const struct rpc_message *m,
				     struct session_event *ev)
{
	enum mcp_era era;
	const char *date = choose(s, list, &era);

	if (!date)
		return nothing_common(s, list, ev);
	if (era == MCP_ERA_INITIALIZE)
		return go_on_with_initialize(s, date);
	if (s->tried_again)
		return refused(s, m, "server/discover", ev);
	s->tried_again = true; /* PRB-9 */
	session_set_date(s, date);
	send_probe(s);
	return DONE;
}

static enum outcome on_probe_error(struct session *s,
				   const struct rpc_message *m,
				   struct session_event *ev)
{
	struct str list;

	if (m->code == MCP_UNSUPPORTED_VERSION && m->data.p &&
	    scan_get(m->data, "supported", &list) &&
	    scan_type(list) == SCAN_ARRAY)
		return on_other_version(s, list, m, ev);
	if (m->code == MCP_HEADER_MISMATCH || m->code == MCP_MISSING_CAPABILITY)
		return refused(s, m, "server/discover", ev);
	/* no code says it alone (PRB-5) */
	return not_modern(s, ev);
}

static enum outcome on_probe(struct session *s, const struct rpc_message *m,
			     struct session_event *ev)
{
	struct mcp_discovered d;

	if (m->type == RPC_ERROR)
		return on_probe_error(s, m, ev);
	if (!mcp_read_discovered(m->result, &s->arena, &d))
		return not_modern(s, ev);
	return on_discovered(s, &d, ev);
}

/* ---- both ---- */

static bool is_asked_still(const struct session *s)
{
	for (const struct request *r = s->requests.first; r; r = r->next)
		if (r->is_handshake)
			return true;
	return false;
}

/* Codes by which a server of the newer era alone refuses initialize. */
static bool is_of_newer_era(int64_t code)
{
	return code == RPC_METHOD_NOT_FOUND || code == RPC_INVALID_PARAMS ||
	       code == MCP_UNSUPPORTED_VERSION;
}

/* initialize was refused: another date, or another era, once. */
static void say_what_to_try(struct session *s, const struct rpc_message *m,
			    struct session_event *ev)
{
	struct str list = STR("[]");
	bool named = m->data.p && scan_get(m->data, "supported", &list);

	if (named)
		ev->retry_protocol =
			newest_common(list, MCP_ERA_INITIALIZE, s->date);
	if (s->opt.protocol || ev->retry_protocol)
		return;
	if (s->probed) {
		/* the probe may be what it took amiss (PRB-6) */
		ev->retry_era = true;
		ev->era = SESSION_ERA_INITIALIZE;
		return;
	}
	ev->retry_era =
		named ? newest_common(list, MCP_ERA_PER_REQUEST, NULL) != NULL
		      : is_of_newer_era(m->code);
	ev->era = SESSION_ERA_PROBE;
}

enum outcome session_on_handshake(struct session *s, struct request *r,
				  const struct rpc_message *m,
				  struct session_event *ev)
{
	bool probe = is_probe(r);

	s->stats.oddities += m->both + m->bad_error;
	requests_remove(&s->requests, r);
	if (probe)
		return on_probe(s, m, ev);
	if (m->type == RPC_RESULT)
		return on_initialized(s, m->result, ev);
	/* a late DiscoverResult may still come (PRB-7) */
	if (is_asked_still(s))
		return DONE;
	say_what_to_try(s, m, ev);
	return refused(s, m, "initialize", ev);
}
