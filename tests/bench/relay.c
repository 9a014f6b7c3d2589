/*
 * Bare relay: the least that stands between a client and a server.
 *
 *	relay SERVER [ARG...]
 *
 * Starts the server on two pipes, and hands on what comes from either side as
 * it comes: one wait, one read and one write for each message. Knows of no
 * message where it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int to_server[2], from_server[2];

static bool start(char **argv)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (pipe2(to_server, O_CLOEXEC) < 0 ||
	    pipe2(from_server, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to_server[0], 0);
	posix_spawn_file_actions_adddup2(&actions, from_server[1], 1);
	errno = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(to_server[0]);
	close(from_server[1]);
	return errno == 0;
}

/* Hand on what is there; false: one side has ended. */
static bool hand_on(int from, int to)
{
	static char room[65536];
	const ssize_t got = read(from, room, sizeof(room));

	return got > 0 && write(to, room, (size_t)got) == got;
}

int main(int argc, char **argv)
{
	struct pollfd sides[2] = {{.fd = 0, .events = POLLIN},
				  {.events = POLLIN}};
	bool goes_on = true;

	if (argc < 2 || !start(argv + 1)) {
		fprintf(stderr, "relay: %s\n", strerror(errno));
		return 1;
	}
	sides[1].fd = from_server[0];
	while (goes_on && poll(sides, 2, -1) > 0) {
		if (sides[0].revents)
			goes_on = hand_on(0, to_server[1]);
		if (goes_on && sides[1].revents)
			goes_on = hand_on(from_server[0], 1);
	}
	return 0;
}
