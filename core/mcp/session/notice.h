/*
 * Notifications of the server: progress, log messages, changes. Rates are
 * bounded, so that a talkative server cannot flood the caller.
 */
#ifndef CORE_MCP_SESSION_NOTICE_H
#define CORE_MCP_SESSION_NOTICE_H

#include "core/mcp/session/core.h"

/* Judge a notification. */
enum verdict notice_read(struct session *s, const struct rpc_message *m,
			 struct session_event *ev);
/* Pass the held progress of a request on. */
enum verdict notice_tell_progress(struct session *s, struct request *r,
				  struct session_event *ev);
/* Tell the next change of a list again: the caller asks for that list. */
void notice_list_asked(struct session *s, const char *method);

#endif
