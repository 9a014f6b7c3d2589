/*
 * Requests of a child to the proxy, and the answers: bytes in, request out.
 * HTTP CONNECT, HTTP requests in absolute form (RFC 9112, 3.2.2)
 * and SOCKS5 (RFC 1928); the first byte tells which.
 *
 *	switch (proxy_read(bytes, greeted, &head, &request)) {
 *	case PROXY_MORE:     wait for more bytes
 *	case PROXY_GREETED:  drop request.used bytes, proxy_greet(), greeted
 *	case PROXY_ASKED:    drop request.used bytes, judge request.target
 *	case PROXY_WRONG:    proxy_answer(request.outcome), close
 *	}
 *
 * Each connection carries one request: of an absolute-form request the head
 * is rewritten, with "Connection: close", the Host of its target, and
 * without what is meant for a proxy.
 *
 * Pure: the bytes are those of a hostile program.
 */
#ifndef GATE_PROXY_PROXY_REQUEST_H
#define GATE_PROXY_PROXY_REQUEST_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "gate/gate.h"
#include "gate/policy/endpoint.h"

/* Bytes until the request is complete; curl and nginx take 8 to 100 KiB. */
#define PROXY_HEAD_BYTES (16 * 1024)
/* A rewritten head may be longer by this: Host and Connection. */
#define PROXY_HEAD_MORE (ENDPOINT_TEXT_BYTES + 64)

enum proxy_outcome {
#define PROXY_OUTCOME(id, socks, status, reason, named, text) PROXY_##id,
#include "gate/proxy/proxy_outcomes.def"
#undef PROXY_OUTCOME
	N_PROXY_OUTCOMES,
};

/* How a report names the endpoint of an outcome. */
enum proxy_named { NAMED_NOT, NAMED_DENIED, NAMED_UNREACHED };

/* An endpoint that was refused, or is granted and was not reached. */
struct proxy_denial {
	char name[ENDPOINT_TEXT_BYTES]; /* "api.example.com:443", or "?" */
	enum proxy_outcome outcome;
	uint64_t count;
};

enum proxy_speaks { PROXY_HTTP_CONNECT, PROXY_HTTP_PLAIN, PROXY_SOCKS };

enum proxy_said { PROXY_MORE, PROXY_GREETED, PROXY_ASKED, PROXY_WRONG };

struct proxy_request {
	enum proxy_speaks speaks;
	struct endpoint_target target; /* when asked */
	size_t used;		       /* bytes that it took */
	enum proxy_outcome outcome;    /* when wrong */
};

/*
 * in       all bytes so far that no request has used
 * greeted  SOCKS5: the greeting was answered
 * head     gets the head for the server of PROXY_HTTP_PLAIN
 */
enum proxy_said proxy_read(struct str in, bool greeted, struct buf *head,
			   struct proxy_request *ret) MUST_USE;

/* The answer to the greeting of SOCKS5: no authentication. */
void proxy_greet(struct buf *out);
/*
 * The answer to a request. Nothing for PROXY_CONNECTED of PROXY_HTTP_PLAIN,
 * whose server answers itself.
 *
 * target  names it in the body of a refusal; NULL = there is none
 */
void proxy_answer(enum proxy_speaks speaks, enum proxy_outcome outcome,
		  const struct endpoint_target *target, struct buf *out);

enum proxy_named proxy_named_as(enum proxy_outcome outcome) MUST_USE;
/* Text of an outcome for people; static. */
const char *proxy_outcome_text(enum proxy_outcome outcome) MUST_USE;
/*
 * Row of a policy that would allow the endpoint; empty when none can.
 * name  borrowed, as endpoint_target_text() wrote it
 */
struct gate_allow proxy_allow(enum proxy_outcome outcome, const char *name)
	MUST_USE;

#endif
