/*
 * Names of a configuration that is found in a folder; cmd_allow.c.
 */
#ifndef CORE_CLI_ALLOW_PATH_H
#define CORE_CLI_ALLOW_PATH_H

#include <stdbool.h>

#include "core/base/attr.h"

/* The path ends in a name under which a configuration is found. */
bool allow_is_name(const char *path) MUST_USE;

#endif
