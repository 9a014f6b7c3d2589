#include "gate/cgroup/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/user.h"
#include "gate/path/mounts.h"

#define PREFIX "matins-"
/* Text of one file of a group; lists of processes are read in parts. */
#define FILE_BYTES 4096
/* Path of a file of a group, from the folder that the group is in. */
#define PATH_BYTES (CGROUP_PATH_BYTES + 48)
/* Rounds of killing, and the time for one process to go. */
#define END_ROUNDS 64
#define END_MS 2000
/* Tries at what will be possible soon: 1, 2, 4 … ms apart, 127 ms in all. */
#define ROUNDS 8
/* Of making a group while sweeps of others take it. */
#define TRIES 3
/* Groups that wait for their next tree. */
#define IDLE_MAX 16
/* Page cache and the like that an ended tree may leave to the next, bytes. */
#define LEFT_MAX (UINT64_C(64) << 20)

/* ---- files ---- */

static int open_file(int base, const char *folder, const char *file, int flags)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return openat(base, path, flags | O_CLOEXEC);
}

/* The text ends in NUL; "" when there is none. Borrows `text`. */
static struct str read_file(int base, const char *folder, const char *file,
			    char text[FILE_BYTES])
{
	AUTO(fd_closep) int fd = open_file(base, folder, file, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, FILE_BYTES - 1);

	n = n < 0 ? 0 : n;
	text[n] = '\0';
	return (struct str){text, (size_t)n};
}

/* returns  0, or -1 with errno */
static int write_file(int base, const char *folder, const char *file,
		      const char *text)
{
	AUTO(fd_closep) int fd = open_file(base, folder, file, O_WRONLY);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

static int write_number(int base, const char *folder, const char *file,
			uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	return write_file(base, folder, file, text);
}

/* A folder and no link, close-on-exec; -1 and errno. */
static int open_group(int base, const char *name)
{
	return openat(base, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- the end of a group ---- */

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
	char text[FILE_BYTES];
	struct str rest = read_file(group, ".", "cgroup.procs", text);
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

/* Kill the processes in a group, and wait for them, seconds at most. */
static void end_group(int base, const char *name)
{
	AUTO(fd_closep) int fd = open_group(base, name);
	bool killed;

	if (fd < 0)
		return;
	/* with none allowed, none is made between looking and killing */
	(void)!write_file(fd, ".", "pids.max", "0");
	killed = write_file(fd, ".", "cgroup.kill", "1") == 0;
	for (int i = 0; i < END_ROUNDS; i++)
		if (end_listed(fd, !killed) == 0)
			return;
}

/* The kernel may list no process in a group and yet keep it busy, until the
   last process has been switched out for good. */
static int remove_empty(const struct cgroup_fs *fs, int base, const char *name)
{
	int r = fs->remove(base, name);

	for (int i = 1; r < 0 && errno == EBUSY && i < ROUNDS; i++) {
		(void)poll(NULL, 0, 1 << (i - 1));
		r = fs->remove(base, name);
	}
	return r;
}

/*
 * Remove a group and end its processes first. A group that cannot go is left
 * to the sweep of the next gate.
 */
static void remove_group(const struct cgroup_fs *fs, int base, const char *name)
{
	if (fs->remove(base, name) == 0 || errno == ENOENT)
		return;
	end_group(base, name);
	(void)remove_empty(fs, base, name);
}

/* ---- groups of dead gates ---- */

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
	return ret->is_first ? strcmp(name, ret->first) == 0
			     : str_uint64(rest, &n);
}

static DIR *open_dir(int base)
{
	int copy = open_group(base, ".");
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir)
		fd_closep(&copy);
	return dir;
}

/* The next group of a gate of this user, parsed; closes the folder at its end.
   skip  first group of a gate that is passed over, or "" */
static const char *next_group(DIR **dir, const char *skip,
			      struct group_name *ret)
{
	struct dirent *e;
	struct stat st;

	while (*dir && (e = readdir(*dir)))
		if (parse_name(e->d_name, ret) &&
		    strcmp(ret->first, skip) != 0 &&
		    fstatat(dirfd(*dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			    0 &&
		    S_ISDIR(st.st_mode) && st.st_uid == user_self())
			return e->d_name;
	if (*dir)
		closedir(*dir);
	return NULL;
}

static bool is_alive(const struct group_name *name)
{
	return proc_start_time((pid_t)name->pid) == name->start;
}

/* The first one, which carries the lock, is the last to go. */
static void sweep_gate(const struct cgroup_fs *fs, int base,
		       const struct group_name *gate)
{
	struct group_name other;
	AUTO(fd_closep) int lock = -1;
	const char *name;
	DIR *dir;

	/* a lock is held by one that another pid namespace hides */
	lock = open_group(base, gate->first);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    !fd_is_at(lock, base, gate->first))
		return;
	dir = open_dir(base);
	while ((name = next_group(&dir, "", &other)))
		if (!other.is_first && strcmp(other.first, gate->first) == 0)
			remove_group(fs, base, name);
	remove_group(fs, base, gate->first);
}

/* Remove the groups of this user's gates that are dead. */
static void sweep(const struct cgroup_fs *fs, int base)
{
	char living[CGROUP_NAME_BYTES] = "";
	struct group_name gate;
	const char *name;
	struct stat st;
	DIR *dir;

	/* two links are the folder's own; the kernel counts one for each group
	   in there */
	if (fstat(base, &st) == 0 && st.st_nlink == 2)
		return;
	dir = open_dir(base);
	while ((name = next_group(&dir, living, &gate)))
		/* a thousand groups of one gate need one look */
		if (is_alive(&gate))
			snprintf(living, sizeof(living), "%s", gate.first);
		else if (gate.is_first)
			sweep_gate(fs, base, &gate);
		else if (faccessat(base, gate.first, F_OK,
				   AT_SYMLINK_NOFOLLOW) < 0)
			remove_group(fs, base, name);
}

/* ---- hierarchies ---- */

static void note_why(struct cgroups *pool, const char *where, const char *what)
{
	if (!*pool->why)
		snprintf(pool->why, sizeof(pool->why), "%.80s: %.70s", where,
			 what);
}

/* A sweep of another one that came first ends soon. */
static int lock_first(int fd)
{
	int r = flock(fd, LOCK_EX | LOCK_NB);

	for (int i = 1; r < 0 && errno == EWOULDBLOCK && i < ROUNDS; i++) {
		(void)poll(NULL, 0, 1 << (i - 1));
		r = flock(fd, LOCK_EX | LOCK_NB);
	}
	return r;
}

/* Make and lock; between the two a sweep of another one may take it, which
   try_first() notices. */
static int make_first(const struct cgroups *pool, int base)
{
	for (int tries = 0; tries < TRIES; tries++) {
		AUTO(fd_closep) int fd = -1;

		if (pool->fs->make(base, pool->name) < 0)
			return -1;
		fd = open_group(base, pool->name);
		if (fd >= 0 && lock_first(fd) == 0)
			return fd_steal(&fd);
		/* a folder without a lock would not be removed at the end */
		remove_group(pool->fs, base, pool->name);
	}
	errno = EBUSY;
	return -1;
}

/* Takes base: the lock leads to it. */
static bool add_tree(struct cgroups *pool, int base, const char *path,
		     bool memory, bool pids)
{
	struct cgroup_tree t = {.has = {memory, pids}};

	sweep(pool->fs, base);
	t.lock = make_first(pool, base);
	if (t.lock < 0)
		note_why(pool, path, strerror(errno));
	close(base);
	if (t.lock < 0)
		return false;
	pool->tree[pool->n_trees++] = t;
	return true;
}

static void add_v1(struct cgroups *pool, const char *path, bool memory,
		   bool pids)
{
	int base = path ? fd_open(path, O_RDONLY | O_DIRECTORY, 0) : -1;

	if (path && base < 0)
		note_why(pool, path, strerror(errno));
	else if (path)
		(void)add_tree(pool, base, path, memory, pids);
}

static void open_v1(struct cgroups *pool, const struct cgroup_places *at)
{
	if (at->memory && at->pids && strcmp(at->memory, at->pids) == 0) {
		add_v1(pool, at->memory, true, true);
		return;
	}
	add_v1(pool, at->memory, true, false);
	add_v1(pool, at->pids, false, true);
}

/* Controllers that the children of a group have; -1: none can be made there. */
static int count_v2(int base, bool *ret_memory, bool *ret_pids)
{
	char text[FILE_BYTES];
	struct str type = str_trim(read_file(base, ".", "cgroup.type", text));

	/* the root has no type; threads can be divided, their memory not */
	if (type.n && !str_is(type, "domain"))
		return -1;
	read_file(base, ".", "cgroup.subtree_control", text);
	*ret_memory = cgroup_has_word(str_of(text), ' ', "memory");
	*ret_pids = cgroup_has_word(str_of(text), ' ', "pids");
	return *ret_memory + *ret_pids;
}

/* The nearest group of the way up whose children have both controllers. */
static bool walk_v2(struct cgroups *pool, const struct cgroup_places *at,
		    int wanted, int *ret_most)
{
	AUTO(mem_freep) char *path = mem_strdup(at->unified);
	size_t top = strlen(at->unified_top);

	for (;;) {
		const char *here = *path ? path : "/";
		int base = fd_open(here, O_RDONLY | O_DIRECTORY, 0), n = -1;
		bool memory, pids;
		char *slash;

		if (base >= 0)
			n = count_v2(base, &memory, &pids);
		if (n > *ret_most)
			*ret_most = n;
		if (n >= wanted && add_tree(pool, base, here, memory, pids))
			return true;
		if (n < wanted)
			fd_closep(&base);
		slash = strrchr(path, '/');
		if (!slash || strlen(path) <= top)
			return false;
		*slash = '\0';
	}
}

/* Both controllers, or one of them. */
static bool open_v2(struct cgroups *pool, const struct cgroup_places *at)
{
	int most = 0;

	return walk_v2(pool, at, 2, &most) ||
	       (most > 0 && walk_v2(pool, at, 1, &most));
}

static void open_trees(struct cgroups *pool, const struct cgroup_places *at)
{
	static unsigned opened;
	uint64_t start;
	const pid_t pid = proc_self(&start);

	snprintf(pool->name, sizeof(pool->name), PREFIX "%d-%" PRIu64 "-%u",
		 pid, start, opened++);
	/* a controller is in one hierarchy alone */
	if (at->unified && at->unified_top && !(at->memory && at->pids)) {
		pool->is_unified = open_v2(pool, at);
		if (!pool->is_unified)
			note_why(pool, at->unified,
				 "memory and pids are not delegated to us");
	}
	if (!pool->n_trees && (at->memory || at->pids)) {
		*pool->why = '\0';
		open_v1(pool, at);
	}
}

static const struct cgroup_tree *tree_of(const struct cgroups *pool,
					 enum cgroup_controller c)
{
	for (size_t i = 0; i < pool->n_trees; i++)
		if (pool->tree[i].has[c])
			return &pool->tree[i];
	return NULL;
}

/* ---- groups ---- */

PRINTF(2, 3)
static struct cgroup *new_group(bool is_unified, const char *fmt, ...)
{
	struct cgroup *g = mem_zalloc(sizeof(*g));
	va_list ap;

	memcpy(g->path, "../", 3);
	g->name = g->path + 3;
	va_start(ap, fmt);
	vsnprintf(g->path + 3, CGROUP_NAME_BYTES, fmt, ap);
	va_end(ap);
	/* `tasks`, not `cgroup.procs`: a process of one thread moves itself
	   without stopping every other fork of the machine */
	if (!is_unified)
		snprintf(g->door, sizeof(g->door), "%s/tasks", g->path);
	return g;
}

/* The first one holds the lock, so its folder goes with the pool. */
static void free_group(const struct cgroups *pool, struct cgroup *g)
{
	for (size_t i = 0; !g->is_first && i < pool->n_trees; i++)
		remove_group(pool->fs, pool->tree[i].lock, g->path);
	free(g);
}

static void keep_idle(struct cgroups *pool, struct cgroup *g)
{
	g->next = pool->idle;
	pool->idle = g;
	pool->n_idle++;
}

static int set_memory(const struct cgroups *pool, int lock,
		      const struct cgroup *g, uint64_t bytes)
{
	const char *swap = "memory.memsw.limit_in_bytes";

	if (pool->is_unified) {
		if (write_number(lock, g->path, "memory.max", bytes) < 0)
			return -1;
		/* a kernel may have no swap; killing one of a tree is the old
		   way */
		if (!g->memory_bytes) {
			(void)!write_file(lock, g->path, "memory.swap.max",
					  "0");
			(void)!write_file(lock, g->path, "memory.oom.group",
					  "1");
		}
		return 0;
	}
	/* memory and swap together may not be less than memory: that one
	   first */
	if (g->memory_bytes)
		(void)!write_file(lock, g->path, swap, "-1");
	if (write_number(lock, g->path, "memory.limit_in_bytes", bytes) < 0 ||
	    (write_number(lock, g->path, swap, bytes) < 0 && errno != ENOENT))
		return -1;
	return 0;
}

static int set_bounds(const struct cgroups *pool, struct cgroup *g,
		      const struct cgroup_want *want, struct err *err)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const struct cgroup_tree *pids = tree_of(pool, CGROUP_PIDS);
	uint64_t bytes = want->memory_bytes;

	if (bytes < CGROUP_MEMORY_MIN)
		bytes = CGROUP_MEMORY_MIN;
	if (memory && g->memory_bytes != bytes) {
		if (set_memory(pool, memory->lock, g, bytes) < 0)
			return err_sys(err, errno, "memory of a control group");
		g->memory_bytes = bytes;
	}
	if (pids && g->processes != want->processes) {
		if (write_number(pids->lock, g->path, "pids.max",
				 want->processes) < 0)
			return err_sys(err, errno,
				       "processes of a control group");
		g->processes = want->processes;
	}
	return 0;
}

/* Is nearly nothing charged to a group that a tree has left: page cache, files
   of a grant? */
static bool is_reusable(const struct cgroups *pool, const struct cgroup *g)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const char *file =
		pool->is_unified ? "memory.current" : "memory.usage_in_bytes";
	char text[FILE_BYTES];
	uint64_t left = 0;

	if (!g->was_used || !memory)
		return true;
	read_file(memory->lock, g->path, file, text);
	return str_uint64(str_trim(str_of(text)), &left) && left <= LEFT_MAX &&
	       left <= g->memory_bytes / 4;
}

/* Find one that waits; what is left behind by its tree goes with it. */
static struct cgroup *take_idle(struct cgroups *pool,
				const struct cgroup_want *want)
{
	while (pool->idle) {
		struct cgroup *g = pool->idle;

		pool->idle = g->next;
		pool->n_idle--;
		g->next = NULL;
		if (is_reusable(pool, g) &&
		    set_bounds(pool, g, want, ERR_IGNORED) == 0)
			return g;
		free_group(pool, g);
	}
	return NULL;
}

int cgroups_take(struct cgroups *pool, const struct cgroup_want *want,
		 struct cgroup **ret, struct err *err)
{
	struct cgroup *g = take_idle(pool, want);
	int r = 0;

	if (g) {
		*ret = g;
		return 0;
	}
	g = new_group(pool->is_unified, "%.64s-%u", pool->name, ++pool->made);
	for (size_t i = 0; r == 0 && i < pool->n_trees; i++)
		if (pool->fs->make(pool->tree[i].lock, g->path) < 0)
			r = err_sys(err, errno, "control group %s", g->name);
	if (r < 0 || set_bounds(pool, g, want, err) < 0) {
		free_group(pool, g);
		return -1;
	}
	*ret = g;
	return 0;
}

int cgroup_open_doors(const struct cgroups *pool, const struct cgroup *g,
		      int ret_fd[CGROUP_TREES], struct err *err)
{
	const char *const files[CGROUP_TREES] = {"", "cgroup.procs"};

	for (size_t i = 0; i < CGROUP_TREES; i++)
		ret_fd[i] =
			i < pool->n_trees && *g->door ? pool->tree[i].lock : -1;
	for (size_t i = 0; pool->is_unified && i < CGROUP_TREES; i++) {
		ret_fd[i] = open_file(pool->tree[0].lock, g->path, files[i],
				      i ? O_WRONLY : O_RDONLY | O_DIRECTORY);
		if (ret_fd[i] < 0)
			return err_sys(err, errno, "control group %s/%s",
				       g->name, files[i]);
	}
	return 0;
}

static uint64_t rise_of(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void cgroup_read_events(const struct cgroups *pool, struct cgroup *g,
			struct cgroup_events *ret)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const struct cgroup_tree *pids = tree_of(pool, CGROUP_PIDS);
	const char *file =
		pool->is_unified ? "memory.events" : "memory.oom_control";
	struct cgroup_events now = {0, 0};
	char text[FILE_BYTES];

	if (memory)
		now.oom_kills = cgroup_find_count(
			read_file(memory->lock, g->path, file, text),
			"oom_kill");
	if (pids)
		now.forks_refused = cgroup_find_count(
			read_file(pids->lock, g->path, "pids.events", text),
			"max");
	ret->oom_kills = rise_of(now.oom_kills, g->before.oom_kills);
	ret->forks_refused =
		rise_of(now.forks_refused, g->before.forks_refused);
	g->before = now;
}

/* A process is in all of the trees or in none. */
static bool is_empty(const struct cgroups *pool, const struct cgroup *g)
{
	char text[FILE_BYTES];

	return g->is_empty ||
	       !read_file(pool->tree[0].lock, g->path, "cgroup.procs", text).n;
}

void cgroups_give(struct cgroups *pool, struct cgroup *g)
{
	if (!g)
		return;
	g->was_used = true;
	if (pool->n_idle < IDLE_MAX && is_empty(pool, g)) {
		g->is_empty = false;
		keep_idle(pool, g);
		return;
	}
	for (size_t i = 0; g->is_first && i < pool->n_trees; i++)
		end_group(pool->tree[i].lock, g->path);
	free_group(pool, g);
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
	char path[CGROUP_PATH_BYTES];

	snprintf(path, sizeof(path), "../%s", pool->name);
	while (pool->idle) {
		struct cgroup *g = pool->idle;

		pool->idle = g->next;
		free_group(pool, g);
	}
	for (size_t i = 0; i < pool->n_trees; i++) {
		remove_group(pool->fs, pool->tree[i].lock, path);
		fd_closep(&pool->tree[i].lock);
	}
	pool->n_trees = pool->n_idle = 0;
	pool->has[CGROUP_MEMORY] = pool->has[CGROUP_PIDS] = false;
}

/*
 * The bounds of the trial are ordinary ones. The group is
 * there, with the lock; it is the first tree's.
 *
 * returns  false: it was taken away before it was locked
 */
static bool try_first(struct cgroups *pool)
{
	const struct cgroup_want want = {UINT64_C(2) << 30, 256};
	struct cgroup *g = new_group(pool->is_unified, "%s", pool->name);
	struct err err = ERR_INIT;

	g->is_first = true;
	keep_idle(pool, g);
	if (set_bounds(pool, g, &want, &err) < 0) {
		note_why(pool, pool->name, err.msg);
		close_all(pool);
		return err.sys != ENOENT;
	}
	pool->has[CGROUP_MEMORY] = tree_of(pool, CGROUP_MEMORY);
	pool->has[CGROUP_PIDS] = tree_of(pool, CGROUP_PIDS);
	return true;
}

void cgroups_open(struct cgroups *pool, const struct cgroup_places *places)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf groups = BUF_INIT(BUF_UNBOUNDED);
	struct cgroup_places own = {.unified = NULL};

	if (pool->is_open)
		return;
	pool->is_open = true;
	if (!pool->fs)
		pool->fs = &kernel_fs;
	if (!places &&
	    fd_read_file("/proc/self/cgroup", &groups, ERR_IGNORED) == 0)
		cgroup_find(mounts_first(), buf_str(&groups), &arena, &own);
	for (int tries = 0; tries < TRIES; tries++) {
		*pool->why = '\0';
		open_trees(pool, places ? places : &own);
		if (!pool->n_trees || try_first(pool))
			break;
	}
	if (!pool->n_trees)
		note_why(pool, "/sys/fs/cgroup",
			 "no control groups are mounted");
}

void cgroups_close(struct cgroups *pool)
{
	close_all(pool);
	pool->is_open = false;
}
