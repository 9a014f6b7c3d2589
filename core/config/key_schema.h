/*
 * The configuration as a JSON Schema, for editors: each section of keys.def a
 * definition, each step type one of the forms of a step. Made of what draft-07
 * and 2020-12 share, because editors of TOML know the older one.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_KEY_SCHEMA_H
#define CORE_CONFIG_KEY_SCHEMA_H

#include "core/base/buf.h"

/* Append the schema, indented, with a newline. */
void keys_print_schema(struct buf *out);

#endif
