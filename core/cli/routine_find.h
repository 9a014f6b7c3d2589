/*
 * A routine of a configuration, by its name.
 */
#ifndef CORE_CLI_ROUTINE_FIND_H
#define CORE_CLI_ROUTINE_FIND_H

#include "core/config/config.h"

/* errors  ERR_UNKNOWN_ROUTINE with the nearest name */
int find_routine(const struct config *config, const char *name,
		 const struct routine **ret, struct err *err) MUST_USE;

#endif
