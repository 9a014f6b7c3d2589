/* Programs that a person's own command runs: tools of the system, and this
   program once more. */
#include "gate/gate.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/state_dir.h"
#include "gate/child/process.h"

#define TOOL_S 30
#define TOOL_ERROR_BYTES (64 * 1024)

extern char **environ;

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

/* Can the person and root alone write it? */
static bool is_private(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Folders of the system first, whatever PATH says; then those of PATH in which
   nobody else can put a program. NULL: it is in none. */
static const char *find_tool(const char *name, struct arena *arena)
{
	static const char *const folders[] = {"/run/wrappers/bin", "/usr/bin",
					      "/bin",
					      "/run/current-system/sw/bin"};
	struct str rest = str_of(env_text("PATH"));
	const char *path, *folder;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		path = arena_printf(arena, "%s/%s", folders[i], name);
		if (is_program(path))
			return path;
	}
	while (rest.n) {
		struct str part = str_cut(&rest, ':');

		folder = arena_strndup(arena, part.p, part.n);
		path = arena_printf(arena, "%s/%s", folder, name);
		if (*folder == '/' && is_program(path) && is_private(path) &&
		    is_private(folder))
			return path;
	}
	return NULL;
}

static int not_found(const char *name, struct err *err)
{
	return err_set(
		err, ERR_UNKNOWN,
		"%s is not in /usr/bin, nor in a folder of PATH in which "
		"you and root alone can write: install it",
		name);
}

/* Input and outputs lie in memory: no pipe can be full. */
static int make_files(const char *name, struct str input, int fd[3],
		      struct err *err)
{
	for (int i = 0; i < 3; i++) {
		fd[i] = memfd_create(name, MFD_CLOEXEC);
		if (fd[i] < 0)
			return err_sys(err, errno, "%s", name);
	}
	if (fd_write_all(fd[0], input.p, input.n) < 0 ||
	    lseek(fd[0], 0, SEEK_SET) < 0)
		return err_sys(err, errno, "%s", name);
	return 0;
}

static int read_back(const char *name, int fd, struct buf *out, struct err *err)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "%s", name);
	return fd_read_all(fd, out, err);
}

static int run_in(const char *path, const char *const argv[], const int fd[3],
		  int *ret_status, struct err *err)
{
	struct clock *clock = clock_system();
	struct process p = PROCESS_NONE;
	int r = process_execute(path, argv, (const char *const *)environ, fd, 3,
				0, &p);

	if (r)
		return err_sys(err, r, "%s", path);
	if (!process_has_ended(&p, clock->now_ns(clock) + TOOL_S * NS_PER_S)) {
		process_end(&p);
		return err_set(err, ERR_DEADLINE,
			       "%s did not end within %d seconds", path,
			       TOOL_S);
	}
	r = process_wait(&p);
	*ret_status = WIFEXITED(r) ? WEXITSTATUS(r) : 128 + WTERMSIG(r);
	return 0;
}

int gate_run_tool(const char *const argv[], struct str input,
		  struct gate_said *ret, struct err *err)
{
	AUTO(buf_release) struct buf said = BUF_INIT(TOOL_ERROR_BYTES);
	const char *path = find_tool(argv[0], ret->arena);
	int fd[3] = {-1, -1, -1};
	int r;

	if (!path)
		return not_found(argv[0], err);
	r = make_files(argv[0], input, fd, err);
	if (r == 0)
		r = run_in(path, argv, fd, &ret->status, err);
	if (r == 0)
		r = read_back(argv[0], fd[1], ret->out, err);
	if (r == 0)
		r = read_back(argv[0], fd[2], &said, err);
	for (int i = 0; i < 3; i++)
		fd_closep(&fd[i]);
	if (r == 0)
		ret->error = arena_str(ret->arena, str_trim(buf_str(&said)));
	return r;
}

int gate_again_start(const char *const argv[], const int fd[4],
		     struct gate_again *ret, struct err *err)
{
	struct process p = PROCESS_NONE;

	if (process_again(argv, (const char *const *)environ, fd, &p) < 0)
		return err_sys(err, errno, "%s", argv[0]);
	*ret = (struct gate_again){p.pid, p.pidfd};
	return 0;
}

int gate_start_tool(const char *const argv[], const int fd[3],
		    struct gate_again *ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path = find_tool(argv[0], &arena);
	struct process p = PROCESS_NONE;
	int r;

	if (!path)
		return not_found(argv[0], err);
	r = process_execute(path, argv, (const char *const *)environ, fd, 3, 0,
			    &p);
	if (r)
		return err_sys(err, r, "%s", path);
	*ret = (struct gate_again){p.pid, p.pidfd};
	return 0;
}

void gate_again_signal(const struct gate_again *a, int signal)
{
	if (a->pid > 0)
		kill(a->pid, signal);
}

int gate_again_wait(struct gate_again *a)
{
	struct process p = {.pid = a->pid, .pidfd = a->pidfd};
	int status = process_wait(&p);

	*a = (struct gate_again){0, -1};
	if (status == -1)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
