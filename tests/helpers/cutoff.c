/*
 * Kills a program at one moment of a process that it starts:
 *
 *	cutoff WHO CALL N MS -- PROGRAM [ARGS...]
 *
 * WHO is 0 for the program itself, 1 for the first process that it makes, with
 * those that are made by others counted, too; -1: any of these. At the begin of
 *the Nth CALL of WHO ("any", or a name), which is not made until then, and
 *after so many milliseconds in which no other process starts or ends, the
 *program gets SIGKILL; once it is dead everything else goes on. It is killed,
 *too, when WHO executes a program or ends, and when nothing has happened for a
 *while. Exit status: 0 killed at that call; 3 there is no such call; 99 it
 *could not be tried.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

enum { AT_CALL, NO_SUCH_CALL = 3, FAILED = 99, PROCESSES = 64 };

/* Nothing happens in a run that waits for its program; a machine that stands
   still for so long is not told from that. What comes by name is waited for. */
#define IDLE_MS 300
#define NAMED_MS 20000

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{"any", -1},
	{"fdatasync", SYS_fdatasync},
	{"execveat", SYS_execveat},
	{"write", SYS_write},
};

struct traced {
	pid_t pid[PROCESSES]; /* in the order of their first appearance */
	size_t n;
	long who;
	long call;  /* -1: any */
	long calls; /* of .who; the last one is not made */
	long hold_ms;
	int is_held; /* .who is at that call */
};

static int die(const char *what)
{
	fprintf(stderr, "cutoff: %s: %s\n", what, strerror(errno));
	return FAILED;
}

static void wake_up(int signal)
{
	(void)signal;
}

static size_t number_of(struct traced *t, pid_t pid)
{
	size_t i = 0;

	while (i < t->n && t->pid[i] != pid)
		i++;
	if (i == t->n && t->n < PROCESSES)
		t->pid[t->n++] = pid;
	return i;
}

/* Kill the program and wait for its death; our own end lets the others go. */
static int end_program(const struct traced *t, int status)
{
	int end;

	kill(t->pid[0], SIGKILL);
	while (waitpid(t->pid[0], &end, __WALL) == t->pid[0] && WIFSTOPPED(end))
		;
	return status;
}

/* A process has stopped, or ended; let it go on.
   returns  -1, or the exit status: this was the moment */
static int step(struct traced *t, pid_t pid, int status)
{
	size_t i = number_of(t, pid);
	int is_who = t->who < 0 ? i > 0 : i == (size_t)t->who;
	int event = status >> 16, pass = 0;

	if (!WIFSTOPPED(status))
		return is_who && t->who >= 0 ? NO_SUCH_CALL : -1;
	if (event == PTRACE_EVENT_EXEC && t->n > 1 && is_who)
		return NO_SUCH_CALL;
	if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
	    event == PTRACE_EVENT_VFORK) {
		unsigned long made = 0;

		ptrace(PTRACE_GETEVENTMSG, pid, NULL, &made);
		(void)number_of(t, (pid_t)made);
	} else if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		struct ptrace_syscall_info info;

		/* a call begins, or is over */
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) >
			    0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY && is_who &&
		    (t->call < 0 || (long)info.entry.nr == t->call) &&
		    --t->calls == 0) {
			t->is_held = 1;
			return t->hold_ms ? -1 : AT_CALL;
		}
	} else if (!event && WSTOPSIG(status) != SIGTRAP) {
		pass = WSTOPSIG(status);
	}
	ptrace(is_who ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, (long)pass);
	return -1;
}

static int follow(struct traced *t)
{
	int status, r = -1;

	while (r < 0) {
		long ms = t->is_held	? t->hold_ms
			  : t->call < 0 ? IDLE_MS
					: NAMED_MS;
		const struct itimerval idle = {
			.it_value = {ms / 1000, ms % 1000 * 1000}};
		pid_t pid;

		setitimer(ITIMER_REAL, &idle, NULL);
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			return end_program(t,
					   t->is_held ? AT_CALL : NO_SUCH_CALL);
		if (pid < 0)
			return die("the program ended by itself");
		r = step(t, pid, status);
		if (!WIFSTOPPED(status) && pid == t->pid[0])
			return r < 0 ? NO_SUCH_CALL : r;
	}
	return end_program(t, r);
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACEEXEC;
	const struct sigaction interrupt = {.sa_handler = wake_up};
	struct traced t = {.n = 1, .call = -2};
	int status;

	for (size_t i = 0; argc > 6 && i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, argv[2]) == 0)
			t.call = calls[i].nr;
	if (t.call < -1 || strcmp(argv[5], "--") != 0) {
		fputs("usage: cutoff WHO CALL N MS -- PROGRAM...\n", stderr);
		return FAILED;
	}
	t.who = strtol(argv[1], NULL, 10);
	t.calls = strtol(argv[3], NULL, 10);
	t.hold_ms = strtol(argv[4], NULL, 10);
	t.pid[0] = fork();
	if (t.pid[0] < 0)
		return die("fork");
	if (!t.pid[0]) {
		raise(SIGSTOP);
		execv(argv[6], argv + 6);
		_exit(die(argv[6]));
	}
	sigaction(SIGALRM, &interrupt, NULL);
	if (waitpid(t.pid[0], &status, WUNTRACED) != t.pid[0] ||
	    ptrace(PTRACE_SEIZE, t.pid[0], NULL, options) < 0 ||
	    kill(t.pid[0], SIGCONT) < 0)
		return die("ptrace");
	return follow(&t);
}
