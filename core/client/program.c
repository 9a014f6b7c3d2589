#include "core/client/program.h"

#include <errno.h>
#include <unistd.h>

/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)

/* ---- stdin ---- */

static void end_stdin(struct program *p)
{
	loop_unwatch(p->o.loop, &p->in);
	child_close_fd(&p->child, 0);
}

static void on_writable(void *arg, UNUSED uint32_t events)
{
	struct program *p = arg;
	int fd = child_fds(&p->child).in;
	ssize_t n;

	while (fd >= 0 && p->written < p->o.input.n) {
		n = write(fd, p->o.input.p + p->written,
			  p->o.input.n - p->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			break; /* a program need not read its input */
		p->written += (size_t)n;
	}
	end_stdin(p);
}

/* ---- stdout ---- */

static void end_stdout(struct program *p)
{
	p->out_ended = true;
	loop_unwatch(p->o.loop, &p->out_watch);
	child_close_fd(&p->child, 1);
}

/* Read into the buffer, in place once there is much: most programs say little.
   Returns as read(2). */
static ssize_t collect(struct program *p, int fd)
{
	size_t left = p->out.max - p->out.n;
	size_t want = left < CHUNK_BYTES ? left : CHUNK_BYTES;
	bool in_place = p->out.n >= CHUNK_BYTES;
	char chunk[CHUNK_BYTES];
	ssize_t r;

	if (want && !p->is_over) {
		r = read(fd, in_place ? buf_room(&p->out, want) : chunk, want);
		if (r > 0 && in_place) {
			p->out.n += (size_t)r;
			p->out.p[p->out.n] = '\0';
		} else if (r > 0) {
			(void)buf_add(&p->out, chunk, (size_t)r);
		}
		return r;
	}
	/* full: one byte more is one too many */
	r = read(fd, chunk, p->is_over ? sizeof(chunk) : 1);
	if (r > 0 && !p->is_over) {
		p->is_over = true;
		if (p->o.over)
			p->o.over(p->o.arg);
		child_end(&p->child, CHILD_KILLING);
	}
	return r;
}

static void drain(struct program *p, size_t budget)
{
	int fd = child_fds(&p->child).out;
	ssize_t r;

	while (fd >= 0 && !p->out_ended && budget) {
		r = collect(p, fd);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN)
			return;
		if (r <= 0) {
			end_stdout(p);
			return;
		}
		p->out_bytes += (uint64_t)r;
		budget -= (size_t)r < budget ? (size_t)r : budget;
	}
}

static void on_readable(void *arg, UNUSED uint32_t events)
{
	drain(arg, TURN_BYTES);
}

/* ---- begin and end ---- */

static void on_drain(void *arg)
{
	drain(arg, SIZE_MAX);
}

static void on_ended(void *arg)
{
	struct transport_exit end;
	struct program *p = arg;

	end = child_exit(&p->child);
	end.is_over = p->is_over;
	end_stdin(p);
	end_stdout(p);
	if (p->taped) {
		recording_note(p->taped, RECORDED_FROM, buf_str(&p->out));
		recording_end(p->taped, &end);
	}
	p->o.ended(p->o.arg);
}

/* ---- replay ---- */

/* End as the recorded one did, from the loop. */
static void on_replayed(void *arg)
{
	struct program *p = arg;

	p->is_over = p->taped->end.is_over;
	if (p->is_over && p->o.over)
		p->o.over(p->o.arg);
	child_end_as(&p->child, &p->taped->end);
	p->o.ended(p->o.arg);
}

static void end_replay(struct program *p)
{
	loop_timer_set(p->o.loop, &p->replayed, loop_now(p->o.loop));
}

/* A program that had to be ended waits for that again. */
static void begin_replay(struct program *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct transport_exit *end = &p->taped->end;
	struct transport_item item;

	while (recording_next(p->taped, &item, &out))
		;
	p->out_bytes = out.n;
	p->out_ended = end->is_itself;
	buf_add_str(&p->out, str_first(buf_str(&out), p->out.max));
	p->replayed = (struct loop_timer){.fire = on_replayed, .arg = p};
	if (!end->is_told || end->is_over)
		end_replay(p);
}

void program_end(struct program *p, enum child_phase how)
{
	if (p->replayed.fire && p->child.phase != CHILD_ENDED)
		end_replay(p);
	else if (p->taped)
		p->taped->end.is_itself = p->out_ended;
	child_end(&p->child, how);
}

static const struct child_handler handler = {
	.drain = on_drain,
	.ended = on_ended,
};

void program_init(struct program *p, const struct program_options *options)
{
	const struct child_options child = {
		.loop = options->loop,
		.scrub = options->scrub,
		.name = options->name,
		.grace_ms = options->grace_ms,
		.stderr_max = options->stderr_max,
		.handler = &handler,
		.arg = p,
	};

	*p = (struct program){
		.o = *options,
		.in.fd = -1,
		.out_watch.fd = -1,
		.out = BUF_INIT(options->stdout_max),
	};
	child_init(&p->child, &child);
}

int program_start(struct program *p, struct gate *gate,
		  const struct gate_request *request, struct err *err)
{
	struct gate_child_fds fds;

	if (p->o.tape && tape_program(p->o.tape, p->o.name, request->argv,
				      p->o.input, &p->taped, err) < 0)
		return -1;
	if (tape_is_replay(p->o.tape)) {
		begin_replay(p);
		return 0;
	}
	if (child_start(&p->child, gate, request, err) < 0) {
		if (p->taped)
			recording_fail(p->taped, err);
		return -1;
	}
	fds = child_fds(&p->child);
	if (!p->o.input.n)
		child_close_fd(&p->child, 0);
	else if (loop_watch(p->o.loop, &p->in, fds.in, EPOLLOUT, on_writable, p,
			    err) < 0)
		return -1;
	return loop_watch(p->o.loop, &p->out_watch, fds.out, EPOLLIN,
			  on_readable, p, err);
}

void program_release(struct program *p)
{
	if (p->o.loop) {
		loop_unwatch(p->o.loop, &p->in);
		loop_unwatch(p->o.loop, &p->out_watch);
		loop_timer_clear(p->o.loop, &p->replayed);
	}
	child_release(&p->child);
	buf_wipe(&p->out);
}
