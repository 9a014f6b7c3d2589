/*
 * Folders of npm: the prefix, which holds bin and lib/node_modules of global
 * packages, and the cache.
 */
#ifndef GATE_PATH_NPM_PREFIX_H
#define GATE_PATH_NPM_PREFIX_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/*
 * The prefix as npm itself finds it, without starting it: npm_config_prefix of
 * the environment, then `prefix` in the npmrc of the user, of the machine and
 * of npm's own folder; else the folder that node's bin lies in.
 *
 * env      declared "NAME=VALUE" of the request, ends in NULL; may be NULL
 * home     the user's; may be NULL
 * returns  an absolute path; NULL: there is none
 * source   npm, @npmcli/config
 */
const char *npm_prefix(const char *const *env, const char *home,
		       struct arena *arena) MUST_USE;

/* The folder of what npm fetched before, found likewise; NULL: none. */
const char *npm_cache(const char *const *env, const char *home,
		      struct arena *arena) MUST_USE;

/*
 * Value of a key in the text of an npmrc file, with ${NAME} as it stands; the
 * last one of the file counts. NULL: it is not set. In the arena. Pure.
 */
const char *npm_setting(struct str text, const char *key, struct arena *arena)
	MUST_USE;

#endif
