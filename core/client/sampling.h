/*
 * A program answers the sampling requests of one server: it is started under
 * the gate for each of them, has the params on its stdin, and prints the
 * result, {"role", "content", "model"}.
 *
 *	sampling_check(&options, err)	is the program allowed?
 *	s = sampling_new(&options);
 *	... in CLIENT_ASKED:	sampling_answer(s, client, e, &says);
 *	... in CLIENT_ASK_GONE:	sampling_forget(s, e->of->ask);
 *	... in CLIENT_ENDED:	sampling_stop(s);
 *	sampling_free(s);
 *
 * It works in the loop beside everything else. Its policy is its own: what the
 * server may do has no say in it. A program that fails, says nothing right or
 * takes too long is a refusal (SA-9). What a server asks and what it is
 * answered is without secrets.
 */
#ifndef CORE_CLIENT_SAMPLING_H
#define CORE_CLIENT_SAMPLING_H

#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/client/client.h"

/* Requests of one session, all in all (SA-10). */
#define SAMPLING_MOST 16
/* What one program may take, and print. */
#define SAMPLING_TIMEOUT_MS 60000
#define SAMPLING_BYTES (1024 * 1024)

struct sampling;

/* All of it is borrowed, and outlives the sampling. */
struct sampling_options {
	struct loop *loop;
	struct gate *gate;
	const struct scrub *scrub; /* may be NULL */
	const char *name;	   /* of the server, for people */
	struct strlist words;	   /* the program and its arguments */
	const char *cwd; /* where it starts if it may; NULL: the gate decides */
	const struct gate_policy *policy;
};

/* errors  those of gate_check(): the leash or the policy does not allow it */
int sampling_check(const struct sampling_options *o, struct err *err) MUST_USE;

struct sampling *sampling_new(const struct sampling_options *o) MUST_USE;
/* Ends at once what runs. Takes NULL. */
void sampling_free(struct sampling *s);

/*
 * Answer CLIENT_ASKED of sampling/createMessage: now, when it is refused, else
 * when the program has ended.
 *
 * client    outlives the answer, or sampling_stop()
 * ret_says  what is done, for people; appended
 */
void sampling_answer(struct sampling *s, struct client *client,
		     const struct client_event *e, struct buf *ret_says);
/* The server no longer wants it. Unknown ones are ignored; takes NULL. */
void sampling_forget(struct sampling *s, uint64_t ask);
/* The server has ended: nobody waits any more, and it may ask anew. */
void sampling_stop(struct sampling *s);

#endif
