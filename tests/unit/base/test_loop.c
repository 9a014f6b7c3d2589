#include "tests/unit/test.h"

#include <signal.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/loop.h"

/* A clock that a test sets; the loop reads it only. */
static uint64_t test_now_ns;

static uint64_t now_ns(UNUSED struct clock *c)
{
	return test_now_ns;
}

static struct clock test_clock = {.now_ns = now_ns};

static char fired[16];
static size_t n_fired;

static void note(void *arg)
{
	fired[n_fired++] = *(const char *)arg;
	fired[n_fired] = '\0';
}

static int setup(void **state)
{
	struct loop *l = test_calloc(1, sizeof(*l));
	struct err err = ERR_INIT;

	test_now_ns = 1000;
	n_fired = 0;
	fired[0] = '\0';
	assert_int_equal(loop_init(l, &test_clock, &err), 0);
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	loop_release(*state);
	loop_give_signals_back();
	test_free(*state);
	return 0;
}

FIXTURE(looping, setup, teardown);

static void turn(struct loop *l)
{
	struct err err = ERR_INIT;

	assert_int_equal(loop_turn(l, &err), 0);
}

TEST_IN(looping, timers, due, fire_in_order_of_time)
{
	static char names[] = "cabd";
	static const uint64_t due[] = {300, 100, 200, 9000};
	struct loop_timer t[4];
	struct loop *l = *state;

	for (size_t i = 0; i < 4; i++) {
		t[i] = (struct loop_timer){.fire = note, .arg = &names[i]};
		loop_timer_set(l, &t[i], due[i]);
	}
	turn(l);
	assert_string_equal(fired, "abc");
	loop_timer_clear(l, &t[3]);
}

TEST_IN(looping, timer, moved_or_cleared, fires_once_or_never)
{
	static char a = 'a', b = 'b';
	struct loop_timer ta = {.fire = note, .arg = &a};
	struct loop_timer tb = {.fire = note, .arg = &b};
	struct loop *l = *state;

	loop_timer_set(l, &ta, 5000);
	loop_timer_set(l, &ta, 500);
	loop_timer_set(l, &tb, 400);
	loop_timer_clear(l, &tb);
	loop_timer_clear(l, &tb);
	turn(l);
	assert_string_equal(fired, "a");
	assert_int_equal(l->n_timers, 0);
}

TEST_IN(looping, timers, put_off, are_due_later)
{
	static char a = 'a', b = 'b';
	struct loop_timer ta = {.fire = note, .arg = &a};
	struct loop_timer tb = {.fire = note, .arg = &b};
	struct loop *l = *state;

	loop_timer_set(l, &ta, 500);
	loop_timer_set(l, &tb, 400);
	loop_put_off(l, 300);
	assert_int_equal(ta.due_ns, 800);
	turn(l);
	assert_string_equal(fired, "ba");
}

static void note_ready(void *arg, UNUSED uint32_t events)
{
	note(arg);
}

TEST_IN(looping, look, at_what_is_there, waits_for_nothing)
{
	static char a = 'a', b = 'b';
	struct loop_timer later = {.fire = note, .arg = &a};
	struct loop_watch watch;
	struct loop *l = *state;
	struct err err = ERR_INIT;
	int fd[2];

	assert_int_equal(fd_pipe(&fd[0], &fd[1]), 0);
	assert_int_equal(
		loop_watch(l, &watch, fd[0], EPOLLIN, note_ready, &b, &err), 0);
	/* the clock stands still: a turn would wait for ever */
	loop_timer_set(l, &later, UINT64_MAX - 1);
	assert_int_equal(loop_look(l, &err), 0);
	assert_string_equal(fired, "");
	assert_int_equal(write(fd[1], "x", 1), 1);
	assert_int_equal(loop_look(l, &err), 0);
	assert_string_equal(fired, "b");
	loop_timer_clear(l, &later);
	loop_unwatch(l, &watch);
	close(fd[0]);
	close(fd[1]);
}

TEST_IN(looping, timers, many_set_and_cleared, keep_their_order)
{
	struct loop_timer t[200] = {0};
	struct loop *l = *state;
	static char x = 'x';
	uint32_t seed = 7;

	for (size_t i = 0; i < 200; i++) {
		seed = seed * 1103515245 + 12345;
		t[i] = (struct loop_timer){.fire = note, .arg = &x};
		loop_timer_set(l, &t[i], 2000 + seed % 1000);
	}
	for (size_t i = 0; i < 200; i += 3)
		loop_timer_clear(l, &t[i]);
	for (size_t i = 1; i < l->n_timers; i++)
		assert_true(l->heap[(i - 1) / 2]->due_ns <= l->heap[i]->due_ns);
	for (size_t i = 0; i < l->n_timers; i++)
		assert_int_equal(l->heap[i]->index, i + 1);
}

struct pair {
	struct loop *l;
	struct loop_watch a, b;
	int calls;
};

/* Whoever comes first takes the other away. */
static void first_one(void *arg, UNUSED uint32_t events)
{
	struct pair *p = arg;

	p->calls++;
	loop_unwatch(p->l, &p->a);
	loop_unwatch(p->l, &p->b);
}

TEST_IN(looping, watch, taken_away_in_the_same_turn, is_not_called)
{
	struct pair p = {.l = *state};
	struct err err = ERR_INIT;
	int a[2], b[2];

	assert_int_equal(fd_pipe(&a[0], &a[1]), 0);
	assert_int_equal(fd_pipe(&b[0], &b[1]), 0);
	assert_int_equal(write(a[1], "x", 1), 1);
	assert_int_equal(write(b[1], "x", 1), 1);
	assert_int_equal(
		loop_watch(p.l, &p.a, a[0], EPOLLIN, first_one, &p, &err), 0);
	assert_int_equal(
		loop_watch(p.l, &p.b, b[0], EPOLLIN, first_one, &p, &err), 0);
	turn(p.l);
	assert_int_equal(p.calls, 1);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

TEST_IN(looping, zeroed_watch, unwatched, touches_no_descriptor)
{
	struct loop_watch w = {0};

	loop_unwatch(*state, &w);
	loop_rewatch(*state, &w, EPOLLIN);
}

TEST_IN(looping, signal, taken, comes_through_the_loop)
{
	struct loop *l = *state;
	struct err err = ERR_INIT;

	assert_int_equal(loop_take_signals(l, &err), 0);
	raise(SIGTERM);
	raise(SIGINT);
	turn(l);
	assert_true(l->signal == SIGTERM || l->signal == SIGINT);
	assert_int_equal(l->signal_count, 2);
}

TEST_IN(looping, signal, ignored_by_the_caller, stays_ignored)
{
	struct loop *l = *state;
	struct err err = ERR_INIT;

	signal(SIGHUP, SIG_IGN);
	assert_int_equal(loop_take_signals(l, &err), 0);
	raise(SIGHUP);
	raise(SIGINT);
	turn(l);
	signal(SIGHUP, SIG_DFL);
	assert_int_equal(l->signal, SIGINT);
	assert_int_equal(l->signal_count, 1);
}

TEST_IN(looping, signal, after_release, does_not_end_the_program)
{
	struct err err = ERR_INIT;
	struct loop l;

	assert_int_equal(loop_init(&l, &test_clock, &err), 0);
	assert_int_equal(loop_take_signals(&l, &err), 0);
	loop_release(&l);
	raise(SIGINT);
	loop_give_signals_back();
}
