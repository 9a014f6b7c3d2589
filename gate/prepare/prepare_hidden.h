/*
 * Folders that no child sees, whatever is granted: those of kept tokens, where
 * the key that opens them may lie, too; and files that a trace leaves shut.
 *
 * In the view an empty folder is put above each. Without a view a grant around
 * one becomes grants of its other entries (split.h).
 */
#ifndef GATE_PREPARE_PREPARE_HIDDEN_H
#define GATE_PREPARE_PREPARE_HIDDEN_H

#include "gate/prepare/prepared.h"

/*
 * Fill .hidden; after all grants are known, and after those of a view were
 * chosen.
 *
 * errors  ERR_POLICY  `read` or `write` names what is hidden
 *	   ERR_LIMIT   without a view: a folder with too many entries
 */
int prepare_hidden(struct prepared *p, struct err *err) MUST_USE;

#endif
