/*
 * Variables of the environment that say where files lie, and the folder of
 * matins's own.
 */
#ifndef CORE_BASE_STATE_DIR_H
#define CORE_BASE_STATE_DIR_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"

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
/*
 * Where servers are installed: $XDG_DATA_HOME/matins/servers or
 * ~/.local/share/matins/servers; likewise.
 */
const char *state_dir_servers(struct arena *arena) MUST_USE;
/*
 * Refuse a folder of the state that another user can fill: what lies there is
 * believed. One that is not there yet is made by us.
 * errors  ERR_SYS
 */
int state_dir_is_ours(const char *dir, struct err *err) MUST_USE;
/*
 * Refuse a file that a person named for a result where it would lie among
 * matins' own.
 *
 * shown   the path as named
 * folder  of the file, real
 * errors  ERR_OUTPUT
 */
int state_dir_check(const char *shown, const char *folder, struct err *err)
	MUST_USE;
/* Folder of the tokens of remote servers, unless token_store names another. */
const char *state_dir_tokens(const char *state_dir, struct arena *arena)
	MUST_USE;

/*
 * Open a regular file of the state directory, made for the user alone where
 * `flags` hold O_CREAT. As root a link that somebody put there would lead a
 * write anywhere, and a FIFO would hold up the run: both are refused.
 *
 * ret_fd  close it
 * errors  ERR_SYS, its errno 0 for what was refused
 */
int state_dir_open(const char *path, int flags, int *ret_fd, struct err *err)
	MUST_USE;

#endif
