#include "core/doctor/doctor_inner.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/report/ledger.h"
#include "core/config/leash.h"

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

void doctor_add(struct doctor *d, const char *area, const char *name,
		enum check_level level, const char *remedy, const char *fmt,
		...)
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
		doctor_add(d, "program", name, CHECK_FAILED, "install it again",
			   "%s: %s", p->path, strerror(errno));
		return;
	}
	doctor_add(d, "program", name, CHECK_OK, "",
		   "%s, owned by %s and written by nobody else%s%s%s%s",
		   p->path, owner_name(st.st_uid, d->arena),
		   p->interpreter ? ", runs " : "",
		   p->interpreter ? p->interpreter : "",
		   p->installation ? ", may read " : "",
		   p->installation ? p->installation : "");
}

const char *doctor_program_remedy(const struct err *err)
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
			doctor_add(d, "program", name, CHECK_WARNING,
				   "take it out of `args`, or name it in "
				   "`sandbox.read` if it is meant",
				   "%s can be read, because an argument names "
				   "it; %s "
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
	/* the gate would say it once more, of the first alone */
	if (doctor_look_at_exec(d, gate, name, request))
		return;
	if (gate_resolve(gate, request, &p, &err) < 0 ||
	    gate_check(gate, request, &err) < 0)
		doctor_add(d, "program", name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		look_at_file(d, name, &p);
	gate_program_release(&p);
}

/* ---- a routine ---- */

static int make_plan(struct doctor *d, const struct doctor_options *o,
		     const struct routine *routine, struct plan *ret,
		     struct err *err)
{
	const struct plan_options p = {
		.config = &o->file->config,
		.routine = routine,
		.given = {.is_optional = true},
	};

	return plan_make(&p, d->arena, ret, err);
}

/* An earlier step that is not disabled names the same server. */
static bool was_met(const struct plan *plan, size_t at)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    plan->steps[i].reason == REASON_NONE)
			return true;
	return false;
}

static void look_at_remote(struct doctor *d, struct gate *gate,
			   const char *name, const struct server *server,
			   const struct gate_policy *policy,
			   const struct doctor_options *o)
{
	const struct doctor_remote r = {
		.gate = gate,
		.name = name,
		.server = server,
		.config = &o->file->config,
		.state = ledger_default_dir(d->arena),
		.policy = policy,
		.is_deep = o->deep,
	};

	doctor_look_at_remote(d, &r);
}

static void look_at_skipped(struct doctor *d, const char *name,
			    const struct plan_step *s)
{
	if (s->reason == REASON_UNSUPPORTED)
		doctor_add(d, "step", name,
			   s->step->required ? CHECK_FAILED : CHECK_WARNING,
			   s->step->instead,
			   "it is skipped: there is no step type %s",
			   s->step->type);
	else if (s->reason == REASON_NO_VARIABLE)
		doctor_add(d, "step", name, CHECK_FAILED,
			   "set the variable where matins is started",
			   "a variable is not set, and nothing more was "
			   "looked at");
	else
		doctor_add(d, "step", name, CHECK_OK, "",
			   "disabled, and not looked at");
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
		const char *name = doctor_row(d, routine, s->step);

		if (s->reason != REASON_NONE) {
			look_at_skipped(d, name, s);
			continue;
		}
		if (s->request.program)
			look_at_request(d, gate, name, &s->request);
		else if (!was_met(&plan, i))
			look_at_remote(d, gate, name, s->step->server, &all, o);
		doctor_look_at_refs(d, gate, name, &s->server_env, &all);
		doctor_look_at_refs(d, gate, name, &s->step->env, &all);
		doctor_look_at_server(d, gate, name, s->step->server, &all,
				      o->file->config.dir);
	}
	return 0;
}

static int look_deep(struct doctor *d, struct gate *gate,
		     const struct doctor_options *o,
		     const struct routine *routine, struct err *err)
{
	struct plan plan;

	if (make_plan(d, o, routine, &plan, err) < 0)
		return -1;
	return doctor_look_deep(d, gate, o, &plan, err);
}

/* A variable of one server or step; the others are looked at all the same. */
static void look_at_unset(struct doctor *d, const struct config_file *file,
			  const struct err *err)
{
	doctor_add(d, "variable",
		   arena_printf(d->arena, "%s:%u:%u", file->path, err->line,
				err->col),
		   CHECK_FAILED, "set it where matins is started", "%s",
		   err->msg);
}

/* ---- the machine ---- */

/* What is lost is said for what is lost altogether; `how` says the rest. */
static void add_fact(struct doctor *d, const char *name,
		     const struct gate_fact *f)
{
	const char *lost = gate_lost(f->guarantee);
	bool holds = f->level == GATE_ENFORCED;

	doctor_add(d, "protection", name, holds ? CHECK_OK : CHECK_WARNING,
		   holds       ? ""
		   : f->remedy ? f->remedy
			       : NO_REMEDY,
		   "%s: %s%s%s", gate_level_name(f->level),
		   f->how ? f->how : "",
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

		if (s->reason == REASON_NONE && s->request.program)
			look_at_policy(d, gate, doctor_row(d, routine, s->step),
				       &s->request);
	}
	return 0;
}

static void look_at_kernel(struct doctor *d, struct gate *gate)
{
	size_t n;
	const struct gate_fact *rows = gate_machine(gate, &n);

	for (size_t i = 0; i < n; i++)
		doctor_add(d, "kernel", rows[i].guarantee,
			   rows[i].level == GATE_ENFORCED ? CHECK_OK
							  : CHECK_WARNING,
			   rows[i].remedy ? rows[i].remedy : "", "%s",
			   rows[i].how);
}

static void look_at_leash(struct doctor *d, const struct gate_leash *leash)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < leash->exec.only.n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "",
			 leash->exec.only.item[i]);
	doctor_add(d, "leash", leash->source, CHECK_OK, "", "may start: %s",
		   leash->exec.all ? "every program"
		   : list.n	   ? buf_cstr(&list)
				   : "nothing");
	buf_release(&list);
}

/* Each routine that is meant, and then the servers that none of them uses. */
static int for_each(struct doctor *d, struct gate *gate,
		    const struct doctor_options *o,
		    int (*look)(struct doctor *d, struct gate *gate,
				const struct doctor_options *o,
				const struct routine *routine, struct err *err),
		    struct err *err)
{
	const struct config *c = o->file ? &o->file->config : NULL;
	struct routine unused;

	for (size_t i = 0; c && i < c->n_routines; i++)
		if ((!o->routine || o->routine == &c->routines[i]) &&
		    look(d, gate, o, &c->routines[i], err) < 0)
			return -1;
	if (!c || o->routine)
		return 0;
	unused = doctor_unused_servers(d, c);
	return look(d, gate, o, &unused, err);
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

	d->folder = c ? c->dir : NULL;
	d->is_not_allowed = c && o->file->not_allowed;
	if (leash_find(c, &none, d->arena, &config.leash, err) < 0)
		return -1;
	leash_guard(c, state, NULL, d->arena, &config);
	if (gate_new(&config, &gate, err) < 0) {
		doctor_add(d, "protection", "floor", CHECK_FAILED,
			   "run on a kernel with seccomp and Landlock (5.13 or "
			   "newer), or where namespaces are allowed",
			   "%s", err->msg);
		return 0;
	}
	if (o->file && o->file->not_allowed)
		doctor_add(d, "configuration", o->file->path, CHECK_FAILED,
			   "matins allow", "%s", o->file->not_allowed);
	for (size_t i = 0; o->file && i < o->file->unset.n; i++)
		look_at_unset(d, o->file, &o->file->unset.item[i].err);
	look_at_leash(d, &config.leash);
	r = for_each(d, gate, o, look_at_routine, err);
	if (r == 0 && o->deep)
		r = for_each(d, gate, o, look_deep, err);
	look_at_protections(d, gate);
	if (r == 0)
		r = for_each(d, gate, o, look_at_policies, err);
	look_at_kernel(d, gate);
	doctor_look_at_state(d, state);
	doctor_look_at_tokens(d, c, state);
	if (o->stale_ms && c)
		doctor_look_at_ages(d, o);
	gate_free(gate);
	return r;
}
