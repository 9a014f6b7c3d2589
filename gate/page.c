/*
 * The user's own browser: found and judged as every program, started here,
 * recorded by the caller, and not confined. It is not ended here: a browser
 * that was running takes the page over, and one that starts stays.
 */
#include "core/base/fd.h"
#include "gate/child/process.h"
#include "gate/gate.h"

extern char **environ;

int gate_open_page(struct gate *gate, const char *program, const char *url,
		   struct gate_page *ret, struct err *err)
{
	const char *argv[] = {program, url, NULL};
	struct process browser = PROCESS_NONE;
	const struct gate_policy policy = {0};
	const struct gate_request request = {
		.program = program,
		.argv = argv,
		.policy = &policy,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
	struct gate_program found;
	int r;

	if (!str_starts(str_of(url), "https://") &&
	    !str_starts(str_of(url), "http://"))
		return err_set(err, ERR_POLICY,
			       "only http and https pages are opened");
	if (gate_resolve(gate, &request, &found, err) < 0)
		return err_wrap(err, "the browser");
	r = process_execute(found.path, argv, (const char *const *)environ,
			    NULL, 0, &browser);
	if (r == 0) {
		ret->pid = browser.pid;
		ret->path = found.path;
		found.path = NULL;
		fd_closep(&browser.pidfd);
	}
	gate_program_release(&found);
	return r ? err_sys(err, r, "the browser %s", program) : 0;
}
