/*
 * Things that a run needs, looked at one after the other; each adds rows. The
 * sections stand in the order of the report, but for servers that are asked.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "core/auth/store.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/client/asks.h"
#include "core/config/leash.h"
#include "core/config/notify.h"
#include "core/config/paths.h"
#include "core/doctor/access.h"
#include "core/doctor/deep.h"
#include "core/doctor/drift.h"
#include "core/doctor/scheduled.h"
#include "core/report/ledger_runs.h"
#include "core/report/markdown.h"
#include "core/run/advice_command.h"
#include "core/run/pinned.h"
#include "core/run/refused_file.h"

/*
 * ---- programs ----
 *
 * Programs of steps, as the doctor sees them: found as a spawn would, with the
 * files that they are given. None is started.
 */

/* Add what a launcher comes to, and what recipes granted. */
static void add_start(struct doctor *d, const char *name,
		      const struct gate_explained *e)
{
	if (e->runs)
		doctor_add(d, "program", name, CHECK_OK, "", "%s", e->runs);
	for (size_t i = 0; i < e->recipes.n; i++)
		doctor_add(d, "program", name, CHECK_OK, "", "recipe %s",
			   e->recipes.item[i]);
}

static void look_at_file(struct doctor *d, const char *name,
			 const struct gate_explained *e)
{
	const struct passwd *pw;
	struct stat st;

	if (stat(e->program, &st) < 0) {
		doctor_add(d, "program", name, CHECK_FAILED, "install it again",
			   "%s: %s", e->program, strerror(errno));
		return;
	}
	pw = getpwuid(st.st_uid);
	add_start(d, name, e);
	doctor_add(d, "program", name, CHECK_OK, "",
		   "%s, owned by %s, who alone can write it%s%s%s%s",
		   e->program,
		   pw ? pw->pw_name
		      : arena_printf(d->arena, "uid %u", (unsigned)st.st_uid),
		   e->interpreter ? ", runs " : "",
		   e->interpreter ? e->interpreter : "",
		   e->installation ? ", may read " : "",
		   e->installation ? e->installation : "");
}

/* Warn of secrets that arguments hand on, perhaps without anyone meaning it. */
static void look_at_arguments(struct doctor *d, const char *name,
			      const struct gate_request *request)
{
	struct gate_explained e;

	/* an error is the row of the program */
	if (gate_explain(d->gate, request, d->arena, &e, ERR_IGNORED) < 0)
		return;
	for (size_t i = 0; i < e.n_grants; i++)
		if (e.grant[i].is_argument && e.grant[i].secret)
			doctor_add(d, "program", name, CHECK_WARNING,
				   "take it out of `args`, or name it in "
				   "`sandbox.read` if it is meant",
				   "%s can be read, because an argument names "
				   "it; %s "
				   "holds keys, tokens or sessions",
				   e.grant[i].path, e.grant[i].secret);
}

/* Report whether an entry of `exec` does not exist. */
static bool is_missing(struct gate *gate, const struct gate_request *request,
		       const char *row)
{
	const char *const argv[] = {row, NULL};
	const struct gate_policy none = {.profile = NULL};
	struct gate_request one = *request;
	struct err err = ERR_INIT;

	if (strchr(row, '/'))
		return access(row, F_OK) < 0;
	one.program = row;
	one.argv = argv;
	one.policy = &none;
	return gate_check(gate, &one, &err) < 0 && err.kind == ERR_NOT_FOUND;
}

/* Add a row for each entry of `exec` that does not exist; true: some do not. */
static bool look_at_exec(struct doctor *d, const char *name,
			 const struct gate_request *request)
{
	const struct strlist *rows = &request->policy->exec;
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];
		bool is_path = strchr(row, '/');

		if (!is_missing(d->gate, request, row))
			continue;
		any = true;
		doctor_add(
			d, "program", name, CHECK_FAILED,
			arena_printf(d->arena,
				     "%s, or take it out of "
				     "`sandbox.exec`",
				     str_ends(str_of(row), "/node_modules")
					     ? "run npm install in its folder"
				     : is_path ? "put it there"
					       : "install it"),
			"sandbox.exec names %s, which %s", row,
			is_path ? "does not exist" : "is not in PATH");
	}
	return any;
}

/* A path of [sandbox] is one of every program. */
static bool is_said(const struct doctor *d, const char *text)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->check[i].text, text) == 0)
			return true;
	return false;
}

/* Warn of paths of `read` that do not exist; of `write` they are an error. */
static void look_at_read(struct doctor *d, const char *name,
			 const struct strlist *read)
{
	for (size_t i = 0; i < read->n; i++) {
		const char *path = read->item[i], *text;

		if (access(path, F_OK) == 0 || errno != ENOENT)
			continue;
		text = arena_printf(d->arena,
				    "sandbox.read names %s, which does not "
				    "exist",
				    path);
		if (!is_said(d, text))
			doctor_add(d, "program", name, CHECK_WARNING,
				   "make it, or take it out of `sandbox.read`",
				   "%s", text);
	}
}

/* Does the program see the path, or something in it? */
static bool is_seen(const struct gate_explained *e, const char *path)
{
	for (size_t i = 0; i < e->n_base; i++)
		if (place_covers(e->base[i].path, path))
			return true;
	for (size_t i = 0; i < e->n_grants; i++)
		if (place_covers(e->grant[i].path, path) ||
		    place_covers(path, e->grant[i].path))
			return true;
	return place_covers("/proc", path) || place_covers("/dev", path);
}

/*
 * Warn of files that a text names as paths are written, with a slash, and that
 * are there for the person alone: the program will not find them.
 */
static void look_at_words(struct doctor *d, const char *name,
			  const struct gate_request *request,
			  const struct gate_explained *e, const char *text)
{
	const struct advice_known known = {.request = request};
	const struct file_finder finder = {.known = &known, .arena = d->arena};
	const struct strlist words = gate_path_words(str_of(text), d->arena);
	/* a path of the configuration begins in its folder */
	const bool is_here =
		request->cwd && strcmp(request->cwd, d->config->dir) == 0;

	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.item[i], *path;

		/* "./notes" comes without its dot */
		if (!strchr(word, '/')) {
			word = arena_printf(d->arena, "./%s", word);
			if (!strstr(text, word))
				continue;
		}
		path = file_real(&finder, str_of(word));
		/* a URL ends in a word that begins with two */
		if (strncmp(word, "//", 2) != 0 && access(path, F_OK) == 0 &&
		    !is_seen(e, path) &&
		    !file_holds_secrets(d->gate, path, d->arena))
			doctor_add(d, "program", name, CHECK_WARNING,
				   arena_printf(
					   d->arena,
					   "sandbox.read = [\"%s\"], or write, "
					   "if the program needs it",
					   is_here ? word : path),
				   "%s is named, and is not granted: the "
				   "program does "
				   "not see it",
				   word);
	}
}

static void look_at_named(struct doctor *d, const char *name,
			  const struct gate_request *request,
			  const struct env_refs *env,
			  const struct gate_explained *e)
{
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++)
		look_at_words(d, name, request, e, request->argv[i]);
	for (size_t i = 0; i < env->n_plain; i++)
		look_at_words(d, name, request, e, env->plain[i].value);
}

/* Argument that a run fills in, and that may be the end of a path; or NULL. */
static const char *filled_in(struct doctor *d, const struct plan_step *s,
			     const char *path)
{
	const struct strlist *args =
		s->step->server ? &s->step->server->args : &s->step->args;
	const char *const *argv = s->request.argv + (s->step->script ? 2 : 1);
	struct ref_string parts;

	for (size_t i = 0; i < args->n; i++)
		if (ref_read(str_of(args->item[i]), d->arena, &parts,
			     ERR_IGNORED) == 0 &&
		    parts.has_refs && str_ends(str_of(path), argv[i]))
			return args->item[i];
	return NULL;
}

static void look_at_script(struct doctor *d, const char *name,
			   const struct plan_step *s,
			   const struct gate_explained *e)
{
	const struct gate_request *request = &s->request;
	const char *later = filled_in(d, s, e->missing_script);

	if (later) {
		doctor_add(d, "program", name, CHECK_OK, "", "%s is to run %s",
			   e->program, later);
		return;
	}
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++) {
		if (!path_needs_shell(str_of(request->argv[i])))
			continue;
		doctor_add(d, "program", name, CHECK_FAILED,
			   "write the whole path: no shell reads `args`",
			   "%s is to run %s, which is passed on as it is",
			   e->program, request->argv[i]);
		return;
	}
	doctor_add(d, "program", name, CHECK_FAILED,
		   "mend `args`; relative names begin in the folder that it "
		   "starts in",
		   "%s is to run %s, which does not exist", e->program,
		   e->missing_script);
}

static void look_at_start(struct doctor *d, const char *name,
			  const struct gate_request *request)
{
	struct gate_explained e;
	struct err err = ERR_INIT;

	if (gate_explain(d->gate, request, d->arena, &e, &err) < 0) {
		doctor_add(d, "program", name, CHECK_FAILED, "", "%s", err.msg);
		return;
	}
	if (!e.runs)
		doctor_add(d, "program", name, CHECK_OK, "", "%s: runs %s",
			   request->program, e.program);
	add_start(d, name, &e);
}

/* Add the rows of a step that has a program; with starts_only those of what it
   comes to, and no others. */
static void doctor_look_at_program(struct doctor *d, const char *name,
				   const struct plan_step *s)
{
	const struct gate_request *request = &s->request;
	struct gate_explained e;
	struct err err = ERR_INIT;

	if (d->options->starts_only) {
		look_at_start(d, name, request);
		return;
	}
	look_at_arguments(d, name, request);
	look_at_read(d, name, &request->policy->read);
	/* the gate would repeat the first of those rows */
	if (look_at_exec(d, name, request))
		return;
	if (gate_explain(d->gate, request, d->arena, &e, &err) < 0)
		doctor_add_program(d, "program", name, NULL, -1, &err);
	else if (e.missing_script)
		look_at_script(d, name, s, &e);
	else {
		look_at_file(d, name, &e);
		look_at_named(d, name, request, &s->step->env, &e);
	}
}

/*
 * ---- kept between runs ----
 *
 * Things kept between runs, as the doctor sees them: the ledger, folders of
 * tokens. Nothing is made.
 */

#define KEY_IN_FILE_REMEDY                                                    \
	"keep backups from that folder; where there is a keyring, "           \
	"store_key = \"keyring\" or \"secret-service\" and a new login take " \
	"the key out of it"

/* Bytes that a run surely needs there. */
#define ROOM_BYTES (64 * 1024)

/* Write into a file without a name; a file system that has none of these is
   believed. returns  0, or -1 and errno */
static int has_room(const char *folder)
{
	static const char zeros[ROOM_BYTES];
	AUTO(fd_closep)
	int fd = fd_open(folder, O_WRONLY | O_TMPFILE, 0600);

	if (fd < 0)
		return errno == ENOSPC || errno == EDQUOT || errno == EROFS ? -1
									    : 0;
	return fd_write_all(fd, zeros, sizeof(zeros));
}

/*
 * Report whether a run could be recorded in a folder. Creates nothing.
 *
 * returns  0, *ret_there says whether the folder exists; -1 and errno
 */
static int can_record(const char *dir, struct arena *arena, bool *ret_there)
{
	const char *file = arena_printf(arena, "%s/ledger.jsonl", dir);
	char *at = arena_strdup(arena, dir);
	char *slash;

	if (access(file, F_OK) == 0 && access(file, R_OK | W_OK) < 0)
		return -1;
	*ret_there = access(dir, F_OK) == 0;
	/* the nearest folder above that exists decides */
	while (access(at, F_OK) < 0) {
		if (errno != ENOENT)
			return -1;
		slash = strrchr(at, '/');
		if (!slash)
			return -1;
		slash[slash == at] = '\0';
	}
	return access(at, W_OK | X_OK) < 0 ? -1 : has_room(at);
}

/* A schedule runs each time once, which the ledger tells. A disk that became
   full was meant to be written. */
static bool is_needed(const struct doctor *d, const struct err *err)
{
	return d->options->unattended || err->sys == ENOSPC ||
	       err->sys == EDQUOT;
}

static void look_at_ledger(struct doctor *d)
{
	struct ledger *l = NULL;
	struct err err = ERR_INIT;
	bool there = false;
	int r = ledger_open_read(d->state, &l, &err);

	if (r == 0 && can_record(ledger_dir(l), d->arena, &there) < 0)
		r = err_sys(&err, errno, "%s", ledger_dir(l));
	if (r == 0)
		doctor_add(d, "state", ledger_dir(l), CHECK_OK, "", "%s",
			   there ? "runs are recorded here"
				 : "runs will be recorded here; the first "
				   "creates it");
	else
		doctor_add(d, "state", d->state ? d->state : "state directory",
			   is_needed(d, &err) ? CHECK_FAILED : CHECK_WARNING,
			   err.sys == ENOSPC || err.sys == EDQUOT
				   ? "make room there"
				   : "set MATINS_STATE to a folder that you "
				     "can write",
			   "runs are not recorded%s: %s",
			   is_needed(d, &err) ? ", and schedules cannot run"
					      : "",
			   err.msg);
	ledger_free(l);
}

/* "2 encrypted by a key in a file beside them" and so on. */
static const char *places(const struct store_facts *facts, struct arena *arena)
{
	static const char *const where[STORE_KEY_COUNT] = {
		[STORE_KEY_SERVICE] = "the desktop's secret service",
		[STORE_KEY_KEYRING] =
			"the kernel's keyring, which forgets it at a reboot "
			"or after days without use",
		[STORE_KEY_FILE] = "a file beside them",
	};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < STORE_KEY_COUNT; i++)
		if (facts->files[i])
			buf_addf(&out, "%s%zu encrypted by a key in %s",
				 out.n ? ", " : "", facts->files[i], where[i]);
	return arena_strdup(arena, out.n ? buf_cstr(&out) : "none is kept yet");
}

/* Add one row about a folder of tokens, unless there is no such folder; no key
   is asked for. */
static void look_at_tokens(struct doctor *d, const char *dir)
{
	struct store_facts facts;
	struct err err = ERR_INIT;
	bool in_file;
	int r;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->check[i].area, "tokens") &&
		    !strcmp(d->check[i].name, dir))
			return;
	r = store_look(dir, &facts, &err);
	in_file = r == 0 && facts.files[STORE_KEY_FILE] > 0;
	if (r < 0)
		doctor_add(d, "tokens", dir, CHECK_FAILED,
			   "mend that, or name another folder as token_store",
			   "%s", err.msg);
	else if (r == 0 && facts.n_broken)
		doctor_add(
			d, "tokens", dir, CHECK_WARNING,
			"remove it and log in to its server again: matins auth "
			"login NAME",
			"%zu cannot be used: %s", facts.n_broken, facts.broken);
	else if (r == 0)
		doctor_add(d, "tokens", dir, in_file ? CHECK_WARNING : CHECK_OK,
			   KEY_IN_FILE_REMEDY, "%s", places(&facts, d->arena));
}

static void doctor_look_at_state(struct doctor *d)
{
	const struct config *c = d->config;

	look_at_ledger(d);
	if (d->state)
		look_at_tokens(d, state_dir_tokens(d->state, d->arena));
	for (size_t i = 0; c && i < c->n_servers; i++)
		if (c->servers[i].auth.token_store)
			look_at_tokens(d, c->servers[i].auth.token_store);
}

/* Advice where no setting of the machine helps. */
#define NO_REMEDY \
	"name it in `sandbox.require` if a step must not run without it"

/* ---- steps ---- */

/* Look at what a server needs beside its own program: the program that answers
   sampling, the user's own one that opens a page, its roots. */
static void look_at_server(struct doctor *d, const char *step,
			   const struct server *server)
{
	const char *browser = server->auth.browser;
	const char *const argv[] = {browser, NULL};
	const struct gate_request request = {
		.program = browser,
		.argv = argv,
		.policy = &d->policy,
	};
	const struct sampler_options sampling = {
		.gate = d->gate,
		.policy = &d->policy,
		.cwd = d->config->dir,
		.name = server->name,
		.words = server->sampling,
	};
	struct gate_explained e = {.program = NULL};
	struct err err = ERR_INIT;
	int r;

	if (drift_check_files(d->config, server, &err) < 0)
		doctor_add(d, "server", step, CHECK_FAILED, "", "%s", err.msg);
	err = (struct err)ERR_INIT;
	if (server->sampling.n)
		doctor_add_program(d, "program",
				   arena_printf(d->arena, "%s sampling", step),
				   server->sampling.item[0],
				   sampler_check(&sampling, &err), &err);
	if (browser) {
		r = gate_explain(d->gate, &request, d->arena, &e, &err);
		doctor_add_program(d, "program",
				   arena_printf(d->arena, "%s browser", step),
				   e.program, r, &err);
	}
	for (size_t i = 0; i < server->roots.n; i++)
		if (access(server->roots.item[i], F_OK) < 0)
			doctor_add(
				d, "server",
				arena_printf(d->arena, "%s roots", step),
				CHECK_FAILED,
				"make that folder, or take it out of `roots`",
				"%s: %s", server->roots.item[i],
				strerror(errno));
}

static void look_at_skipped(struct doctor *d, const char *name,
			    const struct plan_step *s)
{
	if (s->reason == REASON_UNSUPPORTED)
		doctor_add(d, "step", name,
			   s->step->required ? CHECK_FAILED : CHECK_WARNING,
			   s->step->instead, "skipped: %s is not a step type",
			   s->step->type);
	else if (report_reason_state(s->reason) == STATE_DENIED)
		doctor_add(d, "step", name, CHECK_FAILED, "", "denied: %.*s",
			   STR_ARG(s->error));
	else if (s->reason == REASON_NO_VARIABLE)
		doctor_add(d, "step", name, CHECK_FAILED,
			   "set the variable where matins is started",
			   "a variable is not set; the rest was not looked at");
	else
		doctor_add(d, "step", name, CHECK_OK, "",
			   "disabled, and not looked at");
}

/* A step of a routine within is named STEP/NAME. */
static void look_at_approval(struct doctor *d, const struct plan *plan,
			     const char *name, const struct step *step)
{
	const struct strlist *approved = &d->options->approved;
	const bool is_within = plan->routine != d->options->routine;
	const char *end = arena_printf(d->arena, "%s%s", is_within ? "/" : "",
				       step->name);
	bool is_agreed = false;

	for (size_t i = 0; i < approved->n; i++)
		is_agreed |= is_within
				     ? str_ends(str_of(approved->item[i]), end)
				     : !strcmp(approved->item[i], end);
	doctor_add(d, "step", name, is_agreed ? CHECK_OK : CHECK_FAILED,
		   arena_printf(d->arena, "agree beforehand: --approve %s%s",
				is_within ? "STEP/" : "", step->name),
		   "asks a person%s", is_agreed ? "; agreed beforehand" : "");
}

/* Whether the tool is as it was accepted the server alone can tell. */
static void look_at_pin(struct doctor *d, const char *name,
			const struct server *server)
{
	const char *why = pinned_missing(d->config, server, d->arena);

	if (why)
		doctor_add(d, "pin", name, CHECK_FAILED,
			   arena_printf(d->arena,
					"matins golden record --tools%s",
					advice_config(d->config, d->arena)),
			   "%s", why);
}

/* why  what the catalogue knows of a tool; NULL: nothing */
static void look_at_tool(struct doctor *d, const char *name, const char *server,
			 const char *why)
{
	if (why)
		doctor_add(d, "tool", name, CHECK_WARNING,
			   arena_printf(d->arena, "matins tools --server %s%s",
					server,
					advice_config(d->config, d->arena)),
			   "%s", why);
}

static void look_at_actions(struct doctor *d)
{
	struct drift drift;

	drift_open(&drift, d->config, d->state);
	for (size_t i = 0; i < d->config->n_actions; i++) {
		const struct action *a = &d->config->actions[i];

		look_at_tool(d, arena_printf(d->arena, "action %s", a->name),
			     a->server_name,
			     drift_of_action(&drift, a, d->arena));
	}
	drift_release(&drift);
}

static void look_at_steps(struct doctor *d, const struct plan *plan)
{
	struct drift drift;

	drift_open(&drift, d->config, d->state);
	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];
		const struct step *step = s->step;
		const char *name = doctor_row_name(d, plan, step);

		if (s->reason != REASON_NONE) {
			look_at_skipped(d, name, s);
			continue;
		}
		if (step->message && d->options->unattended)
			look_at_approval(d, plan, name, step);
		else if (step->routine || step->message || step->is_sync)
			doctor_add(d, "step", name, CHECK_OK, "", "%s%s",
				   step->routine ? "runs routine "
				   : step->is_sync
					   ? "lists servers"
					   : "asks a person: --approve ",
				   step->routine   ? step->routine
				   : step->is_sync ? ""
						   : step->name);
		else if (s->request.program)
			doctor_look_at_program(d, name, s);
		doctor_look_at_access(d, name, s,
				      !step->routine && !step->message &&
					      !step->is_sync &&
					      !s->request.program &&
					      !doctor_is_met(plan, i, false));
		if (step->server)
			look_at_server(d, name, step->server);
		if (s->is_pinned && !d->options->deep)
			look_at_pin(d, name, step->server);
		/* with `deep` the server says it */
		if (step->server && !d->options->deep)
			look_at_tool(d, name, step->server->name,
				     drift_of(&drift, step, d->arena));
	}
	drift_release(&drift);
}

/* Look at who is told of the runs; none is. */
static void look_at_notify(struct doctor *d, const struct plan *plan)
{
	const struct notify_rules *n = config_notify(d->config, plan->routine);
	const char *name =
		arena_printf(d->arena, "%s notify", plan->routine->name);
	const char *const urls[] = {n ? n->url : NULL, n ? n->ping : NULL};
	struct gate_policy policy;
	struct gate_explained e = {.program = NULL};
	struct err err = ERR_INIT;
	struct url url;
	int r;

	if (n && n->command.n) {
		gate_policy_merge(&d->policy, &n->sandbox, d->arena, &policy);
		r = gate_explain(d->gate,
				 &(struct gate_request){
					 .program = n->command.item[0],
					 .argv = n->command.item,
					 .policy = &policy,
					 .cwd = d->config->dir,
				 },
				 d->arena, &e, &err);
		doctor_add_program(d, "program", name, e.program, r, &err);
	}
	if (n && !n->unset)
		doctor_look_at_refs(d, name, &n->token, 1);
	for (size_t i = 0; n && !n->unset && i < ARRAY_LEN(urls); i++)
		if (urls[i] && (notify_url(urls[i], d->arena, &url, &err) < 0 ||
				gate_may_connect(d->gate, url.host, url.port,
						 NULL, &err) < 0))
			doctor_add(d, "server", name, CHECK_FAILED,
				   "`matins notify test` tries it", "%s",
				   err.msg);
}

/* ---- the machine ---- */

/* Add a row; the loss is named where a protection is wholly absent. */
static void add_fact(struct doctor *d, const char *name,
		     const struct gate_fact *f)
{
	const char *lost =
		f->level == GATE_ABSENT ? gate_lost(f->guarantee) : "";

	doctor_add(d, "protection", name,
		   f->level == GATE_ENFORCED ? CHECK_OK : CHECK_WARNING,
		   f->remedy ? f->remedy : NO_REMEDY, "%s: %s%s%s",
		   gate_level_name(f->level), f->how ? f->how : "",
		   *lost ? "; so " : "", lost);
}

/*
 * Report whether a policy names hosts, and nothing else is reached: no
 * network at all is not what was asked for.
 */
static bool has_named_net(const struct gate_explained *e)
{
	bool is_held = false;

	for (size_t i = 0; i < e->n_facts; i++)
		is_held |= strcmp(e->facts[i].guarantee, "net-ports") == 0 &&
			   e->facts[i].level == GATE_ENFORCED;
	return is_held && e->net.n && !gate_net_is_word(e->net.item[0]);
}

/* Add a row where the policy of a program gets less than the usual one. */
static void look_at_policies(struct doctor *d, const struct plan *plan)
{
	for (size_t k = 0; k < plan->n_steps; k++) {
		const struct plan_step *s = &plan->steps[k];
		size_t n_usual;
		const struct gate_fact *usual =
			gate_protections(d->gate, &n_usual);
		struct gate_explained e;

		/* an error is the row of the program */
		if (s->reason != REASON_NONE || !s->request.program ||
		    gate_explain(d->gate, &s->request, d->arena, &e,
				 ERR_IGNORED) < 0)
			continue;
		for (size_t i = 0; i < e.n_facts; i++) {
			const struct gate_fact *f = &e.facts[i];
			const char *name =
				arena_printf(d->arena, "%s %s",
					     doctor_row_name(d, plan, s->step),
					     f->guarantee);

			if (f->level == usual[i].level)
				continue;
			if (strcmp(f->guarantee, "net-off") == 0 &&
			    has_named_net(&e))
				doctor_add(d, "protection", name, CHECK_OK, "",
					   "net: %s only",
					   list_join(&e.net, ", ", d->arena));
			else
				add_fact(d, name, f);
		}
	}
}

static void look_at_leash(struct doctor *d, const struct gate_leash *leash)
{
	const struct gate_axis *exec = &leash->exec;

	doctor_add(d, "leash", leash->source, CHECK_OK, "", "may start: %s",
		   exec->all	  ? "every program"
		   : exec->only.n ? list_join(&exec->only, ", ", d->arena)
				  : "nothing");
}

static void look_at_pages(struct doctor *d)
{
	struct err err = ERR_INIT;
	int r = markdown_load(&err);

	doctor_add(d, "pages", "Markdown", r < 0 ? CHECK_WARNING : CHECK_OK,
		   "install it where `--html` is used", "%s",
		   r < 0 ? err.msg : "becomes HTML");
}

/* ---- all of it ---- */

/* Make a routine without name, with one step for each server that no step of
   the file uses. Its tool is "": none in particular. */
static struct routine *unused_servers(struct doctor *d)
{
	const struct config *c = d->config;
	struct routine *r = ARENA_NEW(d->arena, struct routine);

	assert(c->routines || !c->n_routines);
	r->steps = ARENA_ARRAY(d->arena, struct step, c->n_servers);
	for (size_t i = 0; i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];
		bool is_used = false;

		for (size_t k = 0; k < c->n_routines; k++)
			for (size_t j = 0; j < c->routines[k].n_steps; j++) {
				const struct step *step =
					&c->routines[k].steps[j];

				is_used |= step->server == s && step->enabled &&
					   !step->instead;
			}
		if (is_used)
			continue;
		r->steps[r->n_steps] = plan_server_step(s);
		r->steps[r->n_steps++].enabled = s->enabled;
	}
	return r;
}

/* Mark a routine, and those that its steps run. */
static void want(const struct config *c, const struct routine *r, bool *wanted)
{
	if (!r || wanted[r - c->routines])
		return;
	wanted[r - c->routines] = true;
	for (size_t i = 0; i < r->n_steps; i++)
		if (r->steps[i].routine)
			want(c, config_routine(c, r->steps[i].routine), wanted);
}

/* Plan each routine asked for, then the servers that none uses. */
static int make_plans(struct doctor *d, struct plan **ret, size_t *ret_n,
		      struct err *err)
{
	const struct routine *only = d->options->routine;
	const struct config *c = d->config;
	struct plan_options o = {
		.config = c,
		.given = d->options->given,
		.confirmed = d->options->confirmed || !d->options->unattended,
	};
	struct plan *plan;
	bool *wanted;

	*ret_n = 0;
	if (!c)
		return 0;
	wanted = ARENA_ARRAY(d->arena, bool, c->n_routines + 1);
	want(c, only, wanted);
	o.given.is_optional = !d->options->unattended || !only;
	*ret = plan = ARENA_ARRAY(d->arena, struct plan, c->n_routines + 1);
	for (size_t i = 0; i <= c->n_routines; i++) {
		o.routine = i < c->n_routines ? &c->routines[i]
			    : only	      ? NULL
					      : unused_servers(d);
		if (!o.routine || (only && !wanted[i]))
			continue;
		if (plan_make(&o, d->arena, &plan[(*ret_n)++], err) < 0)
			return -1;
	}
	return 0;
}

static void look_at_starts(struct doctor *d, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];
		size_t had = d->n;

		if (s->reason == REASON_NONE && s->request.program)
			doctor_look_at_program(
				d, doctor_row_name(d, plan, s->step), s);
		for (; had < d->n; had++) {
			d->check[had].line = s->step->line;
			d->check[had].col = s->step->col;
		}
	}
}

static void look_at_serve(struct doctor *d, const struct env_ref *token)
{
	if (token->from && token->source == SECRET_CMD)
		doctor_add(d, "credential", "serve token", CHECK_FAILED,
			   "keep it in a file", "%s", CONFIG_TOKEN_CMD);
	else
		doctor_look_at_refs(d, "serve", token, 1);
}

/* Add the rows that need no configuration beside those that do. */
static int look_at_all(struct doctor *d, const struct gate_leash *leash,
		       struct err *err)
{
	const struct config_file *file = d->options->file;
	const struct gate_fact *facts;
	struct plan *plan = NULL;
	size_t n, n_plans;

	if (make_plans(d, &plan, &n_plans, err) < 0)
		return -1;
	for (size_t i = 0; d->options->starts_only && i < n_plans; i++)
		look_at_starts(d, &plan[i]);
	if (d->options->starts_only)
		return 0;
	if (file && file->not_allowed)
		doctor_add(d, "configuration", file->path, CHECK_FAILED,
			   "matins allow", "%s", file->not_allowed);
	for (size_t i = 0; file && i < file->unset.n; i++) {
		const struct err *e = &file->unset.item[i].err;

		doctor_add(
			d, "variable",
			arena_printf(d->arena, "%s:%u:%u", file->path, e->line,
				     e->col),
			CHECK_FAILED,
			e->kind == ERR_CONFIG
				? "set it where matins is started"
				: "make it; without it the notice is not sent",
			"%s", e->msg);
	}
	look_at_leash(d, leash);
	for (size_t i = 0; i < n_plans; i++) {
		look_at_steps(d, &plan[i]);
		/* the last is of servers that no routine uses */
		if (plan[i].routine->name)
			look_at_notify(d, &plan[i]);
	}
	if (file && !d->options->routine)
		look_at_actions(d);
	for (size_t i = 0; d->options->deep && i < n_plans; i++)
		if (doctor_ask_servers(d, &plan[i], err) < 0)
			return -1;
	facts = gate_protections(d->gate, &n);
	for (size_t i = 0; i < n; i++)
		add_fact(d, facts[i].guarantee, &facts[i]);
	for (size_t i = 0; i < n_plans; i++)
		look_at_policies(d, &plan[i]);
	facts = gate_machine(d->gate, &n);
	for (size_t i = 0; i < n; i++)
		doctor_add(d, "kernel", facts[i].guarantee,
			   facts[i].level == GATE_ENFORCED ? CHECK_OK
							   : CHECK_WARNING,
			   facts[i].remedy ? facts[i].remedy : "", "%s",
			   facts[i].how);
	doctor_look_at_state(d);
	if (file && !d->options->routine)
		look_at_serve(d, &d->config->serve.token);
	look_at_pages(d);
	if (file && !d->options->is_new)
		doctor_look_at_schedules(d);
	return 0;
}

int doctor_look(const struct doctor_options *o, struct doctor *d,
		struct err *err)
{
	const struct strlist none = {NULL, 0};
	/* without a state directory no finding of an earlier trial is read */
	struct gate_config config = {.state_dir = NULL};
	int r;

	d->options = o;
	d->config = o->file ? &o->file->config : NULL;
	d->state = state_dir_find(d->arena);
	if (leash_find(d->config, &none, d->arena, &config.leash, err) < 0)
		return -1;
	leash_guard(d->config, d->state, NULL, d->arena, &config);
	if (d->config)
		d->policy = d->config->sandbox;
	if (gate_new(&config, &d->gate, err) < 0) {
		doctor_add(d, "protection", "floor", CHECK_FAILED,
			   "run on a kernel with seccomp and Landlock (5.13 or "
			   "newer), or where namespaces are allowed",
			   "%s", err->msg);
		return 0;
	}
	r = look_at_all(d, &config.leash, err);
	gate_free(d->gate);
	d->gate = NULL;
	return r;
}
