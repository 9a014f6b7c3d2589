/*
 * Description of a remote server before it is opened: from the configuration,
 * with core/cli/target.c over it.
 *
 *	remote_spec_of_server(server, credentials, &spec, err)
 *	remote_server_new(r, &spec, &one, err)	takes it
 *	remote_spec_release(&spec)		when nothing took it
 */
#ifndef CORE_RUN_REMOTE_SPEC_H
#define CORE_RUN_REMOTE_SPEC_H

#include "core/auth/auth.h"
#include "core/config/routine.h"
#include "core/config/server_url.h"
#include "core/run/credentials.h"

/* Texts are borrowed for the life of the server. */
struct remote_spec {
	const struct server *server; /* keys of the server; outlives the spec */
	const char *name; /* in sentences; of [servers.NAME], or the URL */
	bool is_named;	  /* the configuration has it */
	const char *url;
	struct http_headers headers;
	char *secret[6];	  /* owned, wiped; see remote_spec_keep() */
	struct auth_options auth; /* url and headers are filled in */
	struct plain_http plain;
	uint64_t message_max; /* bytes; 0: LIMIT_MESSAGE_BYTES */
	uint64_t timeout_ms;  /* of a request; 0: 60 s */
	const char *browser, *token_store, *store_key; /* NULL: not said */
};

/* Copy a value that lives and dies with the spec: three secrets of the
   configuration, and three of options that go over them. */
const char *remote_spec_keep(struct remote_spec *spec, struct str value)
	MUST_USE;
/* Release a spec that remote_server_new() has not taken. */
void remote_spec_release(struct remote_spec *spec);

/*
 * Read it from the configuration, with the values of its references.
 *
 * ret     for remote_server_new(), or remote_spec_release()
 * errors  ERR_CREDENTIAL, ERR_CONFIG
 */
int remote_spec_of_server(const struct server *s,
			  struct credentials *credentials,
			  struct remote_spec *ret, struct err *err) MUST_USE;

#endif
