/*
 * Variables of the environment that say where files lie, and the folder of
 * matins's own.
 */
#ifndef CORE_BASE_STATE_DIR_H
#define CORE_BASE_STATE_DIR_H

#include "core/base/arena.h"
#include "core/base/attr.h"

/* Value of a variable; NULL also where it is set to nothing. */
const char *env_text(const char *name) MUST_USE;

/*
 * Where runs are recorded, without touching the disk: $MATINS_STATE,
 * $XDG_STATE_HOME/matins, ~/.local/state/matins; the first that is set. An
 * XDG variable that is no absolute path counts as not set.
 *
 * returns  an absolute path, in `arena`; NULL when none of the variables is set
 * source   XDG Base Directory Specification 0.8
 */
const char *state_dir_find(struct arena *arena) MUST_USE;
/* Folder of the tokens of remote servers, unless token_store names another. */
const char *state_dir_tokens(const char *state_dir, struct arena *arena)
	MUST_USE;

#endif
