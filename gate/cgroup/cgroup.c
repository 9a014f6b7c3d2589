#include "gate/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/cgroup/cgroup_inner.h"

/* Groups that wait for their next tree. */
#define IDLE_MAX 16
/* What an ended tree may leave charged (page cache) for the next one. */
#define LEFT_MAX (UINT64_C(64) << 20)
/* The root of a hierarchy, fs/kernfs/dir.c; the namespace that all processes
   begin in, PROC_CGROUP_INIT_INO of include/linux/proc_ns.h. */
#define ROOT_INO 1
#define INIT_CGROUP_NS_INO 0xEFFFFFFBU
/* Of a file of a group, from the folder that the group is in. */
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

static void keep(struct cgroups *pool, struct cgroup *g)
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

int cgroup_doors(const struct cgroups *pool, const struct cgroup *g,
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

static void count(const struct cgroups *pool, const struct cgroup *g,
		  struct cgroup_events *ret)
{
	const struct cgroup_tree *memory = tree_of(pool, CGROUP_MEMORY);
	const struct cgroup_tree *pids = tree_of(pool, CGROUP_PIDS);
	const char *file =
		pool->is_unified ? "memory.events" : "memory.oom_control";
	char text[CGROUP_FILE_BYTES];

	*ret = (struct cgroup_events){0, 0};
	if (memory)
		ret->oom_kills = cgroup_count(read_of(memory, g, file, text),
					      "oom_kill");
	if (pids)
		ret->forks_refused = cgroup_count(
			read_of(pids, g, "pids.events", text), "max");
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void cgroup_events(const struct cgroups *pool, struct cgroup *g,
		   struct cgroup_events *ret)
{
	struct cgroup_events now;

	count(pool, g, &now);
	ret->oom_kills = more(now.oom_kills, g->before.oom_kills);
	ret->forks_refused = more(now.forks_refused, g->before.forks_refused);
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
	keep(pool, g);
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
		cgroup_close_tree(pool, &pool->tree[i]);
	pool->n_trees = pool->n_idle = 0;
	pool->has[CGROUP_MEMORY] = pool->has[CGROUP_PIDS] = false;
}

/*
 * The bounds of the trial are such as anybody could ask for. The group is
 * there, with the lock; it is the first tree's.
 */
static void try_first(struct cgroups *pool)
{
	const struct cgroup_want want = {UINT64_C(2) << 30, 256};
	struct cgroup *g = mem_zalloc(sizeof(*g));
	struct err err = ERR_INIT;

	g->is_first = true;
	snprintf(g->name, sizeof(g->name), "%s", pool->name);
	keep(pool, g);
	if (set_bounds(pool, g, &want, &err) < 0) {
		cgroup_note(pool, pool->name, err.msg);
		close_all(pool);
		return;
	}
	for (int c = 0; c < N_CGROUP_CONTROLLERS; c++)
		pool->has[c] = tree_of(pool, (enum cgroup_controller)c);
}

/* The root of a hierarchy; a mount may show less, and then its row tells. */
static bool is_root(const char *path, uint64_t magic)
{
	struct statfs fs;
	struct stat st;

	return statfs(path, &fs) == 0 && (uint64_t)fs.f_type == magic &&
	       stat(path, &st) == 0 && st.st_ino == ROOT_INO;
}

/* Names of groups begin at the root, and not at that of a namespace. */
static bool sees_all(void)
{
	struct stat st;

	return stat("/proc/self/ns/cgroup", &st) == 0 &&
	       st.st_ino == INIT_CGROUP_NS_INO;
}

/* Where nearly all have them; the table of mounts takes longer to write. */
static bool find_usual(struct str groups, struct arena *arena,
		       struct cgroup_places *ret)
{
	if (!sees_all())
		return false;
	if (is_root(CGROUP_USUAL, CGROUP2_SUPER_MAGIC))
		return cgroup_find_usual(groups, true, arena, ret);
	return is_root(CGROUP_USUAL_MEMORY, CGROUP_SUPER_MAGIC) &&
	       is_root(CGROUP_USUAL_PIDS, CGROUP_SUPER_MAGIC) &&
	       cgroup_find_usual(groups, false, arena, ret);
}

static void find_own(struct arena *arena, struct cgroup_places *ret)
{
	AUTO(buf_release) struct buf mounts = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf groups = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;

	*ret = (struct cgroup_places){NULL, NULL, NULL, NULL};
	if (fd_read_file("/proc/self/cgroup", &groups, &ignored) < 0 ||
	    find_usual(buf_str(&groups), arena, ret))
		return;
	if (fd_read_file("/proc/self/mountinfo", &mounts, &ignored) < 0)
		return;
	cgroup_find(buf_str(&mounts), buf_str(&groups), arena, ret);
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
	cgroup_open_trees(pool, places);
	if (pool->n_trees)
		try_first(pool);
	else
		cgroup_note(pool, "/sys/fs/cgroup",
			    "no control groups are mounted");
}

void cgroups_close(struct cgroups *pool)
{
	close_all(pool);
	pool->is_open = false;
}
