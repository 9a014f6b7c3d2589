/*
 * Grant one path, wherever it comes from: follow it once, judge where it led,
 * and grant that by its descriptor.
 *
 * Every grant of a request but its programs' own files comes through here.
 * Judges are the leash, the owners and targets of the links on the way, and
 * the list of what is never writable.
 *
 * what     GRANT_..., and one GRANT_BY() that says where it comes from
 * returns  0; 1: the path leads nowhere, or the leash does not allow it,
 *	    which is said in .policy.capped
 * errors   ERR_LEASH   a path of `read` or `write` leads out of the leash
 *	    ERR_POLICY  a link that is not to be trusted, our own files
 *	    ERR_SYS
 */
#ifndef GATE_PREPARE_GRANT_PATH_H
#define GATE_PREPARE_GRANT_PATH_H

#include "gate/prepare/prepared.h"

int grant_path(struct prepared *p, const char *path, unsigned what,
	       struct err *err) MUST_USE;
/* Grant what a walk found already; `found` is empty when it is granted. */
int grant_found(struct prepared *p, const char *path, struct walk *found,
		unsigned what, struct err *err) MUST_USE;

#endif
