/*
 * Where the leash of a run comes from. Three tiers, first hit wins:
 * $MATINS_CAVEATS (or $MODULEX_CAVEATS), the [caveats] table, and the
 * declared default, which allows exactly the programs that somebody named.
 */
#ifndef CORE_CONFIG_LEASH_H
#define CORE_CONFIG_LEASH_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/routine.h"
#include "gate/gate.h"

/*
 * config  may be NULL: commands that need none
 * named   programs named on the command line
 * ret     lives in `arena` and borrows from config and named
 * errors  ERR_CONFIG  a leash that cannot be read; it is never passed over
 */
int leash_find(const struct config *config, const struct strlist *named,
	       struct arena *arena, struct gate_leash *ret, struct err *err)
	MUST_USE;

/*
 * Let a trace run every program under the declared default: it finds out which
 * ones are to be declared. A leash that somebody wrote stays as it is.
 */
void leash_open_for_trace(struct gate_leash *leash);

/*
 * All that the gate keeps children from, into *ret:
 *
 * .protect  paths that no child may write, whatever is granted: the state
 *	     directory with the tokens in it and where servers keep them
 *	     elsewhere, the configuration and the golden files beside it,
 *	     configurations that were allowed wherever they lie
 * .sealed   those of them that are allowed whatever is written into them;
 *	     both are looked up by .find_protected, later or never
 * .absent   the user's own configurations
 * .hide     folders that no child may see: those of kept tokens and of
 *	     allowances
 * .written  folders that some program of the configuration may write
 *
 * State directories are all that another run of the user could find: by
 * $XDG_STATE_HOME, $HOME, passwd.
 *
 * config     may be NULL; lives as long as the gate, as `arena` does
 * state_dir  may be NULL
 * more       folder of an option that is hidden, too; may be NULL
 */
void leash_guard(const struct config *config, const char *state_dir,
		 const char *more, struct arena *arena,
		 struct gate_config *ret);

#endif
