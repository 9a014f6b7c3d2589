/*
 * Whole trees of files: summed, copied, removed.
 *
 * A link stays a link. Its target lies in the tree, or is absolute: a program
 * or library of the system, which root alone changes, or another executable
 * file, whose bytes belong to the sum. So nothing that a tree has or leads to
 * changes unseen, but for what such a file leads to in turn, and no tree leads
 * a server to private files.
 */
#ifndef CORE_INSTALL_FILES_H
#define CORE_INSTALL_FILES_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/sha256.h"

/* Entries of a tree, and bytes of its files: of a server with its packages. */
#define FILES_MAX 200000
#define FILES_BYTES_MAX (UINT64_C(4) << 30)

/*
 * Sum names, kinds, rights to execute, contents and targets of links, whatever
 * the order in the folder. Times and owners do not count.
 *
 * path    absolute, the folder itself
 * errors  ERR_SYS     it cannot be read
 *	   ERR_LIMIT   one of the bounds above
 *	   ERR_CONFIG  something that is no file, folder or link; a link that
 *		       leads elsewhere
 */
int files_digest(const char *path, char ret[SHA256_HEX_BYTES], struct err *err)
	MUST_USE;
/*
 * Copy a tree into a folder that is there and empty, for the user alone; links
 * stay as they are.
 * errors  as above
 */
int files_copy(const char *from, const char *to, struct err *err) MUST_USE;
/* Remove a tree of any size; one that is not there is removed. errors  ERR_SYS
 */
int files_remove(const char *path, struct err *err) MUST_USE;

#endif
