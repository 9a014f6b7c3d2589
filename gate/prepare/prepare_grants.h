/*
 * Paths of a request: the program's files and installation, the files that
 * its arguments name, and what the policy grants.
 */
#ifndef GATE_PREPARE_PREPARE_GRANTS_H
#define GATE_PREPARE_PREPARE_GRANTS_H

#include "gate/prepare/prepared.h"

/*
 * Fill .grants, .installation, .script and .cwd_shown.
 *
 * errors  as grant_path(), and
 *	   ERR_POLICY  a link in a writable folder leads out of it; a writable
 *		       grant holds a sealed path; a path of `write` is missing
 */
int prepare_grants(struct prepared *p, struct err *err) MUST_USE;

/*
 * Say why no folder above a sealed path is granted for writing, and how it can
 * be: words behind the folder's name.
 */
const char *grants_why_sealed(const char *path, struct arena *arena) MUST_USE;

#endif
