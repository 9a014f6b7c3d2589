/*
 * Requests and notifications of the client: written when they are sent,
 * because their members depend on the revision that is spoken by then.
 */
#ifndef CORE_MCP_SESSION_SEND_H
#define CORE_MCP_SESSION_SEND_H

#include "core/mcp/session/core.h"

/* Send a request of the table, or send it once more with a new id. */
void send_request(struct session *s, struct request *r);
/*
 * Send a request of the session itself for the one with the ticket `parent`;
 * NULL when the session is mute.
 */
struct request *send_own(struct session *s, const char *method, uint64_t parent,
			 struct str params);
/* Send what waited for the answer to the handshake. */
void send_pending(struct session *s);
/* Send a notification; params: a JSON object, or {NULL, 0}. */
void send_notification(struct session *s, const char *method,
		       struct str params);
/* Cancel a request that was sent and has no answer yet. */
void send_cancelled(struct session *s, const struct request *r,
		    const char *reason);

#endif
