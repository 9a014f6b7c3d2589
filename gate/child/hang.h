/*
 * File systems that may not answer: a file on a server that is gone, or in a
 * process that is stuck, makes the process that opens it wait, and no signal
 * helps.
 *
 * So where such a file system is mounted, another process goes first: it only
 * looks at the files of a request. When it does not end in time it is given
 * up, and the runner itself never touches them. A server that goes away later,
 * or a file system that is mounted later, is not seen here.
 */
#ifndef GATE_CHILD_HANG_H
#define GATE_CHILD_HANG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct gate_request;

/*
 * Does this table of mounts name a file system that a server or a process
 * answers for? Those beneath /proc and /sys are the kernel's.
 *
 * source  proc_pid_mountinfo(5)
 */
bool hang_is_served(struct str mountinfo) MUST_USE;
/* Does our own table? True where it cannot be read. */
bool hang_is_possible(void) MUST_USE;

/*
 * Look at the program, its interpreters, the folders and files of the policy
 * and those among the arguments, in a process of its own. Faults of the files
 * are not errors here.
 *
 * until_ns  monotonic
 * errors    ERR_DEADLINE  it was not back by then
 *	     ERR_SYS	   there can be no such process
 */
int hang_try(const struct gate_request *request, uint64_t until_ns,
	     struct err *err) MUST_USE;

#endif
