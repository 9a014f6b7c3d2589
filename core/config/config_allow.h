/*
 * Whether a configuration that lay in the current folder may be used. Nobody
 * named it, so it counts only when its folder is in $MATINS_ALLOW, when these
 * very bytes were allowed before (core/config/allowed.h), or when the person at
 * the terminal says yes after seeing what it may do.
 */
#ifndef CORE_CONFIG_CONFIG_ALLOW_H
#define CORE_CONFIG_CONFIG_ALLOW_H

#include "core/base/buf.h"
#include "core/config/config.h"

/*
 * Judge it.
 * errors  ERR_NOT_ALLOWED
 */
int config_allow(struct config_file *file, const struct config_options *options,
		 struct err *err) MUST_USE;
/*
 * Allow these very bytes from now on, where they were found.
 *
 * edits   and whatever is written there later
 * errors  ERR_CONFIG  --edits does not hold there; ERR_SYS  it cannot be kept
 */
int config_allow_keep(struct config_file *file, bool edits, struct err *err)
	MUST_USE;
/*
 * Append what it may do and what it shadows, for a person.
 *
 * most  rows of one kind; 0: all
 */
void config_allow_show(const struct config_file *file, size_t most,
		       struct buf *out);

#endif
