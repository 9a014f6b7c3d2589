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

/*
 * A program that answers the sampling requests of one server is started under
 * the gate for each of them, has the params on its stdin, and prints the
 * result, {"role", "content", "model"}.
 *
 *	sampler_check(&options, err)	is the program allowed?
 *	s = sampler_new(&options);
 *	... in CLIENT_ASK_GONE:	sampler_forget(s, e->of->ask);
 *	... in CLIENT_ENDED:	sampler_stop(s);
 *	sampler_free(s);
 *
 * The program has a policy of its own, which does not depend on that of the
 * server. A program that fails, prints no answer or takes too long is a refusal
 * (SA-9). Secrets are taken out of requests and answers.
 */

/* Requests of one session, all in all (SA-10). */
#define SAMPLER_MOST 16
/* Time and bytes of stdout of one program. */
#define SAMPLER_TIMEOUT_MS 60000
#define SAMPLER_BYTES (1024 * 1024)

struct sampler;

/* All of it is borrowed, and outlives the sampling. */
struct sampler_options {
	struct loop *loop;
	struct gate *gate;
	const struct scrub *scrub; /* may be NULL */
	const char *name;	   /* of the server, for people */
	struct strlist words;	   /* the program and its arguments */
	const char *cwd; /* folder to start in, if allowed; NULL: the gate
			    decides */
	const struct gate_policy *policy;
	struct tape *tape; /* of the run, or NULL */
};

/* errors  those of gate_check(): the leash or the policy does not allow it */
int sampler_check(const struct sampler_options *o, struct err *err) MUST_USE;

struct sampler *sampler_new(const struct sampler_options *o) MUST_USE;
/* End at once whatever runs. Takes NULL. */
void sampler_free(struct sampler *s);
/* Drop a request that the server withdrew. Unknown ones are ignored; takes
 * NULL.
 */
void sampler_forget(struct sampler *s, uint64_t ask);
/* Drop all requests: the server has ended, and may be started again. */
void sampler_stop(struct sampler *s);

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
 * Answer CLIENT_ASKED; sampling when the program has
 * ended. Where an
 * `accept` that was ordered is impossible, asks->is_unmet is set.
 *
 * ret_says  a sentence for people about the question and its answer;
 *	     appended. Texts of the server in it are as they came.
 * returns   false: these answers do not cover the question
 */
bool asks_answer(struct asks *asks, struct client *client,
		 const struct client_event *e, struct buf *ret_says);

#endif
