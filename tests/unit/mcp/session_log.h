/*
 * Events of a session as text, one line each, for tests.
 */
#ifndef TESTS_UNIT_SESSION_LOG_H
#define TESTS_UNIT_SESSION_LOG_H

#include <string.h>

#include "core/base/buf.h"
#include "core/mcp/session/session.h"

static void log_err(struct buf *log, const struct session_event *e)
{
	static const char *const words[] = {
#define SESSION_FAILURE(name, word) [SESSION_##name] = (word),
		SESSION_FAILURES(SESSION_FAILURE)
#undef SESSION_FAILURE
	};

	assert_true(strlen(e->err.msg) > 0);
	buf_addf(log, "failed %d %s %s\n", (int)e->ticket, words[e->failure],
		 e->phase == SESSION_PHASE_CALL ? "call" : "initialize");
}

static void log_event(struct buf *log, const struct session *s,
		      const struct session_event *e)
{
	const struct mcp_peer *server = session_server(s);
	int ticket = (int)e->ticket;

	switch (e->type) {
	case SESSION_EVENT_READY:
		buf_addf(log, "ready %s %.*s/%.*s\n", server->revision->date,
			 STR_ARG(server->name), STR_ARG(server->version));
		break;
	case SESSION_EVENT_RESULT:
		buf_addf(log, "result %d %.*s\n", ticket, STR_ARG(e->result));
		break;
	case SESSION_EVENT_ERROR:
		buf_addf(log, "error %d %d %.*s", ticket, (int)e->code,
			 STR_ARG(e->message));
		buf_addf(log, e->data.p ? " %.*s\n" : "\n", STR_ARG(e->data));
		break;
	case SESSION_EVENT_FAILED:
		log_err(log, e);
		break;
	case SESSION_EVENT_PROGRESS:
		buf_addf(log, "progress %d %.*s/%.*s %.*s\n", ticket,
			 STR_ARG(e->progress), STR_ARG(e->total),
			 STR_ARG(e->message));
		break;
	case SESSION_EVENT_LOG:
		buf_addf(log, "log %s [%.*s] %.*s\n", e->level,
			 STR_ARG(e->logger), STR_ARG(e->message));
		break;
	case SESSION_EVENT_ASKED:
		buf_addf(log, "asked %d for %d: %s %.*s\n", (int)e->ask, ticket,
			 e->method, STR_ARG(e->params));
		break;
	case SESSION_EVENT_ASK_GONE:
		buf_addf(log, "gone %d\n", (int)e->ask);
		break;
	case SESSION_EVENT_CHANGED:
		buf_addf(log, "changed %s [%.*s]\n", e->method,
			 STR_ARG(e->message));
		break;
	case SESSION_EVENT_TASK:
		buf_addf(log, "task %d %.*s\n", ticket, STR_ARG(e->params));
		break;
	case SESSION_EVENT_CLOSED:
		buf_adds(log, "closed\n");
		break;
	}
}

static void drain(struct session *s, struct buf *log)
{
	struct session_event e;

	while (session_next(s, &e))
		log_event(log, s, &e);
}

#endif
