/*
 * Values of credential references, each asked for once however often it is
 * named, and added to the scrub set at once.
 */
#ifndef CORE_RUN_CREDENTIALS_H
#define CORE_RUN_CREDENTIALS_H

#include "core/config/config.h"
#include "core/run/env.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

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
};

struct credentials *credentials_new(const struct credentials_context *context)
	MUST_USE;
/* Wipes the values. Takes NULL. */
void credentials_free(struct credentials *c);

/*
 * Set the variables of `refs`.
 * errors  ERR_CREDENTIAL  with the variable's name and the cause
 */
int credentials_give(struct credentials *c, const struct env_refs *refs,
		     struct env *env, struct err *err) MUST_USE;

/*
 * The value of one reference; borrowed until credentials_free().
 * errors  ERR_CREDENTIAL  with the cause
 */
int credentials_value(struct credentials *c, const struct env_ref *ref,
		      struct str *ret, struct err *err) MUST_USE;

/*
 * Judge a file that an authorization reads as a credential later.
 * errors  ERR_POLICY  a link that a program may have made leads to it
 */
int credentials_check_file(const struct credentials *c, const char *path,
			   struct err *err) MUST_USE;

#endif
