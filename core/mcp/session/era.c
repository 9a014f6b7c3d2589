#include "core/mcp/session/era.h"

#include <inttypes.h>
#include <string.h>

static struct era_verdict next(enum era_step step, const char *date)
{
	return (struct era_verdict){.step = step, .date = date};
}

static const struct era_verdict failed = {.step = ERA_FAILED};

struct era_verdict era_begin(const struct session_options *o, struct err *err)
{
	const struct mcp_revision *asked =
		o->protocol ? mcp_revision_find(str_of(o->protocol)) : NULL;
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);

	if (o->protocol && !asked) {
		mcp_revision_list(&ours);
		err_set(err, ERR_PEER,
			"protocol version \"%s\" is not known; known are %s",
			o->protocol, buf_cstr(&ours));
		return failed;
	}
	if (asked)
		return next(asked->era == MCP_ERA_INITIALIZE ? ERA_INITIALIZE
							     : ERA_PROBE,
			    asked->date);
	return o->era == SESSION_ERA_INITIALIZE
		       ? next(ERA_INITIALIZE, mcp_revision_newest()->date)
		       : next(ERA_PROBE, mcp_revision_modern()->date);
}

struct era_verdict era_without_answer(const struct session_options *o)
{
	/* a pinned revision of the modern era cannot begin otherwise */
	return o->protocol ? failed
			   : next(ERA_INITIALIZE, mcp_revision_newest()->date);
}

/* ---- the answer to initialize ---- */

/*
 * The revision that an answer to initialize begins, or NULL. A date of the
 * modern era begins none: that era has no initialize.
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

static struct era_verdict refuse_revision(const struct session *s,
					  struct str result, struct err *err)
{
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct str theirs;

	mcp_revision_list(&ours);
	if (scan_get(result, "protocolVersion", &theirs)) {
		theirs = session_shown(theirs, VERSION_BYTES, &shown);
		err_set(err, ERR_PEER,
			"the server answered initialize (%s) with protocol "
			"version \"%.*s\"; known are %s",
			s->date, STR_ARG(theirs), buf_cstr(&ours));
	} else if (mcp_looks_like_result(result)) {
		err_set(err, ERR_PEER, "%s",
			"the server did not answer "
			"initialize: " MCP_IS_PRINTED);
	} else {
		err_set(err, ERR_PEER,
			"the server's answer to initialize has no "
			"protocolVersion; known are %s",
			buf_cstr(&ours));
	}
	return failed;
}

static struct era_verdict on_initialized(const struct session *s,
					 struct str result, struct arena *arena,
					 struct err *err)
{
	struct mcp_peer server;
	struct era_verdict v;

	mcp_read_initialize_result(result, arena, &server);
	server.revision = accepted(s, server.protocol);
	v = server.revision ? next(ERA_READY, s->date)
			    : refuse_revision(s, result, err);
	v.server = server;
	return v;
}

/* Find the newest date of a list of this era, other than `but`; or NULL. */
static const char *newest_common(struct str list, enum mcp_era era,
				 const char *but)
{
	const struct mcp_revision *best = NULL;
	AUTO(buf_release) struct buf date = BUF_INIT(BUF_UNBOUNDED);
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
	return best ? best->date : NULL;
}

/* Codes by which only a server of the modern era refuses initialize. */
static bool is_of_modern_era(int64_t code)
{
	return code == RPC_METHOD_NOT_FOUND || code == RPC_INVALID_PARAMS ||
	       code == MCP_UNSUPPORTED_VERSION;
}

/* Say what to try after a refused initialize: another date or era, once. */
static void say_what_to_try(const struct session *s,
			    const struct rpc_message *m,
			    struct session_event *ev)
{
	struct str list = STR("[]");
	bool named = m->data.p && scan_get(m->data, "supported", &list);

	ev->retry_protocol = newest_common(list, MCP_ERA_INITIALIZE, s->date);
	if (s->opt.protocol || ev->retry_protocol)
		return;
	/* the probe may be what the server took amiss (PRB-6) */
	ev->era = s->probed ? SESSION_ERA_INITIALIZE : SESSION_ERA_PROBE;
	ev->retry_era =
		s->probed ||
		(named ? newest_common(list, MCP_ERA_PER_REQUEST, NULL) != NULL
		       : is_of_modern_era(m->code));
}

static struct era_verdict refused(const struct rpc_message *m,
				  const char *method, struct session_event *ev)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&shown, ev->message, SENTENCE_BYTES);
	err_set(&ev->err, ERR_PEER,
		"the server refused %s: %s (code %" PRId64 ")", method,
		buf_cstr(&shown), m->code);
	return failed;
}

/* ---- the answer to the probe ---- */

static struct era_verdict nothing_common(const struct session *s,
					 struct str list, struct err *err)
{
	AUTO(buf_release) struct buf ours = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct str theirs = session_shown(list, SENTENCE_BYTES, &shown);

	if (s->opt.protocol)
		buf_adds(&ours, s->opt.protocol);
	else
		mcp_revision_list(&ours);
	err_set(err, ERR_PEER,
		"no common protocol version: the server speaks %.*s, we speak "
		"%s",
		STR_ARG(theirs), buf_cstr(&ours));
	return failed;
}

/*
 * Choose from the dates that the server named: one of the modern era, where
 * there is one; else initialize with one of the older (PRB-8). A pinned date
 * is the only choice.
 */
static struct era_verdict choose(const struct session *s, struct str list,
				 enum era_step modern_step, struct err *err)
{
	const char *date = newest_common(list, MCP_ERA_PER_REQUEST, NULL);
	enum era_step step = date ? modern_step : ERA_INITIALIZE;

	if (s->opt.protocol && date && strcmp(date, s->opt.protocol) != 0)
		date = NULL;
	else if (!s->opt.protocol && !date)
		date = newest_common(list, MCP_ERA_INITIALIZE, NULL);
	return date ? next(step, date) : nothing_common(s, list, err);
}

static struct era_verdict not_modern(const struct session *s, struct err *err)
{
	if (s->opt.protocol)
		err_set(err, ERR_PEER,
			"the server does not speak %s: it has no "
			"server/discover; leave the pinned protocol out, or "
			"name an older one",
			s->date);
	return era_without_answer(&s->opt);
}

static struct era_verdict on_probe_error(const struct session *s,
					 const struct rpc_message *m,
					 struct session_event *ev)
{
	struct era_verdict v;
	struct str list;

	if (m->code == MCP_HEADER_MISMATCH || m->code == MCP_MISSING_CAPABILITY)
		return refused(m, "server/discover", ev);
	/* other codes alone prove no era (PRB-5) */
	if (m->code != MCP_UNSUPPORTED_VERSION || !m->data.p ||
	    !scan_get(m->data, "supported", &list) ||
	    scan_type(list) != SCAN_ARRAY)
		return not_modern(s, &ev->err);
	v = choose(s, list, ERA_PROBE, &ev->err);
	/* a server that was asked with its own date is not asked again (PRB-9)
	 */
	return v.step == ERA_PROBE && s->tried_again
		       ? refused(m, "server/discover", ev)
		       : v;
}

/* ---- both ---- */

static bool is_asked_still(const struct session *s)
{
	for (const struct request *r = s->requests.first; r; r = r->next)
		if (r->is_handshake)
			return true;
	return false;
}

struct era_verdict era_on_answer(const struct session *s, bool is_probe,
				 const struct rpc_message *m,
				 struct arena *arena, struct session_event *ev)
{
	struct mcp_peer server;
	struct era_verdict v;
	struct str dates;

	if (is_probe && m->type == RPC_ERROR)
		return on_probe_error(s, m, ev);
	if (is_probe) {
		if (!mcp_read_discovered(m->result, arena, &dates, &server))
			return not_modern(s, &ev->err);
		v = choose(s, dates, ERA_READY, &ev->err);
		if (v.step == ERA_READY) {
			v.server = server;
			v.server.revision = mcp_revision_find(str_of(v.date));
		}
		return v;
	}
	if (m->type == RPC_RESULT)
		return on_initialized(s, m->result, arena, &ev->err);
	/* a late answer to the probe may still come (PRB-7) */
	if (is_asked_still(s))
		return next(ERA_WAIT, NULL);
	say_what_to_try(s, m, ev);
	return refused(m, "initialize", ev);
}
