/*
 * Options that are keys of the configuration: gate/sandbox.def,
 * core/config/servers.def and core/auth/auth.def name both in one row. A value
 * is checked against the words and bounds of its row, as in a file.
 */
#ifndef CORE_CLI_OPTION_VALUES_H
#define CORE_CLI_OPTION_VALUES_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "core/config/keys.h"

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

#endif
