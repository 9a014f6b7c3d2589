#include "core/cli/exec_say.h"

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

/* What shells end with when they may not, or cannot, execute something. */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND 127
#define STATUS_NO 1
/* Of a command in a hint. */
#define TRACE_BYTES 60

const char exec_hint_download[] =
	"it has no network, so npm fetches nothing, and what it looks for is "
	"not installed in the project; to install it, with the host that `npm "
	"config get registry` names: matins exec --preset npm --write . --net "
	"HOST -- npm install PACKAGE";

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
	/* the widest is not what somebody should reach for first */
	if (strcmp(out, "--net all") == 0)
		snprintf(out, n, "--net HOST, or all of it: --net all");
	return true;
}

/*
 * Libraries probe for services that are not there (the name service cache,
 * say) and go on: that is worth a line only when the program failed, or when
 * somebody asked for more.
 */
static bool say_denials(const struct gate_verdict *v)
{
	bool failed = !v->exited || v->exit_status, said = false;
	bool all = log_level() >= LOG_DEBUG;
	char option[128];

	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];
		bool can_allow = as_option(d->allow, option, sizeof(option));

		/* a rule of programs is the user's own, and meant */
		if (!all && !(failed && can_allow) && strcmp(d->kind, "exec"))
			continue;
		said = true;
		/* a proxy cannot tell which program of the tree asked */
		log_note("denied: %s%s%s, %llu time%s%s%s",
			 d->detail && *d->detail ? d->detail : d->name,
			 strcmp(d->kind, "net") ? " by " : "",
			 strcmp(d->kind, "net") ? d->program : "",
			 (unsigned long long)d->count, d->count == 1 ? "" : "s",
			 can_allow ? "; to allow it: " : "",
			 can_allow ? option : "");
	}
	return said;
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
 * Without a control group a refused allocation, or process, is an error that
 * only the program sees. Bounds that somebody has set are worth a line then.
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
		snprintf(text, sizeof(text), "%s--processes %u",
			 memory ? ", " : "", p->processes);
	log_note("it may have hit a bound, which cannot be seen without a "
		 "control group: %s%s",
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
	log_note("it was started in %s, for nothing in %s is granted: --read .",
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
	log_note("it ended with %d, as shells do when a program cannot "
		 "be executed; those that it may start are named with "
		 "--exec PROGRAM",
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
	sign |= hint(request, e);
	if (!v->limits.n && v->signal != SIGPIPE && v->signal != SIGINT &&
	    v->signal != SIGTERM)
		hint_bounds(request->policy, e);
	if (sign && v->exited)
		hint_trace(request);
}
