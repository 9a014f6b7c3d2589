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

static const char *at(const char *dir, const char *name)
{
	static char *path[4];
	static unsigned i;
	char **p = &path[i++ % 4];

	free(*p);
	*p = mem_printf("%s/%s", dir, name);
	return *p;
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

/* top/slice/scope; the children of slice have these controllers */
static struct cgroup_places make_tree(const char *top, const char *controllers)
{
	char *slice = strdup(at(top, "slice"));
	char *scope = strdup(at(slice, "scope"));

	make(slice);
	make(scope);
	put(slice, "cgroup.subtree_control", controllers);
	free(slice);
	return (struct cgroup_places){.unified = scope, .unified_top = top};
}

static void tree_free(struct cgroup_places *places)
{
	free((char *)(uintptr_t)places->unified);
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

static const struct cgroup_want want = {64 << 20, 20};

TEST_IN(temp_dir, delegated, both_controllers, are_used)
{
	struct cgroup_places places = make_tree(*state, "cpu memory pids\n");
	struct cgroups pool = {.fs = &fake};
	struct cgroup_events events;
	struct err err = ERR_INIT;
	struct cgroup *g, *again;
	char *slice = strdup(at(*state, "slice"));
	char group[300];
	int door[CGROUP_TREES];

	cgroups_open(&pool, &places);
	assert_true(pool.is_unified);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	/* nothing is made that is not the group of a tree */
	assert_int_equal(count_runs(slice), 1);
	assert_int_equal(cgroups_take(&pool, &want, &g, &err), 0);
	snprintf(group, sizeof(group), "%s/%s", slice, g->name);
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
	assert_int_equal(cgroups_take(&pool, &want, &again, &err), 0);
	assert_ptr_equal(again, g);
	cgroup_read_events(&pool, again, &events);
	assert_int_equal(events.oom_kills, 0);
	assert_int_equal(events.forks_refused, 0);
	cgroups_give(&pool, again);
	assert_int_equal(count_runs(slice), 1);
	cgroups_close(&pool);
	assert_int_equal(count_runs(slice), 0);
	free(slice);
	tree_free(&places);
}

/* Files of the stand-in are not cut by a shorter text, so it is not tried. */
TEST_IN(temp_dir, bounds, that_change, are_written)
{
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	const struct cgroup_want other = {UINT64_C(3) << 30, 333};
	struct cgroups pool = {.fs = &fake};
	struct err err = ERR_INIT;
	struct cgroup *g;
	char group[512];

	cgroups_open(&pool, &places);
	assert_int_equal(cgroups_take(&pool, &other, &g, &err), 0);
	snprintf(group, sizeof(group), "%s/slice/%s", (char *)*state, g->name);
	is(group, "memory.max", "3221225472");
	is(group, "pids.max", "333");
	cgroups_give(&pool, g);
	cgroups_close(&pool);
	tree_free(&places);
}

TEST_IN(temp_dir, memory, below_the_least, is_the_least)
{
	struct cgroup_places places = make_tree(*state, "memory\n");
	const struct cgroup_want little = {1 << 20, 20};
	struct cgroups pool = {.fs = &fake};
	struct err err = ERR_INIT;
	struct cgroup *held, *g;
	char group[512];

	cgroups_open(&pool, &places);
	/* the group of the trial has a longer text already */
	assert_int_equal(cgroups_take(&pool, &want, &held, &err), 0);
	assert_int_equal(cgroups_take(&pool, &little, &g, &err), 0);
	snprintf(group, sizeof(group), "%s/slice/%s", (char *)*state, g->name);
	is(group, "memory.max", "16777216");
	cgroups_give(&pool, g);
	cgroups_give(&pool, held);
	cgroups_close(&pool);
	tree_free(&places);
}

TEST_IN(temp_dir, left, much_memory, is_not_used_again)
{
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	struct cgroups pool = {.fs = &fake};
	struct err err = ERR_INIT;
	struct cgroup *first, *g;
	char group[512], lead[512];

	cgroups_open(&pool, &places);
	assert_int_equal(cgroups_take(&pool, &want, &first, &err), 0);
	assert_int_equal(cgroups_take(&pool, &want, &g, &err), 0);
	snprintf(lead, sizeof(lead), "%s/slice/%s", (char *)*state,
		 first->name);
	snprintf(group, sizeof(group), "%s/slice/%s", (char *)*state, g->name);
	put(group, "memory.current", "33554432\n");
	put(lead, "memory.current", "33554432\n");
	cgroups_give(&pool, g);
	assert_int_equal(access(group, F_OK), -1);
	/* the one with the lock is passed over, and goes last */
	cgroups_give(&pool, first);
	assert_int_equal(access(lead, F_OK), 0);
	assert_int_equal(cgroups_take(&pool, &want, &g, &err), 0);
	assert_null(strstr(group, g->name));
	assert_string_not_equal(g->name, pool.name);
	cgroups_give(&pool, g);
	assert_int_equal(count_runs(at(*state, "slice")), 2);
	cgroups_close(&pool);
	assert_int_equal(count_runs(at(*state, "slice")), 0);
	tree_free(&places);
}

static void has(const char *controllers, const char *type, bool memory,
		bool pids, void **state)
{
	struct cgroup_places places = make_tree(*state, controllers);
	struct cgroups pool = {.fs = &fake};

	put(at(*state, "slice"), "cgroup.type", type);
	cgroups_open(&pool, &places);
	assert_int_equal(pool.has[CGROUP_MEMORY], memory);
	assert_int_equal(pool.has[CGROUP_PIDS], pids);
	assert_int_equal(!memory && !pids, !pool.is_unified);
	if (!memory && !pids)
		assert_string_not_equal(pool.why, "");
	cgroups_close(&pool);
	assert_int_equal(count_runs(at(*state, "slice")), 0);
	tree_free(&places);
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
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	struct cgroups pool = {.fs = &fake};

	put(places.unified, "cgroup.controllers", "memory pids\n");
	cgroups_open(&pool, &places);
	assert_int_equal(count_runs(places.unified), 0);
	assert_int_equal(count_runs(at(*state, "slice")), 1);
	is(places.unified, "cgroup.subtree_control", "");
	cgroups_close(&pool);
	unlink(at(places.unified, "cgroup.controllers"));
	tree_free(&places);
}

/* The nearest that has both goes before a nearer one with half. */
TEST_IN(temp_dir, controllers, further_up, are_found)
{
	struct cgroup_places places = make_tree(*state, "pids\n");
	struct cgroups pool = {.fs = &fake};

	put(*state, "cgroup.subtree_control", "memory pids\n");
	cgroups_open(&pool, &places);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	assert_int_equal(count_runs(*state), 1);
	cgroups_close(&pool);
	tree_free(&places);
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
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	struct cgroups pool = {.fs = &read_only};

	cgroups_open(&pool, &places);
	assert_int_equal(pool.n_trees, 0);
	assert_non_null(strstr(pool.why, "Read-only"));
	cgroups_close(&pool);
	tree_free(&places);
}

TEST_IN(temp_dir, version_1, two_folders, are_used)
{
	char *memory = strdup(at(*state, "m")), *pids = strdup(at(*state, "p"));
	struct cgroup_places places = {.memory = memory, .pids = pids};
	struct cgroups pool = {.fs = &fake};
	struct cgroup_events events;
	struct err err = ERR_INIT;
	struct cgroup *held, *g;
	int door[CGROUP_TREES];
	char group[512];

	make(memory);
	make(pids);
	cgroups_open(&pool, &places);
	assert_false(pool.is_unified);
	assert_true(pool.has[CGROUP_MEMORY] && pool.has[CGROUP_PIDS]);
	assert_int_equal(cgroups_take(&pool, &want, &held, &err), 0);
	assert_int_equal(cgroups_take(&pool, &want, &g, &err), 0);
	snprintf(group, sizeof(group), "%s/%s", memory, g->name);
	is(group, "memory.limit_in_bytes", "67108864");
	is(group, "memory.memsw.limit_in_bytes", "67108864");
	put(group, "memory.oom_control", "under_oom 0\noom_kill 1\n");
	assert_int_equal(cgroup_open_doors(&pool, g, door, &err), 0);
	for (size_t i = 0; i < CGROUP_TREES; i++) {
		assert_int_equal(write(door[i], "0", 1), 1);
		fd_closep(&door[i]);
	}
	is(group, "tasks", "0");
	snprintf(group, sizeof(group), "%s/%s", pids, g->name);
	is(group, "pids.max", "20");
	is(group, "tasks", "0");
	put(group, "pids.events", "max 2\n");
	cgroup_read_events(&pool, g, &events);
	assert_int_equal(events.oom_kills, 1);
	assert_int_equal(events.forks_refused, 2);
	cgroups_give(&pool, g);
	cgroups_give(&pool, held);
	cgroups_close(&pool);
	assert_int_equal(count_runs(memory) + count_runs(pids), 0);
	free(memory);
	free(pids);
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
static char *make_stale(const char *dir, pid_t pid, const char *start)
{
	char *first = mem_printf("%s/matins-%d-%s-0", dir, pid, start);

	for (int i = 0; i < 3; i++) {
		AUTO(mem_freep)
		char *path =
			i ? mem_printf("%s-%d", first, i) : mem_strdup(first);

		make(path);
	}
	return first;
}

TEST_IN(temp_dir, stale, of_the_dead, goes)
{
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	char *slice = strdup(at(*state, "slice"));
	struct cgroups pool = {.fs = &fake};
	char *dead = make_stale(slice, ended(), "12345");
	/* a process of that id lives, but began at another time */
	char *reused = make_stale(slice, getpid(), "1");
	/* a sweep that was ended itself has left this one */
	char *alone = make_stale(slice, ended(), "777");

	assert_int_equal(fake_remove(AT_FDCWD, alone), 0);
	assert_int_equal(count_runs(slice), 8);
	cgroups_open(&pool, &places);
	assert_int_equal(access(alone, F_OK), -1);
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(reused, F_OK), -1);
	assert_int_equal(count_runs(slice), 1);
	cgroups_close(&pool);
	free(dead);
	free(reused);
	free(alone);
	free(slice);
	tree_free(&places);
}

TEST_IN(temp_dir, stale, of_the_living, stays)
{
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	char *slice = strdup(at(*state, "slice"));
	struct cgroups living = {.fs = &fake}, pool = {.fs = &fake};
	char *hidden = make_stale(slice, ended(), "12345");
	char *other = mem_printf("%s/matins-of-somebody", slice);
	char *longer = mem_printf("%s/matins-%d-1-0-1-", slice, ended());
	struct cgroup *first, *second;
	struct err err = ERR_INIT;
	int lock = fd_open(hidden, O_RDONLY | O_DIRECTORY, 0);

	/* as a gate in another pid namespace would hold it */
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	make(other);
	make(longer);
	cgroups_open(&living, &places);
	assert_int_equal(cgroups_take(&living, &want, &first, &err), 0);
	assert_int_equal(cgroups_take(&living, &want, &second, &err), 0);
	cgroups_open(&pool, &places);
	assert_true(living.has[CGROUP_PIDS] && pool.has[CGROUP_PIDS]);
	/* three, two, two, and the first of this one */
	assert_int_equal(count_runs(slice), 3 + 2 + 2 + 1);
	cgroups_close(&pool);
	cgroups_give(&living, second);
	cgroups_give(&living, first);
	cgroups_close(&living);
	assert_int_equal(count_runs(slice), 3 + 2);
	assert_int_equal(access(hidden, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	close(lock);
	free(longer);
	free(hidden);
	free(other);
	free(slice);
	tree_free(&places);
}

/* The stand-in kills nobody by cgroup.kill, and lists who was written. */
static void ends(const char *group, struct cgroups *pool, struct cgroup *g)
{
	pid_t pid = sleeper();
	char text[32];
	int status;

	unlink(at(group, "cgroup.kill"));
	/* our own and 0, whom nobody sees, are passed over */
	snprintf(text, sizeof(text), "0\n%d\n%d\n", getpid(), pid);
	put(group, "cgroup.procs", text);
	cgroups_give(pool, g);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	put(group, "cgroup.procs", "");
}

TEST_IN(temp_dir, group, with_a_process, is_ended)
{
	struct cgroup_places places = make_tree(*state, "memory pids\n");
	struct cgroups pool = {.fs = &fake};
	struct err err = ERR_INIT;
	struct cgroup *first, *g;
	char group[512], lead[512];

	cgroups_open(&pool, &places);
	assert_int_equal(cgroups_take(&pool, &want, &first, &err), 0);
	assert_int_equal(cgroups_take(&pool, &want, &g, &err), 0);
	snprintf(lead, sizeof(lead), "%s/slice/%s", (char *)*state,
		 first->name);
	snprintf(group, sizeof(group), "%s/slice/%s", (char *)*state, g->name);
	ends(group, &pool, g);
	ends(lead, &pool, first);
	/* the stand-in still listed them; the next one is another */
	assert_int_equal(cgroups_take(&pool, &want, &g, &err), 0);
	assert_null(strstr(group, g->name));
	assert_int_equal(fake_remove(AT_FDCWD, group), 0);
	cgroups_give(&pool, g);
	cgroups_close(&pool);
	assert_int_equal(count_runs(at(*state, "slice")), 0);
	tree_free(&places);
}
