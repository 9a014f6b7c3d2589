/*
 * Keys of a policy that name rows of tables: `profile`, `require`. Pure.
 */
#ifndef GATE_POLICY_POLICY_NAMES_H
#define GATE_POLICY_POLICY_NAMES_H

#include "core/base/attr.h"
#include "gate/policy/policy.h"

/*
 * Read one key into the policy.
 *
 * name    NULL = default
 * errors  ERR_POLICY with the nearest name
 */
int policy_read_profile(const char *name, struct policy *p, struct err *err)
	MUST_USE;
int policy_read_require(const struct strlist *require, struct policy *p,
			struct err *err) MUST_USE;

#endif
