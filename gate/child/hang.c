#include "gate/child/hang.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/gate.h"
#include "gate/child/launch.h"
#include "gate/path/resolve.h"

/* A table of mounts; of a longer one the answer is "possible". */
#define MOUNTINFO_BYTES (1024 * 1024)
/* A killed process that nothing holds needs no time at all. */
#define KILLED_MS 200

/* ---- mounts ---- */

/* Types of file systems that a server or a process answers for. */
static const char *const SERVED[] = {
	"9p",	"afs",	    "autofs",  "beegfs",   "ceph",   "cifs",
	"coda", "fuse",	    "fuseblk", "gpfs",	   "lustre", "nfs",
	"nfs4", "orangefs", "smb3",    "virtiofs",
};

static bool is_served(struct str type)
{
	for (size_t i = 0; i < ARRAY_LEN(SERVED); i++)
		if (str_eq(type, str_of(SERVED[i])))
			return true;
	return str_starts(type, "fuse.");
}

/* 36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw */
static bool is_served_line(struct str line)
{
	struct str place = {NULL, 0}, word;

	for (int i = 0; i < 5; i++)
		place = str_cut(&line, ' ');
	do
		word = str_cut(&line, ' ');
	while (line.n && !str_eq(word, STR("-")));
	if (str_starts(place, "/proc/") || str_starts(place, "/sys/"))
		return false;
	return is_served(str_cut(&line, ' '));
}

bool hang_is_served(struct str mountinfo)
{
	while (mountinfo.n)
		if (is_served_line(str_cut(&mountinfo, '\n')))
			return true;
	return false;
}

bool hang_is_possible(void)
{
	AUTO(buf_release) struct buf text = BUF_INIT(MOUNTINFO_BYTES);
	struct err ignored;

	return fd_read_file("/proc/self/mountinfo", &text, &ignored) < 0 ||
	       hang_is_served(buf_str(&text));
}

/* ---- who goes first ---- */

static void look_at(const char *path)
{
	AUTO(fd_closep) int fd = fd_open(path, O_PATH, 0);
	struct stat st;

	if (fd >= 0)
		(void)!fstat(fd, &st);
}

static void look_at_all(const struct strlist *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		look_at(paths->item[i]);
}

static void look_at_program(const char *name)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err ignored;

	if (resolve_program(name, NULL, &arena, &r, &ignored) == 0)
		resolved_release(&r);
}

/* In a process of its own, that holds nothing of ours. */
NORETURN static void go_first(const struct gate_request *request)
{
	const struct gate_policy *p = request->policy;

	syscall(SYS_close_range, 3, ~0U, 0);
	look_at_program(request->program);
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++)
		look_at(request->argv[i]);
	if (request->cwd)
		look_at(request->cwd);
	if (p) {
		look_at_all(&p->read);
		look_at_all(&p->write);
		for (size_t i = 0; i < p->exec.n; i++)
			look_at_program(p->exec.item[i]);
	}
	_exit(0);
}

int hang_left_ms(uint64_t until_ns)
{
	uint64_t now = clock_system()->now_ns(clock_system());

	if (now >= until_ns)
		return 0;
	return (int)((until_ns - now + NS_PER_MS - 1) / NS_PER_MS);
}

static bool has_ended(int pidfd, uint64_t until_ns)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, hang_left_ms(until_ns));
	while (r < 0 && errno == EINTR);
	return r > 0;
}

int hang_try(const struct gate_request *request, uint64_t until_ns,
	     struct err *err)
{
	int pidfd = -1;
	/* fork(2) without a signal at its end, and with a pidfd */
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD, NULL, &pidfd, NULL,
				   NULL);

	if (pid < 0)
		return err_sys(err, errno, "clone() of a process");
	if (!pid)
		go_first(request);
	if (!has_ended(pidfd, until_ns)) {
		hang_kill(pid, pidfd, NULL);
		return err_set(err, ERR_DEADLINE,
			       "%s: a file system that it needs does not "
			       "answer",
			       request->program);
	}
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	close(pidfd);
	return 0;
}

/* ---- who does not come back ---- */

struct stuck {
	pid_t pid;
	int pidfd;
	void *stack;
	struct stuck *next;
};

static struct stuck *stuck;

static bool reap(const struct stuck *s)
{
	if (waitpid(s->pid, NULL, __WALL | WNOHANG) == 0)
		return false;
	close(s->pidfd);
	if (s->stack)
		munmap(s->stack, LAUNCH_STACK_BYTES);
	return true;
}

void hang_reap(void)
{
	struct stuck **at = &stuck;

	while (*at) {
		struct stuck *s = *at;

		if (!reap(s)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		free(s);
	}
}

void hang_kill(pid_t pid, int pidfd, void *stack)
{
	struct stuck *s = mem_zalloc(sizeof(*s));
	uint64_t now = clock_system()->now_ns(clock_system());

	*s = (struct stuck){pid, pidfd, stack, stuck};
	stuck = s;
	syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)has_ended(pidfd, now + KILLED_MS * NS_PER_MS);
	hang_reap();
}
