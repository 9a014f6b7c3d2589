/*
 * The keys of `sandbox` as options of a command: --read P, --net V, … The rows
 * for its table of options are those of policy_options.def.
 */
#ifndef CORE_CLI_POLICY_OPTIONS_H
#define CORE_CLI_POLICY_OPTIONS_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "core/cli/policy_sources.h"
#include "core/config/paths.h"
#include "gate/gate.h"

/*
 * Read them from parsed arguments. Relative paths start in the caller's
 * folder. Lists live in `arena`.
 *
 * ret_env  "NAME=VALUE", ends in NULL
 * errors   ERR_USAGE
 */
int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err) MUST_USE;

#endif
