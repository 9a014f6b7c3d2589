/*
 * Ending a tree without a pid namespace: by hand, process by process.
 *
 * Raw system calls only, see child.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "gate/child/init_inner.h"
#include "gate/child/sys.h"

/* Processes of the host that a sweep looks at in one round. */
#define SWEEP_ROWS 16384
#define SWEEP_BYTES 32768

struct sweep_row {
	int pid, parent;
	bool is_ours;
};

struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

struct sweep {
	struct sweep_row row[SWEEP_ROWS];
	int ours[SWEEP_ROWS];
	size_t n, n_ours;
	char dirents[SWEEP_BYTES];
};

static int number(const char *s, const char **ret_end)
{
	int n = 0;

	while (*s >= '0' && *s <= '9' && n < 100000000)
		n = n * 10 + (*s++ - '0');
	if (ret_end)
		*ret_end = s;
	return n;
}

/* The parent of a process: the second field behind the last ')' of stat. */
static int parent_of(int proc, const char *name)
{
	char path[32], text[512];
	const char *end = NULL;
	size_t n = 0;
	long fd, got;

	while (name[n] && n < 16) {
		path[n] = name[n];
		n++;
	}
	for (const char *s = "/stat"; *s; s++)
		path[n++] = *s;
	path[n] = '\0';
	fd = sys_call(SYS_openat, proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	got = sys_call(SYS_read, fd, text, sizeof(text) - 1);
	sys_call(SYS_close, fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	for (long i = 0; i < got; i++)
		if (text[i] == ')')
			end = &text[i];
	if (!end || end + 4 >= text + got)
		return 0;
	return number(end + 4, NULL);
}

static void list_processes(struct sweep *s)
{
	long proc = sys_call(SYS_openat, AT_FDCWD, "/proc",
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long got;

	s->n = 0;
	if (proc < 0)
		return;
	while ((got = sys_call(SYS_getdents64, proc, s->dirents,
			       sizeof(s->dirents))) > 0) {
		for (long at = 0; at < got && s->n < SWEEP_ROWS;) {
			struct linux_dirent64 *d = (void *)&s->dirents[at];
			const char *end;
			int pid = number(d->name, &end);

			if (pid && !*end)
				s->row[s->n++] = (struct sweep_row){
					pid, parent_of((int)proc, d->name),
					false};
			at += d->reclen;
		}
	}
	sys_call(SYS_close, proc);
}

static bool is_tree(const struct sweep *s, int self, int pid)
{
	if (pid == self)
		return true;
	for (size_t i = 0; i < s->n_ours; i++)
		if (s->ours[i] == pid)
			return true;
	return false;
}

/* Finds what descends from us and signals it; how many there are. */
static size_t signal_tree(struct sweep *s, int self, int sig)
{
	bool more = true;

	list_processes(s);
	s->n_ours = 0;
	while (more) {
		more = false;
		for (size_t i = 0; i < s->n; i++) {
			if (s->row[i].is_ours ||
			    !is_tree(s, self, s->row[i].parent))
				continue;
			s->row[i].is_ours = more = true;
			s->ours[s->n_ours++] = s->row[i].pid;
		}
	}
	for (size_t i = 0; i < s->n_ours; i++)
		sys_call(SYS_kill, s->ours[i], sig);
	return s->n_ours;
}

/* True when nothing is left. */
static bool reap_all(void)
{
	long r;

	do
		r = sys_call(SYS_wait4, -1, NULL, WNOHANG, NULL);
	while (r > 0);
	return r == -ECHILD;
}

/*
 * Stop first, so that nothing can fork away while it is being ended; then
 * kill. What was missed is a child of ours once its parent has ended, so the
 * rounds go on until wait says that there is none.
 */
static void sweep_tree(struct sweep *s)
{
	int self = (int)sys_call(SYS_getpid, 0);

	while (!reap_all()) {
		size_t before = 0, found;

		while ((found = signal_tree(s, self, SIGSTOP)) > before)
			before = found;
		signal_tree(s, self, SIGKILL);
		sys_call(SYS_wait4, -1, NULL, 0, NULL);
	}
}

void init_end_tree(struct child_state *state, int program)
{
	long map;

	/* the usual tree is one process group, or nothing any more */
	sys_call(SYS_kill, -program, SIGKILL);
	if (!state->has_status)
		sys_call(SYS_wait4, program, NULL, 0, NULL);
	if (reap_all())
		return;
	map = sys_call(SYS_mmap, NULL, sizeof(struct sweep),
		       PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map < 0 && map > -4096)
		return;
	sweep_tree((struct sweep *)map);
	sys_call(SYS_munmap, map, sizeof(struct sweep));
}
