#include "gate/cgroup/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/attr.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "gate/path/mounts.h"

/* ---- folders of groups ---- */

#define PREFIX "matins-"
/* Rounds of killing, and the time for one process to go. */
#define END_ROUNDS 64
#define END_MS 2000

/* ---- files ---- */

/* The text ends in NUL; "" when there is none. Borrows `text`. */
static struct str cgroup_read(int dir, const char *path,
			      char text[CGROUP_FILE_BYTES])
{
	AUTO(fd_closep) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, CGROUP_FILE_BYTES - 1);

	if (n < 0)
		n = 0;
	text[n] = '\0';
	return (struct str){text, (size_t)n};
}

/* returns  0, or -1 with errno */
static int cgroup_write(int dir, const char *path, const char *text)
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

/* A folder and no link, close-on-exec; -1 and errno. */
static int cgroup_open(int at, const char *name)
{
	return openat(at, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Kill the processes in a group, and wait for them, seconds at most. */
static void cgroup_end(int base, const char *name)
{
	AUTO(fd_closep) int fd = cgroup_open(base, name);

	if (fd >= 0)
		end_group(fd);
}

/*
 * Remove a group; what is in it is ended first. A group that cannot go is left
 * to the sweep of the next gate.
 */
static void cgroup_remove(const struct cgroup_fs *fs, int base,
			  const char *name)
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

/* A name for the first group of another gate of this process. */
static void cgroup_new_name(char ret[CGROUP_NAME_BYTES])
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

/* Remove the groups of this user's gates that are dead. */
static void cgroup_sweep(const struct cgroup_fs *fs, int base)
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

/* Groups that wait for their next tree. */
#define IDLE_MAX 16
/* Page cache and the like that an ended tree may leave to the next, bytes. */
#define LEFT_MAX (UINT64_C(64) << 20)
/* Path of a file of a group, from the folder that the group is in. */
#define PATH_BYTES (CGROUP_NAME_BYTES + 48)

/* ---- files of a group ---- */

static int write_of(const struct cgroup_tree *t, const struct cgroup *g,
		    const char *file, const char *text)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", g->name, file);
	return cgroup_write(t->base, path, text);
}

static struct str read_of(const struct cgroup_tree *t, const struct cgroup *g,
			  const char *file, char text[CGROUP_FILE_BYTES])
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", g->name, file);
	return cgroup_read(t->base, path, text);
}

static const struct cgroup_tree *tree_of(const struct cgroups *pool,
					 enum cgroup_controller c)
{
	for (size_t i = 0; i < pool->n_trees; i++)
		if (pool->tree[i].has[c])
			return &pool->tree[i];
	return NULL;
}

/* ---- the first group of a tree ---- */

/* Make and lock; between the two a sweep of another one may have taken it. */
static int make_first(const struct cgroups *pool, int base)
{
	for (int tries = 0; tries < 3; tries++) {
		AUTO(fd_closep) int fd = -1;

		if (pool->fs->make(base, pool->name) < 0)
			return -1;
		fd = cgroup_open(base, pool->name);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    fd_is_at(fd, base, pool->name))
			return fd_steal(&fd);
		/* a folder without a lock would not be removed at the end */
		cgroup_remove(pool->fs, base, pool->name);
	}
	errno = EBUSY;
	return -1;
}

static void close_tree(const struct cgroups *pool, struct cgroup_tree *t)
{
	if (t->lock >= 0)
		cgroup_remove(pool->fs, t->base, pool->name);
	fd_closep(&t->lock);
	fd_closep(&t->base);
}

static void note_why(struct cgroups *pool, const char *where, const char *what)
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
	cgroup_sweep(pool->fs, base);
	t->lock = make_first(pool, base);
	if (t->lock < 0) {
		note_why(pool, path, strerror(errno));
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
		note_why(pool, path, strerror(errno));
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
		note_why(pool, at->unified,
			 "memory and pids are not delegated to us");
}

/* ---- which of them ---- */

static void open_trees(struct cgroups *pool, const struct cgroup_places *places)
{
	cgroup_new_name(pool->name);
	open_v2(pool, places);
	if (!pool->n_trees && (places->memory || places->pids)) {
		*pool->why = '\0';
		open_v1(pool, places);
	}
}

/* ---- groups ---- */

/* The first one holds the lock, so its folder goes with the pool. */
static void free_group(const struct cgroups *pool, struct cgroup *g)
{
	for (size_t i = 0; !g->is_first && i < pool->n_trees; i++)
		cgroup_remove(pool->fs, pool->tree[i].base, g->name);
	free(g);
}

static int new_group(struct cgroups *pool, struct cgroup **ret, struct err *err)
{
	struct cgroup *g = mem_zalloc(sizeof(*g));

	snprintf(g->name, sizeof(g->name), "%.64s-%u", pool->name,
		 ++pool->made);
	for (size_t i = 0; i < pool->n_trees; i++)
		if (pool->fs->make(pool->tree[i].base, g->name) < 0) {
			err_sys(err, errno, "control group %s", g->name);
			free_group(pool, g);
			return -1;
		}
	*ret = g;
	return 0;
}

static void keep_idle(struct cgroups *pool, struct cgroup *g)
{
	g->next = pool->idle;
	pool->idle = g;
	pool->n_idle++;
}

/* Memory and swap together may not be less than memory: that one first. */
static int set_memory_v1(const struct cgroup_tree *t, const struct cgroup *g,
			 const char *bytes)
{
	if (g->memory_bytes)
		(void)!write_of(t, g, "memory.memsw.limit_in_bytes", "-1");
	if (write_of(t, g, "memory.limit_in_bytes", bytes) < 0)
		return -1;
	if (write_of(t, g, "memory.memsw.limit_in_bytes", bytes) < 0 &&
	    errno != ENOENT)
		return -1;
	return 0;
}

static int set_memory_v2(const struct cgroup_tree *t, const struct cgroup *g,
			 const char *bytes)
{
	if (write_of(t, g, "memory.max", bytes) < 0)
		return -1;
	/* a kernel may have no swap; killing one of a tree is the old way */
	if (!g->memory_bytes) {
		(void)!write_of(t, g, "memory.swap.max", "0");
		(void)!write_of(t, g, "memory.oom.group", "1");
	}
	return 0;
}

static int set_bounds(const struct cgroups *pool, struct cgroup *g,
		      const struct cgroup_want *want, struct err *err)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const struct cgroup_tree *pids = tree_of(pool, CGROUP_PIDS);
	uint64_t bytes = want->memory_bytes;
	char text[32];
	int r = 0;

	if (bytes < CGROUP_MEMORY_MIN)
		bytes = CGROUP_MEMORY_MIN;
	if (memory && g->memory_bytes != bytes) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
		r = pool->is_unified ? set_memory_v2(memory, g, text)
				     : set_memory_v1(memory, g, text);
		if (r < 0)
			return err_sys(err, errno, "memory of a control group");
		g->memory_bytes = bytes;
	}
	if (pids && g->processes != want->processes) {
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)want->processes);
		if (write_of(pids, g, "pids.max", text) < 0)
			return err_sys(err, errno,
				       "processes of a control group");
		g->processes = want->processes;
	}
	return 0;
}

int cgroups_take(struct cgroups *pool, const struct cgroup_want *want,
		 struct cgroup **ret, struct err *err)
{
	struct cgroup *g = pool->idle;
	struct err ignored = ERR_INIT;

	if (g) {
		pool->idle = g->next;
		pool->n_idle--;
		g->next = NULL;
		if (set_bounds(pool, g, want, &ignored) == 0) {
			*ret = g;
			return 0;
		}
		free_group(pool, g);
	}
	if (new_group(pool, &g, err) < 0)
		return -1;
	if (set_bounds(pool, g, want, err) < 0) {
		free_group(pool, g);
		return -1;
	}
	*ret = g;
	return 0;
}

static int open_door(const struct cgroups *pool, size_t tree,
		     const struct cgroup *g, const char *file, int flags,
		     int *ret_fd, struct err *err)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", g->name, file);
	*ret_fd = openat(pool->tree[tree].base, path, flags | O_CLOEXEC);
	if (*ret_fd < 0)
		return err_sys(err, errno, "control group %s", path);
	return 0;
}

int cgroup_open_doors(const struct cgroups *pool, const struct cgroup *g,
		      int ret_fd[CGROUP_TREES], struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < CGROUP_TREES; i++)
		ret_fd[i] = -1;
	if (pool->is_unified) {
		r = open_door(pool, 0, g, "", O_RDONLY | O_DIRECTORY,
			      &ret_fd[0], err);
		if (r == 0)
			r = open_door(pool, 0, g, "cgroup.procs", O_WRONLY,
				      &ret_fd[1], err);
		return r;
	}
	/* `tasks`, not `cgroup.procs`: a process of one thread moves itself
	   without stopping every other fork of the machine */
	for (size_t i = 0; r == 0 && i < pool->n_trees; i++)
		r = open_door(pool, i, g, "tasks", O_WRONLY, &ret_fd[i], err);
	return r;
}

static void read_counters(const struct cgroups *pool, const struct cgroup *g,
			  struct cgroup_events *ret)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const struct cgroup_tree *pids = tree_of(pool, CGROUP_PIDS);
	const char *file =
		pool->is_unified ? "memory.events" : "memory.oom_control";
	char text[CGROUP_FILE_BYTES];

	*ret = (struct cgroup_events){0, 0};
	if (memory)
		ret->oom_kills = cgroup_find_count(
			read_of(memory, g, file, text), "oom_kill");
	if (pids)
		ret->forks_refused = cgroup_find_count(
			read_of(pids, g, "pids.events", text), "max");
}

static uint64_t rise_of(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void cgroup_read_events(const struct cgroups *pool, struct cgroup *g,
			struct cgroup_events *ret)
{
	struct cgroup_events now;

	read_counters(pool, g, &now);
	ret->oom_kills = rise_of(now.oom_kills, g->before.oom_kills);
	ret->forks_refused =
		rise_of(now.forks_refused, g->before.forks_refused);
	g->before = now;
}

/* Empty, and nearly nothing left charged: page cache, files of a grant. */
static bool is_reusable(const struct cgroups *pool, const struct cgroup *g)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const char *file =
		pool->is_unified ? "memory.current" : "memory.usage_in_bytes";
	char text[CGROUP_FILE_BYTES];
	uint64_t left = 0;

	/* a process is in all of them or in none */
	if (read_of(&pool->tree[0], g, "cgroup.procs", text).n)
		return false;
	if (!memory)
		return true;
	return str_uint64(str_trim(read_of(memory, g, file, text)), &left) &&
	       left <= LEFT_MAX && left <= g->memory_bytes / 4;
}

void cgroups_give(struct cgroups *pool, struct cgroup *g)
{
	if (!g)
		return;
	if (pool->n_idle >= IDLE_MAX || !is_reusable(pool, g)) {
		for (size_t i = 0; g->is_first && i < pool->n_trees; i++)
			cgroup_end(pool->tree[i].base, g->name);
		free_group(pool, g);
		return;
	}
	keep_idle(pool, g);
}

/* ---- the pool ---- */

static int kernel_make(int at, const char *name)
{
	return mkdirat(at, name, 0755);
}

static int kernel_remove(int at, const char *name)
{
	return unlinkat(at, name, AT_REMOVEDIR);
}

static const struct cgroup_fs kernel_fs = {kernel_make, kernel_remove};

static void close_all(struct cgroups *pool)
{
	while (pool->idle) {
		struct cgroup *g = pool->idle;

		pool->idle = g->next;
		free_group(pool, g);
	}
	for (size_t i = 0; i < pool->n_trees; i++)
		close_tree(pool, &pool->tree[i]);
	pool->n_trees = pool->n_idle = 0;
	pool->has[CGROUP_MEMORY] = pool->has[CGROUP_PIDS] = false;
}

/*
 * The bounds of the trial are ordinary ones. The group is
 * there, with the lock; it is the first tree's.
 */
static void try_first(struct cgroups *pool)
{
	const struct cgroup_want want = {UINT64_C(2) << 30, 256};
	struct cgroup *g = mem_zalloc(sizeof(*g));
	struct err err = ERR_INIT;

	g->is_first = true;
	snprintf(g->name, sizeof(g->name), "%s", pool->name);
	keep_idle(pool, g);
	if (set_bounds(pool, g, &want, &err) < 0) {
		note_why(pool, pool->name, err.msg);
		close_all(pool);
		return;
	}
	for (int c = 0; c < N_CGROUP_CONTROLLERS; c++)
		pool->has[c] = tree_of(pool, (enum cgroup_controller)c);
}

static void find_own(struct arena *arena, struct cgroup_places *ret)
{
	AUTO(buf_release) struct buf groups = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;

	*ret = (struct cgroup_places){NULL, NULL, NULL, NULL};
	if (fd_read_file("/proc/self/cgroup", &groups, &ignored) == 0)
		cgroup_find(mounts_first(), buf_str(&groups), arena, ret);
}

void cgroups_open(struct cgroups *pool, const struct cgroup_places *places)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct cgroup_places own;

	if (pool->is_open)
		return;
	pool->is_open = true;
	if (!pool->fs)
		pool->fs = &kernel_fs;
	if (!places) {
		find_own(&arena, &own);
		places = &own;
	}
	open_trees(pool, places);
	if (pool->n_trees)
		try_first(pool);
	else
		note_why(pool, "/sys/fs/cgroup",
			 "no control groups are mounted");
}

void cgroups_close(struct cgroups *pool)
{
	close_all(pool);
	pool->is_open = false;
}
