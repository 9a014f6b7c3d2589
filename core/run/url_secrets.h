/*
 * What may be a secret in the URL of a server: keys that stand in its query
 * (?key=…), as many services hand them out.
 *
 * The query as a whole is shown nowhere. This is for what servers and other
 * parties repeat: values whose name says so (key, token, secret, …) or that
 * look like made by chance. Others ("?mode=read-only") are no secrets: their
 * words would be taken out of results in which they mean something else.
 */
#ifndef CORE_RUN_URL_SECRETS_H
#define CORE_RUN_URL_SECRETS_H

#include "core/base/url.h"
#include "core/secret/scrub.h"

/* Add them, as written and decoded. */
void url_secrets_add(const struct url *url, struct scrub *scrub);
/* Is there one? */
bool url_secrets_any(const struct url *url) MUST_USE;
/* Does a name say that its value is one: "api_key", "X-Auth-Token"? */
bool url_secrets_names(struct str name) MUST_USE;

#endif
