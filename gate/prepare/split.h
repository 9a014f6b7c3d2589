/*
 * Grants of single entries instead of their folder, where there is no view.
 *
 * Landlock rules only add up: no rule takes away what another gives. So a
 * folder with something in it that must stay shut is granted entry by entry;
 * new files cannot be made directly in such a folder.
 */
#ifndef GATE_PREPARE_SPLIT_H
#define GATE_PREPARE_SPLIT_H

#include "gate/prepare/prepared.h"

enum split_entry { SPLIT_LEAVE_OUT, SPLIT_GRANT, SPLIT_OPEN };

struct split {
	const char *because; /* "hidden": in messages */
	/* Judge an entry; SPLIT_OPEN: if it is a folder, its entries one by
	   one. May lessen the rights. */
	enum split_entry (*judge)(const struct prepared *p, const char *path,
				  unsigned *what);
};

/*
 * Grant the entries of a folder, and the folder for listing if it is read.
 *
 * errors  ERR_LIMIT  too many entries
 *	   ERR_SYS
 */
int split_folder(struct prepared *p, const struct split *s, const char *path,
		 unsigned what, struct err *err) MUST_USE;

#endif
