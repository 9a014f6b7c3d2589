/*
 * Bare ping-pong: the least that calls in a live session must do.
 *
 *	[TOOL=NAME] ping CALLS SERVER [ARG...]
 *
 * Starts the server on two pipes, performs the handshake and makes so many
 * calls one behind another, each written with one write and answered by one
 * line. Each carries a progress token, as the program's have to, so that the
 * server reads the same. Nothing is read of the answers but where they end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int to_server[2], from_server[2];

static void die(const char *what)
{
	fprintf(stderr, "ping: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void say(const char *text, size_t n)
{
	if (write(to_server[1], text, n) != (ssize_t)n)
		die("write to the server");
}

/* Until one line is whole: nobody is asked for a second before. */
static void hear(void)
{
	static char room[65536];
	ssize_t got;

	do {
		got = read(from_server[0], room, sizeof(room));
		if (got <= 0)
			die("the server ended");
	} while (room[got - 1] != '\n');
}

static pid_t start(char **argv)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (pipe2(to_server, O_CLOEXEC) < 0 ||
	    pipe2(from_server, O_CLOEXEC) < 0)
		die("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to_server[0], 0);
	posix_spawn_file_actions_adddup2(&actions, from_server[1], 1);
	errno = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno != 0)
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(to_server[0]);
	close(from_server[1]);
	return pid;
}

static void greet(void)
{
	static const char hello[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":\"2025-11-25\","
		"\"capabilities\":{},\"clientInfo\":{\"name\":\"ping\","
		"\"version\":\"1\"}}}\n";
	static const char ready[] = "{\"jsonrpc\":\"2.0\",\"method\":"
				    "\"notifications/initialized\"}\n";

	say(hello, sizeof(hello) - 1);
	hear();
	say(ready, sizeof(ready) - 1);
}

int main(int argc, char **argv)
{
	const char *tool = getenv("TOOL") ? getenv("TOOL") : "echo";
	long calls = argc > 2 ? strtol(argv[1], NULL, 10) : -1;
	int status;
	pid_t pid;

	if (calls < 0) {
		fprintf(stderr, "usage: ping CALLS SERVER [ARG...]\n");
		return 64;
	}
	signal(SIGPIPE, SIG_IGN);
	pid = start(argv + 2);
	greet();
	for (long i = 1; i <= calls; i++) {
		char call[250];
		int n = snprintf(call, sizeof(call),
				 "{\"jsonrpc\":\"2.0\",\"id\":%ld,"
				 "\"method\":\"tools/call\",\"params\":"
				 "{\"name\":\"%.50s\",\"arguments\":{},"
				 "\"_meta\":{\"progressToken\":%ld}}}\n",
				 i, tool, i);

		say(call, (size_t)n);
		hear();
	}
	close(to_server[1]);
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		die("the server failed");
	return 0;
}
