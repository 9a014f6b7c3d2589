/*
 * A program answers the sampling requests of one server: it is started under
 * the gate for each of them, has the params on its stdin, and prints the
 * result, {"role", "content", "model"}.
 *
 *	sampler_check(&options, err)	is the program allowed?
 *	s = sampler_new(&options);
 *	... in CLIENT_ASKED:	sampler_answer(s, client, e, &says);
 *	... in CLIENT_ASK_GONE:	sampler_forget(s, e->of->ask);
 *	... in CLIENT_ENDED:	sampler_stop(s);
 *	sampler_free(s);
 *
 * The program has a policy of its own, which does not depend on that of the
 * server. A program that fails, prints no answer or takes too long is a refusal
 * (SA-9). Secrets are taken out of requests and answers.
 */
#ifndef CORE_CLIENT_SAMPLER_H
#define CORE_CLIENT_SAMPLER_H

#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/client/client.h"

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
};

/* errors  those of gate_check(): the leash or the policy does not allow it */
int sampler_check(const struct sampler_options *o, struct err *err) MUST_USE;

struct sampler *sampler_new(const struct sampler_options *o) MUST_USE;
/* End at once whatever runs. Takes NULL. */
void sampler_free(struct sampler *s);

/*
 * Answer CLIENT_ASKED of sampling/createMessage: now, when it is refused, else
 * when the program has ended.
 *
 * client    outlives the answer, or sampler_stop()
 * ret_says  a sentence for people; appended
 */
void sampler_answer(struct sampler *s, struct client *client,
		    const struct client_event *e, struct buf *ret_says);
/* Drop a request that the server withdrew. Unknown ones are ignored; takes
 * NULL.
 */
void sampler_forget(struct sampler *s, uint64_t ask);
/* Drop all requests: the server has ended, and may be started again. */
void sampler_stop(struct sampler *s);

#endif
