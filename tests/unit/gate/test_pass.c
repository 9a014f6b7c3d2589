/* Descriptors that are handed over while others of the user are in flight. */
#include "tests/unit/test.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/child/pass.h"

/* Of no user that runs anything else. */
#define NOBODY 64123

/* Send until the user has too many in flight; false: there is no bound. */
static bool fill(int sock)
{
	for (int i = 0; i < 256; i++) {
		char control[CMSG_SPACE(sizeof(int))] = {0};
		struct iovec data = {control, 1};
		struct msghdr msg = {.msg_iov = &data,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control)};
		struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &sock, sizeof(int));
		if (sendmsg(sock, &msg, MSG_DONTWAIT) < 0)
			return errno == ETOOMANYREFS;
	}
	return false;
}

/* Receive what is in flight, when somebody has begun to send one more. */
static _Noreturn void drain(int sock)
{
	struct passed got;

	usleep(20000);
	while (pass_receive(sock, MSG_DONTWAIT, &got))
		for (size_t i = 0; i < got.n; i++)
			close(got.fd[i]);
	_exit(0);
}

/* Fails with the number of the check. drained  others receive theirs */
static int crowd(bool drained)
{
	const struct rlimit few = {32, 32};
	int many[2], one[2];
	pid_t other = -1;
	long r;

	if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return 77;
	if (setrlimit(RLIMIT_NOFILE, &few) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, many) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, one) < 0)
		return 77;
	if (!fill(many[0]))
		return 77;
	if (drained) {
		other = fork();
		if (other == 0)
			drain(many[1]);
	}
	r = pass_send(one[0], 'x', many, 1, 0);
	if (other > 0)
		waitpid(other, NULL, 0);
	return drained ? r != 1 : r != -ETOOMANYREFS;
}

static void run_crowd(bool drained)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(crowd(drained));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(pass_send, too_many_in_flight, waits_until_others_have_theirs)
{
	run_crowd(true);
}

TEST(pass_send, too_many_in_flight_for_good, is_an_error_after_a_while)
{
	run_crowd(false);
}
