/*
 * The configuration of a folder that `allow` and `disallow` are about.
 */
#ifndef CORE_CLI_ALLOW_PATH_H
#define CORE_CLI_ALLOW_PATH_H

#include "core/base/arena.h"
#include "core/cli/args.h"

/* Is it a name under which a file of the current folder is found? */
bool allow_is_name(const char *path) MUST_USE;

/*
 * matins.toml, else modulex.toml, of the folder that the arguments name, or
 * of the current one; the file itself may be named as well.
 *
 * returns  in `arena`; NULL with ERR_UNKNOWN: there is none
 */
const char *allow_path(const struct args *args, struct arena *arena,
		       struct err *err) MUST_USE;

#endif
