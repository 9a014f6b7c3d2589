#include "gate/child/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "gate/child/sys.h"

/* ---- a table of descriptors for a runner that has many ---- */

/* Time to leave the table; a child that does nothing else needs none. */
#define LEAVE_MS 20000

/* Numbers that stay ours from the first time on: an event that a child which
   has left the table writes to, and one for FD_SOCK, until then a copy. */
enum { PLACE_LEFT, PLACE_SOCK, N_PLACES };
static int place[N_PLACES] = {-1, -1};

static bool reserve_places(void)
{
	if (place[PLACE_LEFT] < 0)
		place[PLACE_LEFT] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (place[PLACE_LEFT] >= 0 && place[PLACE_SOCK] < 0)
		place[PLACE_SOCK] =
			fcntl(place[PLACE_LEFT], F_DUPFD_CLOEXEC, 0);
	return place[PLACE_SOCK] >= 0;
}

/* Take away the socket that was put there. */
static void clear_place(void)
{
	(void)!dup3(place[PLACE_LEFT], place[PLACE_SOCK], O_CLOEXEC);
}

void table_end(struct launch *l, const struct table *t)
{
	if (!t->is_shared)
		return;
	clear_place();
	l->fd[FD_SOCK] = -1;
}

/* Send all but FD_SOCK, in their order. */
static long send_others(const struct launch *l, int sock)
{
	int fd[N_FDS];
	size_t n = 0;

	_Static_assert(N_FDS <= PASS_MAX, "one message");
	for (size_t i = 0; i < N_FDS; i++)
		if (i != FD_SOCK && l->fd[i] >= 0)
			fd[n++] = l->fd[i];
	return pass_send(sock, 0, fd, n, MSG_DONTWAIT);
}

bool table_share(struct launch *l, int sock, struct table *ret)
{
	int *const left = &l->table_left, *const end = &l->table_end;

	ret->is_shared = false;
	*end = 0;
	/* the last one that was opened; the kernel gives the lowest */
	if (l->fd[FD_SOCK] < TABLE_MANY || !reserve_places() ||
	    dup3(l->fd[FD_SOCK], place[PLACE_SOCK], O_CLOEXEC) < 0)
		return false;
	if (send_others(l, sock) < 0) {
		clear_place();
		return false;
	}
	ret->is_shared = true;
	close(l->fd[FD_SOCK]);
	l->fd[FD_SOCK] = place[PLACE_SOCK];
	*left = place[PLACE_LEFT];
	*end = 1 + (place[PLACE_SOCK] > *left ? place[PLACE_SOCK] : *left);
	return true;
}

int table_wait(const struct launch *l, const struct table *t,
	       const struct process *init)
{
	struct pollfd p[2] = {{.fd = place[PLACE_LEFT], .events = POLLIN},
			      {.fd = init->pidfd, .events = POLLIN}};
	uint64_t left;
	int r;

	if (!t->is_shared)
		return 0;
	do
		r = poll(p, 2, LEAVE_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0) {
		/* the child must not change the table any more when we do */
		kernel_pidfd_signal(init->pidfd, SIGKILL);
		while (poll(&p[1], 1, -1) < 0 && errno == EINTR)
			;
	}
	(void)!read(l->table_left, &left, sizeof(left));
	clear_place();
	return r > 0 ? 0 : -1;
}

/* ---- the start ---- */

static const char *const stage_text[] = {
#define CHILD_STAGE(name, text) text,
#include "gate/child/child_stages.def"
#undef CHILD_STAGE
};

static int open_sockets(struct launch *l, int *ret_ours, struct err *err)
{
	int pair[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, errno, "socket pair");
	*ret_ours = pair[0];
	l->fd[FD_SOCK] = pair[1];
	/* the kernel then tells the sender's process id as we see it */
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
		int sys = errno;

		close(pair[0]);
		close(pair[1]);
		return err_sys(err, sys, "SO_PASSCRED");
	}
	return 0;
}

/* Take the messages of the child that are there. */
static void receive_messages(int sock, bool asks_sockets, struct launched *d)
{
	struct passed got;

	while (pass_receive(sock, MSG_DONTWAIT, &got)) {
		if (got.byte == CHILD_SOCKETS && !d->n_listen) {
			if (asks_sockets && got.n)
				d->diag = got.fd[--got.n];
			memcpy(d->listen, got.fd, got.n * sizeof(int));
			d->n_listen = got.n;
		} else if (got.byte == CHILD_REPORT) {
			d->program = got.sender;
			if (got.n == 1 && d->listener < 0)
				d->listener = got.fd[0];
			/* the last one */
			return;
		}
	}
}

static int is_late(struct err *err)
{
	return err_set(
		err, ERR_DEADLINE,
		"the program was not executed in time: its file, or one that "
		"it needs to start, does not answer");
}

/*
 * Until the child's end is closed: by exec, or by the end of everything. With
 * watching the exec itself comes to the listener, so that is answered here,
 * unless the filter knows it by its cookie.
 */
static int wait_for_exec(const struct launch *l, int sock, struct launched *d,
			 struct err *err)
{
	bool serves = l->serve && !l->exec_cookie;

	for (;;) {
		bool has_listener = d->listener >= 0;
		struct pollfd p[2] = {
			{.fd = sock,
			 .events = serves && !has_listener ? POLLIN : 0},
			{.fd = serves ? d->listener : -1, .events = POLLIN},
		};
		int r = poll(p, 2, process_left_ms(l->until_ns));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return is_late(err);
		if (!serves || p[0].revents & (POLLHUP | POLLERR))
			return 0;
		if (p[0].revents & POLLIN)
			receive_messages(sock, l->asks_sockets, d);
		/* the child waits for the answer, and holds the listener, too
		 */
		if (p[1].revents & POLLIN &&
		    !l->serve(d->listener, &d->diag, l->serve_arg))
			return err_set(err, ERR_SYS,
				       "system calls cannot be answered: "
				       "the listener does not work");
	}
}

/* Name what the gate cannot do without, where the kernel refuses all of it. */
static const char *lacking_protection(const struct launch *l)
{
	bool is_refused = l->sys == ENOSYS || l->sys == EPERM;

	if (l->stage == STAGE_FILTER)
		return l->sys == EBUSY
			       ? "require: notify is not in use here: another "
				 "sandbox has the one listener that a task can "
				 "have; start matins outside of it"
			       : "no system-call filter can be installed here; "
				 "nothing is started without one: start "
				 "matins outside of the sandbox that forbids "
				 "it";
	if (l->stage == STAGE_CLOSE && is_refused)
		return "close_range() is refused here; it needs Linux 5.9, "
		       "and a filter around matins that allows it";
	if (l->stage == STAGE_EXEC && l->sys == ENOSYS)
		return "execveat() is refused here; it needs Linux 3.19, and "
		       "a filter around matins that allows it";
	return NULL;
}

static int explain_stage(const struct launch *l, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *what = lacking_protection(l);

	if (what)
		return err_set(err, ERR_PROTECTION, "%s", what);
	what = "";
	switch (l->stage) {
	case STAGE_SETUP:
		what = setup_describe(&l->setup.op[l->setup_step], &arena);
		break;
	case STAGE_CWD:
		what = l->cwd;
		break;
	case STAGE_EXEC:
	case STAGE_FILE:
		what = l->exec_path ? l->exec_path : l->argv[0];
		break;
	case STAGE_NONE:
		return err_set(err, ERR_SYS,
			       "the child was killed while it was starting");
	default:
		break;
	}
	return err_sys(err, l->sys, "%s%s%s", stage_text[l->stage],
		       *what ? ": " : "", what);
}

/* EINVAL without namespaces: this kernel does not know the pidfd. */
static int explain_clone(uint64_t flags, struct err *err)
{
	if (!flags && errno == EINVAL)
		return err_set(err, ERR_PROTECTION,
			       "clone() with a pidfd is refused here; it needs "
			       "Linux 5.2");
	return err_sys(err, errno, "clone() of a process%s",
		       flags ? " with new namespaces" : "");
}

/* Do what must be done before the program runs; then give it leave. */
static int give_leave(struct launch *l, int sock, struct err *err)
{
	int r;

	if (!l->before_exec)
		return 0;
	r = l->before_exec(l->before_exec_arg, err);
	if (__atomic_exchange_n(&l->leave, r < 0 ? LEAVE_END : LEAVE_GO,
				__ATOMIC_ACQ_REL) == LEAVE_ASLEEP)
		(void)!pass_send(sock, 0, NULL, 0, MSG_NOSIGNAL | MSG_DONTWAIT);
	return r;
}

/* Work while the child does, which is not late when others were. */
static int work_beside(struct launch *l, int sock, struct err *err)
{
	struct clock *clock = clock_system();
	uint64_t begin = clock->now_ns(clock);
	int r = l->beside ? l->beside(l->beside_arg, sock, err) : 0;

	if (r == 0)
		r = give_leave(l, sock, err);
	if (l->until_ns < UINT64_MAX / 2)
		l->until_ns += clock->now_ns(clock) - begin;
	return r;
}

/* Was our memory dumpable before the first start? */
static int was_dumpable = -1;

/* The launch is over, and nothing of it is used any more, but the stack where
   a killed program may wait in the kernel. */
static void settle(struct launching *g)
{
	receive_messages(g->sock, g->l->asks_sockets, &g->run);
	table_end(g->l, &g->table);
	if (!g->is_late)
		process_give_exec_stack(g->l->program_stack);
	/* a change of identity in the shared memory has cleared it; leak
	   checkers need it */
	prctl(PR_SET_DUMPABLE, g->l->keep_dumpable && was_dumpable);
}

static int begin(struct launching *g, uint64_t clone_flags, struct err *err)
{
	struct launch *l = g->l;

	/* As an ordinary user the child maps its own ids through /proc, which
	   belongs to root while the memory that it shares with us is not
	   dumpable, as it is not behind the first start. */
	if (l->uid_map)
		prctl(PR_SET_DUMPABLE, 1);
	if (table_share(l, g->sock, &g->table))
		clone_flags |= CLONE_FILES;
	if (process_share(init_main, l, clone_flags, &g->run.init) < 0) {
		/* the flag of the table is no namespace */
		(void)!explain_clone(clone_flags & ~(uint64_t)CLONE_FILES, err);
		if (!g->table.is_shared)
			close(l->fd[FD_SOCK]);
		return -1;
	}
	/* the child reads its number from the launch at this moment */
	if (!g->table.is_shared)
		close(l->fd[FD_SOCK]);
	g->is_late = table_wait(l, &g->table, &g->run.init) < 0;
	if (g->is_late)
		return is_late(err);
	g->is_late = work_beside(l, g->sock, err) < 0;
	return g->is_late ? -1 : 0;
}

static struct child_signals signals;

int launch_begin(struct launch *l, uint64_t clone_flags, struct launching *ret,
		 struct err *err)
{
	struct launching g = {
		.l = l,
		.run = LAUNCHED_INIT,
		.sock = -1,
	};

	process_reap();
#ifdef MATINS_ASAN
	l->keep_dumpable = true;
#endif
	if (was_dumpable < 0 && l->keep_dumpable)
		was_dumpable = prctl(PR_GET_DUMPABLE);
	l->stage = STAGE_NONE;
	l->runner = process_word_of_life();
	l->signals = &signals;
	l->setup_step = -1;
	l->started = 0;
	l->leave = l->before_exec ? LEAVE_WAIT : LEAVE_GO;
	if (open_sockets(l, &g.sock, err) < 0)
		return -1;
	l->program_stack = process_exec_stack();
	if (!l->program_stack) {
		(void)!err_sys(err, errno, "stack of the child");
		fd_closep(&g.sock);
		fd_closep(&l->fd[FD_SOCK]);
		return -1;
	}
	if (begin(&g, clone_flags, err) < 0) {
		settle(&g);
		launching_release(&g);
		return -1;
	}
	*ret = g;
	return 0;
}

int launch_wait(struct launching *g, struct err *err)
{
	int r = wait_for_exec(g->l, g->sock, &g->run, err);

	g->is_late = r < 0;
	if (r < 0)
		kernel_pidfd_signal(g->run.init.pidfd, SIGKILL);
	settle(g);
	if (r == 0 && !__atomic_load_n(&g->l->started, __ATOMIC_ACQUIRE))
		r = explain_stage(g->l, err);
	return r;
}

void launching_release(struct launching *g)
{
	fd_closep(&g->sock);
	/* a killed one cannot end before the file system that it waits for
	   answers */
	if (g->is_late)
		process_abandon(&g->run.init);
	launched_release(&g->run);
}

int launch_start(struct launch *l, uint64_t clone_flags, struct launched *ret,
		 struct err *err)
{
	struct launching g;

	if (launch_begin(l, clone_flags, &g, err) < 0)
		return -1;
	if (launch_wait(&g, err) < 0) {
		launching_release(&g);
		return -1;
	}
	fd_closep(&g.sock);
	*ret = g.run;
	return 0;
}

void launched_close_sockets(struct launched *d)
{
	for (size_t i = 0; i < d->n_listen; i++)
		fd_closep(&d->listen[i]);
	d->n_listen = 0;
}

void launched_release(struct launched *d)
{
	launched_close_sockets(d);
	process_wait(&d->init);
	fd_closep(&d->listener);
	fd_closep(&d->diag);
}

/* 0 when a filter with a listener could be installed. */
static int listener_main(UNUSED void *arg)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = {1, &allow};
	long r = sys_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

	if (r >= 0)
		r = sys_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
	return r < 0;
}

bool launch_try_listener(void)
{
	struct process p;

	return process_share(listener_main, NULL, 0, &p) == 0 &&
	       process_wait(&p) == 0;
}
