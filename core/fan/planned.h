/*
 * Memory of the plans made here: the state directory, which no confined program
 * can write, has the digest of each plan's head. A plan in a folder that some
 * program may write is thus not run with another configuration, nor one that a
 * link in its place leads to. A plan that was made elsewhere, or moved, has no
 * record and is believed: naming it is to trust it.
 */
#ifndef CORE_FAN_PLANNED_H
#define CORE_FAN_PLANNED_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Keep the digest of a head; one that cannot be kept is left out silently. */
void planned_keep(const char *dir, struct str head);
/* errors  ERR_CONFIG  the plan that was made here had another head */
int planned_check(const char *dir, struct str head, struct err *err) MUST_USE;

#endif
