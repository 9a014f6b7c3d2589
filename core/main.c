/*
 * Run the command, print the final error, set the exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "gate/gate.h"

/*
 * A program started without one of the three standard descriptors would give
 * its number to the next file it opens, and print results into that.
 */
static void open_standard_descriptors(void)
{
	struct pollfd fds[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};

	(void)poll(fds, 3, 0);
	/* the wrong way round: writing to a closed stdout stays an error */
	for (int fd = 0; fd < 3; fd++)
		if (fds[fd].revents & POLLNVAL &&
		    open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR) != fd)
			_exit(1);
}

/* Credentials pass through this process: no core file, no ptrace by others. */
static void keep_memory_private(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
}

#ifdef MATINS_ASAN
/* A child of our own gate may not trace itself, so it checks no leaks. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return prctl(PR_GET_SECCOMP) == 2;
}
#endif

static void print_error(const struct err *err)
{
	struct err ignored = ERR_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	log_error("%s", err->msg);
	if (!cli_json_errors)
		return;
	w = jw_begin(&out);
	jw_kv_object(&w, "error");
	jw_kv_cstr(&w, "kind", err_word(err->kind));
	jw_kv_cstr(&w, "message", err->msg);
	if (err->line) {
		jw_kv_int(&w, "line", err->line);
		jw_kv_int(&w, "column", err->col);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(&out, '\n');
	if (put(buf_str(&out), PUT_JSON, &ignored) < 0)
		log_error("%s", ignored.msg);
}

/*
 * Options that every command has may stand before it: `matins -q list`. They
 * are moved behind its name.
 */
static void move_early_options(int argc, char **argv)
{
	int n = 1;
	char *name;

	while (n < argc && argv[n][0] == '-' && argv[n][1]) {
		bool has_value = strcmp(argv[n], "-c") == 0 ||
				 strcmp(argv[n], "--config") == 0;

		if (strcmp(argv[n], "--") == 0)
			return;
		n += has_value ? 2 : 1;
	}
	if (n == 1 || n >= argc)
		return;
	name = argv[n];
	memmove(argv + 2, argv + 1, (size_t)(n - 1) * sizeof(*argv));
	argv[1] = name;
}

static int dispatch(int argc, char **argv, struct err *err)
{
	static char help[] = "help";

	if (argc < 2)
		return err_set(err, ERR_USAGE,
			       "name a command; `matins help` lists them");
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("matins %s\n", MATINS_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		argv[1] = help;
	move_early_options(argc, argv);
	return command_run(argc - 1, argv + 1, err);
}

#ifdef MATINS_COVER
/*
 * Skip writing coverage counts when their folder is not writable (run by
 * another user, or inside a sandbox), so that stderr stays clean.
 */
static void leave_uncounted(int status, UNUSED void *arg)
{
	fflush(NULL);
	if (access(MATINS_COVER, W_OK) < 0)
		_exit(status);
}
#endif

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	int status;

#ifdef MATINS_COVER
	on_exit(leave_uncounted, NULL);
#endif
	open_standard_descriptors();
	keep_memory_private();
	if (argc > 0 && strcmp(argv[0], GATE_PROXY_NAME) == 0)
		return gate_proxy_main();
	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv, &err);
	/* `| head` has seen enough: end as any filter does, without a word */
	if (status < 0 && err.kind == ERR_SYS && err.sys == EPIPE)
		return 128 + SIGPIPE;
	if (status < 0) {
		print_error(&err);
		status = err_exit_status(err.kind);
	}
	if (fflush(stdout) != 0 && errno == EPIPE)
		return 128 + SIGPIPE;
	if (ferror(stdout) && status == 0) {
		log_error("stdout: %s", strerror(errno));
		status = 1;
	}
	return status;
}
