/*
 * Control groups in a folder that stands in for the kernel's: making one makes
 * its files, removing one removes them, unless a process is in it. What the
 * kernel would count is written by the test.
 */

#include "tests/unit/test.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/cgroup/cgroup.h"
#include "tests/unit/temp_dir.h"

/* ---- the kernel's part ---- */

static const struct {
	const char *name, *text;
} files[] = {
	{"cgroup.procs", ""},
	{"cgroup.type", "domain\n"},
	{"cgroup.subtree_control", ""},
	{"cgroup.kill", ""},
	{"memory.max", ""},
	{"memory.swap.max", ""},
	{"memory.oom.group", ""},
	{"memory.current", "4096\n"},
	{"memory.events", "low 0\noom 0\noom_kill 0\n"},
	{"pids.max", ""},
	{"pids.events", "max 0\n"},
	{"tasks", ""},
	{"memory.limit_in_bytes", ""},
	{"memory.memsw.limit_in_bytes", ""},
	{"memory.usage_in_bytes", "4096\n"},
	{"memory.oom_control", "under_oom 0\noom_kill 0\n"},
};

static int put_at(int at, const char *path, const char *text)
{
	AUTO(fd_closep)
	int fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0644);

	return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

static int fake_make(int at, const char *name)
{
	AUTO(fd_closep) int fd = -1;

	if (mkdirat(at, name, 0755) < 0)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < ARRAY_LEN(files); i++)
		if (put_at(fd, files[i].name, files[i].text) < 0)
			return -1;
	return 0;
}

static int fake_remove(int at, const char *name)
{
	AUTO(fd_closep)
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstatat(fd, "cgroup.procs", &st, 0) == 0 && st.st_size) {
		errno = EBUSY;
		return -1;
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlinkat(fd, files[i].name, 0);
	return unlinkat(at, name, AT_REMOVEDIR);
}

static const struct cgroup_fs fake = {fake_make, fake_remove};

/* ---- the test's ---- */

static struct arena arena; /* of paths; released by close_tree() */
static struct cgroup_places places;
static struct cgroups pool;
static const char *slice; /* the folder that our groups are made in */

static const char *at(const char *dir, const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

static void put(const char *dir, const char *name, const char *text)
{
	assert_int_equal(put_at(AT_FDCWD, at(dir, name), text), 0);
}

static void is(const char *dir, const char *name, const char *want)
{
	AUTO(buf_release) struct buf text = BUF_INIT(4096);
	struct err err = ERR_INIT;

	assert_int_equal(fd_read_file(at(dir, name), &text, &err), 0);
	assert_string_equal(buf_cstr(&text), want);
}

static void make(const char *dir)
{
	assert_int_equal(fake_make(AT_FDCWD, dir), 0);
}

static size_t count_runs(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += strncmp(e->d_name, "matins-", 7) == 0;
	closedir(d);
	return n;
}

/* top/slice/scope; the children of slice have these controllers. */
static void make_tree(const char *top, const char *controllers)
{
	const char *scope;

	slice = at(top, "slice");
	scope = at(slice, "scope");
	make(slice);
	make(scope);
	put(slice, "cgroup.subtree_control", controllers);
	places = (struct cgroup_places){.unified = scope, .unified_top = top};
	pool = (struct cgroups){.fs = &fake};
}

/* And open it. */
static void open_tree(const char *top, const char *controllers)
{
	make_tree(top, controllers);
	cgroups_open(&pool, &places);
}

/* left  groups of others */
static void close_tree(size_t left)
{
	cgroups_close(&pool);
	assert_int_equal(count_runs(slice), left);
	arena_release(&arena);
}

static struct cgroup *take(struct cgroups *from, const struct cgroup_want *w)
{
	struct cgroup *g = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(cgroups_take(from, w, &g, &err), 0);
	return g;
}

static const struct cgroup_want want = {64 << 20, 20};

TEST_IN(temp_dir, delegated, both_controllers, are_used)
{
	struct cgroup_events events;
	struct err err = ERR_INIT;
	struct cgroup *g, *again;
	const char *group;
	int door[CGROUP_TREES];

	open_tree(*state, "cpu memory pids\n");
	assert_true(pool.is_unified);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	/* nothing is made that is not the group of a tree */
	assert_int_equal(count_runs(slice), 1);
	g = take(&pool, &want);
	group = at(slice, g->name);
	assert_string_equal(g->name, pool.name);
	is(group, "memory.swap.max", "0");
	is(group, "memory.oom.group", "1");
	assert_int_equal(cgroup_open_doors(&pool, g, door, &err), 0);
	assert_true(door[0] >= 0 && door[1] >= 0);
	fd_closep(&door[0]);
	fd_closep(&door[1]);

	put(group, "memory.events", "oom 4\noom_kill 3\n");
	put(group, "pids.events", "max 7\n");
	cgroup_read_events(&pool, g, &events);
	assert_int_equal(events.oom_kills, 3);
	assert_int_equal(events.forks_refused, 7);

	/* the next tree in the same group begins with nothing */
	cgroups_give(&pool, g);
	again = take(&pool, &want);
	assert_ptr_equal(again, g);
	cgroup_read_events(&pool, again, &events);
	assert_int_equal(events.oom_kills, 0);
	assert_int_equal(events.forks_refused, 0);
	cgroups_give(&pool, again);
	assert_int_equal(count_runs(slice), 1);
	close_tree(0);
}

/* Files of the stand-in are not cut by a shorter text, so it is not tried. */
TEST_IN(temp_dir, bounds, that_change, are_written)
{
	const struct cgroup_want other = {UINT64_C(3) << 30, 333};
	struct cgroup *g;
	const char *group;

	open_tree(*state, "memory pids\n");
	g = take(&pool, &other);
	group = at(slice, g->name);
	is(group, "memory.max", "3221225472");
	is(group, "pids.max", "333");
	cgroups_give(&pool, g);
	close_tree(0);
}

TEST_IN(temp_dir, memory, below_the_least, is_the_least)
{
	const struct cgroup_want little = {1 << 20, 20};
	struct cgroup *held, *g;
	const char *group;

	open_tree(*state, "memory\n");
	/* the group of the trial has a longer text already */
	held = take(&pool, &want);
	g = take(&pool, &little);
	group = at(slice, g->name);
	is(group, "memory.max", "16777216");
	cgroups_give(&pool, g);
	cgroups_give(&pool, held);
	close_tree(0);
}

/* Two groups of one pool, and their folders: the first has the lock. */
struct pair {
	struct cgroup *first, *g;
	const char *lead, *group;
};

static struct pair take_pair(void **state)
{
	struct pair p;

	open_tree(*state, "memory pids\n");
	p.first = take(&pool, &want);
	p.g = take(&pool, &want);
	p.lead = at(slice, p.first->name);
	p.group = at(slice, p.g->name);
	return p;
}

TEST_IN(temp_dir, left, much_memory, is_not_used_again)
{
	struct pair p = take_pair(state);
	struct cgroup *g;

	put(p.group, "memory.current", "33554432\n");
	put(p.lead, "memory.current", "33554432\n");
	cgroups_give(&pool, p.g);
	cgroups_give(&pool, p.first);
	g = take(&pool, &want);
	assert_int_equal(access(p.group, F_OK), -1);
	/* the one with the lock is passed over, and goes last */
	assert_int_equal(access(p.lead, F_OK), 0);
	assert_null(strstr(p.group, g->name));
	assert_string_not_equal(g->name, pool.name);
	cgroups_give(&pool, g);
	assert_int_equal(count_runs(slice), 2);
	close_tree(0);
}

static void has(const char *controllers, const char *type, bool memory,
		bool pids, void **state)
{
	make_tree(*state, controllers);
	put(slice, "cgroup.type", type);
	cgroups_open(&pool, &places);
	assert_int_equal(pool.has[CGROUP_MEMORY], memory);
	assert_int_equal(pool.has[CGROUP_PIDS], pids);
	assert_int_equal(!memory && !pids, !pool.is_unified);
	if (!memory && !pids)
		assert_string_not_equal(pool.why, "");
	close_tree(0);
}

TEST_IN(temp_dir, controllers, one_of_two, is_half)
{
	has("cpu pids\n", "domain\n", false, true, state);
}

TEST_IN(temp_dir, controllers, none, is_nothing)
{
	has("cpu io\n", "domain\n", false, false, state);
}

TEST_IN(temp_dir, controllers, of_threads, are_nothing)
{
	has("memory pids\n", "domain threaded\n", false, false, state);
}

/* What our own group could give its children it cannot while we are in it. */
TEST_IN(temp_dir, own_group, with_processes, is_left_alone)
{
	make_tree(*state, "memory pids\n");
	put(places.unified, "cgroup.controllers", "memory pids\n");
	cgroups_open(&pool, &places);
	assert_int_equal(count_runs(places.unified), 0);
	assert_int_equal(count_runs(slice), 1);
	is(places.unified, "cgroup.subtree_control", "");
	cgroups_close(&pool);
	unlink(at(places.unified, "cgroup.controllers"));
	close_tree(0);
}

/* The nearest that has both goes before a nearer one with half. */
TEST_IN(temp_dir, controllers, further_up, are_found)
{
	make_tree(*state, "pids\n");
	put(*state, "cgroup.subtree_control", "memory pids\n");
	cgroups_open(&pool, &places);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	assert_int_equal(count_runs(*state), 1);
	close_tree(0);
}

static int refuse(int dir, const char *name)
{
	(void)dir;
	(void)name;
	errno = EROFS;
	return -1;
}

TEST_IN(temp_dir, tree, read_only, is_named)
{
	static const struct cgroup_fs read_only = {refuse, refuse};

	make_tree(*state, "memory pids\n");
	pool.fs = &read_only;
	cgroups_open(&pool, &places);
	assert_int_equal(pool.n_trees, 0);
	assert_non_null(strstr(pool.why, "Read-only"));
	close_tree(0);
}

static int taken;

/* A folder whose files are gone stands for one that was removed before it was
   locked. */
static int make_taken(int dir, const char *name)
{
	return taken-- > 0 ? mkdirat(dir, name, 0755) : fake_make(dir, name);
}

TEST_IN(temp_dir, tree, taken_before_it_is_locked, is_made_again)
{
	static const struct cgroup_fs swept = {make_taken, fake_remove};

	make_tree(*state, "memory pids\n");
	pool.fs = &swept;
	taken = 2;
	cgroups_open(&pool, &places);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	assert_int_equal(count_runs(slice), 1);
	close_tree(0);
}

static int busy;

/* The kernel lists the last process no more, and has not yet let it go. */
static int remove_late(int dir, const char *name)
{
	if (busy-- <= 0)
		return fake_remove(dir, name);
	errno = EBUSY;
	return -1;
}

TEST_IN(temp_dir, group, whose_last_process_is_leaving, is_removed)
{
	static const struct cgroup_fs late = {fake_make, remove_late};

	make_tree(*state, "memory pids\n");
	pool.fs = &late;
	cgroups_open(&pool, &places);
	assert_int_equal(count_runs(slice), 1);
	busy = 5;
	close_tree(0);
}

TEST_IN(temp_dir, version_1, two_folders, are_used)
{
	const char *memory = at(*state, "m"), *pids = at(*state, "p");
	const struct cgroup_places v1 = {.memory = memory, .pids = pids};
	struct cgroup_events events;
	struct err err = ERR_INIT;
	struct cgroup *held, *g;
	int door[CGROUP_TREES];
	const char *group;

	make(memory);
	make(pids);
	pool = (struct cgroups){.fs = &fake};
	cgroups_open(&pool, &v1);
	assert_false(pool.is_unified);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	held = take(&pool, &want);
	g = take(&pool, &want);
	group = at(memory, g->name);
	is(group, "memory.limit_in_bytes", "67108864");
	is(group, "memory.memsw.limit_in_bytes", "67108864");
	put(group, "memory.oom_control", "under_oom 0\noom_kill 1\n");
	assert_int_equal(cgroup_open_doors(&pool, g, door, &err), 0);
	for (size_t i = 0; i < CGROUP_TREES; i++) {
		AUTO(fd_closep) int fd = openat(door[i], g->door, O_WRONLY);

		assert_int_equal(write(fd, "0", 1), 1);
	}
	is(group, "tasks", "0");
	group = at(pids, g->name);
	is(group, "pids.max", "20");
	is(group, "tasks", "0");
	put(group, "pids.events", "max 2\n");
	cgroup_read_events(&pool, g, &events);
	assert_int_equal(events.oom_kills, 1);
	assert_int_equal(events.forks_refused, 2);
	cgroups_give(&pool, g);
	cgroups_give(&pool, held);
	slice = memory;
	close_tree(0);
}

/* ---- what dead gates leave ---- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static pid_t ended(void)
{
	pid_t pid = sleeper();

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return pid;
}

/* The first group of a gate and two more. */
static const char *make_stale(pid_t pid, const char *start)
{
	const char *first =
		arena_printf(&arena, "%s/matins-%d-%s-0", slice, pid, start);

	make(first);
	make(arena_printf(&arena, "%s-1", first));
	make(arena_printf(&arena, "%s-2", first));
	return first;
}

TEST_IN(temp_dir, stale, of_the_dead, goes)
{
	const char *dead, *reused, *alone;

	make_tree(*state, "memory pids\n");
	dead = make_stale(ended(), "12345");
	/* a process of that id lives, but began at another time */
	reused = make_stale(getpid(), "1");
	/* a sweep that was ended itself has left this one */
	alone = make_stale(ended(), "777");
	assert_int_equal(fake_remove(AT_FDCWD, alone), 0);
	assert_int_equal(count_runs(slice), 8);
	cgroups_open(&pool, &places);
	assert_int_equal(access(alone, F_OK), -1);
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(reused, F_OK), -1);
	assert_int_equal(count_runs(slice), 1);
	close_tree(0);
}

TEST_IN(temp_dir, stale, of_the_living, stays)
{
	struct cgroups living = {.fs = &fake};
	const char *hidden, *other;
	struct cgroup *first, *second;
	int lock;

	make_tree(*state, "memory pids\n");
	hidden = make_stale(ended(), "12345");
	other = at(slice, "matins-of-somebody");
	/* as a gate in another pid namespace would hold it */
	lock = fd_open(hidden, O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	make(other);
	make(arena_printf(&arena, "%s/matins-%d-1-0-1-", slice, ended()));
	cgroups_open(&living, &places);
	first = take(&living, &want);
	second = take(&living, &want);
	cgroups_open(&pool, &places);
	assert_true(living.has[CGROUP_PIDS] && pool.has[CGROUP_PIDS]);
	/* three, two, two, and the first of this one */
	assert_int_equal(count_runs(slice), 3 + 2 + 2 + 1);
	cgroups_close(&pool);
	cgroups_give(&living, second);
	cgroups_give(&living, first);
	cgroups_close(&living);
	assert_int_equal(access(hidden, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	close(lock);
	close_tree(3 + 2);
}

/* The stand-in kills nobody by cgroup.kill, and lists who was written. */
static void ends(const char *group, struct cgroup *g)
{
	pid_t pid = sleeper();
	char text[32];
	int status;

	unlink(at(group, "cgroup.kill"));
	/* our own and 0, whom nobody sees, are passed over */
	snprintf(text, sizeof(text), "0\n%d\n%d\n", getpid(), pid);
	put(group, "cgroup.procs", text);
	cgroups_give(&pool, g);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	put(group, "cgroup.procs", "");
}

TEST_IN(temp_dir, group, with_a_process, is_ended)
{
	struct pair p = take_pair(state);
	struct cgroup *g;

	ends(p.group, p.g);
	ends(p.lead, p.first);
	/* the stand-in still listed them; the next one is another */
	g = take(&pool, &want);
	assert_null(strstr(p.group, g->name));
	assert_int_equal(fake_remove(AT_FDCWD, p.group), 0);
	cgroups_give(&pool, g);
	close_tree(0);
}
