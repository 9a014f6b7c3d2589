#include "core/mcp/session/notice.h"

#include <string.h>

#include "core/mcp/session/questions.h"

/* Log messages and changed resources that are passed on in a second (LOG-5). */
#define LOGS_PER_SECOND 100
/* Progress of one request is passed on this often (PRO-4). */
#define PROGRESS_EVERY_NS (NS_PER_S / 10)

/* ---- progress ---- */

static struct str c_text(const char *text)
{
	return text[0] ? str_of(text) : (struct str){NULL, 0};
}

static void swap_progress(struct request_progress *a,
			  struct request_progress *b)
{
	struct request_progress c = *a;

	*a = *b;
	*b = c;
}

enum verdict notice_tell_progress(struct session *s, struct request *r,
				  struct session_event *ev)
{
	r->progress_held = false;
	r->next_progress_ns = s->now_ns + PROGRESS_EVERY_NS;
	swap_progress(&r->progress, &s->progress);
	ev->type = SESSION_EVENT_PROGRESS;
	ev->ticket = r->ticket;
	ev->message = buf_str(&s->progress.message);
	ev->progress = str_of(s->progress.progress);
	ev->total = c_text(s->progress.total);
	return EVENT;
}

static enum verdict on_progress(struct session *s, struct str params,
				struct session_event *ev)
{
	struct request *r = NULL;
	struct rpc_id token;
	struct str v;
	bool was_held;

	/* a token is the id of a request, also of one with a task (PRO-5) */
	if (scan_get(params, "progressToken", &v)) {
		token = rpc_read_id(v);
		r = requests_find_token(&s->requests, &token);
	}
	if (!r || !r->has_token)
		return DONE;
	was_held = r->progress_held;
	if (!request_take_progress(r, params))
		return DONE;
	s->stats.dropped_notifications += was_held;
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r));
	if (s->now_ns < r->next_progress_ns) {
		requests_timed(&s->requests, r);
		return DONE;
	}
	return notice_tell_progress(s, r, ev);
}

/* ---- log messages ---- */

static const char *log_level_of(struct str v)
{
	static const char *const levels[] = {
		"debug", "info",     "notice", "warning",
		"error", "critical", "alert",  "emergency",
	};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (scan_is(v, levels[i]))
			return levels[i];
	return "info";
}

/* Count an event against the bound of this second; false: drop it. */
static bool has_room(struct session *s)
{
	if (s->now_ns - s->log_second_ns >= NS_PER_S) {
		s->log_second_ns = s->now_ns;
		s->logs = 0;
	}
	if (s->logs == LOGS_PER_SECOND) {
		s->stats.dropped_notifications++;
		return false;
	}
	s->logs++;
	return true;
}

static enum verdict on_log(struct session *s, struct str params,
			   struct session_event *ev)
{
	struct str level, logger, data;

	/* not asked for, not passed on (LOG-3) */
	if (s->is_modern && !s->opt.log_level) {
		s->stats.dropped_notifications++;
		return DONE;
	}
	if (!scan_get(params, "data", &data) || !has_room(s))
		return DONE;
	ev->type = SESSION_EVENT_LOG;
	ev->level = scan_get(params, "level", &level) ? log_level_of(level)
						      : "info";
	ev->logger = scan_get_some(params, "logger", &logger)
			     ? session_shown(logger, TEXT_BYTES, &s->logger)
			     : STR("");
	ev->message = session_shown(data, TEXT_BYTES, &s->text);
	return EVENT;
}

/* ---- changes ---- */

/* Notices that are told once until the list is asked for again (RW-65). */
static const struct list_notice {
	const char *notice, *request;
} list_notices[] = {
	{"notifications/tools/list_changed", "tools/list"},
	{"notifications/prompts/list_changed", "prompts/list"},
	{"notifications/resources/list_changed", "resources/list"},
};

void notice_list_asked(struct session *s, const char *method)
{
	for (size_t i = 0; i < ARRAY_LEN(list_notices); i++)
		if (strcmp(method, list_notices[i].request) == 0)
			s->changed &= ~(1U << i);
}

static enum verdict on_list_changed(struct session *s, size_t i,
				    struct session_event *ev)
{
	if (s->changed & 1U << i) {
		s->stats.dropped_notifications++;
		return DONE;
	}
	s->changed |= 1U << i;
	ev->type = SESSION_EVENT_CHANGED;
	ev->method = list_notices[i].notice;
	ev->message = STR("");
	return EVENT;
}

/* Tell a change of one thing, which a member of the params names. */
static enum verdict on_named(struct session *s, const char *method,
			     struct str params, const char *member,
			     struct session_event *ev)
{
	struct str name;

	if (!scan_get_some(params, member, &name) || !has_room(s))
		return DONE;
	ev->type = SESSION_EVENT_CHANGED;
	ev->method = method;
	ev->message = session_shown(name, TEXT_BYTES, &s->text);
	return EVENT;
}

/* ---- subscriptions ---- */

/* Find the subscription that a notification names in its _meta, or NULL. */
static struct request *subscription_of(struct session *s, struct str params)
{
	struct rpc_id id;
	struct request *r;
	struct str meta, v;

	if (!scan_get_some(params, "_meta", &meta) ||
	    !scan_get(meta, "io.modelcontextprotocol/subscriptionId", &v))
		return NULL;
	id = rpc_read_id(v);
	r = requests_find(&s->requests, &id);
	return r && r->is_listen ? r : NULL;
}

static enum verdict on_acknowledged(struct session *s, struct str params)
{
	struct request *r = subscription_of(s, params);

	if (!r)
		return DONE;
	r->is_acked = true;
	r->deadline_ns = UINT64_MAX; /* SUB-7 */
	return DONE;
}

/* In the modern era a change must belong to an open subscription (SUB-3). */
static bool is_wanted(struct session *s, struct str params)
{
	struct request *r;

	if (!s->is_modern)
		return true;
	r = subscription_of(s, params);
	if (r && r->is_acked)
		return true;
	s->stats.dropped_notifications++;
	return false;
}

/* The server gives up a request of its own, or a subscription of ours. */
static enum verdict on_cancelled(struct session *s, struct str params,
				 struct session_event *ev)
{
	struct rpc_id id;
	struct request *r;
	struct str v;

	if (!scan_get(params, "requestId", &v))
		return DONE;
	id = rpc_read_id(v);
	if (!s->is_modern)
		return questions_on_cancelled(s, &id, ev);
	r = requests_find(&s->requests, &id);
	if (!r || !r->is_listen)
		return DONE; /* CAN-8 */
	ev->ticket = r->ticket;
	ev->result = STR("{}");
	return ENDS_RESULT;
}

enum verdict notice_read(struct session *s, const struct rpc_message *m,
			 struct session_event *ev)
{
	s->stats.notifications++;
	if (scan_is(m->method, "notifications/progress"))
		return on_progress(s, m->params, ev);
	if (scan_is(m->method, "notifications/message"))
		return on_log(s, m->params, ev);
	if (scan_is(m->method, "notifications/cancelled"))
		return on_cancelled(s, m->params, ev);
	if (scan_is(m->method, "notifications/subscriptions/acknowledged"))
		return on_acknowledged(s, m->params);
	if (scan_is(m->method, "notifications/elicitation/complete"))
		return on_named(s, "notifications/elicitation/complete",
				m->params, "elicitationId", ev);
	for (size_t i = 0; i < ARRAY_LEN(list_notices); i++)
		if (scan_is(m->method, list_notices[i].notice))
			return is_wanted(s, m->params)
				       ? on_list_changed(s, i, ev)
				       : DONE;
	if (scan_is(m->method, "notifications/resources/updated") &&
	    is_wanted(s, m->params))
		return on_named(s, "notifications/resources/updated", m->params,
				"uri", ev);
	return DONE;
}
