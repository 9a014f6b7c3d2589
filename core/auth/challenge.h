/*
 * Challenges of a server: the header WWW-Authenticate.
 *
 *	struct challenge c = {0};
 *	challenge_read(&c, head, arena);
 *
 * Several challenges may stand in one header and in several. Read are those
 * of Bearer and DPoP; where both say the same thing the first counts. Reading
 * is lenient: values without quotes and commas that are missing are understood.
 * Pure.
 *
 * source  RFC 9110 section 11.6.1, RFC 6750 section 3, RFC 9449 section 7.1,
 *	   RFC 9728 section 5.1
 */
#ifndef CORE_AUTH_CHALLENGE_H
#define CORE_AUTH_CHALLENGE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/transport/http.h"

struct challenge {
	/* NULL where it is not said; each ends in NUL, in the arena */
	const char *resource_metadata, *scope, *error, *error_description;
	bool wants_nonce; /* DPoP error="use_dpop_nonce" */
};

/* One value of the header; what cannot be understood is left out. */
void challenge_add(struct challenge *c, struct str value, struct arena *arena);
/* All of an answer. */
void challenge_read(struct challenge *c, const struct http_head *head,
		    struct arena *arena);

#endif
