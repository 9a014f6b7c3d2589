/*
 * Credential references of steps become variables of their programs.
 *
 * Values are asked for before the first step starts, each once however often
 * it is named, and every value is added to the scrub set at once. A step
 * whose credential cannot be had is skipped.
 */
#ifndef CORE_RUN_CREDENTIALS_H
#define CORE_RUN_CREDENTIALS_H

#include "core/run/step.h"

struct credentials;

/*
 * policy  what a `cmd` reference's program may do; borrowed
 * config  in whose folder that program starts, and whose programs may have
 *	   written where a file of a credential lies; borrowed
 * ctx     its loop runs while such a program does; borrowed
 */
struct credentials *credentials_new(struct step_context *ctx,
				    const struct gate_policy *policy,
				    const struct config *config) MUST_USE;
/* Wipes the values. Takes NULL. */
void credentials_free(struct credentials *c);

/*
 * Give a step the variables of `refs`.
 * errors  ERR_CREDENTIAL  with the variable's name and the cause
 */
int credentials_give(struct credentials *c, const struct env_refs *refs,
		     struct step_run *s, struct err *err) MUST_USE;

/*
 * The value of one reference; borrowed until credentials_free().
 * errors  ERR_CREDENTIAL  with the cause
 */
int credentials_value(struct credentials *c, const struct env_ref *ref,
		      struct str *ret, struct err *err) MUST_USE;

/*
 * Judge a file that is read as a credential later, by somebody else.
 * errors  ERR_POLICY  a link that a program may have made leads to it
 */
int credentials_check_file(const struct credentials *c, const char *path,
			   struct err *err) MUST_USE;

#endif
