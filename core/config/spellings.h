/*
 * Routines as other programs spell them: spellings.def, and the step types of
 * modulex that `matins brief` does.
 *
 * A tree is brought into the spelling of keys.def before anything else reads
 * it; a place of it stays that of the key as it is written. Pure.
 */
#ifndef CORE_CONFIG_SPELLINGS_H
#define CORE_CONFIG_SPELLINGS_H

#include <stdbool.h>

#include "core/config/findings.h"
#include "core/config/keys.h"
#include "core/toml/toml.h"

/*
 * Rewrite the servers and routines of a configuration. What means the same is
 * taken without a word, anything else is an error.
 *
 * lax  errors of keys that differ are warnings
 */
void spellings_apply(const struct toml_value *root, bool lax,
		     struct arena *arena, struct findings *findings);

#endif
