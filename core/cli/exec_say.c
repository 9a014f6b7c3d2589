#include "core/cli/exec_say.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/policy_options.h"
#include "core/run/advice.h"

/* Statuses of shells that may not, or cannot, execute something. */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND 127
#define STATUS_NO 1
/* Longest command in a hint. */
#define TRACE_BYTES 60

const char exec_hint_download[] =
	"npm has no network, and a package that it needs is not installed in "
	"the project; to install it, with the host that `npm config get "
	"registry` prints: matins exec --preset npm --write . --net HOST -- "
	"npm install PACKAGE";

static bool say_denials(const struct gate_verdict *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct advice_how how = {
		.failed = !v->exited || v->exit_status,
		.all = log_level() >= LOG_DEBUG,
		.form = ADVICE_OPTION,
	};
	struct strlist lines = advice_denials(v, &how, &arena);

	for (size_t i = 0; i < lines.n; i++)
		log_note("%s", lines.item[i]);
	return lines.n > 0;
}

/* A program that was killed says nothing itself. */
static void say_signal(const struct gate_verdict *v)
{
	const char *name = sigabbrev_np(v->signal);

	for (size_t i = 0; i < v->limits.n; i++)
		log_note("%s", v->limits.item[i]);
	if (!v->exited && v->signal != SIGPIPE)
		log_note("the program was killed by SIG%s", name ? name : "?");
}

/*
 * Name the limits of the options: without a control group only the program sees
 * a refused allocation or process.
 */
static void hint_bounds(const struct gate_policy *p, const struct child_end *e)
{
	const struct gate_seen_bounds seen = gate_child_seen_bounds(e->child);
	bool memory = p->memory_bytes && !seen.memory;
	bool processes = p->processes && !seen.processes;
	char text[64] = "";

	if (!memory && !processes)
		return;
	if (processes)
		snprintf(text, sizeof(text), "%s--processes %" PRIu64,
			 memory ? ", " : "", p->processes);
	log_note("the program may have hit a limit, which cannot be seen "
		 "without a control group: %s%s",
		 memory ? "--memory (of each process)" : "", text);
}

/* Files that arguments name are granted, folders are not. */
static bool hint_folders(const struct gate_request *request)
{
	const struct gate_policy *p = request->policy;
	bool said = false;

	for (size_t i = 1; request->argv[0] && request->argv[i]; i++) {
		AUTO(mem_freep) char *real = realpath(request->argv[i], NULL);
		struct stat st;

		if (!real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode) ||
		    path_is_beneath(real, &p->read) ||
		    path_is_beneath(real, &p->write))
			continue;
		log_note("the folder %s is not granted: --read %s",
			 request->argv[i], request->argv[i]);
		said = true;
	}
	return said;
}

/* ../a.txt is granted, and yet another file where the program starts. */
static bool names_relative(const struct gate_request *request)
{
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++)
		if (request->argv[i][0] != '/' &&
		    access(request->argv[i], F_OK) == 0)
			return true;
	return false;
}

/*
 * An empty HOME looks as if the files of the project were not there. With 1
 * many programs just say no.
 */
static bool hint_start(const struct gate_request *request, const char *cwd,
		       int status)
{
	AUTO(mem_freep) char *real = realpath(request->cwd, NULL);

	if (!real || !strcmp(real, cwd) ||
	    (status == STATUS_NO && !names_relative(request)))
		return false;
	log_note("started in %s, because nothing in %s is granted: --read .",
		 cwd, real);
	return true;
}

void exec_command_words(const struct gate_request *request, struct buf *out)
{
	size_t from = out->n;

	for (size_t i = 0; request->argv[i]; i++) {
		const char *word = request->argv[i];

		if (i && (out->n - from + strlen(word) > TRACE_BYTES ||
			  strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;~#!"))) {
			buf_adds(out, " …");
			break;
		}
		buf_addf(out, "%s%s", i ? " " : "", word);
	}
}

static void hint_trace(const struct gate_request *request)
{
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);

	exec_command_words(request, &words);
	log_note("to see what it needs: matins trace -- %s", buf_cstr(&words));
}

static bool hint(const struct gate_request *request, const struct child_end *e)
{
	const struct gate_verdict *v = &e->verdict;
	bool said;

	if (!v->exited)
		return false;
	said = hint_folders(request);
	said |= hint_start(request, gate_child_cwd(e->child), v->exit_status);
	if (v->exit_status != STATUS_NOT_EXECUTABLE &&
	    v->exit_status != STATUS_NOT_FOUND)
		return said;
	log_note("shells end with status %d when a program cannot be executed; "
		 "--exec PROGRAM allows one",
		 v->exit_status);
	return true;
}

/*
 * A refused exec or write cannot be seen from outside, so a trace is offered
 * only where there is another sign that the policy is the reason.
 */
void exec_say(const struct gate_request *request, const struct child_end *e)
{
	const struct gate_verdict *v = &e->verdict;
	bool sign;

	if (e->said_download && v->exited && v->exit_status) {
		log_note("%s", exec_hint_download);
		return;
	}
	sign = say_denials(v) || e->said_refused;
	say_signal(v);
	if (v->exited && !v->exit_status)
		return;
	/* a refusal explains the failure better than a bound might */
	if (!sign && !v->limits.n && v->signal != SIGPIPE &&
	    v->signal != SIGINT && v->signal != SIGTERM)
		hint_bounds(request->policy, e);
	sign |= hint(request, e);
	if (sign && v->exited)
		hint_trace(request);
}
