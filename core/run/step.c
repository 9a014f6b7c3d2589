#include "core/run/step.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/facts.h"
#include "core/run/judge.h"

/* One turn reads at most this much of one pipe, so that others have theirs. */
#define TURN_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)

static const char *const phase_names[] = {
#define X(name) #name,
	STEP_PHASES(X)
#undef X
};

const char *step_phase_name(enum step_phase p)
{
	return phase_names[p];
}

static void set_phase(struct step_run *s, enum step_phase phase)
{
	if (s->phase == phase)
		return;
	log_debug("step %s: %s -> %s", s->plan->step->name,
		  phase_names[s->phase], phase_names[phase]);
	s->phase = phase;
}

/* The loader has resolved aliases and refused types that are no row. */
static const struct step_type *find_type(const struct step *step)
{
	static const struct {
		const char *name;
		const struct step_type *type, *without_tool;
	} types[] = {
		{"mcp-client", &step_type_mcp, &step_type_subprocess},
		{"script", &step_type_script, &step_type_script},
		{"harness", &step_type_harness, &step_type_harness},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(step->type, types[i].name) == 0)
			return step->tool ? types[i].type
					  : types[i].without_tool;
	assert(!"a row of step_types.def without behaviour");
	return NULL;
}

void step_init(struct step_run *s, struct step_context *ctx,
	       const struct plan_step *plan)
{
	const struct step *step = plan->step;

	*s = (struct step_run){
		.plan = plan,
		.ctx = ctx,
		.type = find_type(step),
		.phase = STEP_WAITING,
		.out = BUF_INIT(step->stdout_max),
		.result = {.name = step->name,
			   .type = step->type,
			   .required = step->required},
	};
	tail_init(&s->err_tail, step->stderr_max);
	scrub_stream_init(&s->err_scrub, ctx->scrub);
}

void step_add_env(struct step_run *s, const char *name, struct str value)
{
	size_t n = strlen(name);
	char *entry = mem_alloc(n + value.n + 2);

	memcpy(entry, name, n);
	entry[n] = '=';
	if (value.n)
		memcpy(entry + n + 1, value.p, value.n);
	entry[n + 1 + value.n] = '\0';
	/* the step's own value comes after its server's and wins */
	for (size_t i = 0; i < s->n_env; i++) {
		if (strncmp(s->env[i], entry, n + 1))
			continue;
		mem_wipe(s->env[i], strlen(s->env[i]));
		free(s->env[i]);
		s->env[i] = entry;
		return;
	}
	s->env = mem_realloc(s->env, (s->n_env + 2) * sizeof(*s->env));
	s->env[s->n_env++] = entry;
	s->env[s->n_env] = NULL;
}

static void wipe_env(struct step_run *s)
{
	for (size_t i = 0; i < s->n_env; i++) {
		mem_wipe(s->env[i], strlen(s->env[i]));
		free(s->env[i]);
	}
	free(s->env);
	s->env = NULL;
	s->n_env = 0;
}

/* ---- the result ---- */

/* `in` itself when it holds no secret, else a copy without. */
static struct str scrubbed(struct step_run *s, struct str in,
			   size_t (*scrub)(const struct scrub *, struct str,
					   struct buf *))
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n, hits;

	/* what stands at a cut is more than that would find */
	if (!in.n || (scrub != scrub_cut && !scrub_finds(s->ctx->scrub, in)))
		return in;
	hits = scrub(s->ctx->scrub, in, &out);
	s->scrubbed += hits;
	if (!hits) {
		buf_release(&out);
		return in;
	}
	n = out.n;
	return (struct str){arena_adopt(&s->arena, buf_steal(&out)), n};
}

/* Of a value that is `[` to `]` nothing is left that could be an array. */
static struct str scrubbed_content(struct step_run *s, struct str content)
{
	struct str clean = scrubbed(s, content, scrub_json);

	if (!clean.n || clean.p[0] == '[')
		return clean;
	return STR("[{\"type\":\"text\",\"text\":\"***\"}]");
}

static void set_result(struct step_run *s, const struct judgement *judged)
{
	struct judgement j = *judged;

	/* a deadline came first, but what was whole by then is kept */
	if (s->has_result && (s->result.data.n || !(j.data.n || j.content.n)))
		return;
	if (!s->has_result) {
		s->has_result = true;
		s->result.reason = j.reason;
		s->result.state = report_reason_state(j.reason);
		s->result.error = scrubbed(s, j.error, scrub_apply);
	}
	s->result.data = scrubbed(s, j.data, scrub_json);
	if (j.content.n) {
		j.content = scrubbed_content(s, j.content);
		j.structured = scrubbed(s, j.structured, scrub_json);
		judge_show(&j, &s->arena);
		s->result.data = j.data;
	}
	/* what failed may have been ended while it wrote */
	s->result.output =
		scrubbed(s, j.output,
			 s->result.state == STATE_OK ? scrub_apply : scrub_cut);
}

void step_finish(struct step_run *s, const struct judgement *j)
{
	set_result(s, j);
}

void step_fail(struct step_run *s, enum step_reason reason, const char *fmt,
	       ...)
{
	struct judgement j = {.reason = reason};
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		j.error = str_of(arena_strdup(&s->arena, text));
	va_end(ap);
	free(text);
	set_result(s, &j);
}

/* ---- the end ---- */

static void unwatch_all(struct step_run *s)
{
	struct loop *l = s->ctx->loop;

	loop_unwatch(l, &s->in);
	loop_unwatch(l, &s->out_watch);
	loop_unwatch(l, &s->err_watch);
	loop_unwatch(l, &s->pid);
	loop_unwatch(l, &s->notify);
	loop_timer_clear(l, &s->budget);
	loop_timer_clear(l, &s->grace);
	loop_timer_clear(l, &s->own);
}

/* The last line of stderr is where programs say why. */
static void log_last_words(const struct step_run *s)
{
	struct str tail = str_trim(tail_str(&s->err_tail));
	size_t from = tail.n;

	while (from && tail.p[from - 1] != '\n')
		from--;
	tail = (struct str){tail.p + from, tail.n - from};
	if (tail.n > LIMIT_NOISE_LINE)
		tail.n = LIMIT_NOISE_LINE;
	if (tail.n)
		log_note("%s: its stderr ends with: %.*s", s->result.name,
			 STR_ARG(tail));
}

/*
 * Of a step that failed: why, by its own words, and which refused calls could
 * be allowed. Calls that nothing allows are probes that programs survive.
 */
static void log_what_happened(const struct step_run *s,
			      const struct gate_verdict *v)
{
	if (s->is_secret || s->result.state == STATE_OK ||
	    s->result.state == STATE_SKIPPED ||
	    s->result.reason == REASON_CANCELLED)
		return;
	log_last_words(s);
	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];

		if (d->allow && *d->allow)
			log_note("%s: denied: %s by %s; to allow it: %s",
				 s->result.name,
				 d->detail && *d->detail ? d->detail : d->name,
				 d->program, d->allow);
	}
}

static void end_stderr(struct step_run *s)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (s->result.state == STATE_OK)
		scrub_stream_end(&s->err_scrub, &out);
	else
		scrub_stream_cut(&s->err_scrub, &out);
	tail_add(&s->err_tail, buf_str(&out));
	s->scrubbed += s->err_scrub.hits;
	buf_release(&out);
}

/*
 * What arrived before it went wrong is shown: the first of it. Its end may be
 * missing, by the ceiling of stdout or because the program was ended.
 */
static void keep_output(struct step_run *s)
{
	struct buf first = BUF_INIT(BUF_UNBOUNDED);

	if (s->result.output.n || s->result.data.n || !s->out.n ||
	    s->result.state == STATE_OK)
		return;
	buf_add_cut(&first, buf_str(&s->out), LIMIT_KEPT_OUTPUT);
	s->result.output = str_trim(
		scrubbed(s, arena_str(&s->arena, buf_str(&first)), scrub_cut));
	buf_release(&first);
}

static void ended(struct step_run *s, const struct gate_verdict *v)
{
	struct buf run = BUF_INIT(BUF_UNBOUNDED);

	s->end_ns = loop_now(s->ctx->loop);
	end_stderr(s);
	keep_output(s);
	if (v)
		log_what_happened(s, v);
	facts_step(s, v, &run);
	s->result.run = arena_str(&s->arena, buf_str(&run));
	buf_release(&run);
	unwatch_all(s);
	gate_child_free(s->child);
	s->child = NULL;
	wipe_env(s);
	set_phase(s, STEP_ENDED);
	s->ctx->step_ended(s->ctx->arg, s);
}

static void close_stdin(struct step_run *s)
{
	loop_unwatch(s->ctx->loop, &s->in);
	gate_child_close(s->child, 0);
}

static void arm_grace(struct step_run *s)
{
	loop_timer_set(s->ctx->loop, &s->grace,
		       loop_now(s->ctx->loop) + s->ctx->grace_ms * NS_PER_MS);
}

static void write_input(struct step_run *s);

static void terminate(struct step_run *s)
{
	write_input(s); /* a last notification, if there is room for it */
	close_stdin(s);
	gate_child_signal(s->child, SIGTERM);
	set_phase(s, STEP_TERMINATING);
	arm_grace(s);
}

static void kill_tree(struct step_run *s)
{
	close_stdin(s);
	gate_child_signal(s->child, SIGKILL);
	s->killed_late = true;
	set_phase(s, STEP_KILLING);
}

static void on_grace(void *arg)
{
	struct step_run *s = arg;

	if (s->phase == STEP_CLOSING)
		terminate(s);
	else if (s->phase == STEP_TERMINATING)
		kill_tree(s);
}

void step_close(struct step_run *s)
{
	if (s->phase != STEP_RUNNING)
		return;
	set_phase(s, STEP_CLOSING);
	arm_grace(s);
	step_update(s);
}

static void on_budget(void *arg)
{
	struct step_run *s = arg;
	const struct step *step = s->plan->step;
	enum step_reason reason = REASON_DEADLINE_CALL;

	if (s->type->timeout_reason)
		reason = s->type->timeout_reason(s);
	step_fail(s, reason, "no result within %.3g s (timeout of the step)%s",
		  (double)step->timeout_ms / 1000,
		  s->out_bytes ? "" : "; no output yet");
	if (s->type->cancel)
		s->type->cancel(s);
	if (s->phase == STEP_RUNNING || s->phase == STEP_CLOSING)
		terminate(s);
}

void step_cancel(struct step_run *s, const char *why)
{
	switch (s->phase) {
	case STEP_WAITING:
		step_fail(s, REASON_CANCELLED, "cancelled: %s before it began",
			  why);
		ended(s, NULL);
		return;
	case STEP_RUNNING:
	case STEP_CLOSING:
		step_fail(s, REASON_CANCELLED, "cancelled: %s", why);
		if (s->type->cancel)
			s->type->cancel(s);
		terminate(s);
		return;
	case STEP_TERMINATING:
		kill_tree(s);
		return;
	case STEP_KILLING:
	case STEP_ENDED:
		return;
	}
}

/* ---- pipes ---- */

static void over_the_ceiling(struct step_run *s)
{
	step_fail(s, REASON_OUTPUT_LIMIT,
		  "stdout is over its ceiling of %llu bytes; raise stdout_max "
		  "of the step when that much is expected",
		  (unsigned long long)s->plan->step->stdout_max);
	if (s->phase == STEP_RUNNING || s->phase == STEP_CLOSING)
		kill_tree(s);
}

static void stdout_ended(struct step_run *s)
{
	if (s->out_ended)
		return;
	s->out_ended = true;
	loop_unwatch(s->ctx->loop, &s->out_watch);
	gate_child_close(s->child, 1);
	if (s->type->eof)
		s->type->eof(s);
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

static ssize_t read_output(struct step_run *s, int fd)
{
	char chunk[CHUNK_BYTES];
	ssize_t r;

	if (!s->type->output)
		return collect(s, fd);
	r = read(fd, chunk, sizeof(chunk));
	if (r > 0)
		s->type->output(s, (struct str){chunk, (size_t)r});
	return r;
}

static void drain_stdout(struct step_run *s, size_t budget)
{
	int fd = gate_child_fds(s->child).out;
	ssize_t r;

	while (fd >= 0 && !s->out_ended && budget) {
		r = read_output(s, fd);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN)
			return;
		if (r <= 0) {
			stdout_ended(s);
			return;
		}
		s->out_bytes += (uint64_t)r;
		budget -= (size_t)r < budget ? (size_t)r : budget;
	}
}

/* Scrubbed before it is cut: half a value would not be found later. */
static void add_stderr(struct step_run *s, struct str bytes)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	scrub_stream_feed(&s->err_scrub, bytes, &out);
	tail_add(&s->err_tail, buf_str(&out));
	buf_release(&out);
}

static void drain_stderr(struct step_run *s, size_t budget)
{
	int fd = gate_child_fds(s->child).err;
	char chunk[CHUNK_BYTES];
	ssize_t r;

	while (fd >= 0 && budget) {
		r = read(fd, chunk, sizeof(chunk));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN)
			return;
		if (r <= 0) {
			loop_unwatch(s->ctx->loop, &s->err_watch);
			gate_child_close(s->child, 2);
			return;
		}
		add_stderr(s, (struct str){chunk, (size_t)r});
		budget -= (size_t)r < budget ? (size_t)r : budget;
	}
}

static void on_stdout(void *arg, UNUSED uint32_t events)
{
	struct step_run *s = arg;

	drain_stdout(s, TURN_BYTES);
	step_update(s);
}

static void on_stderr(void *arg, UNUSED uint32_t events)
{
	drain_stderr(arg, TURN_BYTES);
}

/* It no longer reads: its stdout tells the rest (STD-17). */
static void input_broke(struct step_run *s)
{
	if (s->type->input_broke)
		s->type->input_broke(s);
	close_stdin(s);
}

static struct str pending_input(struct step_run *s)
{
	if (!s->type->input)
		return (struct str){NULL, 0};
	return s->type->input(s);
}

static void write_input(struct step_run *s)
{
	int fd = gate_child_fds(s->child).in;
	struct str bytes = pending_input(s);
	ssize_t w;

	while (fd >= 0 && bytes.n) {
		w = write(fd, bytes.p, bytes.n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EAGAIN)
			return;
		if (w < 0) {
			input_broke(s);
			return;
		}
		s->type->wrote(s, (size_t)w);
		bytes = pending_input(s);
	}
}

static void on_stdin(void *arg, uint32_t events)
{
	struct step_run *s = arg;

	if (events & EPOLLERR)
		input_broke(s);
	else
		write_input(s);
	step_update(s);
}

static void on_notify(void *arg, uint32_t events)
{
	struct step_run *s = arg;

	if (events & EPOLLIN)
		gate_child_serve(s->child);
	else
		loop_unwatch(s->ctx->loop, &s->notify);
}

static void on_own_deadline(void *arg)
{
	struct step_run *s = arg;

	if (s->type->tick)
		s->type->tick(s);
	step_update(s);
}

void step_update(struct step_run *s)
{
	struct loop *l = s->ctx->loop;

	if (!s->child)
		return;
	write_input(s);
	if (gate_child_fds(s->child).in >= 0) {
		if (pending_input(s).n)
			loop_rewatch(l, &s->in, EPOLLOUT);
		else if (s->phase != STEP_RUNNING)
			close_stdin(s);
		else
			loop_rewatch(l, &s->in, 0);
	}
	if (s->type->deadline)
		loop_timer_set(l, &s->own,
			       s->phase == STEP_RUNNING ? s->type->deadline(s)
							: UINT64_MAX);
}

static void on_tree_ended(void *arg, UNUSED uint32_t events)
{
	struct step_run *s = arg;
	struct gate_verdict v = {0};

	if (gate_child_wait(s->child, &v) != 0)
		return;
	/* nothing can write any more: what the pipes hold is all there is */
	drain_stdout(s, SIZE_MAX);
	drain_stderr(s, SIZE_MAX);
	stdout_ended(s);
	s->type->finish(s, &v);
	if (!s->has_result)
		step_fail(s, REASON_INTERNAL, "the step ended without result");
	ended(s, &v);
}

/* ---- the begin ---- */

static enum step_reason spawn_reason(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return REASON_NO_COMMAND;
	case ERR_LEASH:
		return REASON_LEASH;
	case ERR_POLICY:
		return REASON_POLICY;
	case ERR_PROTECTION:
		return REASON_PROTECTION;
	case ERR_PIN:
		return REASON_PIN;
	default:
		return REASON_TRANSPORT;
	}
}

static int watch_all(struct step_run *s, struct err *err)
{
	struct gate_child_fds fds = gate_child_fds(s->child);
	struct loop *l = s->ctx->loop;

	if (loop_watch(l, &s->pid, fds.pidfd, EPOLLIN, on_tree_ended, s, err) <
		    0 ||
	    (fds.out >= 0 && loop_watch(l, &s->out_watch, fds.out, EPOLLIN,
					on_stdout, s, err) < 0) ||
	    (fds.err >= 0 && loop_watch(l, &s->err_watch, fds.err, EPOLLIN,
					on_stderr, s, err) < 0) ||
	    (fds.in >= 0 &&
	     loop_watch(l, &s->in, fds.in, 0, on_stdin, s, err) < 0))
		return -1;
	return fds.notify < 0 ? 0
			      : loop_watch(l, &s->notify, fds.notify, EPOLLIN,
					   on_notify, s, err);
}

static int spawn(struct step_run *s, struct err *err)
{
	struct gate_request request = s->plan->request;

	request.env = (const char *const *)s->env;
	if (gate_spawn(s->ctx->gate, &request, &s->child, err) < 0)
		return -1;
	s->program = arena_strdup(&s->arena, gate_child_path(s->child));
	s->child_pid = gate_child_pid(s->child);
	return watch_all(s, err);
}

void step_begin(struct step_run *s)
{
	struct loop *l = s->ctx->loop;
	struct err err = ERR_INIT;

	s->begin_ns = loop_now(l);
	s->begin_wall_ns = l->clock->wall_ns(l->clock);
	s->budget = (struct loop_timer){.fire = on_budget, .arg = s};
	s->grace = (struct loop_timer){.fire = on_grace, .arg = s};
	s->own = (struct loop_timer){.fire = on_own_deadline, .arg = s};
	if (s->plan->reason != REASON_NONE) {
		step_skip(s, s->plan->reason, NULL);
		return;
	}
	if (spawn(s, &err) < 0) {
		step_skip(s, spawn_reason(&err), err.msg);
		return;
	}
	set_phase(s, STEP_RUNNING);
	loop_timer_set(l, &s->budget,
		       s->begin_ns + s->plan->step->timeout_ms * NS_PER_MS);
	s->type->start(s);
	if (!s->type->input)
		close_stdin(s);
	step_update(s);
}

void step_skip(struct step_run *s, enum step_reason reason,
	       const char *sentence)
{
	if (sentence)
		step_fail(s, reason, "%s", sentence);
	else
		step_fail(s, reason, "%.*s", STR_ARG(s->plan->error));
	ended(s, NULL);
}

void step_release(struct step_run *s)
{
	if (s->child) {
		unwatch_all(s);
		gate_child_free(s->child);
		s->child = NULL;
	}
	if (s->type && s->type->release)
		s->type->release(s);
	wipe_env(s);
	buf_release(&s->out);
	scrub_stream_release(&s->err_scrub);
	tail_release(&s->err_tail);
	arena_release(&s->arena);
}
