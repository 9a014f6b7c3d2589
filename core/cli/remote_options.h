/*
 * Options of a command for a remote server that go over its keys: headers, and
 * [servers.NAME.auth].
 */
#ifndef CORE_CLI_REMOTE_OPTIONS_H
#define CORE_CLI_REMOTE_OPTIONS_H

#include "core/cli/args.h"
#include "core/run/remotes.h"

/*
 * Set the given options in the spec. Files are read here, their
 * secrets are added to `scrub`.
 *
 * arena   for absolute paths
 * errors  ERR_USAGE, ERR_CREDENTIAL a file that cannot be read
 */
int remote_options_read(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err) MUST_USE;
/* The first of them that was given, or NULL: they need a remote server. */
const char *remote_options_any(const struct args *args) MUST_USE;

#endif
