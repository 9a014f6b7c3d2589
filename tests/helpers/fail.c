/*
 * Lets a system call of a program fail, or kills the program at it:
 *
 *	fail FILE CALL ERRNO N -- PROGRAM [ARGS...]
 *
 * The Nth CALL of the program itself, not of what it starts, is not made and
 * gives the error. FILE comes to be when it happened. Exit status: that of
 * the program, 128 and more of a signal; 99: it could not be tried.
 *
 * CALL   a name, or "changes": each call that changes a file or folder
 * ERRNO  EIO and so on; with "+" each such call from the Nth on fails, but for
 *	  those that remove: a full disk. SHORT: half of what is written fits,
 *	  and from then on ENOSPC. KILL: SIGKILL in place of the call
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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

/* What a call does to files. */
enum { NOTHING, GROWS, REMOVES, WRITES /* to a descriptor */, CREATES };

static const struct call {
	const char *name;
	long nr;
	int does;
} calls[] = {
	{"socketpair", SYS_socketpair, NOTHING},
	{"epoll_ctl", SYS_epoll_ctl, NOTHING},
	{"ioctl", SYS_ioctl, NOTHING},
	{"kill", SYS_kill, NOTHING},
	{"lseek", SYS_lseek, NOTHING},
	{"pread64", SYS_pread64, NOTHING},
	{"flock", SYS_flock, NOTHING},
	{"openat", SYS_openat, CREATES},
	{"write", SYS_write, WRITES},
	{"writev", SYS_writev, WRITES},
	{"pwrite64", SYS_pwrite64, WRITES},
	{"fsync", SYS_fsync, WRITES},
	{"fdatasync", SYS_fdatasync, WRITES},
	{"ftruncate", SYS_ftruncate, REMOVES},
	{"renameat2", SYS_renameat2, GROWS},
	{"linkat", SYS_linkat, GROWS},
	{"symlinkat", SYS_symlinkat, GROWS},
	{"unlinkat", SYS_unlinkat, REMOVES},
	{"mkdirat", SYS_mkdirat, GROWS},
	{"fchmod", SYS_fchmod, GROWS},
#ifdef SYS_rename
	{"rename", SYS_rename, GROWS},
	{"link", SYS_link, GROWS},
	{"symlink", SYS_symlink, GROWS},
	{"unlink", SYS_unlink, REMOVES},
	{"mkdir", SYS_mkdir, GROWS},
	{"rmdir", SYS_rmdir, REMOVES},
#endif
#ifdef SYS_renameat
	{"renameat", SYS_renameat, GROWS},
#endif
};

enum { SHORT = -1, KILL = -2 };

static const struct {
	const char *name;
	int error;
} errors[] = {
	{"EIO", EIO},	    {"EPERM", EPERM},	{"ENOSPC", ENOSPC},
	{"ENOMEM", ENOMEM}, {"ENOLCK", ENOLCK}, {"EMFILE", EMFILE},
	{"EROFS", EROFS},   {"SHORT", SHORT},	{"KILL", KILL},
};

/* What was asked for. */
struct ask {
	const char *file;
	const char *call; /* or "changes" */
	int error;
	bool lasts;
	long n;
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

/* Is the descriptor one of a file on disk? */
static bool is_on_disk(pid_t pid, unsigned long fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%lu", (int)pid, fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return path[0] == '/' && strncmp(path, "/dev/", 5) != 0 &&
	       strncmp(path, "/proc/", 6) != 0 &&
	       strncmp(path, "/sys/", 5) != 0;
}

/* Is the call one that is asked for? */
static bool is_meant(const struct ask *ask, pid_t pid,
		     const struct ptrace_syscall_info *info)
{
	const struct call *c = calls, *end = c + sizeof(calls) / sizeof(*c);

	while (c < end && c->nr != (long)info->entry.nr)
		c++;
	if (c == end)
		return false;
	if (strcmp(ask->call, "changes") != 0)
		return strcmp(ask->call, c->name) == 0;
	switch (c->does) {
	case NOTHING:
		return false;
	case CREATES:
		return info->entry.args[2] & O_CREAT;
	case WRITES:
		return is_on_disk(pid, info->entry.args[0]);
	case REMOVES:
		/* goes on where a disk is full */
		return ask->error == KILL || !ask->lasts;
	default:
		return true;
	}
}

/* Make half of a write, by its third argument; false: it is another call. */
static bool cut(pid_t pid, const struct ptrace_syscall_info *info)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;
	struct iovec io = {&regs, sizeof(regs)};

	if (info->entry.nr != SYS_write ||
	    ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io) < 0)
		return false;
	regs.rdx /= 2;
	return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &io) == 0;
#else
	return pid < 0 || !info;
#endif
}

/*
 * Do to a call what is asked for, at its begin.
 *
 * returns  0: it is made; 1: it gives the error at its end; -1
 */
static int meet(struct ask *ask, pid_t pid,
		const struct ptrace_syscall_info *info)
{
	if (!is_meant(ask, pid, info) || --ask->n > 0 ||
	    (ask->n < 0 && !ask->lasts))
		return 0;
	if (ask->error == KILL) {
		note(ask->file, pid);
		return kill(pid, SIGKILL);
	}
	if (ask->error == SHORT) {
		ask->error = ENOSPC;
		if (cut(pid, info)) {
			note(ask->file, pid);
			return 0;
		}
	}
	return set_register(pid, 1, ask->error) < 0 ? -1 : 1;
}

static int follow(pid_t pid, struct ask *ask)
{
	struct ptrace_syscall_info info;
	int status, pass = 0, due = 0;

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
			due = meet(ask, pid, &info);
			if (due < 0)
				return die("registers");
		} else if (due) {
			due = 0;
			if (set_register(pid, 0, ask->error) < 0)
				return die("registers");
			note(ask->file, pid);
		}
	}
	/* a program that was killed meanwhile */
	if (ask->error == KILL && waitpid(pid, &status, __WALL) == pid &&
	    WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return die("ptrace");
}

/* Read CALL, ERRNO and N; false: they are none. */
static bool read_ask(char **word, struct ask *ask)
{
	size_t n = strcspn(word[2], "+");
	bool is_call = strcmp(word[1], "changes") == 0;

	*ask = (struct ask){.file = word[0], .call = word[1]};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		is_call |= strcmp(calls[i].name, word[1]) == 0;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (strlen(errors[i].name) == n &&
		    strncmp(errors[i].name, word[2], n) == 0)
			ask->error = errors[i].error;
	ask->lasts = word[2][n] == '+' || ask->error == SHORT;
	ask->n = strtol(word[3], NULL, 10);
	return is_call && ask->error && ask->n > 0;
}

int main(int argc, char **argv)
{
	struct ask ask;
	int status;
	pid_t pid;

	if (argc < 7 || !read_ask(argv + 1, &ask) ||
	    strcmp(argv[5], "--") != 0) {
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
	return follow(pid, &ask);
}
