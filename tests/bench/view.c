/*
 * The light view against a full new root.
 *
 *	view N [--touch MIB] [--mounts COUNT]
 *
 * Starts /bin/true N times in each of three ways, in turn, by an init of the
 * same make (in our memory, raw system calls, the program by vfork) and with
 * the same filter, rules and limits, which are made ready before the clock
 * starts:
 *
 *	base		no namespaces
 *	light view	as gate/build/setup.h makes it
 *	full root	a new root on a tmpfs: /usr, the listed files of /etc,
 *			devices and grants bound into it, private places and
 *			/proc mounted in it, pivot_root, the old root let go
 *
 * and prints medians over the base. --touch makes our own memory large,
 * --mounts (root) gives the host that many mounts more.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/prepare/prepare.h"
#include "gate/child/sys.h"
#include "tests/bench/bench.h"

/* The new root is made here; the old /tmp is nobody's business any more. */
#define ROOT "/tmp"
#define STACK_BYTES (256 * 1024)

enum way { BASE, LIGHT, FULL, N_WAYS };

static const char *const names[N_WAYS] = {"base", "light view", "full root"};

struct start {
	enum way way;
	struct launch *l;
	struct setup_list full;
	int *slots; /* for either list */
	int sock[2];
	void *stack, *program_stack;
	const char *failed; /* what, and errno */
	long sys;
};

static void die(const char *what, int sys)
{
	fprintf(stderr, "view: %s: %s\n", what, strerror(sys));
	exit(1);
}

/* ---- between clone and exec ---- */

static NORETURN void fail(struct start *s, const char *what, long r)
{
	s->failed = what;
	s->sys = -r;
	for (;;)
		sys_call(SYS_exit_group, 1);
}

static void must(struct start *s, const char *what, long r)
{
	if (r < 0)
		fail(s, what, r);
}

static void write_map(struct start *s, const char *path, const char *text)
{
	long fd = sys_call(SYS_openat, AT_FDCWD, path, O_WRONLY, 0);
	long n = 0;

	must(s, path, fd);
	while (text[n])
		n++;
	must(s, path, sys_call(SYS_write, fd, text, n));
	sys_call(SYS_close, fd);
}

static void run_list(struct start *s, const struct setup_list *list)
{
	int sys = 0;
	long at = setup_run(list, s->slots, CHILD_FD(FD_MAPS), &sys);

	if (at >= 0)
		fail(s, list->op[at].path, -sys);
}

static void enter_root(struct start *s)
{
	struct kernel_mount_attr attr = {.attr_set = KERNEL_MOUNT_RDONLY};

	must(s, "mkdir", sys_call(SYS_mkdirat, AT_FDCWD, ROOT "/proc", 0755));
	must(s, "proc",
	     sys_call(SYS_mount, "proc", ROOT "/proc", "proc",
		      MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
		      "hidepid=4"));
	must(s, "chdir", sys_call(SYS_chdir, ROOT));
	must(s, "pivot_root", sys_call(SYS_pivot_root, ".", "."));
	must(s, "umount", sys_call(SYS_umount2, ".", MNT_DETACH));
	must(s, "read-only",
	     sys_call(KERNEL_MOUNT_SETATTR, AT_FDCWD, "/", 0, &attr,
		      sizeof(attr)));
}

static void late_rules(struct start *s)
{
	const struct launch *l = s->l;

	for (size_t i = 0; i < l->n_late; i++) {
		struct landlock_path_attr rule = {.access = l->late[i].access};
		long fd = sys_call(SYS_openat, AT_FDCWD, l->late[i].path,
				   O_PATH | O_CLOEXEC, 0);

		must(s, l->late[i].path, fd);
		rule.fd = (int)fd;
		must(s, "rule",
		     sys_call(KERNEL_LANDLOCK_ADD_RULE, CHILD_FD(FD_RULESET),
			      LANDLOCK_RULE_TYPE_PATH, &rule, 0));
		sys_call(SYS_close, fd);
	}
}

static NORETURN void run_init(struct start *s)
{
	struct launch *l = s->l;
	long program;

	for (int i = 0; i < N_FDS; i++)
		if (l->fd[i] >= 0)
			must(s, "dup3",
			     sys_call(SYS_dup3, l->fd[i], CHILD_FD(i),
				      O_CLOEXEC));
	must(s, "setsid", sys_call(SYS_setsid, 0));
	if (s->way != BASE && l->uid_map) {
		write_map(s, "/proc/self/setgroups", "deny");
		write_map(s, "/proc/self/uid_map", l->uid_map);
		write_map(s, "/proc/self/gid_map", l->gid_map);
	}
	if (s->way == LIGHT)
		run_list(s, &l->setup);
	if (s->way == FULL) {
		run_list(s, &s->full);
		enter_root(s);
	}
	if (s->way != BASE)
		late_rules(s);
	program = sys_call(SYS_openat, AT_FDCWD, l->exec_path,
			   O_PATH | O_CLOEXEC, 0);
	must(s, "program", program);
	l->exec_fd = (int)program;
	program = clone(child_main, l->program_stack,
			CLONE_VM | CLONE_VFORK | SIGCHLD, l);
	must(s, "clone", program);
	sys_call(SYS_wait4, program, NULL, 0, NULL);
	for (;;)
		sys_call(SYS_exit_group, 0);
}

static int init(void *start)
{
	run_init(start);
}

/* ---- the list of a full root ---- */

struct lister {
	struct arena *arena;
	struct setup_list *list;
	struct setup_op put[256];
	size_t n_put;
};

static struct setup_op *add(struct lister *r, enum setup_kind kind,
			    const char *path)
{
	struct setup_op *op = &r->list->op[r->list->n++];

	*op = (struct setup_op){
		.kind = kind, .path = path, .slot = -1, .idmap = -1};
	return op;
}

static const char *in_root(struct lister *r, const char *path)
{
	return arena_printf(r->arena, ROOT "%s", path);
}

/* Taken now; put when the new root is there. */
static void bind_path(struct lister *r, const char *path, bool is_dir,
		      uint64_t attributes)
{
	struct setup_op *op = add(r, SETUP_TAKE, path);

	op->slot = (int)r->list->slots++;
	r->put[r->n_put++] = (struct setup_op){.kind = SETUP_PUT,
					       .path = in_root(r, path),
					       .is_dir = is_dir,
					       .slot = op->slot,
					       .set = attributes,
					       .idmap = -1};
}

static void bind_grants(struct lister *r, const struct grants *g)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct grant *grant = &g->grant[i];
		bool is_dev = grant->what & GRANT_DEVICE;

		if (place_covers("/usr", grant->path) || !grant->what)
			continue;
		bind_path(r, grant->path, S_ISDIR(grant->st.st_mode),
			  KERNEL_MOUNT_NOSUID |
				  (is_dev ? KERNEL_MOUNT_NOEXEC
					  : KERNEL_MOUNT_NODEV |
						    KERNEL_MOUNT_RDONLY));
	}
}

static void link_folders(struct lister *r)
{
	static const char *const folders[] = {"/bin", "/sbin", "/lib",
					      "/lib64"};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		char target[256];
		ssize_t n = readlink(folders[i], target, sizeof(target));

		if (n > 0)
			add(r, SETUP_LINK, in_root(r, folders[i]))->data =
				arena_strndup(r->arena, target, (size_t)n);
	}
}

static void list_full_root(const struct prepared *p, struct arena *arena,
			   struct setup_list *list)
{
	static struct lister r;
	struct setup_op *op;

	list->op = ARENA_ARRAY(arena, struct setup_op, 512);
	r.arena = arena;
	r.list = list;
	bind_path(&r, "/usr", true,
		  KERNEL_MOUNT_NOSUID | KERNEL_MOUNT_NODEV |
			  KERNEL_MOUNT_RDONLY);
	bind_grants(&r, &p->gate->base);
	bind_grants(&r, &p->grants);
	add(&r, SETUP_ATTR, "/")->is_recursive = true;
	add(&r, SETUP_TMPFS, ROOT)->data = "mode=755,size=1m";
	for (size_t i = 0; i < r.n_put; i++)
		list->op[list->n++] = r.put[i];
	link_folders(&r);
	for (size_t i = 0; i < p->view.n_places; i++) {
		const struct setup_place *place = &p->view.places[i];

		op = add(&r, SETUP_TMPFS, in_root(&r, place->path));
		op->is_dir = true;
		op->data =
			arena_printf(arena, "mode=%o,size=512m", place->mode);
	}
}

/* ---- one start ---- */

static void *map_stack(void)
{
	char *p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (p == MAP_FAILED)
		die("mmap", errno);
	return p + STACK_BYTES;
}

/* Out of the way of the numbers that a child's descriptors get. */
static int high(int fd)
{
	int r = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);

	if (fd >= 0 && r < 0)
		die("F_DUPFD", errno);
	return r;
}

static double run_once(struct start *s, const struct landlock_rules *rules,
		       uint64_t flags)
{
	struct err err = ERR_INIT;
	double start, us;
	int status, ruleset;
	char byte;
	pid_t pid;

	/* the rules of its own mounts are added to it each time */
	if (landlock_create(rules, &ruleset, &err) < 0)
		die(err.msg, err.sys);
	s->l->fd[FD_RULESET] = high(ruleset);
	close(ruleset);
	/* the child waits for what the gate sends beside its start */
	if (s->l->beside &&
	    s->l->beside(s->l->beside_arg, s->sock[0], &err) < 0)
		die(err.msg, err.sys);
	/* a user's child maps its own ids, and the one before has cleared it */
	prctl(PR_SET_DUMPABLE, 1);
	start = bench_now_us();
	pid = clone(init, s->stack,
		    (int)(CLONE_VM | SIGCHLD | (s->way == BASE ? 0 : flags)),
		    s);
	if (pid < 0)
		die("clone", errno);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	us = bench_now_us() - start;
	close(s->l->fd[FD_RULESET]);
	if (s->failed)
		die(s->failed, (int)s->sys);
	if (s->l->stage != STAGE_NONE)
		die("before exec", s->l->sys);
	/* what the program said of itself before exec */
	if (recv(s->sock[0], &byte, 1, MSG_DONTWAIT) != 1)
		die(names[s->way], ENOENT);
	/* a way that takes no message leaves it */
	while (recv(s->l->fd[FD_SOCK], &byte, 1, MSG_DONTWAIT) == 1)
		;
	return us;
}

static void make_ready(struct gate *gate, struct prepared *p, struct start *s,
		       struct arena *arena)
{
	static const char *const argv[] = {"/bin/true", NULL};
	static const struct gate_policy policy = {.isolate =
							  GATE_ISOLATE_REQUIRE};
	static struct gate_request request = {.program = "/bin/true",
					      .argv = argv,
					      .policy = &policy,
					      .stdio = {0, 1, 2}};
	static struct child_signals signals;
	struct err err = ERR_INIT;
	struct launch *l = &p->launch;

	if (prepare_by(gate, &request, true, prepare_until(&request), p, &err) <
	    0) {
		fprintf(stderr, "view: %s\n", err.msg);
		exit(1);
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->sock) < 0)
		die("socketpair", errno);
	close(l->fd[FD_RULESET]);
	l->leave = LEAVE_GO; /* there is nothing to wait for */
	l->signals = &signals;
	l->cwd = "/";	   /* which is there in every way */
	l->filter.len = 0; /* refused without a listener, so nobody serves */
	l->fd[FD_SOCK] = s->sock[1];
	memcpy(&l->fd[FD_IN], request.stdio, sizeof(request.stdio));
	for (int i = 0; i < N_FDS; i++)
		l->fd[i] = i == FD_RULESET ? -1 : high(l->fd[i]);
	s->l = l;
	s->stack = map_stack();
	s->program_stack = l->program_stack = map_stack();
	list_full_root(p, arena, &s->full);
	s->slots = ARENA_ARRAY(arena, int, s->full.slots + l->setup.slots + 1);
}

/* ---- what makes it harder ---- */

static void touch(long mib)
{
	size_t n = (size_t)mib << 20;
	char *p = malloc(n);

	if (!p)
		die("malloc", errno);
	memset(p, 1, n);
	/* the compiler must not find out that nobody reads it */
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void more_mounts(long count)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/mnt", "tmpfs", 0, NULL) < 0)
		die("mounts", errno);
	for (long i = 0; i < count; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/mnt/%ld", i);
		if (mkdir(path, 0755) < 0 ||
		    mount("tmpfs", path, "tmpfs", 0, "size=4k") < 0)
			die(path, errno);
	}
}

static void read_options(int argc, char **argv)
{
	for (int i = 2; i + 1 < argc; i += 2) {
		long n = strtol(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--touch") == 0)
			touch(n);
		else if (strcmp(argv[i], "--mounts") == 0)
			more_mounts(n);
	}
}

int main(int argc, char **argv)
{
	static const struct gate_config config = {
		.leash = {.fs_read = {.all = true},
			  .fs_write = {.all = true},
			  .exec = {.all = true},
			  .net = {.all = true},
			  .calls_unlimited = true,
			  .generations = {.all = true},
			  .interpreters = true},
	};
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	static struct prepared p;
	static struct start s;
	double *us[N_WAYS], base = 0;
	struct gate *gate;

	if (n < 1) {
		fprintf(stderr,
			"usage: view N [--touch MIB] [--mounts COUNT]\n");
		return 64;
	}
	read_options(argc, argv);
	if (gate_new(&config, &gate, &err) < 0)
		die(err.msg, err.sys);
	make_ready(gate, &p, &s, &arena);
	for (int k = 0; k < N_WAYS; k++)
		us[k] = bench_values(n);
	for (int i = -3; i < n; i++) {
		for (int k = 0; k < N_WAYS; k++) {
			double took;

			s.way = (enum way)((i + 3 + k) % N_WAYS);
			took = run_once(&s, &p.rules, p.clone_flags);
			if (i >= 0)
				us[s.way][i] = took;
		}
	}
	for (int k = 0; k < N_WAYS; k++) {
		double median = bench_median(us[k], n);

		base = k == BASE ? median : base;
		printf("%-30s %8.3f ms", names[k], median / 1e3);
		if (k != BASE)
			printf("  %+8.3f ms over the base",
			       (median - base) / 1e3);
		putchar('\n');
		free(us[k]);
	}
	prepared_release(&p);
	gate_free(gate);
	arena_release(&arena);
	return 0;
}
