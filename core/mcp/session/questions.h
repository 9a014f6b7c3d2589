/*
 * Questions of the server (roots, elicitation, sampling) that wait for the
 * caller: which can be answered, the events that tell of them, the answers.
 *
 * Requests of the initialize era come with an id and are answered here by a
 * response. Questions of the modern era are added by later.c, which also
 * sends the answers.
 */
#ifndef CORE_MCP_SESSION_QUESTIONS_H
#define CORE_MCP_SESSION_QUESTIONS_H

#include "core/mcp/session/core.h"

/*
 * Add a question with params of the server; the caller of this function says
 * whose it is. NULL: the method was not declared, the params are not an object,
 * or too many are open.
 *
 * method   JSON, as params; {NULL, 0} counts as an unknown method
 */
struct question *questions_add(struct session *s, struct str method,
			       struct str params) MUST_USE;
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
/* Withdraw a request of the server on its wish (CAN-7). */
enum verdict questions_on_cancelled(struct session *s, const struct rpc_id *id,
				    struct session_event *ev);
/*
 * Take the caller's answer to a question. A request of the server is answered
 * at once, a question of the modern era is the answer's place until later.c
 * sends it.
 *
 * returns  ticket of the request that waits for the answer, or 0
 */
uint64_t questions_answer(struct session *s, uint64_t number,
			  struct str result);
/* Take an error; a request that waits for the answer has to end (MR-12). */
uint64_t questions_answer_error(struct session *s, uint64_t number,
				int64_t code, const char *message);

#endif
