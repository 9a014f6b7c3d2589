/*
 * What a server asks its client, answered without a person: roots from a list,
 * elicitation by a policy, sampling by a program, everything else refused.
 *
 *	struct asks asks = {.roots = roots, .has_elicit = true, ...};
 *	asks_declare(&asks, &session_options.declared);
 *	... in CLIENT_ASKED:
 *		if (!asks_answer(&asks, client, e, &says))
 *			somebody else answers it
 *
 * Only what is declared is asked, and only what can be answered is declared
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
#include "core/client/sampling.h"

struct asks {
	struct strlist roots; /* file:// URIs; asks_add_root() */
	bool has_elicit;
	enum elicit_action elicit;
	struct str content; /* JSON object; {NULL, 0} for none */
	/* Who answers sampling: a program and its arguments, n = 0 for nobody;
	   where there is one, the owner makes the sampler of it. */
	struct strlist sampling;
	struct sampling *sampler; /* borrowed */
	bool is_unmet; /* a question could not be answered by `accept` */
};

/*
 * The keys `elicit`, `elicit_content`, `roots` and `sampling` of a server.
 *
 * policy  what it may do
 * arena   where the result lives
 * errors  as asks_add_root(), with the place
 */
int asks_of_server(const struct server *server,
		   const struct gate_policy *policy, struct arena *arena,
		   struct asks *ret, struct err *err) MUST_USE;

/*
 * Add a folder: by its real path, which must exist, and which the policy must
 * grant, since a root is what the server can see (ROOT-4, ROOT-6).
 *
 * policy  NULL: of a remote server, which is told the name and reads nothing
 * errors  ERR_CONFIG  it is not there, or not granted
 */
int asks_add_root(struct asks *asks, const char *path,
		  const struct gate_policy *policy, struct arena *arena,
		  struct err *err) MUST_USE;

/* What these answers allow to declare; other members stay. */
void asks_declare(const struct asks *asks, struct mcp_declared *declared);

/*
 * Answer CLIENT_ASKED; sampling later, see core/run/sampling.h. Where an
 * `accept` that was ordered is impossible, asks->is_unmet is set.
 *
 * ret_says  a sentence of what was answered to which question, for people;
 *	     appended. Texts of the server in it are as they came.
 * returns   false: the question is none that these answers know
 */
bool asks_answer(struct asks *asks, struct client *client,
		 const struct client_event *e, struct buf *ret_says);

#endif
