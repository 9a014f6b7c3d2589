/*
 * Steps whose program is run to its end and whose whole stdout is judged:
 * `script`, `harness`, and `mcp-client` without a tool (subprocess-JSON).
 */
#include <errno.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/client/facts.h"
#include "core/client/failure.h"
#include "core/run/judge.h"
#include "core/run/step.h"

/* One turn reads at most this much, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)

struct exec_step {
	struct child child;
	struct loop_watch out;
	uint64_t out_bytes; /* seen on stdout */
	bool out_ended;
};

static struct exec_step *state_of(const struct step_run *s)
{
	return s->state;
}

/* ---- stdout ---- */

static void over_the_ceiling(struct step_run *s)
{
	step_fail(s, REASON_OUTPUT_LIMIT,
		  "stdout is over its ceiling of %llu bytes; raise stdout_max "
		  "of the step when that much is expected",
		  (unsigned long long)s->plan->step->stdout_max);
	child_kill(&state_of(s)->child);
}

/* Read into s->out in place; as read(2). */
static ssize_t collect(struct step_run *s, int fd)
{
	size_t left = s->out.max - s->out.n;
	size_t want = left < CHUNK_BYTES ? left : CHUNK_BYTES;
	char rest[CHUNK_BYTES];
	ssize_t r;

	if (s->result.reason == REASON_OUTPUT_LIMIT)
		return read(fd, rest, sizeof(rest));
	if (!want) {
		/* full: one byte more is one too many */
		r = read(fd, rest, 1);
		if (r > 0)
			over_the_ceiling(s);
		return r;
	}
	r = read(fd, buf_room(&s->out, want), want);
	if (r > 0) {
		s->out.n += (size_t)r;
		s->out.p[s->out.n] = '\0';
	}
	return r;
}

static void stdout_ended(struct step_run *s)
{
	struct exec_step *x = state_of(s);

	x->out_ended = true;
	loop_unwatch(s->ctx->loop, &x->out);
	child_close_fd(&x->child, 1);
}

static void drain(struct step_run *s, size_t budget)
{
	struct exec_step *x = state_of(s);
	int fd = child_fds(&x->child).out;
	ssize_t r;

	while (fd >= 0 && !x->out_ended && budget) {
		r = collect(s, fd);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN)
			return;
		if (r <= 0) {
			stdout_ended(s);
			return;
		}
		x->out_bytes += (uint64_t)r;
		budget -= (size_t)r < budget ? (size_t)r : budget;
	}
}

static void on_stdout(void *arg, UNUSED uint32_t events)
{
	drain(arg, TURN_BYTES);
}

/* ---- the end ---- */

static void on_drain(void *arg)
{
	drain(arg, SIZE_MAX);
}

static void judge(struct step_run *s)
{
	const struct gate_verdict *v = &state_of(s)->child.verdict;
	struct str out = buf_str(&s->out);
	struct judgement j;

	if (s->type == &step_type_script)
		j = judge_script(out, v, &s->arena);
	else if (s->type == &step_type_harness)
		j = judge_harness(out, v, &s->arena);
	else
		j = judge_subprocess(out, v, &s->arena);
	/* of what a deadline or the ceiling cut off, step_end() keeps a part */
	if (s->has_result && s->type == &step_type_script)
		j.output = (struct str){NULL, 0};
	step_finish(s, &j);
}

static void on_ended(void *arg)
{
	struct step_run *s = arg;
	struct exec_step *x = state_of(s);

	loop_unwatch(s->ctx->loop, &x->out);
	x->out_ended = true;
	judge(s);
	s->scrubbed += x->child.scrubbed;
	step_log_words(s, child_stderr(&x->child));
	step_log_denials(s, &x->child.verdict);
	if (s->ctx->verdict && !s->is_secret)
		s->ctx->verdict(s->ctx->arg, s, &x->child.verdict);
	step_end(s);
	/* its descriptors are needed by others */
	child_release(&x->child);
}

static const struct child_handler handler = {
	.drain = on_drain,
	.ended = on_ended,
};

static void stop(struct step_run *s, enum step_haste haste)
{
	struct exec_step *x = state_of(s);

	x->child.o.grace_ms = s->ctx->grace_ms;
	if (haste == HASTE_KILL)
		child_kill(&x->child);
	else
		child_terminate(&x->child);
}

/* ---- the begin ---- */

static int start(struct step_run *s, struct err *err)
{
	struct exec_step *x = state_of(s);
	struct gate_request request = s->plan->request;
	const struct child_options options = {
		.loop = s->ctx->loop,
		.scrub = s->scrub,
		.name = s->plan->step->name,
		.grace_ms = s->ctx->grace_ms,
		.stderr_max = s->plan->step->stderr_max,
		.handler = &handler,
		.arg = s,
	};
	int fd;

	child_init(&x->child, &options);
	request.env = (const char *const *)s->env;
	if (child_start(&x->child, s->ctx->gate, &request, err) < 0)
		return -1;
	child_close_fd(&x->child, 0);
	fd = child_fds(&x->child).out;
	return fd < 0 ? 0
		      : loop_watch(s->ctx->loop, &x->out, fd, EPOLLIN,
				   on_stdout, s, err);
}

static void begin(struct step_run *s)
{
	struct err err = ERR_INIT;

	s->state = mem_zalloc(sizeof(struct exec_step));
	if (start(s, &err) < 0)
		step_skip(s, failure_of_spawn(&err), err.msg);
}

/* Its output is over but it lives on: that is another thing than silence. */
static enum step_reason timeout_reason(struct step_run *s)
{
	return state_of(s)->out_ended ? REASON_DEADLINE_CLOSE
				      : REASON_DEADLINE_CALL;
}

static const char *remark(const struct step_run *s)
{
	return state_of(s)->out_bytes ? "" : "; no output yet";
}

static void facts(struct step_run *s, struct jw *w)
{
	struct cleaner clean = {s->scrub, 0};
	struct exec_step *x = state_of(s);

	if (!x || x->child.phase != CHILD_ENDED)
		return;
	facts_child(&clean, w, &x->child, x->out_bytes);
	s->facts_scrubbed = clean.hits;
}

static void release(struct step_run *s)
{
	struct exec_step *x = state_of(s);

	if (!x)
		return;
	if (s->ctx)
		loop_unwatch(s->ctx->loop, &x->out);
	child_release(&x->child);
	free(x);
	s->state = NULL;
}

#define EXEC_TYPE(ident, type_name)                  \
	const struct step_type step_type_##ident = { \
		.name = (type_name),                 \
		.begin = begin,                      \
		.stop = stop,                        \
		.remark = remark,                    \
		.timeout_reason = timeout_reason,    \
		.facts = facts,                      \
		.release = release,                  \
	}

EXEC_TYPE(script, "script");
EXEC_TYPE(harness, "harness");
EXEC_TYPE(subprocess, "mcp-client");
