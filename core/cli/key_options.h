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
 * stand policies from elsewhere: --policy FILE, --preset NAME. Both repeat and
 * add to each other and to the options, by gate_policy_merge().
 */

/* ---- --preset, --policy ---- */

/* "name|name|…": what --preset takes; before the first stands one more bar. */
extern const char preset_names[];
#define PRESET_NAMES (preset_names + 1)

/*
 * The projects of all --preset, for people: "/srv/p, for its package.json".
 *
 * write  what may be written, all together
 */
struct strlist policy_projects(const struct args *args,
			       const struct strlist *write, struct arena *arena)
	MUST_USE;

/* Print the presets on stdout, for --help. */
void policy_presets_help(void);

/* The files of --policy, absolute: no child may write them. */
struct strlist policy_files(const struct args *args, struct arena *arena)
	MUST_USE;

/* ---- all of them ---- */

/*
 * Read the options, and all --preset and --policy, from parsed arguments.
 * Relative paths start in the caller's folder. Lists live in `arena`.
 *
 * ret_env  "NAME=VALUE", ends in NULL
 * errors   ERR_USAGE   also no such preset, with the nearest
 *	    ERR_CONFIG  a file that is wrong or not to be trusted
 */
int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err) MUST_USE;

#endif
