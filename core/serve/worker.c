#include "core/serve/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/gate.h"

#define PORTION_BYTES 4096
/* Ceiling of one line of events; longer ones are left out. */
#define EVENT_BYTES (64 * 1024)

struct worker {
	struct workers *all;
	struct worker *next;
	struct work work; /* .done is NULL: nobody waits */
	struct strlist words;
	struct arena arena;
	struct buf input;
	int output;		/* memory; owned */
	struct gate_again runs; /* .pid is 0: it waits for its turn */
	struct loop_watch end, events;
	int events_fd; /* owned */
	struct buf line;
	struct loop_timer late;
};

struct workers {
	struct loop *loop;
	struct worker *first; /* in the order in which they came */
	size_t n_running;
	struct loop_timer turn; /* one can begin, or is to be freed */
};

static void free_worker(struct worker *w)
{
	struct worker **at = &w->all->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	loop_unwatch(w->all->loop, &w->end);
	loop_unwatch(w->all->loop, &w->events);
	loop_timer_clear(w->all->loop, &w->late);
	if (w->runs.pid > 0) {
		gate_again_signal(&w->runs, SIGKILL);
		(void)gate_again_wait(&w->runs);
		w->all->n_running--;
	}
	fd_closep(&w->output);
	fd_closep(&w->events_fd);
	buf_release(&w->input);
	buf_release(&w->line);
	arena_release(&w->arena);
	free(w);
}

/* Tell the end, and let others begin. */
static void finish(struct worker *w, int status, struct str said)
{
	struct workers *all = w->all;
	struct work work = w->work;

	if (work.done)
		work.done(work.arg, status, said);
	free_worker(w);
	loop_timer_set(all->loop, &all->turn, loop_now(all->loop));
}

/* ---- events ---- */

/* Hand whole lines on; a line that is too long ends the events. */
static void tell_lines(struct worker *w)
{
	size_t n;

	while ((n = str_find(buf_str(&w->line), '\n')) < w->line.n) {
		if (w->work.event && w->work.done)
			w->work.event(w->work.arg, (struct str){w->line.p, n});
		buf_drop(&w->line, n + 1);
	}
}

/* Read a portion; false: there is no more now, or ever. */
static bool read_events(struct worker *w)
{
	char chunk[PORTION_BYTES];
	ssize_t n = read(w->events_fd, chunk, sizeof(chunk));

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0 || buf_add(&w->line, chunk, (size_t)n) == BUF_FULL) {
		loop_unwatch(w->all->loop, &w->events);
		fd_closep(&w->events_fd);
		return false;
	}
	tell_lines(w);
	return true;
}

static void on_events(void *arg, UNUSED uint32_t ready)
{
	(void)!read_events(arg);
}

/* ---- the end ---- */

static void on_end(void *arg, UNUSED uint32_t ready)
{
	AUTO(buf_release) struct buf said = BUF_INIT(WORKER_OUTPUT_BYTES);
	struct worker *w = arg;
	struct err err = ERR_INIT;
	int status, r = 0;

	/* before its descriptor is closed: a child that is being started may
	   still have a copy, and events of it came for ever */
	loop_unwatch(w->all->loop, &w->end);
	status = gate_again_wait(&w->runs);
	w->all->n_running--;
	while (w->work.done && w->events_fd >= 0 && read_events(w))
		;
	if (w->work.done && lseek(w->output, 0, SEEK_SET) < 0)
		r = err_sys(&err, errno, "matins");
	else if (w->work.done)
		r = fd_read_all(w->output, &said, &err);
	if (r < 0)
		finish(w, -1, str_of(err.msg));
	else
		finish(w, status, buf_str(&said));
}

static void on_late(void *arg)
{
	struct worker *w = arg;

	gate_again_signal(&w->runs, SIGKILL);
}

void worker_stop(struct worker *w)
{
	struct loop *loop = w->all->loop;

	w->work.done = NULL;
	if (w->runs.pid <= 0) {
		free_worker(w);
		return;
	}
	gate_again_signal(&w->runs, SIGTERM);
	if (!w->late.index)
		loop_timer_set(loop, &w->late,
			       loop_now(loop) + WORKER_GRACE_MS * NS_PER_MS);
}

void workers_stop(struct workers *all)
{
	struct worker *w = all->first, *next;

	for (; w; w = next) {
		next = w->next;
		worker_stop(w);
	}
}

/* ---- the beginning ---- */

/* In memory: no pipe can be full, and nobody has to feed it. */
static int open_memory(struct str content, struct err *err)
{
	int fd = memfd_create("matins", MFD_CLOEXEC);

	if (fd >= 0 && fd_write_all(fd, content.p, content.n) == 0 &&
	    lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err_sys(err, errno, "memfd");
	fd_closep(&fd);
	return -1;
}

static int watch(struct worker *w, struct err *err)
{
	struct loop *loop = w->all->loop;

	w->all->n_running++;
	if (fcntl(w->events_fd, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, errno, "pipe");
	if (loop_watch(loop, &w->end, w->runs.pidfd, EPOLLIN, on_end, w, err) <
	    0)
		return -1;
	return loop_watch(loop, &w->events, w->events_fd, EPOLLIN, on_events, w,
			  err);
}

static int begin(struct worker *w, struct err *err)
{
	int fd[4] = {open_memory(buf_str(&w->input), err), -1, STDERR_FILENO,
		     -1};
	int r = -1;

	w->output = fd[1] = open_memory(STR(""), err);
	if (fd[0] >= 0 && fd[1] >= 0)
		r = fd_pipe(&w->events_fd, &fd[3]) < 0
			    ? err_sys(err, errno, "pipe")
			    : gate_again_start(w->words.item, fd, &w->runs,
					       err);
	fd_closep(&fd[0]);
	fd_closep(&fd[3]);
	return r < 0 ? -1 : watch(w, err);
}

/* Rank of one that waits, the least first: how many run of its client, then of
   its session, then of its name. UINT_MAX: it may not begin. */
static unsigned rank_of(const struct worker *of,
			const struct worker *const *running, size_t n)
{
	unsigned client = 0, session = 0, name = 0;

	for (size_t i = 0; i < n; i++) {
		const struct worker *w = running[i];

		if (w->work.client != of->work.client)
			continue;
		client++;
		if (w->work.session != of->work.session)
			continue;
		session++;
		name += !strcmp(w->work.name, of->work.name);
	}
	if (client >= WORKERS_CLIENT || session >= WORKERS_SESSION)
		return UINT_MAX;
	return (client << 16) + (session << 8) + name;
}

/* NULL: none may begin. Thousands may wait, of which few run. */
static struct worker *next_waiting(const struct workers *all)
{
	const struct worker *running[WORKERS_MAX];
	struct worker *found = NULL;
	unsigned least = UINT_MAX;
	size_t n = 0;

	for (const struct worker *w = all->first; w && n < WORKERS_MAX;
	     w = w->next)
		if (w->runs.pid > 0)
			running[n++] = w;
	for (struct worker *w = all->first; w; w = w->next) {
		unsigned rank =
			w->runs.pid > 0 ? UINT_MAX : rank_of(w, running, n);

		if (rank >= least)
			continue;
		least = rank;
		found = w;
	}
	return found;
}

static void on_turn(void *arg)
{
	struct workers *all = arg;
	struct worker *w;
	struct err err = ERR_INIT;

	while (all->n_running < WORKERS_MAX && (w = next_waiting(all))) {
		if (begin(w, &err) < 0) {
			/* called again for the rest: others may go with this
			   one */
			finish(w, -1, str_of(err.msg));
			return;
		}
	}
}

struct worker *worker_start(struct workers *all, const struct work *work)
{
	struct worker *w = mem_zalloc(sizeof(*w)), **at = &all->first;

	*w = (struct worker){
		.all = all,
		.work = *work,
		.input = BUF_INIT(BUF_UNBOUNDED),
		.line = BUF_INIT(EVENT_BYTES),
		.output = -1,
		.events_fd = -1,
		.end.fd = -1,
		.events.fd = -1,
		.runs.pidfd = -1,
	};
	w->late = (struct loop_timer){.fire = on_late, .arg = w};
	list_add(&w->words, &w->arena, "matins");
	for (size_t i = 0; i < work->words->n; i++)
		list_add(&w->words, &w->arena,
			 arena_strdup(&w->arena, work->words->item[i]));
	list_add(&w->words, &w->arena, NULL);
	w->work.name = arena_strdup(&w->arena, work->name);
	buf_add_str(&w->input, work->input);
	while (*at)
		at = &(*at)->next;
	*at = w;
	loop_timer_set(all->loop, &all->turn, loop_now(all->loop));
	return w;
}

struct workers *workers_new(struct loop *loop)
{
	struct workers *all = mem_zalloc(sizeof(*all));

	*all = (struct workers){
		.loop = loop,
		.turn = {.fire = on_turn, .arg = all},
	};
	return all;
}

bool workers_are_idle(const struct workers *all)
{
	return !all->first;
}

void workers_free(struct workers *all)
{
	struct worker *w, *next;

	if (!all)
		return;
	for (w = all->first; w; w = next) {
		next = w->next;
		free_worker(w);
	}
	loop_timer_clear(all->loop, &all->turn);
	free(all);
}
