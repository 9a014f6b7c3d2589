#include "gate/cgroup/cgroup_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"

#define PREFIX "matins-"
/* Rounds of killing, and the time for one process to go. */
#define END_ROUNDS 64
#define END_MS 2000

/* ---- files ---- */

struct str cgroup_read(int dir, const char *path, char text[CGROUP_FILE_BYTES])
{
	AUTO(fd_closep) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, CGROUP_FILE_BYTES - 1);

	if (n < 0)
		n = 0;
	text[n] = '\0';
	return (struct str){text, (size_t)n};
}

int cgroup_write(int dir, const char *path, const char *text)
{
	AUTO(fd_closep) int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

/* ---- ending what is in a group ---- */

static int end_process(pid_t pid, bool by_signal)
{
	AUTO(fd_closep) int fd = kernel_pidfd_open(pid);
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return 0;
	if (by_signal)
		kernel_pidfd_signal(fd, SIGKILL);
	return poll(&p, 1, END_MS) > 0 ? 0 : -1;
}

/*
 * One look at the list; returns how many there were. 0 stands for a process
 * that our namespace does not show, which cannot be one of ours.
 */
static int end_listed(int group, bool by_signal)
{
	char text[CGROUP_FILE_BYTES];
	struct str rest = cgroup_read(group, "cgroup.procs", text);
	int n = 0;

	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		uint64_t pid;

		if (!str_uint64(line, &pid) || pid < 2 || pid > INT32_MAX ||
		    (pid_t)pid == getpid())
			continue;
		n++;
		if (end_process((pid_t)pid, by_signal) < 0)
			return 0;
	}
	return n;
}

static void end_group(int group)
{
	bool killed;

	/* with none allowed, none is made between looking and killing */
	(void)!cgroup_write(group, "pids.max", "0");
	killed = cgroup_write(group, "cgroup.kill", "1") == 0;
	for (int i = 0; i < END_ROUNDS; i++)
		if (end_listed(group, !killed) == 0)
			return;
}

int cgroup_open(int at, const char *name)
{
	return openat(at, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void cgroup_end(int base, const char *name)
{
	AUTO(fd_closep) int fd = cgroup_open(base, name);

	if (fd >= 0)
		end_group(fd);
}

void cgroup_remove(const struct cgroup_fs *fs, int base, const char *name)
{
	if (fs->remove(base, name) == 0 || errno == ENOENT)
		return;
	cgroup_end(base, name);
	(void)fs->remove(base, name);
}

/* ---- groups of dead gates ---- */

static DIR *open_dir(int fd)
{
	int copy = cgroup_open(fd, ".");
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir)
		fd_closep(&copy);
	return dir;
}

/* Field 22 of stat, clock ticks since boot; 0 when the process does not exist.
 */
static uint64_t start_time(pid_t pid)
{
	char path[64], text[CGROUP_FILE_BYTES];
	struct str rest, field;
	const char *end;
	uint64_t ticks;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	rest = cgroup_read(AT_FDCWD, path, text);
	end = strrchr(text, ')');
	if (!rest.n || !end)
		return 0;
	rest = str_of(end + 1);
	/* the end of field 2 comes first */
	for (int i = 2; i <= 22; i++)
		field = str_cut(&rest, ' ');
	return str_uint64(field, &ticks) ? ticks : 0;
}

/* PID-STARTTIME-N, the first group of a gate, or PID-STARTTIME-N-NUMBER. */
struct group_name {
	uint64_t pid, start;
	bool is_first;
	char first[CGROUP_NAME_BYTES]; /* of that gate */
};

static bool parse_name(const char *name, struct group_name *ret)
{
	struct str rest = str_of(name);
	uint64_t n;

	if (!str_starts(rest, PREFIX) || rest.n >= sizeof(ret->first))
		return false;
	rest = str_of(name + strlen(PREFIX));
	if (!str_uint64(str_cut(&rest, '-'), &ret->pid) ||
	    !str_uint64(str_cut(&rest, '-'), &ret->start) ||
	    !str_uint64(str_cut(&rest, '-'), &n) || ret->pid > INT32_MAX)
		return false;
	ret->is_first = !rest.n;
	snprintf(ret->first, sizeof(ret->first),
		 PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu64, ret->pid,
		 ret->start, n);
	if (ret->is_first)
		return strcmp(name, ret->first) == 0;
	return str_uint64(rest, &n);
}

void cgroup_new_name(char ret[CGROUP_NAME_BYTES])
{
	static unsigned opened;

	snprintf(ret, CGROUP_NAME_BYTES, PREFIX "%d-%llu-%u", getpid(),
		 (unsigned long long)start_time(getpid()), opened++);
}

static bool is_alive(const struct group_name *name)
{
	return start_time((pid_t)name->pid) == name->start;
}

static bool is_own(int base, const char *name)
{
	struct stat st;

	return fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Remove the groups of a gate but its first one. */
static void remove_others(const struct cgroup_fs *fs, int base,
			  const struct group_name *of)
{
	DIR *dir = open_dir(base);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct group_name name;

		if (parse_name(e->d_name, &name) && !name.is_first &&
		    strcmp(name.first, of->first) == 0 &&
		    is_own(base, e->d_name))
			cgroup_remove(fs, base, e->d_name);
	}
	if (dir)
		closedir(dir);
}

/* The first one, which carries the lock, is the last to go. */
static void sweep_gate(const struct cgroup_fs *fs, int base,
		       const struct group_name *name)
{
	AUTO(fd_closep) int lock = -1;

	if (is_alive(name) || !is_own(base, name->first))
		return;
	/* a lock is held by one that another pid namespace hides */
	lock = cgroup_open(base, name->first);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	remove_others(fs, base, name);
	cgroup_remove(fs, base, name->first);
}

void cgroup_sweep(const struct cgroup_fs *fs, int base)
{
	DIR *dir = open_dir(base);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct group_name name;

		if (!parse_name(e->d_name, &name))
			continue;
		if (name.is_first)
			sweep_gate(fs, base, &name);
		else if (faccessat(base, name.first, F_OK,
				   AT_SYMLINK_NOFOLLOW) < 0 &&
			 !is_alive(&name) && is_own(base, e->d_name))
			cgroup_remove(fs, base, e->d_name);
	}
	if (dir)
		closedir(dir);
}
