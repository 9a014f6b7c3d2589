/*
 * Environment of a program with values that are secrets: "NAME=VALUE" lines,
 * each name once, wiped when they are freed.
 */
#ifndef CORE_RUN_ENV_H
#define CORE_RUN_ENV_H

#include "core/base/attr.h"
#include "core/base/str.h"

struct env {
	char **item; /* owned, ends in NULL; NULL where there is none */
	size_t n;
};

/* Set a variable; the value given last wins. Both are copied. */
void env_set(struct env *e, const char *name, struct str value);
/* Add lines that end in NULL; `lines` may be NULL. */
void env_add_lines(struct env *e, const char *const *lines);
/* For gate_request.env; borrowed. */
const char *const *env_lines(const struct env *e) MUST_USE;
void env_release(struct env *e);

#endif
