/*
 * Options that are keys of the configuration: gate/sandbox.def,
 * core/config/servers.def and core/auth/auth.def name both in one row. A value
 * is checked against the words and bounds of its row, as in a file.
 */
#ifndef CORE_CLI_KEY_OPTIONS_H
#define CORE_CLI_KEY_OPTIONS_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "gate/gate.h"

/*
 * Set the fields of a section by the given options; others stay. Relative
 * paths start in the caller's folder. Options of type REFERENCE, HEADERS,
 * PARAMS and PATHS take other values than their keys and are not read here.
 *
 * arena   holds lists and paths
 * object  struct of the section
 * errors  ERR_USAGE
 */
int option_values_read(const struct args *args, enum key_section section,
		       struct arena *arena, void *object, struct err *err)
	MUST_USE;

/*
 * The keys of `sandbox` as options of a command: --read P, --net V, … The rows
 * for its table of options are those of policy_options.def. Beside them
 * stand policies from elsewhere: --policy FILE repeats, and adds to the
 * options, by gate_policy_merge().
 */

/* ---- --policy ---- */

/* The files of --policy, absolute: no child may write them. */
struct strlist policy_files(const struct args *args, struct arena *arena)
	MUST_USE;

/* Print the recipes of --preset on stdout, for --help. */
void policy_recipes_help(const struct args *args);

/* ---- all of them ---- */

/*
 * Read the options, and all --policy, from parsed arguments.
 * Relative paths start in the caller's folder. Lists live in `arena`.
 *
 * ret_env  "NAME=VALUE", ends in NULL
 * errors   ERR_USAGE   also no such recipe, with the nearest
 *	    ERR_CONFIG  a file that is wrong or not to be trusted
 */
int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err) MUST_USE;

#endif
