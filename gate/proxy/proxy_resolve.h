/*
 * Network of a child as the proxy knows it: its rows, its names, and what was
 * refused of it. A question to the resolver (RFC 1035, 4) is answered from here
 * alone; no packet of a child leaves for a name server.
 *
 *	proxy_resolve(&known, packet, &answer);
 *	proxy_deny(&known, &target, PROXY_UNLISTED);
 *
 * Pure: the bytes are those of a hostile program.
 */
#ifndef GATE_PROXY_PROXY_RESOLVE_H
#define GATE_PROXY_PROXY_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "gate/policy/endpoint.h"
#include "gate/proxy/proxy_request.h"
#include "gate/proxy/proxy_share.h"

/* The longest question, in any packet. */
#define DNS_QUESTION_BYTES 1024
/* The longest answer: head, question, address. */
#define DNS_ANSWER_BYTES (12 + 255 + 4 + 16)
/* RFC 1035, 2.3.4: length bytes and root included. */
#define DNS_NAME_BYTES 255

enum dns_type { DNS_TYPE_A = 1 };

/* RFC 1035, 4.1.1; RFC 2136, 2.2 */
enum dns_code {
	DNS_FOUND = 0, /* also without an address of that type */
	DNS_MALFORMED = 1,
	DNS_FAILED = 2,
	DNS_NO_NAME = 3,
	DNS_NOT_KNOWN = 4,
};

enum dns_said { DNS_IGNORED, DNS_WRONG, DNS_ASKED };

struct dns_question {
	enum dns_code code; /* when wrong */
	uint16_t type;
	/* Labels and dots, as they came; a dot or a NUL inside of a label is a
	   NUL, which no host has. Empty: the root. */
	char name[DNS_NAME_BYTES];
	size_t name_bytes;
	size_t bytes; /* of the packet, to the end of the question */
};

/* MAXDNSRCH of the C library. */
#define PROXY_SEARCH_MAX 6

struct proxy_known {
	struct proxy_share *share; /* names and denials */
	struct endpoint rows[POLICY_ENDPOINTS_MAX];
	size_t n_rows;
	/* Domains that resolvers of this machine put behind a name. */
	char search[PROXY_SEARCH_MAX][ENDPOINT_HOST_BYTES];
	size_t n_search;
};

/*
 * Answer a question for a name: its address where some row grants it, "no such
 * name" and a denial where none does. A name with one of the domains of
 * `search` behind it is a resolver's try, and the name itself is named.
 *
 * answer  stays empty when there is nothing to say
 */
void proxy_resolve(struct proxy_known *known, struct str packet,
		   struct buf *answer);

/*
 * Count a target that was refused or not reached, or add it.
 * t  without a port it is a name that was looked up; NULL: no valid name
 */
void proxy_deny(struct proxy_known *known, const struct endpoint_target *t,
		enum proxy_outcome outcome);
/* Forget that a target was not reached: it was now. */
void proxy_reached(struct proxy_known *known, const struct endpoint_target *t);

/* Read a packet: one question with one name; only a wrong one sets .code. */
enum dns_said dns_read(struct str packet, struct dns_question *ret) MUST_USE;

#endif
