/*
 * A folder that is the user's alone: opened once and judged, then used by
 * its descriptor, so that nothing on the way to it can be exchanged later.
 * Files in it are regular, the user's, mode 0600, and never links.
 */
#ifndef CORE_AUTH_FOLDER_H
#define CORE_AUTH_FOLDER_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/*
 * ret     a descriptor; the caller closes it
 * returns 0; 1: there is none, and `make` is false
 * errors  ERR_POLICY  a link, another user's, or open to others; says what
 *		       to do
 *	   ERR_SYS
 */
int folder_open(const char *dir, bool make, int *ret, struct err *err) MUST_USE;
/*
 * Append a file, up to the ceiling of `out`.
 * returns 0; 1: there is none. errors  as above, ERR_LIMIT
 */
int folder_read(int dir, const char *name, struct buf *out, struct err *err)
	MUST_USE;
/* Write it whole, on disk before it has that name. */
int folder_replace(int dir, const char *name, struct str content,
		   struct err *err) MUST_USE;
/* Like folder_replace(), but keep a file that exists. returns  0; 1: kept */
int folder_create(int dir, const char *name, struct str content,
		  struct err *err) MUST_USE;
/* returns 0; 1: there is none */
int folder_remove(int dir, const char *name, struct err *err) MUST_USE;
/*
 * Lock a file that stays, made where it is missing; until *ret is closed.
 * Never waits. returns 0; 1: another process has it
 */
int folder_lock(int dir, const char *name, int *ret, struct err *err) MUST_USE;

#endif
