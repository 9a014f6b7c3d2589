/*
 * Step types of modulex that a tool of `matins brief` does: git-status,
 * git-unpushed, deadline-calc and countdown-calc. Pure.
 */
#ifndef CORE_CONFIG_NATIVE_H
#define CORE_CONFIG_NATIVE_H

#include "core/config/findings.h"
#include "core/toml/toml.h"

/*
 * Make such a step one of type mcp-client, with what [shared], [[deadlines]] or
 * [[countdowns]] say as its params and grants. One without anything to look at
 * stays as it is, as does any other step. Keys
 * of modulex that the tool has no place for are warnings.
 */
void native_apply(const struct toml_value *root, struct toml_value *step,
		  struct arena *arena, struct findings *findings);

#endif
