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

/* Judge the answer to a request of the caller, or to one that follows a task.
 */
enum verdict talk_on_answer(struct session *s, struct request *r,
			    const struct rpc_message *m,
			    struct session_event *ev);
/*
 * Judge a notification, or a request of the server (initialize era), which is
 * answered at once or becomes a question to the caller.
 */
enum verdict talk_on_message(struct session *s, const struct rpc_message *m,
			     struct session_event *ev);
/* Go on with a request whose due_ns has come. */
enum verdict talk_on_due(struct session *s, struct request *r,
			 struct session_event *ev);
/* Pass the held progress of a request on. */
enum verdict talk_tell_progress(struct session *s, struct request *r,
				struct session_event *ev);
/* Cancel a request that has no answer yet, or its task. */
void talk_cancel(struct session *s, struct request *r, const char *reason);

/* Tell the next question; DONE: all were told. */
enum verdict talk_ask(struct session *s, struct session_event *ev);
/* Remove the questions of a request; ASK_GONE follows where one was told. */
void talk_drop_questions(struct session *s, uint64_t ticket);
/* Remove all questions without a word: the session ends. */
void talk_forget_questions(struct session *s);

#endif
