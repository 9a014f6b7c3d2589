/*
 * Lets one system call of a program fail, once:
 *
 *	fail FILE CALL ERRNO N -- PROGRAM [ARGS...]
 *
 * The Nth CALL of the program itself, not of what it starts, is not made and
 * gives the error. FILE comes to be when it happened. Exit status: that of
 * the program, 128 and more of a signal; 99: it could not be tried.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

enum { FAILED = 99 };

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{"epoll_ctl", SYS_epoll_ctl}, {"ioctl", SYS_ioctl},
	{"kill", SYS_kill},	      {"lseek", SYS_lseek},
	{"pread64", SYS_pread64},     {"flock", SYS_flock},
	{"openat", SYS_openat},
};

static const struct {
	const char *name;
	int error;
} errors[] = {
	{"EIO", EIO},	    {"EPERM", EPERM},	{"ENOSPC", ENOSPC},
	{"ENOMEM", ENOMEM}, {"ENOLCK", ENOLCK}, {"EMFILE", EMFILE},
};

static int die(const char *what)
{
	fprintf(stderr, "fail: %s: %s\n", what, strerror(errno));
	return FAILED;
}

/* The number of the call at its begin, or what it gives at its end. */
static int set_register(pid_t pid, int at_begin, int error)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;
	struct iovec io = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io) < 0)
		return -1;
	if (at_begin)
		regs.orig_rax = (unsigned long long)-1;
	else
		regs.rax = (unsigned long long)-error;
#else
	struct user_regs_struct regs;
	struct iovec io = {&regs, sizeof(regs)};
	int none = -1;
	struct iovec nr = {&none, sizeof(none)};

	if (at_begin)
		return (int)ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL,
				   &nr);
	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io) < 0)
		return -1;
	regs.regs[0] = (unsigned long long)-error;
#endif
	return (int)ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &io);
}

/* The file says that the call failed, and in which process. */
static void note(const char *file, pid_t pid)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd >= 0)
		dprintf(fd, "%d\n", (int)pid);
	close(fd);
}

static int follow(pid_t pid, const char *file, long call, int error, long n)
{
	struct ptrace_syscall_info info;
	int status, pass = 0, is_due = 0;

	while (ptrace(PTRACE_SYSCALL, pid, NULL, (long)pass) == 0 &&
	       waitpid(pid, &status, __WALL) == pid) {
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		pass = 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			if (WSTOPSIG(status) != SIGTRAP)
				pass = WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <
		    0)
			return die("PTRACE_GET_SYSCALL_INFO");
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			is_due = (long)info.entry.nr == call && --n == 0;
			if (is_due && set_register(pid, 1, error) < 0)
				return die("registers");
		} else if (is_due) {
			is_due = 0;
			if (set_register(pid, 0, error) < 0)
				return die("registers");
			note(file, pid);
		}
	}
	return die("ptrace");
}

int main(int argc, char **argv)
{
	long call = -1;
	int error = 0, status;
	pid_t pid;

	for (size_t i = 0; argc > 6 && i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, argv[2]) == 0)
			call = calls[i].nr;
	for (size_t i = 0; argc > 6 && i < sizeof(errors) / sizeof(*errors);
	     i++)
		if (strcmp(errors[i].name, argv[3]) == 0)
			error = errors[i].error;
	if (call < 0 || !error || strcmp(argv[5], "--") != 0) {
		fputs("usage: fail FILE CALL ERRNO N -- PROGRAM...\n", stderr);
		return FAILED;
	}
	pid = fork();
	if (pid < 0)
		return die("fork");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[6], argv + 6);
		_exit(die(argv[6]));
	}
	if (waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
		return die("ptrace");
	return follow(pid, argv[1], call, error, strtol(argv[4], NULL, 10));
}
