/*
 * Any program under the gate: the sandbox by itself.
 *
 * Descriptors of the caller are passed on as they are, but for terminals:
 * a sandboxed program could type into those, so bytes are pumped instead.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/policy_options.h"
#include "core/report/ledger.h"
#include "core/run/facts.h"
#include "core/run/leash.h"
#include "core/run/loop.h"

const struct option options_exec[] = {
	POLICY_OPTIONS,
	{"cwd", 0, "PATH", "start there; it must be granted"},
	{"report", 0, "FILE", "write what was enforced and denied, as JSON"},
	{0},
};

/* From SIGTERM to SIGKILL; the tree ends within 3 s. */
#define GRACE_NS (2 * NS_PER_S)
#define PUMP_BYTES 65536

struct exec {
	struct loop loop;
	struct gate_child *child;
	struct loop_watch tty_in, in, out, err, pid, notify;
	struct loop_timer grace;
	struct buf typed; /* from the terminal, not yet written */
	bool ended;
	struct gate_verdict verdict;
};

/* ---- pumping for terminals ---- */

/* False: there is nothing to read now. */
static bool pump_out(struct exec *e, int which, int to)
{
	struct gate_child_fds fds = gate_child_fds(e->child);
	int fd = which == 1 ? fds.out : fds.err;
	char chunk[PUMP_BYTES];
	ssize_t r = fd < 0 ? 0 : read(fd, chunk, sizeof(chunk));

	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (r > 0 && fd_write_all(to, chunk, (size_t)r) == 0)
		return true;
	loop_unwatch(&e->loop, which == 1 ? &e->out : &e->err);
	gate_child_close(e->child, which);
	return false;
}

static void on_out(void *arg, UNUSED uint32_t events)
{
	pump_out(arg, 1, STDOUT_FILENO);
}

static void on_err(void *arg, UNUSED uint32_t events)
{
	pump_out(arg, 2, STDERR_FILENO);
}

static void end_of_input(struct exec *e)
{
	loop_unwatch(&e->loop, &e->tty_in);
	loop_unwatch(&e->loop, &e->in);
	gate_child_close(e->child, 0);
}

static void on_in(void *arg, uint32_t events)
{
	struct exec *e = arg;
	ssize_t w;

	if (events & EPOLLERR) {
		end_of_input(e);
		return;
	}
	w = write(gate_child_fds(e->child).in, buf_cstr(&e->typed), e->typed.n);
	if (w > 0)
		buf_drop(&e->typed, (size_t)w);
	if (!e->typed.n) {
		loop_rewatch(&e->loop, &e->in, 0);
		loop_rewatch(&e->loop, &e->tty_in, EPOLLIN);
	}
}

static void on_tty(void *arg, UNUSED uint32_t events)
{
	struct exec *e = arg;
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

static void on_notify(void *arg, uint32_t events)
{
	struct exec *e = arg;

	if (events & EPOLLIN)
		gate_child_serve(e->child);
	else
		loop_unwatch(&e->loop, &e->notify);
}

static void on_ended(void *arg, UNUSED uint32_t events)
{
	struct exec *e = arg;

	if (gate_child_wait(e->child, &e->verdict) == 0)
		e->ended = true;
}

static void on_signal(void *arg, int signal)
{
	struct exec *e = arg;

	if (e->loop.signal_count > 1) {
		gate_child_signal(e->child, SIGKILL);
		return;
	}
	gate_child_signal(e->child, signal);
	loop_timer_set(&e->loop, &e->grace, loop_now(&e->loop) + GRACE_NS);
}

static void on_grace(void *arg)
{
	struct exec *e = arg;

	gate_child_signal(e->child, SIGKILL);
}

static int watch_all(struct exec *e, struct err *err)
{
	struct gate_child_fds fds = gate_child_fds(e->child);
	struct loop *l = &e->loop;

	if (loop_watch(l, &e->pid, fds.pidfd, EPOLLIN, on_ended, e, err) < 0)
		return -1;
	if (fds.notify >= 0 && loop_watch(l, &e->notify, fds.notify, EPOLLIN,
					  on_notify, e, err) < 0)
		return -1;
	if (fds.out >= 0 &&
	    loop_watch(l, &e->out, fds.out, EPOLLIN, on_out, e, err) < 0)
		return -1;
	if (fds.err >= 0 &&
	    loop_watch(l, &e->err, fds.err, EPOLLIN, on_err, e, err) < 0)
		return -1;
	if (fds.in < 0)
		return 0;
	if (loop_watch(l, &e->in, fds.in, 0, on_in, e, err) < 0)
		return -1;
	return loop_watch(l, &e->tty_in, STDIN_FILENO, EPOLLIN, on_tty, e, err);
}

/* What is left in the pipes of a tree that has ended. */
static void drain(struct exec *e)
{
	while (gate_child_fds(e->child).out >= 0 &&
	       pump_out(e, 1, STDOUT_FILENO))
		;
	while (gate_child_fds(e->child).err >= 0 &&
	       pump_out(e, 2, STDERR_FILENO))
		;
}

static int converse(struct exec *e, struct gate *gate,
		    const struct gate_request *request, struct err *err)
{
	if (loop_take_signals(&e->loop, err) < 0)
		return -1;
	e->grace = (struct loop_timer){.fire = on_grace, .arg = e};
	e->loop.on_signal = on_signal;
	e->loop.on_signal_arg = e;
	if (gate_spawn(gate, request, &e->child, err) < 0) {
		/* not to be taken for the program's own 1 */
		if (err->kind == ERR_SYS)
			err->kind = ERR_PROTECTION;
		return -1;
	}
	if (watch_all(e, err) < 0)
		return -1;
	while (!e->ended)
		if (loop_turn(&e->loop, err) < 0)
			return -1;
	drain(e);
	return 0;
}

/* ---- what came of it ---- */

/* `sandbox = { net = "all" }` as "--net all"; false when there is none. */
static bool as_option(const char *allow, char *out, size_t n)
{
	const char *key = allow ? strstr(allow, "{ ") : NULL;
	const char *end, *from, *to;

	if (!key)
		return false;
	key += 2;
	end = strchr(key, ' ');
	from = end ? strchr(end, '"') : NULL;
	to = from ? strchr(from + 1, '"') : NULL;
	if (!to)
		return false;
	snprintf(out, n, "--%.*s %.*s", (int)(end - key), key,
		 (int)(to - from - 1), from + 1);
	return true;
}

/*
 * Libraries probe for services that are not there (the name service cache,
 * say) and go on: that is worth a line only when the program failed, or when
 * somebody asked for more.
 */
static void say_denials(const struct gate_verdict *v)
{
	bool failed = !v->exited || v->exit_status;
	bool all = log_level() >= LOG_DEBUG;
	char option[128];

	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];
		bool can_allow = as_option(d->allow, option, sizeof(option));

		if (!all && !(failed && can_allow))
			continue;
		log_note("denied: %s by %s, %llu time%s%s%s",
			 d->detail && *d->detail ? d->detail : d->name,
			 d->program, (unsigned long long)d->count,
			 d->count == 1 ? "" : "s",
			 can_allow ? "; to allow it: " : "",
			 can_allow ? option : "");
	}
}

/* A program that was killed says nothing itself. */
static void say_signal(const struct gate_verdict *v,
		       const struct gate_policy *p)
{
	const char *name = sigabbrev_np(v->signal);
	uint64_t cpu_us = (uint64_t)p->cpu_seconds * 1000000;

	if (v->exited || v->signal == SIGPIPE)
		return;
	log_note("the program was killed by SIG%s%s", name ? name : "?",
		 cpu_us && v->cpu_us + 100000 >= cpu_us
			 ? ": it used up its processor time (--cpu)"
			 : "");
}

static int write_report(const struct exec *e, const char *path, struct err *err)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct gate_fact *facts;
	struct jw w;
	size_t n;
	int r;

	jw_init(&w, &out, true);
	jw_object(&w);
	jw_kv_cstr(&w, "program", gate_child_path(e->child));
	facts_exit(&w, &e->verdict);
	jw_kv_int(&w, "cpu_us", (int64_t)e->verdict.cpu_us);
	jw_kv_int(&w, "max_rss_bytes", (int64_t)e->verdict.max_rss_bytes);
	facts_denials(NULL, &w, "denials", &e->verdict);
	facts = gate_child_facts(e->child, &n);
	facts_enforced(&w, "enforced", facts, n);
	jw_end(&w);
	buf_addc(&out, '\n');
	r = fd_write_file(path, buf_str(&out), err);
	buf_release(&out);
	return r;
}

/* Prefixed so that a script can tell a refusal from the program's own 126. */
static int run_one(struct gate *gate, const struct gate_request *request,
		   const char *report, struct err *err)
{
	struct exec e = {.typed = BUF_INIT(4 * PUMP_BYTES)};
	int status = -1;

	if (loop_init(&e.loop, clock_system(), err) < 0)
		return -1;
	if (converse(&e, gate, request, err) == 0) {
		say_denials(&e.verdict);
		say_signal(&e.verdict, request->policy);
		status = e.verdict.exited ? e.verdict.exit_status
					  : 128 + e.verdict.signal;
		/* the program's status is worth more than ours */
		if (report && write_report(&e, report, err) < 0)
			log_error("--report: %s", err->msg);
	}
	gate_child_free(e.child);
	buf_release(&e.typed);
	loop_release(&e.loop);
	return status;
}

static int open_gate(const char *program, struct arena *arena,
		     const struct gate_policy *policy, struct gate **ret,
		     struct err *err)
{
	struct strlist named = {
		ARENA_ARRAY(arena, const char *, policy->exec.n + 1), 0};
	const char *state = ledger_default_dir(arena);
	struct gate_config config = {.state_dir = state};

	named.item[named.n++] = program;
	for (size_t i = 0; i < policy->exec.n; i++)
		named.item[named.n++] = policy->exec.item[i];
	if (leash_find(NULL, &named, arena, &config.leash, err) < 0)
		return -1;
	log_debug("leash: %s", config.leash.source);
	config.protect = leash_protected(NULL, state, arena);
	return gate_new(&config, ret, err);
}

static void pass_descriptors(struct gate_request *request)
{
	for (int i = 0; i < 3; i++)
		request->stdio[i] = isatty(i) ? GATE_PIPE : i;
}

static int exec_program(const struct args *args, struct arena *arena,
			struct err *err)
{
	char **argv = args->after ? args->after : args->positional;
	const char *cwd = args_get(args, "cwd");
	struct gate_policy policy;
	struct gate_request request = {
		.argv = (const char *const *)argv,
		.policy = &policy,
		.no_deadline_limits = true,
	};
	struct gate *gate = NULL;
	int status;

	if (!argv[0])
		return err_set(err, ERR_USAGE,
			       "exec: name a program: matins exec -- PROGRAM "
			       "ARGS…");
	request.program =
		strchr(argv[0], '/') ? path_absolute(argv[0], arena) : argv[0];
	if (policy_options_read(args, arena, &policy, &request.env, err) < 0)
		return -1;
	request.cwd = path_absolute(cwd ? cwd : ".", arena);
	request.cwd_required = cwd != NULL;
	pass_descriptors(&request);
	if (open_gate(request.program, arena, &policy, &gate, err) < 0)
		return -1;
	status = run_one(gate, &request, args_get(args, "report"), err);
	gate_free(gate);
	return status;
}

int cmd_exec(const struct command *cmd, int argc, char **argv, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct args args;
	int status = 0;

	if (args_parse(cmd, argc, argv, &args, err) < 0)
		return -1;
	if (!args.help)
		status = exec_program(&args, &arena, err);
	args_release(&args);
	arena_release(&arena);
	return status;
}
