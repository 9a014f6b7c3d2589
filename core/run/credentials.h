/*
 * Values of credential references, each asked for once however often it is
 * named, and added to the scrub set at once.
 */
#ifndef CORE_RUN_CREDENTIALS_H
#define CORE_RUN_CREDENTIALS_H

#include "core/auth/auth.h"
#include "core/base/attr.h"
#include "core/base/str.h"
#include "core/config/server_url.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

/*
 * Environment of a program with values that are secrets: "NAME=VALUE" lines,
 * each name once, wiped when they are freed.
 */
struct env {
	char **item; /* owned, ends in NULL; NULL where there is none */
	size_t n;
};

/* Add lines that end in NULL; `lines` may be NULL. */
void env_add_lines(struct env *e, const char *const *lines);
/* For gate_request.env; borrowed. */
const char *const *env_lines(const struct env *e) MUST_USE;
void env_release(struct env *e);

struct credentials;

/* All of it is borrowed, and outlives the credentials. */
struct credentials_context {
	struct loop *loop; /* runs while a program prints a value */
	struct gate *gate;
	struct scrub *scrub;
	const struct gate_policy *policy; /* of the program of a `cmd` */
	/* Programs start in its folder; a file of a credential must not lie
	   where one of its programs may have written. */
	const struct config *config;
	/* Nothing is started with the values: no program prints one, and the
	   name of one that is not here stands for it. */
	bool is_replay;
};

struct credentials *credentials_new(const struct credentials_context *context)
	MUST_USE;
/* Wipes the values. Takes NULL. */
void credentials_free(struct credentials *c);

/*
 * Set the variables of `refs`, plain ones and references.
 *
 * cancelled  a text there says that they are not wanted any more; NULL: they
 *	      are, to the end
 * errors  ERR_CREDENTIAL  with the variable's name and the cause
 */
int credentials_give(struct credentials *c, const struct env_refs *refs,
		     const char *const *cancelled, struct env *env,
		     struct err *err) MUST_USE;

/*
 * Description of a remote server before it is opened: from the configuration,
 * with core/cli/target.c over it.
 *
 *	remote_spec_of_server(server, credentials, &spec, err)
 *	remote_server_new(r, &spec, &one, err)	takes it
 *	remote_spec_release(&spec)		when nothing took it
 */

/* Texts are borrowed for the life of the server, secrets of the configuration
   from the credentials. */
struct remote_spec {
	const struct server *server; /* keys of the server; outlives the spec */
	const char *name; /* in sentences; of [servers.NAME], or the URL */
	bool is_named;	  /* the configuration has it */
	const char *url;
	struct http_headers headers;
	char *secret[3];	  /* owned, wiped; see remote_spec_keep() */
	struct auth_options auth; /* url and headers are filled in */
	struct plain_http plain;
	uint64_t message_max; /* bytes; 0: LIMIT_MESSAGE_BYTES */
	uint64_t timeout_ms;  /* of a request; 0: 60 s */
	const char *browser, *token_store, *store_key; /* NULL: not said */
};

/* Copy a value of an option, which lives and dies with the spec: three at most.
 */
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
