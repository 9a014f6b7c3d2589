/*
 * Keywords of the JSON Schemas that a person writes into a configuration.
 *
 * A validator passes over a keyword that it does not know, as JSON Schema
 * says: { maximun = 3 } takes every number. Pure.
 */
#ifndef CORE_CONFIG_SCHEMA_WORDS_H
#define CORE_CONFIG_SCHEMA_WORDS_H

#include "core/config/findings.h"
#include "core/toml/toml.h"

/*
 * Find every keyword that no draft has, in a table of schemas and in those
 * beneath them; a name that begins with "x-" is one's own.
 *
 * is_warning  findings are no errors
 */
void schema_words_check(const struct toml_value *schemas, bool is_warning,
			struct findings *findings);

#endif
