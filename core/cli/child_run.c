#include "core/cli/child_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/place.h"
#include "core/client/said.h"
#include "core/config/paths.h"
#include "core/run/advice.h"

/* Time from SIGTERM to SIGKILL; the tree ends within 3 s. */
#define GRACE_NS (2 * NS_PER_S)
#define PUMP_BYTES 65536

struct running {
	struct loop loop;
	struct gate *gate;
	struct child_end *end;
	int to[3]; /* [1] and [2]: where output is written */
	struct loop_watch tty_in, in, out, err, pid, notify;
	struct loop_timer due; /* calls that wait for somebody else */
	struct loop_timer grace;
	struct buf typed; /* typed bytes, not yet written */
	bool ended, says_lost;
	bool is_joined; /* stderr comes with stdout */
};

/* ---- pumping for terminals ---- */

/* False: there is nothing to read now. */
static bool pump_out(struct running *e, int which)
{
	struct gate_child_fds fds = gate_child_fds(e->end->child);
	int fd = which == 1 ? fds.out : fds.err;
	char chunk[PUMP_BYTES];
	ssize_t r = fd < 0 ? 0 : read(fd, chunk, sizeof(chunk));

	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (r > 0 && (which == 2 || e->is_joined))
		buf_add_cut(&e->end->said, (struct str){chunk, (size_t)r},
			    SAID_BYTES - e->end->said.n);
	if (r > 0 && fd_write_all(e->to[which], chunk, (size_t)r) == 0)
		return true;
	loop_unwatch(&e->loop, which == 1 ? &e->out : &e->err);
	gate_child_close(e->end->child, which);
	return false;
}

static void on_out(void *arg, UNUSED uint32_t events)
{
	pump_out(arg, 1);
}

static void on_err(void *arg, UNUSED uint32_t events)
{
	pump_out(arg, 2);
}

static void end_of_input(struct running *e)
{
	loop_unwatch(&e->loop, &e->tty_in);
	loop_unwatch(&e->loop, &e->in);
	gate_child_close(e->end->child, 0);
}

static void on_in(void *arg, uint32_t events)
{
	struct running *e = arg;
	ssize_t w;

	if (events & EPOLLERR) {
		end_of_input(e);
		return;
	}
	w = write(gate_child_fds(e->end->child).in, buf_cstr(&e->typed),
		  e->typed.n);
	if (w > 0)
		buf_drop(&e->typed, (size_t)w);
	if (!e->typed.n) {
		loop_rewatch(&e->loop, &e->in, 0);
		loop_rewatch(&e->loop, &e->tty_in, EPOLLIN);
	}
}

static void on_tty(void *arg, UNUSED uint32_t events)
{
	struct running *e = arg;
	char *room = buf_room(&e->typed, PUMP_BYTES);
	ssize_t r = read(STDIN_FILENO, room, PUMP_BYTES);

	if (r < 0 && errno == EINTR)
		return;
	if (r <= 0) {
		end_of_input(e);
		return;
	}
	e->typed.n += (size_t)r;
	/* one piece at a time: a program that does not read stops the typing */
	loop_rewatch(&e->loop, &e->tty_in, 0);
	loop_rewatch(&e->loop, &e->in, EPOLLOUT);
}

/* ---- the child ---- */

static void set_due(struct running *e)
{
	unsigned ms = gate_child_due_ms(e->end->child);

	if (ms)
		loop_timer_in(&e->loop, &e->due, ms);
}

/* Say at once what a program writes in vain: its caller may never tell. */
static void say_lost(struct running *e)
{
	static const char *const why[] = {
		[GATE_LOST_DROPPED] = "not granted, so nothing of it stays",
		[GATE_LOST_REFUSED] = "granted for reading alone",
	};
	const char *home = path_own_home(0), *path;
	enum gate_lost how;

	while ((path = gate_child_lost(e->end->child, &how)))
		if (gate_is_secret(e->gate, path) ||
		    (home && place_covers(home, path) &&
		     strstr(path + strlen(home), "/.")))
			log_note("denied: write %s", path);
		else if (how == GATE_LOST_REPLACED)
			log_note("denied: replace %s, whose folder is not "
				 "granted; move it into a folder of its own, "
				 "and --write FOLDER",
				 path);
		else
			log_note("denied: write %s, which is %s; to allow it: "
				 "%s--write %s",
				 path, why[how],
				 access(path, F_OK) == 0
					 ? ""
					 : "make the file, and ",
				 place_to_paste(path, "PATH"));
}

static void serve(struct running *e)
{
	gate_child_serve(e->end->child);
	if (e->says_lost)
		say_lost(e);
	set_due(e);
}

static void on_due(void *arg)
{
	serve(arg);
}

static void on_notify(void *arg, uint32_t events)
{
	struct running *e = arg;

	if (events & EPOLLIN)
		serve(e);
	/* a number that is closed may soon be that of another file */
	if (!(events & EPOLLIN) || gate_child_fds(e->end->child).notify < 0)
		loop_unwatch(&e->loop, &e->notify);
}

static void on_ended(void *arg, UNUSED uint32_t events)
{
	struct running *e = arg;

	if (gate_child_wait(e->end->child, &e->end->verdict) == 0)
		e->ended = true;
}

static void on_signal(void *arg, int signal)
{
	struct running *e = arg;

	if (e->loop.signal_count > 1) {
		gate_child_signal(e->end->child, SIGKILL);
		return;
	}
	gate_child_signal(e->end->child, signal);
	loop_timer_set(&e->loop, &e->grace, loop_now(&e->loop) + GRACE_NS);
}

static void on_grace(void *arg)
{
	struct running *e = arg;

	gate_child_signal(e->end->child, SIGKILL);
}

static int watch_all(struct running *e, struct err *err)
{
	const struct gate_child_fds fds = gate_child_fds(e->end->child);
	const struct {
		struct loop_watch *watch;
		int fd; /* -1: none */
		uint32_t events;
		void (*ready)(void *arg, uint32_t events);
	} rows[] = {
		{&e->pid, fds.pidfd, EPOLLIN, on_ended},
		{&e->notify, fds.notify, EPOLLIN, on_notify},
		{&e->out, fds.out, EPOLLIN, on_out},
		{&e->err, fds.err, EPOLLIN, on_err},
		{&e->in, fds.in, 0, on_in},
		{&e->tty_in, fds.in < 0 ? -1 : STDIN_FILENO, EPOLLIN, on_tty},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].fd >= 0 &&
		    loop_watch(&e->loop, rows[i].watch, rows[i].fd,
			       rows[i].events, rows[i].ready, e, err) < 0)
			return -1;
	set_due(e);
	return 0;
}

static int converse(struct running *e, struct gate *gate,
		    const struct gate_request *request, struct err *err)
{
	if (loop_take_signals(&e->loop, err) < 0)
		return -1;
	e->grace = (struct loop_timer){.fire = on_grace, .arg = e};
	e->due = (struct loop_timer){.fire = on_due, .arg = e};
	e->loop.on_signal = on_signal;
	e->loop.on_signal_arg = e;
	if (gate_spawn(gate, request, &e->end->child, err) < 0 ||
	    watch_all(e, err) < 0)
		return -1;
	/* the start and the end serve calls, too */
	if (e->says_lost)
		say_lost(e);
	while (!e->ended)
		if (loop_turn(&e->loop, err) < 0)
			return -1;
	if (e->says_lost)
		say_lost(e);
	/* the rest of the pipes of a tree that has ended */
	for (int which = 1; which <= 2; which++)
		while (pump_out(e, which))
			;
	return 0;
}

bool child_is_pumped(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (isatty(fd))
		return true;
	return fd > 0 && flags >= 0 && flags & O_APPEND &&
	       fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int child_run(struct gate *gate, const struct gate_request *request, int out,
	      int err_fd, struct child_end *ret, struct err *err)
{
	struct running e = {
		.gate = gate,
		.end = ret,
		.to = {-1, out, err_fd},
		.typed = BUF_INIT(4 * PUMP_BYTES),
		.is_joined = request->stdio[2] == GATE_AS_OUT,
		.says_lost = request->watches_writes,
	};
	int r;

	*ret = (struct child_end){.said = BUF_INIT(BUF_UNBOUNDED)};
	if (loop_init(&e.loop, clock_system(), err) < 0)
		return -1;
	r = converse(&e, gate, request, err);
	ret->signal = e.loop.signal;
	buf_release(&e.typed);
	loop_release(&e.loop);
	if (r < 0)
		child_end_release(ret);
	return r;
}

void child_end_release(struct child_end *e)
{
	gate_child_free(e->child);
	e->child = NULL;
	buf_release(&e->said);
}

int child_end_status(const struct gate_verdict *v)
{
	return v->exited ? v->exit_status : 128 + v->signal;
}

bool say_advice(const struct advice_known *known)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct advice_list list = advice_find(known, &arena);

	for (size_t i = 0; i < list.n; i++)
		log_note("%s", advice_line(&list.item[i], &arena));
	/* no policy brings a service up */
	return list.n > (known->verdict ? known->verdict->unreached.n : 0);
}
