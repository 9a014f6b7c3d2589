#include "core/cli/trace_child.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/loop.h"

/* A terminal is never handed to a child; what was read is read again. */
static int open_input(bool again)
{
	if (!isatty(STDIN_FILENO) &&
	    (!again || lseek(STDIN_FILENO, 0, SEEK_SET) == 0))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd_open("/dev/null", O_RDONLY, 0);
}

int trace_child_run(struct gate *gate, struct gate_request *request, bool again,
		    struct child_end *ret, struct err *err)
{
	AUTO(fd_closep) int in = open_input(again);
	int out = child_is_pumped(STDERR_FILENO) ? GATE_PIPE : STDERR_FILENO;
	int r;

	if (in < 0)
		return err_sys(err, errno, "stdin");
	request->stdio[0] = in;
	request->stdio[1] = out;
	request->stdio[2] = out == GATE_PIPE ? GATE_AS_OUT : out;
	r = child_run(gate, request, STDERR_FILENO, STDERR_FILENO, ret, err);
	loop_give_signals_back();
	return r;
}
