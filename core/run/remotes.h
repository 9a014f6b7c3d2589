/*
 * The remote servers of this process: one HTTP engine in the loop, the stores
 * of tokens, and the state of each server. All of it is made when the first
 * server is opened, so that a run without one maps neither
 * curl nor OpenSSL.
 *
 *	remotes_new(&options)
 *	remote_spec_of_server(server, credentials, &spec, err)	configuration
 *	remote_server_new(r, &spec, &one, err)
 *	client_options.open = remote_server_open, .open_arg = one
 *	... remote_server_free(one) after its client; remotes_free(r)
 *
 * No process is started for a remote server, and the leash still rules: its
 * `net` caps all connections, judged by name before the look-up and by
 * address after it, for the server as for every page that it leads to.
 */
#ifndef CORE_RUN_REMOTES_H
#define CORE_RUN_REMOTES_H

#include "core/auth/auth.h"
#include "core/run/credentials.h"
#include "core/secret/scrub.h"
#include "core/transport/transport.h"
#include "gate/gate.h"

struct remotes;

struct remotes_options {
	struct loop *loop;
	struct gate *gate;
	struct scrub *scrub;
	/* Scrub values that a server chose (tokens, ids of sessions) only from
	   texts about that server and from the log; false: add them to
	   `scrub`, for a command that shows one server only. */
	bool keeps_apart;
	const char *state_dir; /* tokens lie beneath; NULL: none are kept */
	bool is_terminal;      /* a person can be shown where to log in */
	/* In use, for which servers share a URL; NULL: none. */
	const struct config *config;
};

/* Options are copied; their pointers are borrowed. */
struct remotes *remotes_new(const struct remotes_options *options) MUST_USE;
/* After all that was opened. Takes NULL. */
void remotes_free(struct remotes *r);
/*
 * Get the HTTP engine for requests that are of no server.
 *
 * ret     borrowed
 * errors  as http_new()
 */
int remotes_http(struct remotes *r, struct http **ret, struct err *err)
	MUST_USE;

/* Read only, but for spec.message_max and .timeout_ms, which hold for
   transports that are opened later. */
struct remote_server {
	struct remotes *all;
	struct remote_spec spec;
	struct arena arena;
	struct url url;	  /* with its query, which is not for people */
	const char *text; /* the URL without */
	/* For whatever is shown of this server: the values of the options'
	   scrub, and those that the server chose. */
	struct scrub *scrub;
	struct auth *auth; /* owned */
	enum address_class
		range; /* of its address, from the first connection */
	struct gate_page browser; /* started last; owned */
	struct http *http;	  /* borrowed */
	bool is_plain; /* http or ws beyond loopback, which is allowed */
};

/*
 * spec    taken, also on failure
 * errors  ERR_SYNTAX  the URL, plain http or ws beyond loopback
 *	   ERR_LEASH   its host
 *	   ERR_UNKNOWN libcurl is not installed
 */
int remote_server_new(struct remotes *r, struct remote_spec *spec,
		      struct remote_server **ret, struct err *err) MUST_USE;
/* Takes NULL. */
void remote_server_free(struct remote_server *one);
/* For client_options.open; arg is the remote. */
int remote_server_open(void *arg, struct transport **ret, struct err *err)
	MUST_USE;
/* For client_options.open_facts: the browser, where one was started. */
void remote_server_facts(void *arg, struct jw *w);

#endif
