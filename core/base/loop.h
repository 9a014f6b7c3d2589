/*
 * One thread, one wait: readiness, timers and signals.
 *
 * Watches and timers are embedded in the objects that own them; the loop
 * keeps pointers only. Callbacks may add and remove any watch or timer, their
 * own included.
 *
 *	loop_init(&loop, clock_system(), err);
 *	loop_watch(&loop, &step->out, fd, EPOLLIN, on_output, step, err);
 *	while (work_left && loop_turn(&loop, err) == 0)
 *		;
 *	loop_release(&loop);
 */
#ifndef CORE_BASE_LOOP_H
#define CORE_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "core/base/clock.h"
#include "core/base/err.h"

struct loop_watch {
	int fd; /* borrowed; -1 while not watched */
	uint32_t events;
	void (*ready)(void *arg, uint32_t events);
	void *arg;
};

struct loop_timer {
	uint64_t due_ns; /* absolute, monotonic */
	size_t index;	 /* place in the heap + 1; 0 while not armed */
	void (*fire)(void *arg);
	void *arg;
};

struct loop {
	int epoll;   /* owned */
	int signals; /* signalfd, owned; -1 without */
	struct clock *clock;
	struct loop_timer **heap; /* array owned, timers borrowed */
	size_t n_timers, cap_timers;
	struct epoll_event *batch; /* events of this turn; owned */
	int n_batch;
	int signal; /* first of SIGINT, SIGTERM, SIGHUP that arrived, 0 none */
	unsigned signal_count;
	void (*on_signal)(void *arg, int signal);
	void *on_signal_arg;
};

int loop_init(struct loop *l, struct clock *clock, struct err *err) MUST_USE;
void loop_release(struct loop *l);

/*
 * SIGINT, SIGTERM and SIGHUP come through the loop from here on, but for
 * those that the caller of the program ignores (nohup). They stay blocked,
 * also after loop_release(), until loop_give_signals_back(): what the work
 * gave can be printed without being lost to another Ctrl-C.
 */
int loop_take_signals(struct loop *l, struct err *err) MUST_USE;

/* One of them has arrived and was not read yet; for work between two turns. */
bool loop_signal_waits(void) MUST_USE;

/*
 * Default again. A first signal that no loop has read acts at once; repeats of
 * one that was read are forgotten, and streams whose readers take nothing are
 * waited for no longer than some seconds from here on.
 */
void loop_give_signals_back(void);

/* Watch a descriptor; `w` must stay where it is until loop_unwatch(). */
int loop_watch(struct loop *l, struct loop_watch *w, int fd, uint32_t events,
	       void (*ready)(void *, uint32_t), void *arg, struct err *err)
	MUST_USE;
/* Change what is waited for; does nothing when it is the same. */
void loop_rewatch(struct loop *l, struct loop_watch *w, uint32_t events);
/* Harmless when it is not watched. The descriptor stays open. */
void loop_unwatch(struct loop *l, struct loop_watch *w);

/* Arm, or move to another time. UINT64_MAX disarms. */
void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t due_ns);
/* Arm for so many milliseconds from now on. */
void loop_timer_in(struct loop *l, struct loop_timer *t, uint64_t ms);
void loop_timer_clear(struct loop *l, struct loop_timer *t);

/* Move all timers: a time has passed that is nobody's. */
void loop_put_off(struct loop *l, uint64_t ns);

/* Now, on the loop's clock. */
uint64_t loop_now(struct loop *l) MUST_USE;

/* Wait for what comes first and call back. 0, or -1 and ERR_SYS. */
int loop_turn(struct loop *l, struct err *err) MUST_USE;
/* Call back for what is there already, and wait for nothing. 0, or -1 and
   ERR_SYS. */
int loop_look(struct loop *l, struct err *err) MUST_USE;

#endif
