#include "core/run/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/report/ledger.h"
#include "core/run/leash.h"
#include "core/run/sampling.h"
#include "core/run/plan.h"
#include "core/secret/secret.h"
#include "gate/gate.h"

/* No setting of this machine changes it. */
#define NO_REMEDY \
	"name it in `sandbox.require` if a step must not run without it"

const char *check_level_name(enum check_level l)
{
	static const char *const names[] = {"ok", "warning", "failed"};

	return names[l];
}

bool doctor_failed(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->check[i].level == CHECK_FAILED)
			return true;
	return false;
}

static PRINTF(6, 7) void add(struct doctor *d, const char *area,
			     const char *name, enum check_level level,
			     const char *remedy, const char *fmt, ...)
{
	struct check *grown;
	char *text = NULL;
	va_list ap;

	if (d->n == d->cap) {
		d->cap = d->cap ? 2 * d->cap : 32;
		grown = ARENA_ARRAY(d->arena, struct check, d->cap);
		if (d->n)
			memcpy(grown, d->check, d->n * sizeof(*grown));
		d->check = grown;
	}
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	d->check[d->n++] = (struct check){
		.area = area,
		.name = arena_strdup(d->arena, name),
		.level = level,
		.text = arena_strdup(d->arena, text ? text : ""),
		.remedy = arena_strdup(d->arena, remedy),
	};
	free(text);
}

/* ---- programs ---- */

/* "root", "uid 1001"; in the arena. */
static const char *owner_name(uid_t uid, struct arena *arena)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		return arena_strdup(arena, pw->pw_name);
	return arena_printf(arena, "uid %u", (unsigned)uid);
}

static void look_at_file(struct doctor *d, const char *name,
			 const struct gate_program *p)
{
	struct stat st;

	if (stat(p->path, &st) < 0) {
		add(d, "program", name, CHECK_FAILED, "install it again",
		    "%s: %s", p->path, strerror(errno));
		return;
	}
	add(d, "program", name, CHECK_OK, "",
	    "%s, owned by %s and written by nobody else%s%s%s%s", p->path,
	    owner_name(st.st_uid, d->arena), p->interpreter ? ", runs " : "",
	    p->interpreter ? p->interpreter : "",
	    p->installation ? ", may read " : "",
	    p->installation ? p->installation : "");
}

static const char *program_remedy(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return "install it, or write its whole path as command";
	case ERR_LEASH:
		return "add it to `exec` of the leash";
	case ERR_PROTECTION:
		return "see the protections below, or take it out of `require`";
	default:
		return "mend the file or the `sandbox` table";
	}
}

/* Nobody may have meant to hand these on. */
static void look_at_arguments(struct doctor *d, struct gate *gate,
			      const char *name,
			      const struct gate_request *request)
{
	struct err ignored = ERR_INIT;
	struct gate_explained e;

	/* said beside the program */
	if (gate_explain(gate, request, d->arena, &e, &ignored) < 0)
		return;
	for (size_t i = 0; i < e.n_grants; i++)
		if (e.grant[i].is_argument && e.grant[i].secret)
			add(d, "program", name, CHECK_WARNING,
			    "take it out of `args`, or name it in "
			    "`sandbox.read` if it is meant",
			    "%s can be read, because an argument names it; %s "
			    "holds keys, tokens or sessions",
			    e.grant[i].path, e.grant[i].secret);
}

static void look_at_request(struct doctor *d, struct gate *gate,
			    const char *name,
			    const struct gate_request *request)
{
	struct gate_program p = {0};
	struct err err = ERR_INIT;

	look_at_arguments(d, gate, name, request);
	if (gate_resolve(gate, request, &p, &err) < 0 ||
	    gate_check(gate, request, &err) < 0)
		add(d, "program", name, CHECK_FAILED, program_remedy(&err),
		    "%s", err.msg);
	else
		look_at_file(d, name, &p);
	gate_program_release(&p);
}

/* ---- credentials ---- */

static void look_at_length(struct doctor *d, const char *name, const char *from,
			   size_t n)
{
	if (n < LIMIT_SECRET_SCRUB_MIN)
		add(d, "credential", name, CHECK_WARNING, "use a longer value",
		    "%s holds fewer than %d bytes: it cannot be scrubbed from "
		    "outputs",
		    from, LIMIT_SECRET_SCRUB_MIN);
	else
		add(d, "credential", name, CHECK_OK, "", "%s is there", from);
}

static void look_at_secret_file(struct doctor *d, const struct env_ref *ref)
{
	struct stat st;

	if (stat(ref->from, &st) == 0 && st.st_mode & (S_IRGRP | S_IROTH))
		add(d, "credential", ref->name, CHECK_WARNING,
		    arena_printf(d->arena, "chmod 600 %s", ref->from),
		    "%s can be read by others", ref->from);
}

static void look_at_command_ref(struct doctor *d, struct gate *gate,
				const struct env_ref *ref,
				const struct gate_policy *policy)
{
	struct gate_request request = {.policy = policy};
	struct err err = ERR_INIT;
	struct strlist words;

	if (secret_split_words(str_of(ref->from), d->arena, &words, &err) < 0) {
		add(d, "credential", ref->name, CHECK_FAILED,
		    "mend its command line", "%s", err.msg);
		return;
	}
	request.program = words.item[0];
	request.argv = words.item;
	for (int i = 0; i < 3; i++)
		request.stdio[i] = GATE_PIPE;
	if (gate_check(gate, &request, &err) < 0)
		add(d, "credential", ref->name, CHECK_FAILED,
		    program_remedy(&err), "%s", err.msg);
	else
		add(d, "credential", ref->name, CHECK_OK, "",
		    "%s is there; it was not run", words.item[0]);
}

/* policy: of [sandbox]; programs of references get no more than that */
static void look_at_refs(struct doctor *d, struct gate *gate, const char *step,
			 const struct env_refs *refs,
			 const struct gate_policy *policy)
{
	for (size_t i = 0; i < refs->n; i++) {
		struct env_ref named = refs->item[i];
		const struct env_ref *ref = &named;
		struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
		struct err err = ERR_INIT;

		named.name = arena_printf(d->arena, "%s %s", step,
					  refs->item[i].name);
		if (ref->source == ENV_FROM_CMD) {
			look_at_command_ref(d, gate, ref, policy);
			continue;
		}
		if (secret_resolve(ref->source == ENV_FROM_FILE ? SECRET_FILE
								: SECRET_ENV,
				   ref->from, NULL, &value, &err) < 0)
			add(d, "credential", ref->name, CHECK_FAILED,
			    ref->source == ENV_FROM_FILE
				    ? "write the value into that file"
				    : "set the variable where matins is "
				      "started",
			    "%s", err.msg);
		else
			look_at_length(d, ref->name, ref->from, value.n);
		buf_wipe(&value);
		if (ref->source == ENV_FROM_FILE)
			look_at_secret_file(d, ref);
	}
}

/* ---- a routine ---- */

static int make_plan(struct doctor *d, const struct doctor_options *o,
		     const struct routine *routine, struct plan *ret,
		     struct err *err)
{
	const struct plan_options p = {
		.config = &o->file->config,
		.routine = routine,
		.inputs_optional = true,
	};

	return plan_make(&p, d->arena, ret, err);
}

/* The program that answers sampling gets no more than [sandbox] either. */
static void look_at_sampling(struct doctor *d, struct gate *gate,
			     const char *step, const struct server *server,
			     const struct gate_policy *policy, const char *cwd)
{
	struct sampling_options options = {
		.gate = gate,
		.policy = policy,
		.cwd = cwd,
	};
	struct err err = ERR_INIT;
	const char *name;

	if (!server || !server->sampling.n)
		return;
	options.name = server->name;
	options.words = server->sampling;
	name = arena_printf(d->arena, "%s sampling", step);
	if (sampling_check(&options, &err) < 0)
		add(d, "program", name, CHECK_FAILED, program_remedy(&err),
		    "%s", err.msg);
	else
		add(d, "program", name, CHECK_OK, "",
		    "%s is there; it was not run", server->sampling.item[0]);
}

static int look_at_routine(struct doctor *d, struct gate *gate,
			   const struct doctor_options *o,
			   const struct routine *routine, struct err *err)
{
	const struct gate_policy all =
		plan_policy(&o->file->config.sandbox, d->arena);
	struct plan plan;

	if (make_plan(d, o, routine, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.n_steps; i++) {
		struct plan_step *s = &plan.steps[i];
		const char *name = arena_printf(d->arena, "%s/%s",
						routine->name, s->step->name);

		if (s->reason == REASON_DISABLED)
			continue;
		if (s->request.program)
			look_at_request(d, gate, name, &s->request);
		else
			add(d, "server", name, CHECK_FAILED,
			    "use a server with a command",
			    "%s is a remote server, and this version has no "
			    "HTTP transport",
			    s->step->server_name);
		look_at_refs(d, gate, name, &s->server_env, &all);
		look_at_refs(d, gate, name, &s->step->env, &all);
		look_at_sampling(d, gate, name, s->step->server, &all,
				 o->file->config.dir);
	}
	return 0;
}

/* ---- the machine ---- */

/* What is lost is said for what is lost altogether; `how` says the rest. */
static void add_fact(struct doctor *d, const char *name,
		     const struct gate_fact *f)
{
	const char *lost = gate_lost(f->guarantee);
	bool holds = f->level == GATE_ENFORCED;

	add(d, "protection", name, holds ? CHECK_OK : CHECK_WARNING,
	    holds	? ""
	    : f->remedy ? f->remedy
			: NO_REMEDY,
	    "%s: %s%s%s", gate_level_name(f->level), f->how ? f->how : "",
	    f->level == GATE_ABSENT && *lost ? "; so " : "",
	    f->level == GATE_ABSENT ? lost : "");
}

static void look_at_protections(struct doctor *d, struct gate *gate)
{
	size_t n;
	const struct gate_fact *facts = gate_protections(gate, &n);

	for (size_t i = 0; i < n; i++)
		add_fact(d, facts[i].guarantee, &facts[i]);
}

/* What the policy of one program comes to, where that is something else. */
static void look_at_policy(struct doctor *d, struct gate *gate,
			   const char *name, const struct gate_request *request)
{
	size_t n, n_usual;
	const struct gate_fact *facts,
		*usual = gate_protections(gate, &n_usual);
	struct err ignored = ERR_INIT;

	/* said beside the program */
	if (gate_check_facts(gate, request, &facts, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (facts[i].level != usual[i].level)
			add_fact(d,
				 arena_printf(d->arena, "%s %s", name,
					      facts[i].guarantee),
				 &facts[i]);
}

static int look_at_policies(struct doctor *d, struct gate *gate,
			    const struct doctor_options *o,
			    const struct routine *routine, struct err *err)
{
	struct plan plan;

	if (make_plan(d, o, routine, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.n_steps; i++) {
		const struct plan_step *s = &plan.steps[i];

		if (s->reason != REASON_DISABLED && s->request.program)
			look_at_policy(d, gate,
				       arena_printf(d->arena, "%s/%s",
						    routine->name,
						    s->step->name),
				       &s->request);
	}
	return 0;
}

static void look_at_kernel(struct doctor *d, struct gate *gate)
{
	size_t n;
	const struct gate_fact *rows = gate_machine(gate, &n);

	for (size_t i = 0; i < n; i++)
		add(d, "kernel", rows[i].guarantee,
		    rows[i].level == GATE_ENFORCED ? CHECK_OK : CHECK_WARNING,
		    rows[i].remedy ? rows[i].remedy : "", "%s", rows[i].how);
}

/*
 * Could a run record itself there? Looks, and creates nothing.
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
	/* of folders that do not exist, the nearest that does decides */
	while (access(at, F_OK) < 0) {
		if (errno != ENOENT)
			return -1;
		slash = strrchr(at, '/');
		if (!slash)
			return -1;
		slash[slash == at] = '\0';
	}
	return access(at, W_OK | X_OK);
}

static void look_at_state(struct doctor *d, const char *dir)
{
	struct ledger *l = NULL;
	struct err err = ERR_INIT;
	bool there = false;

	int r = ledger_open_read(dir, &l, &err);

	if (r == 0 && can_record(ledger_dir(l), d->arena, &there) < 0)
		r = err_sys(&err, errno, "%s", ledger_dir(l));
	if (r == 0)
		add(d, "state", ledger_dir(l), CHECK_OK, "", "%s",
		    there ? "runs are recorded here"
			  : "runs will be recorded here; the first creates it");
	else
		add(d, "state", dir ? dir : "state directory", CHECK_WARNING,
		    "set MATINS_STATE to a folder that you can write",
		    "runs are not recorded: %s", err.msg);
	ledger_free(l);
}

/* When a routine last ended, nanoseconds since 1970; 0 never. */
static int64_t last_finished(const struct ledger_run *runs, size_t n,
			     const char *routine)
{
	for (size_t i = n; i-- > 0;)
		if (runs[i].state == RUN_FINISHED &&
		    strcmp(runs[i].routine, routine) == 0)
			return runs[i].finished_ns;
	return 0;
}

static void look_at_age(struct doctor *d, const struct doctor_options *o,
			const struct ledger_run *runs, size_t n,
			const char *routine)
{
	int64_t last = last_finished(runs, n, routine);
	int64_t age_ms = (o->wall_ns - last) / 1000000;
	char when[CLOCK_TEXT_BYTES];

	if (!last) {
		add(d, "stale", routine, CHECK_FAILED,
		    "look at what should start it",
		    "it has never finished a run");
		return;
	}
	clock_format(last, when);
	add(d, "stale", routine,
	    age_ms < 0 || (uint64_t)age_ms <= o->stale_ms ? CHECK_OK
							  : CHECK_FAILED,
	    age_ms < 0 || (uint64_t)age_ms <= o->stale_ms
		    ? ""
		    : "look at what should start it",
	    "last finished at %s", when);
}

static void look_at_ages(struct doctor *d, const struct doctor_options *o)
{
	const struct config *c = &o->file->config;
	struct ledger *l = NULL;
	struct ledger_run *runs = NULL;
	struct err err = ERR_INIT;
	size_t n = 0;

	if (ledger_open_read(NULL, &l, &err) == 0 &&
	    ledger_read(l, d->arena, &runs, &n, &err) < 0)
		n = 0;
	if (o->routine)
		look_at_age(d, o, runs, n, o->routine->name);
	for (size_t i = 0; !o->routine && i < c->n_routines; i++)
		look_at_age(d, o, runs, n, c->routines[i].name);
	ledger_free(l);
}

static void look_at_leash(struct doctor *d, const struct gate_leash *leash)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < leash->exec.only.n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "",
			 leash->exec.only.item[i]);
	add(d, "leash", leash->source, CHECK_OK, "", "may start: %s",
	    leash->exec.all ? "every program"
	    : list.n	    ? buf_cstr(&list)
			    : "nothing");
	buf_release(&list);
}

int doctor_look(const struct doctor_options *o, struct doctor *d,
		struct err *err)
{
	const struct config *c = o->file ? &o->file->config : NULL;
	const struct strlist none = {NULL, 0};
	const char *state = ledger_default_dir(d->arena);
	/* nothing that was kept of an earlier trial is believed */
	struct gate_config config = {.state_dir = NULL};
	struct gate *gate = NULL;
	int r = 0;

	if (leash_find(c, &none, d->arena, &config.leash, err) < 0)
		return -1;
	config.protect = leash_protected(c, state, d->arena);
	if (gate_new(&config, &gate, err) < 0) {
		add(d, "protection", "floor", CHECK_FAILED,
		    "run on a kernel with seccomp and Landlock (5.13 or "
		    "newer), or where namespaces are allowed",
		    "%s", err->msg);
		return 0;
	}
	look_at_leash(d, &config.leash);
	for (size_t i = 0; c && i < c->n_routines && r == 0; i++)
		if (!o->routine || o->routine == &c->routines[i])
			r = look_at_routine(d, gate, o, &c->routines[i], err);
	look_at_protections(d, gate);
	for (size_t i = 0; c && i < c->n_routines && r == 0; i++)
		if (!o->routine || o->routine == &c->routines[i])
			r = look_at_policies(d, gate, o, &c->routines[i], err);
	look_at_kernel(d, gate);
	look_at_state(d, state);
	if (o->stale_ms && c)
		look_at_ages(d, o);
	gate_free(gate);
	return r;
}
