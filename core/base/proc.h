/*
 * Processes of this machine as /proc shows them.
 */
#ifndef CORE_BASE_PROC_H
#define CORE_BASE_PROC_H

#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/buf.h"

/*
 * When a process was started, in clock ticks since boot: with it a number that
 * was used again is told apart. 0: there is none, or it has ended and was not
 * reaped.
 * source  proc_pid_stat(5), field 22
 */
uint64_t proc_start_time(pid_t pid) MUST_USE;
/* Our own number, and our start, which is looked up once. */
pid_t proc_self(uint64_t *ret_start);

/* Append the id of this boot, which tells process ids of two boots apart;
   nothing where there is no /proc. */
void proc_boot_id(struct buf *out);

#endif
