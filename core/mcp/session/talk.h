/*
 * Talk of a session: requests of the caller, answers that are not the result
 * yet, questions and notices of the server. The session follows tasks and
 * questions, and the caller gets the result as if it had come at once.
 *
 *	input_required	  a result of 2026-07-28 with questions, answered by
 *			  sending the request again (MR-1 to MR-13)
 *	tasks/...	  the core feature of 2025-11-25 (TK-1 to TK-9)
 *	resultType: task  the extension of 2026-07-28 (TX-1 to TX-10)
 *
 * Rates of notices are bounded, so that a talkative server cannot flood the
 * caller. Verdicts are acted on by session.c.
 */
#ifndef CORE_MCP_SESSION_TALK_H
#define CORE_MCP_SESSION_TALK_H

#include "core/mcp/session/core.h"

/* Remove the questions of a request; ASK_GONE follows where one was told. */
void questions_drop(struct session *s, uint64_t ticket);
/* Remove all questions without a word: the session ends. */
void questions_forget(struct session *s);
/* Tell the next question; false: all were told. */
bool questions_tell(struct session *s, struct session_event *ev) MUST_USE;

/* Judge a request of the server (initialize era). */
enum verdict questions_on_request(struct session *s,
				  const struct rpc_message *m,
				  struct session_event *ev);

/* Judge the result of a request of the caller. */
enum verdict later_on_result(struct session *s, struct request *r,
			     struct str result, struct session_event *ev);
/* Judge the answer to a request that follows a task; it is removed. */
enum verdict later_on_response(struct session *s, struct request *own,
			       const struct rpc_message *m,
			       struct session_event *ev);
/* Send a request again, or ask for its task: its due_ns has come. */
void later_do_due(struct session *s, struct request *r);
/* Cancel the task of a request; the answer is ignored (TX-6). */
void later_cancel_task(struct session *s, struct request *r);

/* Judge a notification. */
enum verdict notice_read(struct session *s, const struct rpc_message *m,
			 struct session_event *ev);
/* Pass the held progress of a request on. */
enum verdict notice_tell_progress(struct session *s, struct request *r,
				  struct session_event *ev);

#endif
