/*
 * Paths that stay read-only inside of writable grants: our own files, and
 * files that make a folder run code for its next user (protected.def).
 */
#ifndef GATE_PREPARE_PREPARE_PROTECTED_H
#define GATE_PREPARE_PREPARE_PROTECTED_H

#include "gate/prepare/prepared.h"

/*
 * Refuse links that lead nowhere on the way to our own files; before the view.
 * errors  ERR_POLICY  a program could make what such a link leads to
 */
int protected_check_links(struct prepared *p, struct err *err) MUST_USE;

/*
 * Fill .view.protect; in a view, make the folders of files that must not
 * appear.
 *
 * errors  ERR_POLICY  a program could make one of these folders
 */
int prepare_protected(struct prepared *p, struct err *err) MUST_USE;

/*
 * Without a view: grant the entries of a writable folder one by one where a
 * protected path lies in it, all but that one.
 *
 * errors  ERR_LIMIT  too many entries
 */
int protected_split(struct prepared *p, struct err *err) MUST_USE;

#endif
