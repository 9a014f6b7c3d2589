/*
 * The folders of control groups: where some may be made, our first one there,
 * and those that dead gates have left.
 */
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
#include "gate/cgroup/cgroup_inner.h"

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

static int open_folder(int at, const char *name)
{
	return openat(at, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void cgroup_end(int base, const char *name)
{
	AUTO(fd_closep) int fd = open_folder(base, name);

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
	int copy = open_folder(fd, ".");
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir)
		fd_closep(&copy);
	return dir;
}

/* Field 22 of stat, clock ticks since boot; 0 when there is no such process. */
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

/* Those beside the first group of a gate. */
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
	lock = open_folder(base, name->first);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	remove_others(fs, base, name);
	cgroup_remove(fs, base, name->first);
}

static void sweep(const struct cgroup_fs *fs, int base)
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

/* ---- our own groups ---- */

static bool is_still(int fd, int at, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 &&
	       fstatat(at, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat_is_same(&a, &b);
}

/* Make and lock; between the two a sweep of another one may have taken it. */
static int make_first(const struct cgroups *pool, int base)
{
	for (int tries = 0; tries < 3; tries++) {
		AUTO(fd_closep) int fd = -1;

		if (pool->fs->make(base, pool->name) < 0)
			return -1;
		fd = open_folder(base, pool->name);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    is_still(fd, base, pool->name))
			return fd_steal(&fd);
		/* without a lock on it nobody would remove it at the end */
		cgroup_remove(pool->fs, base, pool->name);
	}
	errno = EBUSY;
	return -1;
}

void cgroup_close_tree(const struct cgroups *pool, struct cgroup_tree *t)
{
	if (t->lock >= 0)
		cgroup_remove(pool->fs, t->base, pool->name);
	fd_closep(&t->lock);
	fd_closep(&t->base);
}

void cgroup_note(struct cgroups *pool, const char *where, const char *what)
{
	if (!*pool->why)
		snprintf(pool->why, sizeof(pool->why), "%.80s: %.70s", where,
			 what);
}

/* Takes base. */
static int add_tree(struct cgroups *pool, int base, const char *path,
		    const bool has[N_CGROUP_CONTROLLERS])
{
	struct cgroup_tree *t = &pool->tree[pool->n_trees];

	*t = (struct cgroup_tree){.base = base, .lock = -1};
	memcpy(t->has, has, sizeof(t->has));
	sweep(pool->fs, base);
	t->lock = make_first(pool, base);
	if (t->lock < 0) {
		cgroup_note(pool, path, strerror(errno));
		fd_closep(&t->base);
		return -1;
	}
	pool->n_trees++;
	return 0;
}

/* ---- version 1 ---- */

static void add_v1(struct cgroups *pool, const char *path,
		   const bool has[N_CGROUP_CONTROLLERS])
{
	int base = fd_open(path, O_RDONLY | O_DIRECTORY, 0);

	if (base < 0)
		cgroup_note(pool, path, strerror(errno));
	else
		(void)add_tree(pool, base, path, has);
}

static void open_v1(struct cgroups *pool, const struct cgroup_places *at)
{
	const bool memory[] = {true, false}, pids[] = {false, true};
	const bool both[] = {true, true};

	if (at->memory && at->pids && strcmp(at->memory, at->pids) == 0) {
		add_v1(pool, at->memory, both);
		return;
	}
	if (at->memory)
		add_v1(pool, at->memory, memory);
	if (at->pids)
		add_v1(pool, at->pids, pids);
}

/* ---- version 2 ---- */

/* Controllers of a group's children. */
static int children_have(int group, bool ret[N_CGROUP_CONTROLLERS])
{
	char text[CGROUP_FILE_BYTES];
	struct str type = str_trim(cgroup_read(group, "cgroup.type", text));

	ret[CGROUP_MEMORY] = ret[CGROUP_PIDS] = false;
	/* the root has no type; threads can be divided, their memory not */
	if (type.n && !str_is(type, "domain"))
		return 0;
	cgroup_read(group, "cgroup.subtree_control", text);
	ret[CGROUP_MEMORY] = cgroup_has_word(str_of(text), ' ', "memory");
	ret[CGROUP_PIDS] = cgroup_has_word(str_of(text), ' ', "pids");
	return ret[CGROUP_MEMORY] + ret[CGROUP_PIDS];
}

/* One group of the way up, if that many controllers can be had in it. */
static bool try_v2(struct cgroups *pool, const char *path, int wanted)
{
	bool has[N_CGROUP_CONTROLLERS];
	int base = fd_open(path, O_RDONLY | O_DIRECTORY, 0);

	if (base < 0)
		return false;
	if (children_have(base, has) < wanted) {
		close(base);
		return false;
	}
	return add_tree(pool, base, path, has) == 0;
}

static bool walk_v2(struct cgroups *pool, const struct cgroup_places *at,
		    int wanted)
{
	AUTO(mem_freep) char *path = mem_strdup(at->unified);
	size_t top = strlen(at->unified_top);

	for (;;) {
		char *slash;

		if (try_v2(pool, *path ? path : "/", wanted))
			return true;
		slash = strrchr(path, '/');
		if (!slash || strlen(path) <= top)
			return false;
		*slash = '\0';
	}
}

static void open_v2(struct cgroups *pool, const struct cgroup_places *at)
{
	if (!at->unified || !at->unified_top)
		return;
	pool->is_unified = walk_v2(pool, at, 2) || walk_v2(pool, at, 1);
	if (!pool->is_unified)
		cgroup_note(pool, at->unified,
			    "memory and pids are not delegated to us");
}

/* ---- which of them ---- */

void cgroup_open_trees(struct cgroups *pool, const struct cgroup_places *places)
{
	static unsigned opened;

	snprintf(pool->name, sizeof(pool->name), PREFIX "%d-%llu-%u", getpid(),
		 (unsigned long long)start_time(getpid()), opened++);
	open_v2(pool, places);
	if (!pool->n_trees && (places->memory || places->pids)) {
		*pool->why = '\0';
		open_v1(pool, places);
	}
}
