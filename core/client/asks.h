/*
 * Answers to requests of a server, without a person: roots from a list,
 * elicitation by a policy, sampling by a program, everything else refused.
 *
 *	struct asks asks = {.roots = roots, .has_elicit = true, ...};
 *	asks_declare(&asks, &session_options.declared);
 *	... in CLIENT_ASKED:
 *		if (!asks_answer(&asks, client, e, &says))
 *			... a person is asked
 *
 * Servers may request only what is declared, and that is what can be answered
 * (CAP-2, CAP-5).
 */
#ifndef CORE_CLIENT_ASKS_H
#define CORE_CLIENT_ASKS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/mcp/wire/elicit.h"
#include "core/config/routine.h"
#include "core/client/client.h"
#include "core/client/sampler.h"

struct asks {
	struct strlist roots; /* file:// URIs; asks_add_root() */
	bool has_elicit;
	enum elicit_action elicit;
	struct str content; /* JSON object; {NULL, 0} for none */
	/* Program that answers sampling, and its arguments; n = 0: none. The
	   owner makes the sampler of it. */
	struct strlist sampling;
	struct sampler *sampler; /* borrowed */
	bool is_unmet; /* a question could not be answered by `accept` */
};

/*
 * Read the keys `elicit`, `elicit_content`, `roots` and `sampling` of a server.
 *
 * policy  of the server
 * arena   holds the result
 * errors  as asks_add_root(), with the place
 */
int asks_of_server(const struct server *server,
		   const struct gate_policy *policy, struct arena *arena,
		   struct asks *ret, struct err *err) MUST_USE;

/*
 * Add a folder: by its real path, which must exist, and which the policy must
 * grant, since a root is what the server can see (ROOT-4, ROOT-6).
 *
 * policy  NULL: of a remote server, which gets the name and reads nothing
 * errors  ERR_CONFIG  the folder does not exist, or is not granted
 */
int asks_add_root(struct asks *asks, const char *path,
		  const struct gate_policy *policy, struct arena *arena,
		  struct err *err) MUST_USE;

/* Declare what these answers allow; other members stay. */
void asks_declare(const struct asks *asks, struct mcp_declared *declared);

/*
 * Answer CLIENT_ASKED; sampling later, see core/client/sampler.h. Where an
 * `accept` that was ordered is impossible, asks->is_unmet is set.
 *
 * ret_says  a sentence for people about the question and its answer;
 *	     appended. Texts of the server in it are as they came.
 * returns   false: these answers do not cover the question
 */
bool asks_answer(struct asks *asks, struct client *client,
		 const struct client_event *e, struct buf *ret_says);

#endif
