/*
 * Plain http and ws beyond loopback: what is sent and answered there can be
 * read and changed on the way. Refused, unless `insecure_http` of the server
 * allows it; and never with a credential, unless `insecure_credentials` does.
 */
#ifndef CORE_RUN_PLAIN_HTTP_H
#define CORE_RUN_PLAIN_HTTP_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/url.h"
#include "core/config/routine.h"

struct plain_http {
	bool is_allowed, allows_credentials; /* the two keys */
	/*
	 * Something is sent with requests that only the user and the server
	 * should know: a token, a header from a variable or with a name that
	 * says so, a variable in the URL; a key in its query is seen when it is
	 * judged. Tokens of a login are not meant: they
	 * are switched off where they must not be sent.
	 */
	bool has_credentials;
};

struct plain_http plain_http_of(const struct server *s) MUST_USE;

/*
 * returns  1 where it is plain beyond loopback and allowed: to be said; else 0
 * errors   ERR_SYNTAX  it is not allowed, with the key that would allow it
 */
int plain_http_judge(const struct plain_http *p, const struct url *url,
		     struct err *err) MUST_USE;
/* For a person, of one that is allowed: in one sentence, in `arena`. */
const char *plain_http_say(const struct plain_http *p, const struct url *url,
			   struct arena *arena) MUST_USE;

#endif
