/*
 * Answers that are not the result yet. The session follows them, and the
 * caller gets the result as if it had come at once.
 *
 *	input_required	  a result of 2026-07-28 with questions, answered by
 *			  sending the request again (MR-1 to MR-13)
 *	tasks/...	  the core feature of 2025-11-25 (TK-1 to TK-9)
 *	resultType: task  the extension of 2026-07-28 (TX-1 to TX-10)
 */
#ifndef CORE_MCP_SESSION_LATER_H
#define CORE_MCP_SESSION_LATER_H

#include "core/mcp/session/core.h"

/* Judge the result of a request of the caller. */
enum verdict later_on_result(struct session *s, struct request *r,
			     struct str result, struct session_event *ev);
/* Judge the answer to a request that follows a task; it is removed. */
enum verdict later_on_response(struct session *s, struct request *own,
			       const struct rpc_message *m,
			       struct session_event *ev);
/* Send a request again, or ask for its task: its due_ns has come. */
void later_do_due(struct session *s, struct request *r);
/* Continue with a request when all of its questions are answered. */
void later_go_on(struct session *s, uint64_t ticket);
/* Cancel the task of a request; the answer is ignored (TX-6). */
void later_cancel_task(struct session *s, struct request *r);

#endif
