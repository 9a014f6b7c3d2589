#include "core/base/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

#define BATCH 256

/* Readers of streams are waited for as long after a signal. */
#define STREAM_WAIT_MS 3000

/* Signals of the process, so there is one set; empty while none is taken. */
static sigset_t taken;

/* One of them was read by a loop. */
static bool stopping;

bool loop_signal_waits(void)
{
	sigset_t waiting;

	return sigpending(&waiting) == 0 &&
	       sigandset(&waiting, &waiting, &taken) == 0 &&
	       !sigisemptyset(&waiting);
}

void loop_give_signals_back(void)
{
	const struct timespec at_once = {0};

	if (stopping) {
		while (sigtimedwait(&taken, NULL, &at_once) > 0)
			;
		fd_limit_wait(STREAM_WAIT_MS);
	}
	if (!sigisemptyset(&taken))
		sigprocmask(SIG_UNBLOCK, &taken, NULL);
	sigemptyset(&taken);
}

int loop_init(struct loop *l, struct clock *clock, struct err *err)
{
	*l = (struct loop){.epoll = -1, .signals = -1, .clock = clock};
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0)
		return err_sys(err, errno, "epoll_create1");
	l->batch = mem_zalloc(BATCH * sizeof(*l->batch));
	return 0;
}

void loop_release(struct loop *l)
{
	fd_closep(&l->signals);
	fd_closep(&l->epoll);
	free(l->heap);
	free(l->batch);
	l->heap = NULL;
	l->batch = NULL;
}

void loop_put_off(struct loop *l, uint64_t ns)
{
	for (size_t i = 0; i < l->n_timers; i++)
		l->heap[i]->due_ns += ns;
}

static void read_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (read(l->signals, &info, sizeof(info)) == sizeof(info)) {
		stopping = true;
		if (!l->signal)
			l->signal = (int)info.ssi_signo;
		l->signal_count++;
		if (l->on_signal)
			l->on_signal(l->on_signal_arg, (int)info.ssi_signo);
	}
}

int loop_take_signals(struct loop *l, struct err *err)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP};
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	struct sigaction old;

	sigemptyset(&taken);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (sigaction(wanted[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			sigaddset(&taken, wanted[i]);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	l->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return err_sys(err, errno, "signalfd");
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->signals, &ev) < 0)
		return err_sys(err, errno, "epoll_ctl");
	return 0;
}

int loop_watch(struct loop *l, struct loop_watch *w, int fd, uint32_t events,
	       void (*ready)(void *, uint32_t), void *arg, struct err *err)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		return err_sys(err, errno, "epoll_ctl");
	*w = (struct loop_watch){fd, events, ready, arg};
	return 0;
}

void loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	if (w->fd < 0 || w->events == events)
		return;
	if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, w->fd, &ev) == 0)
		w->events = events;
}

void loop_unwatch(struct loop *l, struct loop_watch *w)
{
	/* a zeroed watch was never added: its fd 0 is no descriptor of ours */
	if (!w->ready || w->fd < 0)
		return;
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->fd = -1;
	/* events of this turn that still wait for it must not reach it */
	for (int i = 0; i < l->n_batch; i++)
		if (l->batch[i].data.ptr == w)
			l->batch[i].events = 0;
}

/* ---- timers: a binary heap by due time ---- */

static void place(struct loop *l, size_t i, struct loop_timer *t)
{
	l->heap[i] = t;
	t->index = i + 1;
}

static void sift_up(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];

	while (i && l->heap[(i - 1) / 2]->due_ns > t->due_ns) {
		place(l, i, l->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(l, i, t);
}

static void sift_down(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= l->n_timers)
			break;
		if (child + 1 < l->n_timers &&
		    l->heap[child + 1]->due_ns < l->heap[child]->due_ns)
			child++;
		if (l->heap[child]->due_ns >= t->due_ns)
			break;
		place(l, i, l->heap[child]);
		i = child;
	}
	place(l, i, t);
}

void loop_timer_in(struct loop *l, struct loop_timer *t, uint64_t ms)
{
	loop_timer_set(l, t, loop_now(l) + ms * NS_PER_MS);
}

void loop_timer_clear(struct loop *l, struct loop_timer *t)
{
	size_t i = t->index;
	struct loop_timer *last;

	if (!i--)
		return;
	t->index = 0;
	last = l->heap[--l->n_timers];
	if (last == t)
		return;
	place(l, i, last);
	sift_up(l, i);
	sift_down(l, last->index - 1);
}

void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t due_ns)
{
	if (t->index && t->due_ns == due_ns)
		return;
	loop_timer_clear(l, t);
	t->due_ns = due_ns;
	if (due_ns == UINT64_MAX)
		return;
	l->heap = mem_grow(l->heap, l->n_timers + 1, &l->cap_timers,
			   sizeof(struct loop_timer *));
	place(l, l->n_timers++, t);
	sift_up(l, l->n_timers - 1);
}

uint64_t loop_now(struct loop *l)
{
	return l->clock->now_ns(l->clock);
}

static int wait_ms(struct loop *l)
{
	uint64_t now, left;

	if (!l->n_timers)
		return -1;
	now = loop_now(l);
	if (l->heap[0]->due_ns <= now)
		return 0;
	left = (l->heap[0]->due_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	return left > 3600000 ? 3600000 : (int)left;
}

static int turn(struct loop *l, int ms, struct err *err)
{
	uint64_t now;

	l->n_batch = epoll_wait(l->epoll, l->batch, BATCH, ms);
	if (l->n_batch < 0) {
		l->n_batch = 0;
		return errno == EINTR ? 0 : err_sys(err, errno, "epoll_wait");
	}
	for (int i = 0; i < l->n_batch; i++) {
		struct loop_watch *w = l->batch[i].data.ptr;

		if (!l->batch[i].events)
			continue;
		if (!w)
			read_signals(l);
		else
			w->ready(w->arg, l->batch[i].events);
	}
	l->n_batch = 0;
	now = loop_now(l);
	while (l->n_timers && l->heap[0]->due_ns <= now) {
		struct loop_timer *t = l->heap[0];

		loop_timer_clear(l, t);
		t->fire(t->arg);
	}
	return 0;
}

int loop_turn(struct loop *l, struct err *err)
{
	return turn(l, wait_ms(l), err);
}

int loop_look(struct loop *l, struct err *err)
{
	return turn(l, 0, err);
}
