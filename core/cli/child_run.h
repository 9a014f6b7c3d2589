/*
 * One program of the gate, run in the foreground to its end.
 *
 * A terminal is never handed to a child, which could type into it, nor is a log
 * that the caller appends to, which it could empty. Where the request asks for
 * pipes instead, bytes are pumped: from our stdin, and to the
 * descriptors that the caller names. Signals go on to the program; one that
 * does not end within two seconds of the first, or at the second, is killed
 * with its tree.
 *
 *	struct child_end end;
 *	if (child_run(gate, &request, STDOUT_FILENO, STDERR_FILENO, &end,
 *		      err) < 0)
 *		return -1;
 *	status = child_end_status(&end.verdict);
 *	child_end_release(&end);
 */
#ifndef CORE_CLI_CHILD_RUN_H
#define CORE_CLI_CHILD_RUN_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/run/advice.h"
#include "gate/gate.h"

struct child_end {
	struct gate_child *child; /* owned; what .verdict borrows from */
	struct gate_verdict verdict;
	struct buf said; /* the first that was pumped to stderr */
	int signal;	 /* first one that we got meanwhile; 0: none */
};

/*
 * Run a program. Signals stay taken afterwards, so that results can be written:
 * see loop_give_signals_back().
 *
 * out, err_fd  descriptors for the bytes of its stdout and stderr
 * request      with .watches_writes each lost write is said when it is tried
 * errors       as gate_spawn()
 */
int child_run(struct gate *gate, const struct gate_request *request, int out,
	      int err_fd, struct child_end *ret, struct err *err) MUST_USE;
/*
 * Report whether bytes of this descriptor are pumped instead of handing it to
 * children: of a terminal, and of a file that is appended to.
 */
bool child_is_pumped(int fd) MUST_USE;
void child_end_release(struct child_end *e);
/* Status as a shell gives it, or 128 + signal. */
int child_end_status(const struct gate_verdict *v) MUST_USE;

/* Print the pieces of advice; false: there are none. */
bool say_advice(const struct advice_known *known);

#endif
