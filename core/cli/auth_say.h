/*
 * What is kept of a remote server, in words and as JSON, for `matins auth`.
 * Nothing of it is a secret.
 */
#ifndef CORE_CLI_AUTH_SAY_H
#define CORE_CLI_AUTH_SAY_H

#include "core/auth/auth.h"
#include "core/base/jw.h"

struct auth_said {
	const char *name;  /* of [servers.NAME]; NULL: a URL that was given */
	bool is_elsewhere; /* no configuration in use has that name */
	bool is_old;	   /* an earlier version did not keep whose it is */
	struct str url;	   /* without query */
	struct auth_status status;
};

/* A token that can be used, or renewed. */
bool auth_is_usable(const struct auth_status *s) MUST_USE;
/* "logged in", "the token has expired", …; static. */
const char *auth_state_text(const struct auth_status *s) MUST_USE;
/* Lines for people. */
void auth_say_text(const struct auth_said *said, struct buf *out);
/* One object. */
void auth_say_json(const struct auth_said *said, struct jw *w);

#endif
