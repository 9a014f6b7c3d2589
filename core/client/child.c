#include "core/client/child.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"

/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)
/* A start takes no longer: gate_request.start_ms. */
#define START_MS 20000
/* A line of stderr that is shown; a longer one is shown in pieces. */
#define LINE_BYTES 4096

static const char *const phase_names[] = {CHILD_PHASES(ROW_TEXT)};

static void set_phase(struct child *c, enum child_phase phase)
{
	log_debug("%s: %s -> %s", c->o.name, phase_names[c->phase],
		  phase_names[phase]);
	c->phase = phase;
}

void child_init(struct child *c, const struct child_options *options)
{
	*c = (struct child){.o = *options, .err_line = BUF_INIT(BUF_UNBOUNDED)};
	tail_init(&c->err_tail, options->stderr_max);
	scrub_stream_init(&c->err_scrub, options->scrub);
}

struct gate_child_fds child_fds(const struct child *c)
{
	const struct gate_child_fds none = {-1, -1, -1, -1, -1, -1};

	return c->gate ? gate_child_fds(c->gate) : none;
}

void child_close_fd(struct child *c, int which)
{
	if (c->gate)
		gate_child_close(c->gate, which);
}

struct str child_stderr(const struct child *c)
{
	return tail_str(&c->err_tail);
}

/* ---- stderr ---- */

static void show_line(struct child *c)
{
	log_note("%s: %s", c->o.name, buf_cstr(&c->err_line));
	buf_clear(&c->err_line);
}

static void show_stderr(struct child *c, struct str bytes)
{
	while (bytes.n) {
		size_t n = str_find(bytes, '\n');
		size_t room = LINE_BYTES - c->err_line.n;
		bool whole = n < bytes.n && n <= room;

		n = n < room ? n : room;
		buf_add(&c->err_line, bytes.p, n);
		if (whole || c->err_line.n == LINE_BYTES)
			show_line(c);
		n += whole;
		bytes.p += n;
		bytes.n -= n;
	}
}

/* Keep the end of stderr, scrubbed before it is cut: half a value would not be
   found later. */
static void keep_stderr(struct child *c, struct str scrubbed)
{
	tail_add(&c->err_tail, scrubbed);
	if (c->o.show_stderr)
		show_stderr(c, scrubbed);
}

static void drain_stderr(struct child *c, size_t budget)
{
	int fd = child_fds(c).err;
	char chunk[CHUNK_BYTES];
	ssize_t r;

	while (fd >= 0 && budget) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		r = read(fd, chunk, sizeof(chunk));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN)
			return;
		if (r <= 0) {
			loop_unwatch(c->o.loop, &c->err_watch);
			gate_child_close(c->gate, 2);
			return;
		}
		scrub_stream_feed(&c->err_scrub, (struct str){chunk, (size_t)r},
				  &out);
		keep_stderr(c, buf_str(&out));
		budget -= (size_t)r < budget ? (size_t)r : budget;
	}
}

static void on_stderr(void *arg, UNUSED uint32_t events)
{
	drain_stderr(arg, TURN_BYTES);
}

/* ---- the end ---- */

void child_end(struct child *c, enum child_phase how)
{
	if (!child_is_live(c) || c->phase >= how)
		return;
	if (how == CHILD_TERMINATING && c->o.handler->last_words)
		c->o.handler->last_words(c->o.arg);
	if (how != CHILD_CLOSING) {
		c->is_told_to = c->is_cut = true;
		c->killed = how == CHILD_KILLING;
		gate_child_signal(c->gate, c->killed ? SIGKILL : SIGTERM);
	}
	set_phase(c, how);
	if (how != CHILD_KILLING)
		loop_timer_in(c->o.loop, &c->grace, c->o.grace_ms);
}

static void on_grace(void *arg)
{
	struct child *c = arg;

	child_end(c, c->phase == CHILD_CLOSING ? CHILD_TERMINATING
					       : CHILD_KILLING);
}

static void unwatch_all(struct child *c)
{
	loop_unwatch(c->o.loop, &c->err_watch);
	loop_unwatch(c->o.loop, &c->pid_watch);
	loop_unwatch(c->o.loop, &c->notify_watch);
	loop_unwatch(c->o.loop, &c->start_watch);
	loop_timer_clear(c->o.loop, &c->grace);
	loop_timer_clear(c->o.loop, &c->due);
}

/* ---- refused calls ---- */

static void set_due(struct child *c)
{
	unsigned ms = gate_child_due_ms(c->gate);

	if (ms)
		loop_timer_in(c->o.loop, &c->due, ms);
}

static void on_notify(void *arg, uint32_t events)
{
	struct child *c = arg;

	if (events & EPOLLIN) {
		gate_child_serve(c->gate);
		set_due(c);
	}
	/* a number that is closed may soon be that of another file */
	if (!(events & EPOLLIN) || gate_child_fds(c->gate).notify < 0)
		loop_unwatch(c->o.loop, &c->notify_watch);
}

/* ---- the start, where it was not waited for ---- */

static int watch_calls(struct child *c, struct err *err)
{
	int notify = gate_child_fds(c->gate).notify;

	c->pid = gate_child_info(c->gate)->pid;
	set_due(c);
	return notify < 0 ? 0
			  : loop_watch(c->o.loop, &c->notify_watch, notify,
				       EPOLLIN, on_notify, c, err);
}

/* False: the program was not executed, and the owner has been told. */
static bool end_start(struct child *c)
{
	struct err err = ERR_INIT;

	if (!c->is_starting)
		return true;
	c->is_starting = false;
	loop_unwatch(c->o.loop, &c->start_watch);
	loop_timer_clear(c->o.loop, &c->due);
	if (gate_child_started(c->gate, &err) == 0 &&
	    watch_calls(c, &err) == 0) {
		c->o.handler->started(c->o.arg, NULL);
		return true;
	}
	unwatch_all(c);
	set_phase(c, CHILD_NONE);
	c->o.handler->started(c->o.arg, &err);
	return false;
}

static void on_start(void *arg, UNUSED uint32_t events)
{
	(void)end_start(arg);
}

/* In the next turn: another child is being started. */
static void on_settled(void *arg)
{
	struct child *c = arg;

	loop_unwatch(c->o.loop, &c->start_watch);
	loop_timer_set(c->o.loop, &c->due, loop_now(c->o.loop));
}

static void on_due(void *arg)
{
	struct child *c = arg;

	if (c->is_starting) {
		(void)end_start(c);
		return;
	}
	gate_child_serve(c->gate);
	set_due(c);
}

/* ---- the end of the tree ---- */

static void on_tree_ended(void *arg, UNUSED uint32_t events)
{
	AUTO(buf_release) struct buf rest = BUF_INIT(BUF_UNBOUNDED);
	struct child *c = arg;

	if (!end_start(c) || gate_child_wait(c->gate, &c->verdict) != 0)
		return;
	c->o.handler->drain(c->o.arg);
	drain_stderr(c, SIZE_MAX);
	c->is_cut |= !c->verdict.exited || c->verdict.exit_status;
	(c->is_cut ? scrub_stream_cut : scrub_stream_end)(&c->err_scrub, &rest);
	keep_stderr(c, buf_str(&rest));
	c->scrubbed += c->err_scrub.hits;
	c->err_scrub.hits = 0;
	if (c->err_line.n)
		show_line(c);
	unwatch_all(c);
	c->end_ns = loop_now(c->o.loop);
	for (int i = 0; i < 3; i++)
		gate_child_close(c->gate, i);
	set_phase(c, CHILD_ENDED);
	c->o.handler->ended(c->o.arg);
}

struct transport_exit child_exit(const struct child *c)
{
	const struct gate_verdict *v = &c->verdict;

	return (struct transport_exit){
		.status = v->exited ? v->exit_status : 0,
		.signal = v->exited ? 0 : v->signal,
		.said = child_stderr(c),
		.limits = v->limits,
		.is_told = c->is_told_to,
	};
}

void child_end_as(struct child *c, const struct transport_exit *exit)
{
	c->verdict = (struct gate_verdict){
		.exited = !exit->signal,
		.exit_status = exit->status,
		.signal = exit->signal,
		.limits = exit->limits,
	};
	c->is_told_to = exit->is_told;
	keep_stderr(c, exit->said);
	set_phase(c, CHILD_ENDED);
}

void child_release(struct child *c)
{
	if (c->gate) {
		unwatch_all(c);
		gate_child_free(c->gate);
	}
	scrub_stream_release(&c->err_scrub);
	tail_release(&c->err_tail);
	buf_release(&c->err_line);
	free(c->program);
	*c = (struct child){.phase = CHILD_NONE};
}

/* ---- the begin ---- */

static int watch_all(struct child *c, uint64_t start_ms, struct err *err)
{
	struct gate_child_fds fds = gate_child_fds(c->gate);
	struct loop *l = c->o.loop;

	if (loop_watch(l, &c->pid_watch, fds.pidfd, EPOLLIN, on_tree_ended, c,
		       err) < 0 ||
	    (fds.err >= 0 && loop_watch(l, &c->err_watch, fds.err, EPOLLIN,
					on_stderr, c, err) < 0))
		return -1;
	if (fds.start < 0)
		return watch_calls(c, err);
	if (!start_ms || start_ms > START_MS)
		start_ms = START_MS;
	c->is_starting = true;
	gate_child_on_settled(c->gate, on_settled, c);
	loop_timer_in(l, &c->due, start_ms);
	return loop_watch(l, &c->start_watch, fds.start, 0, on_start, c, err);
}

int child_start(struct child *c, struct gate *gate,
		const struct gate_request *request, struct err *err)
{
	c->begin_ns = loop_now(c->o.loop);
	c->begin_wall_ns = c->o.loop->clock->wall_ns(c->o.loop->clock);
	c->grace = (struct loop_timer){.fire = on_grace, .arg = c};
	c->due = (struct loop_timer){.fire = on_due, .arg = c};
	if (gate_spawn(gate, request, &c->gate, err) < 0)
		return -1;
	if (watch_all(c, request->start_ms, err) < 0) {
		unwatch_all(c);
		gate_child_free(c->gate);
		c->gate = NULL;
		return -1;
	}
	c->program = mem_strdup(gate_child_info(c->gate)->path);
	set_phase(c, CHILD_RUNNING);
	return 0;
}
