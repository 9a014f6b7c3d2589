/*
 * The user's own browser: found and judged as every program, started here,
 * recorded by the caller, and not confined. It is not ours to end: a browser
 * that was running takes the page over, and one that starts stays.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "gate/gate.h"

extern char **environ;

static int add_files(posix_spawn_file_actions_t *files)
{
	int r = 0;

	for (int i = 0; i < 3 && r == 0; i++)
		r = posix_spawn_file_actions_addopen(files, i, "/dev/null",
						     O_RDWR, 0);
	return r ? r : posix_spawn_file_actions_addclosefrom_np(files, 3);
}

/* A session of its own, and the signals as a program expects them. */
static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawnattr_setsigmask(attr, &none);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attr, &all);
	return r ? r
		 : posix_spawnattr_setflags(
			   attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
					 POSIX_SPAWN_SETSIGDEF);
}

static int start(const char *path, const char *name, const char *url,
		 pid_t *ret_pid)
{
	char *argv[] = {(char *)name, (char *)url, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r = posix_spawnattr_init(&attr);

	if (r)
		return r;
	r = posix_spawn_file_actions_init(&files);
	if (r == 0) {
		r = set_attributes(&attr);
		if (r == 0)
			r = add_files(&files);
		if (r == 0)
			r = posix_spawn(ret_pid, path, &files, &attr, argv,
					environ);
		posix_spawn_file_actions_destroy(&files);
	}
	posix_spawnattr_destroy(&attr);
	return r;
}

int gate_open_page(struct gate *gate, const char *program, const char *url,
		   struct gate_page *ret, struct err *err)
{
	const char *argv[] = {program, url, NULL};
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
	r = start(found.path, program, url, &ret->pid);
	if (r == 0) {
		ret->path = found.path;
		found.path = NULL;
	}
	gate_program_release(&found);
	return r ? err_sys(err, r, "the browser %s", program) : 0;
}
