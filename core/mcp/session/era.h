/*
 * Which era the server is of. A server of the modern era answers
 * server/discover; one of the older begins with initialize, and may answer
 * the probe by any error, by silence, or by its own end.
 *
 * Pure: these functions judge answers and say which step comes next;
 * session.c takes it.
 */
#ifndef CORE_MCP_SESSION_ERA_H
#define CORE_MCP_SESSION_ERA_H

#include "core/mcp/session/core.h"

enum era_step {
	ERA_WAIT,	/* for the other answer */
	ERA_PROBE,	/* send server/discover with `date` */
	ERA_INITIALIZE, /* send initialize with `date` */
	ERA_READY,	/* speak `date` with `server` */
	ERA_FAILED,	/* ev->err says why, ev->retry_... what to try */
};

struct era_verdict {
	enum era_step step;
	const char *date;	/* static, or borrowed of the options */
	struct mcp_peer server; /* texts live in the arena */
};

/* First step by the options; ERA_FAILED fills err. */
struct era_verdict era_begin(const struct session_options *o, struct err *err)
	MUST_USE;
/* Step after a probe that was not answered, or not readably (PRB-7). */
struct era_verdict era_without_answer(const struct session_options *o) MUST_USE;
/*
 * Judge the answer to one of the two handshakes, which is no longer in the
 * table of requests.
 *
 * arena    where texts of the server go
 * ev       with code and message of an error response
 */
struct era_verdict era_on_answer(const struct session *s, bool is_probe,
				 const struct rpc_message *m,
				 struct arena *arena, struct session_event *ev)
	MUST_USE;

#endif
