/*
 * Any program under the gate: the sandbox by itself.
 *
 * Descriptors of the caller are passed on as they are, but for terminals and
 * logs that are appended to.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/cli/command.h"
#include "core/cli/child_run.h"
#include "core/cli/exec_explain.h"
#include "core/cli/exec_say.h"
#include "core/cli/open_gate.h"
#include "core/cli/policy_options.h"
#include "core/cli/policy_sources.h"
#include "core/client/facts.h"

const struct option options_exec[] = {
#include "core/cli/policy_options.def"
	{"cwd", 0, "PATH", "start in this folder; it must be granted"},
	{"report", 0, "FILE",
	 "write a JSON report of what was enforced and denied"},
	{"explain", 0, NULL, "print what the program would get; start nothing"},
	{"json", 0, NULL, "with --explain: one JSON document"},
	{0},
};

static int write_report(const struct child_end *e, struct outfile *file,
			struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct cleaner shown = {NULL, 0}; /* exec has no secrets to hide */
	const struct gate_fact *facts;
	struct jw w;
	size_t n;

	jw_init(&w, &out, true);
	jw_object(&w);
	jw_kv_cstr(&w, "program", gate_child_path(e->child));
	facts_exit(&w, &e->verdict);
	jw_kv_int(&w, "cpu_us", (int64_t)e->verdict.cpu_us);
	jw_kv_int(&w, "max_rss_bytes", (int64_t)e->verdict.max_rss_bytes);
	facts_limits(&w, "limits", &e->verdict);
	facts_denials(&shown, &w, "denials", &e->verdict);
	facts_execs(&shown, &w, "execs", &e->verdict);
	facts = gate_child_facts(e->child, &n);
	facts_enforced(&w, "enforced", facts, n);
	jw_end(&w);
	buf_addc(&out, '\n');
	/* a stream without a reader must not outlive SIGTERM */
	loop_give_signals_back();
	return outfile_write_str(file, buf_str(&out), err);
}

static int explain(struct gate *gate, const struct gate_request *request,
		   const struct args *args, struct arena *arena,
		   struct err *err)
{
	const struct strlist projects =
		policy_sources_projects(args, &request->policy->write, arena);
	struct gate_explained e;

	if (gate_explain(gate, request, arena, &e, err) < 0)
		return -1;
	exec_warn_arguments(&e);
	return exec_explain(request, &projects, &e, args_has(args, "json"),
			    err);
}

/* Warn of keys that arguments grant; errors show when the program starts. */
static void warn_arguments(struct gate *gate,
			   const struct gate_request *request,
			   struct arena *arena)
{
	struct err ignored = ERR_INIT;
	struct gate_explained e;
	bool any = false;

	/* relative ones start in the folder of --cwd */
	for (size_t i = 1; request->argv[i]; i++)
		any |= request->cwd_required ||
		       access(request->argv[i], F_OK) == 0;
	if (any && gate_explain(gate, request, arena, &e, &ignored) == 0)
		exec_warn_arguments(&e);
}

static int run_one(struct gate *gate, const struct gate_request *request,
		   struct outfile *report, struct arena *arena, struct err *err)
{
	struct child_end e;
	int status;

	warn_arguments(gate, request, arena);
	if (child_run(gate, request, STDOUT_FILENO, STDERR_FILENO, &e, err) < 0)
		return -1;
	exec_say(request, &e);
	status = child_end_status(&e.verdict);
	/* the program's status is worth more than ours */
	if (report && write_report(&e, report, err) < 0)
		log_error("--report: %s", err->msg);
	child_end_release(&e);
	return status;
}

/* Terminals and logs are pumped; the rest is handed on as it is. */
static void pass_descriptors(struct gate_request *request)
{
	struct stat out, err;

	for (int i = 0; i < 3; i++)
		request->stdio[i] = child_is_pumped(i) ? GATE_PIPE : i;
	/* 2>&1: one pipe, in which lines keep their order */
	if (request->stdio[1] == GATE_PIPE && request->stdio[2] == GATE_PIPE &&
	    !isatty(2) && fstat(1, &out) == 0 && fstat(2, &err) == 0 &&
	    stat_is_same(&out, &err))
		request->stdio[2] = GATE_AS_OUT;
}

/* HOME is soon named, and much lies in it. */
static void warn_secrets(const struct gate *gate, const char *option,
			 const struct strlist *folders, struct arena *arena)
{
	for (size_t i = 0; i < folders->n; i++) {
		const char *folder = folders->item[i];
		const char *secrets =
			folder[0] == '/' ? gate_secrets_in(gate, folder, arena)
					 : NULL;

		if (secrets)
			log_warning("--%s %s also grants reading %s; name only "
				    "the folders that are needed",
				    option, folder, secrets);
	}
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
		.output_may_be_large = true,
	};
	struct gate_wish wish = {
		.files = policy_sources_files(args, arena),
		.exec = &policy.exec,
	};
	const char *report = args_get(args, "report");
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	struct gate *gate = NULL;
	int status;

	if (!argv[0])
		return err_set(err, ERR_USAGE,
			       "exec: name a program: matins exec -- PROGRAM "
			       "ARGS…");
	request.program = path_program(argv[0], NULL, arena);
	if (args_has(args, "json") && !args_has(args, "explain"))
		return err_set(err, ERR_USAGE,
			       "exec: --json needs --explain; --report FILE "
			       "writes what was enforced and denied");
	if (report && outfile_open(&file, report, OUTFILE_REPLACE, err) < 0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "--report");
	}
	if (policy_options_read(args, arena, &policy, &request.env, err) < 0)
		return -1;
	if (path_check_links(report, &file.folder, &policy.write, err) < 0)
		return -1;
	request.cwd = path_resolve(cwd ? cwd : ".", NULL, arena);
	request.cwd_required = cwd != NULL;
	pass_descriptors(&request);
	list_add(&wish.named, arena, request.program);
	if (open_gate(&wish, arena, &gate, err) < 0)
		return -1;
	warn_secrets(gate, "read", &policy.read, arena);
	warn_secrets(gate, "write", &policy.write, arena);
	warn_secrets(gate, "exec", &policy.exec, arena);
	if (args_has(args, "explain"))
		status = explain(gate, &request, args, arena, err);
	else
		status = run_one(gate, &request, report ? &file : NULL, arena,
				 err);
	gate_free(gate);
	return status;
}

/* A failure of ours must not be taken for the program's own 1. */
static int own_status(int status, struct err *err)
{
	bool is_pipe = err->kind == ERR_SYS && err->sys == EPIPE;

	if (status < 0 && !is_pipe && err_exit_status(err->kind) == 1)
		err->kind = ERR_START;
	return status;
}

int cmd_exec(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	mem_set_exhausted_status(err_exit_status(ERR_START));
	return own_status(exec_program(args, &arena, err), err);
}
