/*
 * Any program under the gate: the sandbox by itself.
 *
 * Descriptors of the caller are passed on as they are, but for terminals, logs
 * that are appended to, and the stderr of a run with --report.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/base/place.h"
#include "core/cli/child_run.h"
#include "core/cli/command.h"
#include "core/cli/key_options.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/client/facts.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "core/run/advice_command.h"
#include "gate/gate.h"

const struct option options_exec[] = {
#include "core/cli/policy_options.def"
	{"allow-scripts", 0, NULL,
	 "npm install: run install scripts of packages, with compilers"},
	{"cwd", 0, "PATH", "start in this folder; it must be granted"},
	{"report", 0, "FILE",
	 "write a JSON report of what was enforced and denied"},
	{"explain", 0, NULL, "print what the program would get; start nothing"},
	{"json", 0, NULL, "with --explain: one JSON document"},
	{0},
};

/* ---- --explain: the grants of a program, without starting it ---- */

/* Bytes of "NAME" in "NAME=VALUE". */
static struct str name_of(const char *variable)
{
	struct str rest = str_of(variable);

	return str_cut(&rest, '=');
}

/* A label, and the beginning of its text. */
static void add(struct buf *out, const char *label, const char *text)
{
	buf_addf(out, "%-13s ", label);
	log_visible(out, str_of(text), false);
}

/* text  NULL: no line */
static void line(struct buf *out, const char *label, const char *text)
{
	if (!text)
		return;
	add(out, label, text);
	buf_addc(out, '\n');
}

static void list_lines(struct buf *out, const char *label,
		       const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		line(out, i ? "" : label, list->item[i]);
}

static void list_line(struct buf *out, const char *label,
		      const struct strlist *list, const char *more)
{
	for (size_t i = 0; i < list->n; i++) {
		if (i) {
			buf_adds(out, ", ");
			log_visible(out, str_of(list->item[i]), false);
		} else {
			add(out, label, list->item[i]);
		}
	}
	if (list->n)
		buf_addf(out, "%s\n", more);
}

/* Name the strongest access. */
static const char *may(unsigned access)
{
	if (access & GATE_ACCESS_WRITE)
		return access & GATE_ACCESS_READ ? "may write"
						 : "may write only";
	return access & GATE_ACCESS_RUN ? "may run" : "may read";
}

static void grant_lines(struct buf *out, const struct gate_explained *e)
{
	static const unsigned order[] = {GATE_ACCESS_WRITE, GATE_ACCESS_RUN,
					 GATE_ACCESS_READ};
	unsigned done = 0;

	for (size_t k = 0; k < ARRAY_LEN(order); done |= order[k++]) {
		for (size_t i = 0; i < e->n_grants; i++) {
			const struct gate_grant *g = &e->grant[i];

			if (!(g->access & order[k]) || g->access & done)
				continue;
			add(out, may(g->access), g->path);
			buf_addf(out, "%s (%s)",
				 !g->is_folder		     ? ""
				 : strcmp(g->path, "/") == 0 ? "…"
							     : "/…",
				 g->why);
			if (g->secret)
				buf_addf(out,
					 ": %s holds keys, tokens or "
					 "sessions",
					 g->secret);
			buf_addc(out, '\n');
		}
	}
}

/* Name three of the base folders as examples. */
static void base_line(struct buf *out, const struct gate_explained *e)
{
	enum { SHOWN = 3 };
	size_t shown = 0;

	add(out, "may use", "");
	for (size_t i = 0; i < e->n_base && shown < SHOWN; i++) {
		if (!e->base[i].is_folder)
			continue;
		buf_adds(out, shown++ ? ", " : "");
		log_visible(out, str_of(e->base[i].path), false);
	}
	buf_addf(out,
		 " and %zu more places of the system, as every program may; "
		 "--json lists them\n",
		 e->n_base - shown);
}

static bool is_bound(const struct key *k)
{
	return k->type == KEY_SIZE_BYTES || k->type == KEY_COUNT ||
	       k->type == KEY_SECONDS;
}

static uint64_t bound_of(const struct gate_policy *bounds, const struct key *k)
{
	return *(const uint64_t *)(const void *)((const char *)bounds +
						 k->offset);
}

/* "{} processes" with the number; behind a bar stands the phrase for 0. */
static void add_bound(struct buf *out, const struct key *k, uint64_t n)
{
	struct str none = str_of(k->said), phrase = str_cut(&none, '|');
	char size[STR_SIZE_BYTES];

	if (!n && none.p) {
		buf_add_str(out, none);
		return;
	}
	buf_add_str(out, str_cut(&phrase, '{'));
	if (k->type == KEY_SIZE_BYTES)
		buf_adds(out, str_size_text(n, size));
	else
		buf_addf(out, "%" PRIu64, n);
	buf_add(out, phrase.p + 1, phrase.n - 1);
}

static void limits_line(struct buf *out, const struct gate_policy *bounds)
{
	bool is_first = true;

	add(out, "limits", "");
	for (const struct key *k = NULL; (k = key_next(SECTION_sandbox, k));) {
		if (!is_bound(k))
			continue;
		buf_adds(out, is_first ? "" : ", ");
		is_first = false;
		add_bound(out, k, bound_of(bounds, k));
	}
	buf_addc(out, '\n');
}

/* Keys that no other line tells of, as they were asked for. */
static void asked_lines(struct buf *out, const struct gate_policy *p)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (const struct key *k = NULL; (k = key_next(SECTION_sandbox, k));) {
		struct strlist values;

		if (!k->said || is_bound(k))
			continue;
		values = key_values(k, p, &arena);
		if (k->type != KEY_BOOL)
			list_lines(out, k->said, &values);
		else if (values.n)
			line(out, k->said, k->help);
	}
}

static void start_line(struct buf *out, const struct gate_request *request,
		       const struct gate_explained *e)
{
	AUTO(mem_freep)
	char *real = request->cwd ? realpath(request->cwd, NULL) : NULL;

	add(out, "starts in", e->cwd ? e->cwd : "a private HOME");
	if (real && (!e->cwd || strcmp(real, e->cwd) != 0)) {
		buf_adds(out, ", because nothing in ");
		log_visible(out, str_of(real), false);
		buf_adds(out, " is granted");
	}
	buf_addc(out, '\n');
}

static void print_text(const struct gate_request *request,
		       const struct gate_explained *e, struct buf *out)
{
	const char *const *env = request->env;

	line(out, "launcher", e->runs);
	line(out, "program", e->program);
	line(out, "interpreter", e->interpreter);
	line(out, "installation", e->installation);
	line(out, "user", e->user);
	start_line(out, request, e);
	list_lines(out, "project", &e->projects);
	list_lines(out, "recipe", &e->recipes);
	grant_lines(out, e);
	base_line(out, e);
	list_line(out, "private", &e->private_places,
		  ": writable, empty at first, gone afterwards");
	list_line(out, "protected", &e->protect, ": only read, all the same");
	list_line(out, "hidden", &e->hidden, ": tokens, which no program sees");
	list_line(out, "network", &e->net, "");
	list_line(out, "sockets", &e->sockets, "");
	list_lines(out, "dropped", &e->dropped);
	asked_lines(out, request->policy);
	for (size_t i = 0; env && env[i]; i++) {
		buf_addf(out, "%-*s", i ? 1 : 14, i ? "" : "environment");
		log_visible(out, name_of(env[i]), false);
	}
	buf_adds(out, env && env[0] ? "\n" : "");
	limits_line(out, &e->bounds);
	line(out, "profile", e->profile);
	for (size_t i = 0; i < e->n_facts; i++)
		buf_addf(out, "%s%-14s %s (%s)\n", i ? "" : "\n",
			 e->facts[i].guarantee,
			 gate_level_name(e->facts[i].level), e->facts[i].how);
}

static void grants_json(struct jw *w, const char *name,
			const struct gate_grant *grant, size_t n)
{
	jw_kv_array(w, name);
	for (size_t i = 0; i < n; i++) {
		const struct gate_grant *g = &grant[i];

		jw_object(w);
		jw_kv_cstr(w, "path", g->path);
		jw_kv_array(w, "access");
		if (g->access & GATE_ACCESS_READ)
			jw_cstr(w, "read");
		if (g->access & GATE_ACCESS_WRITE)
			jw_cstr(w, "write");
		if (g->access & GATE_ACCESS_RUN)
			jw_cstr(w, "run");
		jw_end(w);
		jw_kv_cstr(w, "why", g->why);
		jw_kv_bool(w, "folder", g->is_folder);
		jw_kv_opt(w, "secret", g->secret);
		jw_end(w);
	}
	jw_end(w);
}

/* Bounds by the names of their fields; 0, no bound, is left out. */
static void limits_json(struct jw *w, const struct gate_policy *bounds)
{
	jw_kv_object(w, "limits");
	for (const struct key *k = NULL; (k = key_next(SECTION_sandbox, k));)
		if (is_bound(k) && bound_of(bounds, k))
			jw_kv_int(w, k->field, (int64_t)bound_of(bounds, k));
	jw_end(w);
}

/* Keys that no other member tells of, as they were asked for. */
static void policy_json(struct jw *w, const struct gate_request *request)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *const *env = request->env;

	for (const struct key *k = NULL; (k = key_next(SECTION_sandbox, k));) {
		struct strlist values;

		if (is_bound(k) || k->type == KEY_WORD || k->type == KEY_STRING)
			continue;
		values = key_values(k, request->policy, &arena);
		if (k->type == KEY_BOOL)
			jw_kv_bool(w, k->name, values.n);
		else if (k->type == KEY_CHOICE)
			jw_kv_cstr(w, k->name,
				   values.n ? values.item[0] : k->def);
		else
			jw_kv_list(w,
				   k->type == KEY_PROGRAM_RULES ? "rules"
								: k->name,
				   &values);
	}
	jw_kv_array(w, "environment");
	for (size_t i = 0; env && env[i]; i++)
		jw_str(w, name_of(env[i]));
	jw_end(w);
}

static void print_json(const struct gate_request *request,
		       const struct gate_explained *e, struct jw *w)
{
	jw_kv_cstr(w, "program", e->program);
	jw_kv_opt(w, "runs", e->runs);
	jw_kv_opt(w, "interpreter", e->interpreter);
	jw_kv_opt(w, "installation", e->installation);
	jw_kv_cstr(w, "user", e->user);
	jw_kv_opt(w, "cwd", e->cwd);
	jw_kv_list(w, "projects", &e->projects);
	jw_kv_list(w, "recipes", &e->recipes);
	policy_json(w, request);
	jw_kv_cstr(w, "profile", e->profile);
	grants_json(w, "grants", e->grant, e->n_grants);
	grants_json(w, "base", e->base, e->n_base);
	jw_kv_list(w, "private", &e->private_places);
	jw_kv_list(w, "protected", &e->protect);
	jw_kv_list(w, "hidden", &e->hidden);
	jw_kv_list(w, "network", &e->net);
	jw_kv_list(w, "sockets", &e->sockets);
	jw_kv_list(w, "dropped", &e->dropped);
	limits_json(w, &e->bounds);
	facts_enforced(w, e->facts, e->n_facts);
}

/* Name on stderr the keys that can be read because an argument names them. */
static void warn_keys_named(const struct gate_explained *e)
{
	for (size_t i = 0; i < e->n_grants; i++)
		if (e->grant[i].is_argument && e->grant[i].secret)
			log_warning("%s can be read, because an argument "
				    "names it; %s holds keys, tokens or "
				    "sessions",
				    e->grant[i].path, e->grant[i].secret);
}

/*
 * Print the grants of a request on stdout: as text, or as one JSON document.
 * Values of variables are not printed.
 */
static int explain(struct gate *gate, const struct gate_request *request,
		   const struct args *args, struct arena *arena,
		   struct err *err)
{
	AUTO(page_release) struct page page;
	struct gate_explained e;

	page_open(&page, args);
	page.w.pretty = true;
	if (gate_explain(gate, request, arena, &e, err) < 0)
		return -1;
	warn_keys_named(&e);
	if (page.is_json)
		print_json(request, &e, &page.w);
	else
		print_text(request, &e, &page.out);
	return page_put(&page, err);
}

/* ---- notes about a program that has ended ---- */

/* Statuses of shells that may not, or cannot, execute something. */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND 127
#define STATUS_NO 1

/* Signals by which programs end that were refused memory. */
static bool is_abort(int signal)
{
	return signal == SIGABRT || signal == SIGSEGV || signal == SIGBUS ||
	       signal == SIGTRAP;
}

/*
 * Name the bound of memory that a program came near to: without a control group
 * only the program sees a refused allocation.
 */
static void hint_bounds(const struct gate_policy *p, const struct child_end *e)
{
	const struct gate_verdict *v = &e->verdict;

	if (!p->memory_bytes || gate_child_info(e->child)->sees_memory ||
	    (v->max_rss_bytes < p->memory_bytes / 4 * 3 &&
	     !is_abort(v->signal)))
		return;
	log_note("the program may have hit a limit, which cannot be seen "
		 "without a control group: --memory (of each process)");
}

/* Was a socket in there refused? A line of its own opens it. */
static bool holds_socket(const char *folder, const struct gate_verdict *v)
{
	const struct strlist at = {&folder, 1};

	for (size_t i = 0; i < v->n_denials; i++)
		if (strcmp(v->denials[i].kind, "unix") == 0 &&
		    path_is_beneath(v->denials[i].name + strlen("unix:"), &at))
			return true;
	return false;
}

/* Files that arguments name are granted, folders are not. */
static bool hint_folders(const struct gate_request *request,
			 const struct gate_verdict *v)
{
	const struct gate_policy *p = request->policy;
	bool said = false;

	for (size_t i = 1; request->argv[0] && request->argv[i]; i++) {
		AUTO(mem_freep) char *real = realpath(request->argv[i], NULL);
		struct stat st;

		if (!real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode) ||
		    path_is_beneath(real, &p->read) ||
		    path_is_beneath(real, &p->write) || holds_socket(real, v))
			continue;
		/* a pattern of the shell may have found a name of others */
		log_note("the folder %s is not granted: --read %s",
			 request->argv[i],
			 place_to_paste(request->argv[i], "FOLDER"));
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
static bool hint_start(const struct gate_request *request,
		       const struct child_end *e)
{
	AUTO(mem_freep) char *real = realpath(request->cwd, NULL);
	const char *cwd = gate_child_info(e->child)->cwd;
	bool is_hidden = e->verdict.dropped.folder;

	if (!real || (!is_hidden && !strcmp(real, cwd)) ||
	    (e->verdict.exit_status == STATUS_NO && !names_relative(request)))
		return false;
	/* the first line has said so, above all that the program printed */
	if (is_hidden && request->cwd_said)
		log_note("started in a private, empty folder, because %s is "
			 "not granted",
			 request->cwd_said);
	else if (!is_hidden)
		log_note("started in %s, because nothing in %s is granted: "
			 "--read .",
			 cwd, real);
	return !is_hidden;
}

static bool hint(const struct gate_request *request, const struct child_end *e)
{
	const int status = e->verdict.exit_status;
	bool said = hint_folders(request, &e->verdict);

	said |= hint_start(request, e);
	if (status != STATUS_NOT_EXECUTABLE && status != STATUS_NOT_FOUND)
		return said;
	log_note("shells end with status %d when a program cannot be executed; "
		 "--exec PROGRAM allows one",
		 status);
	return true;
}

/* The last piece finds everything at once where something failed. */
static struct advice_known known_of(struct gate *gate,
				    const struct gate_request *request,
				    const struct child_end *e,
				    struct arena *arena)
{
	bool failed = !e->verdict.exited || e->verdict.exit_status;

	return (struct advice_known){
		.verdict = &e->verdict,
		.said = buf_str(&e->said),
		.failed = failed,
		.all = log_level() >= LOG_DEBUG,
		.form = ADVICE_OPTION,
		.gate = gate,
		.request = request,
		.trace = failed ? advice_command(request, arena) : NULL,
	};
}

/* Has each name been said when it was written? Without a folder of its own a
   program starts in HOME. */
static bool is_known(const struct gate_verdict *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_dropped *d = &v->dropped;

	for (size_t i = 0; i < d->names.n; i++)
		if (!place_around(&v->unseen.changed,
				  path_resolve(d->names.item[i],
					       path_own_home(0), &arena)))
			return false;
	return !d->is_more;
}

/* Leave out what was said when it was written. */
static void forget_said(const struct gate_request *request,
			struct gate_verdict *v)
{
	struct gate_unseen *u = &v->unseen;
	size_t n = 0;

	if (!request->watches_writes)
		return;
	if (is_known(v))
		v->dropped.names.n = 0;
	for (size_t i = 0; i < u->paths.n; i++)
		if (!list_has(&u->changed, u->paths.item[i]))
			u->paths.item[n++] = u->paths.item[i];
	u->paths.n = n;
	u->changed.n = 0;
}

static void say_dropped(const struct gate_verdict *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct cleaner shown = {NULL, 0};
	const char *line = facts_say_dropped(&shown, v, &arena);

	if (line)
		log_note("%s%s", line,
			 v->dropped.folder && !v->dropped.place
				 ? ""
				 : "; let it write into a folder that --write "
				   "grants");
}

/*
 * Print refusals, the limit that was hit, the signal that killed the program,
 * and, where the policy is a likely cause of the failure, the option that would
 * change it. A program that succeeded gets only notes of its own rules.
 *
 * A refused exec or write cannot be seen from outside, so a trace is offered
 * only where there is another sign that the policy is the reason.
 */
static void say_end(struct gate *gate, const struct gate_request *request,
		    bool is_reported, struct child_end *e)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_verdict *v = &e->verdict;
	const char *name = sigabbrev_np(v->signal);
	struct advice_known known;
	bool sign, hinted;

	forget_said(request, &e->verdict);
	if (request->cwd_said)
		say_dropped(v);
	known = known_of(gate, request, e, &arena);
	hinted = v->exited && v->exit_status && hint(request, e);
	sign = say_advice(&known);
	/* a report is asked for by somebody who wants to know */
	hinted |= is_reported && v->exited && v->exit_status && !v->limits.n;
	if (hinted && !sign)
		log_note("%s", advice_trace(known.trace, &arena));
	for (size_t i = 0; i < v->limits.n; i++)
		log_note("%s", v->limits.item[i]);
	/* a program that was killed says nothing itself */
	if (!v->exited && v->signal != SIGPIPE)
		log_note("the program was killed by SIG%s", name ? name : "?");
	/* a refusal explains the failure better than a bound might */
	if (known.failed && !sign && !v->limits.n && !v->unreached.n &&
	    v->signal != SIGPIPE && v->signal != SIGINT && v->signal != SIGTERM)
		hint_bounds(request->policy, e);
}

/* ---- the run ---- */

static void advice_json(struct jw *w, struct gate *gate,
			const struct gate_request *request,
			const struct child_end *e)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct advice_known known = known_of(gate, request, e, &arena);
	struct advice_list list = advice_find(&known, &arena);

	if (!list.n)
		return;
	jw_kv_array(w, "advice");
	for (size_t i = 0; i < list.n; i++) {
		jw_object(w);
		jw_kv_cstr(w, "text", list.item[i].text);
		jw_kv_opt(w, "option", list.item[i].setting);
		jw_end(w);
	}
	jw_end(w);
}

static int write_report(struct gate *gate, const struct gate_request *request,
			const struct child_end *e, struct outfile *file,
			struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct cleaner shown = {NULL, 0}; /* exec has no secrets to hide */
	const struct gate_child_info *child = gate_child_info(e->child);
	struct jw w;

	jw_init(&w, &out, true);
	jw_object(&w);
	jw_kv_cstr(&w, "program", child->path);
	jw_kv_opt(&w, "runs", child->runs);
	facts_exit(&w, &e->verdict);
	jw_kv_int(&w, "cpu_us", (int64_t)e->verdict.cpu_us);
	jw_kv_int(&w, "max_rss_bytes", (int64_t)e->verdict.max_rss_bytes);
	facts_verdict(&shown, &w, &e->verdict);
	advice_json(&w, gate, request, e);
	facts_granted(&shown, &w, child);
	jw_end(&w);
	buf_addc(&out, '\n');
	/* a stream without a reader must not outlive SIGTERM */
	loop_give_signals_back();
	return outfile_write_str(file, buf_str(&out), err);
}

/* Warn of keys that arguments grant; errors show when the program starts. */
static void warn_arguments(struct gate *gate,
			   const struct gate_request *request,
			   struct arena *arena)
{
	struct gate_explained e;
	bool any = false;

	/* relative ones start in the folder of --cwd */
	for (size_t i = 1; request->argv[i]; i++)
		any |= request->cwd_required ||
		       access(request->argv[i], F_OK) == 0;
	if (any && gate_explain(gate, request, arena, &e, ERR_IGNORED) == 0)
		warn_keys_named(&e);
}

static int run_one(struct gate *gate, const struct gate_request *request,
		   struct outfile *report, struct arena *arena, struct err *err)
{
	struct child_end e;
	int status;

	warn_arguments(gate, request, arena);
	if (child_run(gate, request, STDOUT_FILENO, STDERR_FILENO, &e, err) < 0)
		return -1;
	say_end(gate, request, report->path != NULL, &e);
	status = child_end_status(&e.verdict);
	/* the program's status is worth more than ours */
	if (report->path && write_report(gate, request, &e, report, err) < 0)
		log_error("--report: %s", err->msg);
	child_end_release(&e);
	return status;
}

/*
 * Terminals and logs are pumped, and stderr for a report, which names the files
 * that its words do; the rest is handed on as it is.
 */
static void pass_descriptors(struct gate_request *request, bool is_reported)
{
	struct stat out, err;
	bool is_joined = !isatty(2) && fstat(1, &out) == 0 &&
			 fstat(2, &err) == 0 && stat_is_same(&out, &err);

	for (int i = 0; i < 3; i++)
		request->stdio[i] = child_is_pumped(i) ? GATE_PIPE : i;
	if (is_reported)
		request->stdio[2] = GATE_PIPE;
	/* 2>&1: one pipe, in which lines keep their order */
	if (is_joined && request->stdio[2] == GATE_PIPE) {
		request->stdio[1] = GATE_PIPE;
		request->stdio[2] = GATE_AS_OUT;
	}
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/*
 * Is a server started by its client, which keeps stderr as a log? Then a line
 * at each start is noise, and a refused write is known to the server alone.
 */
static bool is_served(void)
{
	return is_pipe(STDIN_FILENO) && is_pipe(STDOUT_FILENO) &&
	       !isatty(STDERR_FILENO);
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

/* Recipes of --allow-scripts: what npm starts for scripts, and compilers. */
static const struct strlist script_recipes = STRLIST("npm-scripts", "build");

static void allow_scripts(const struct args *args, struct arena *arena,
			  struct gate_policy *policy)
{
	const struct gate_policy more = {.preset = script_recipes};

	if (args_has(args, "allow-scripts"))
		gate_policy_merge(policy, &more, arena, policy);
}

static int exec_program(const struct args *args, struct arena *arena,
			struct err *err)
{
	char **argv = args->after ? args->after : args->positional;
	const char *cwd = args_get(args, "cwd");
	const char *report = args_get(args, "report");
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	struct gate_policy policy;
	struct gate_request request = {
		.argv = (const char *const *)argv,
		.policy = &policy,
		.output_may_be_large = true,
	};
	struct gate_wish wish = {
		.files = policy_files(args, arena),
		.exec = &policy.exec,
	};
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
	if (policy_options_read(args, arena, &policy, &request.env, err) < 0 ||
	    path_check_links(report, &file.folder, &policy.write, err) < 0)
		return -1;
	allow_scripts(args, arena, &policy);
	request.cwd = path_resolve(cwd ? cwd : ".", NULL, arena);
	request.cwd_required = cwd != NULL;
	request.watches_writes = is_served();
	if (!request.watches_writes || log_level() >= LOG_DEBUG)
		request.cwd_said = cwd ? cwd : ".";
	pass_descriptors(&request, report != NULL);
	list_add(&wish.named, arena, request.program);
	if (open_gate(&wish, arena, &gate, err) < 0)
		return -1;
	warn_secrets(gate, "read", &policy.read, arena);
	warn_secrets(gate, "write", &policy.write, arena);
	warn_secrets(gate, "exec", &policy.exec, arena);
	status = args_has(args, "explain")
			 ? explain(gate, &request, args, arena, err)
			 : run_one(gate, &request, &file, arena, err);
	gate_free(gate);
	return status;
}

/* A failure of ours must not be taken for the program's own 1. */
int cmd_exec(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int status;

	mem_set_exhausted_status(err_exit_status(ERR_START));
	status = exec_program(args, &arena, err);
	if (status < 0 && !(err->kind == ERR_SYS && err->sys == EPIPE) &&
	    err_exit_status(err->kind) == 1)
		err->kind = ERR_START;
	return status;
}
