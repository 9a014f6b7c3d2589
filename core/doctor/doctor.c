#include "core/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/config/leash.h"
#include "core/doctor/doctor_declared.h"
#include "core/doctor/doctor_deep.h"
#include "core/doctor/doctor_state.h"

/* Advice where no setting of the machine helps. */
#define NO_REMEDY \
	"name it in `sandbox.require` if a step must not run without it"

/* ---- programs ---- */

/* Name of a user, "root" or "uid 1001", in the arena. */
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
		   "%s, owned by %s, who alone can write it%s%s%s%s", p->path,
		   owner_name(st.st_uid, d->arena),
		   p->interpreter ? ", runs " : "",
		   p->interpreter ? p->interpreter : "",
		   p->installation ? ", may read " : "",
		   p->installation ? p->installation : "");
}

/* Warn of secrets that arguments hand on, perhaps without anyone meaning it. */
static void look_at_arguments(struct doctor *d, const char *name,
			      const struct gate_request *request)
{
	struct err ignored = ERR_INIT;
	struct gate_explained e;

	/* an error is the row of the program */
	if (gate_explain(d->gate, request, d->arena, &e, &ignored) < 0)
		return;
	for (size_t i = 0; i < e.n_grants; i++)
		if (e.grant[i].is_argument && e.grant[i].secret)
			doctor_add(d, "program", name, CHECK_WARNING,
				   "take it out of `args`, or name it in "
				   "`sandbox.read` if it is meant",
				   "%s can be read, because an argument names "
				   "it; %s holds keys, tokens or sessions",
				   e.grant[i].path, e.grant[i].secret);
}

static void look_at_request(struct doctor *d, const char *name,
			    const struct gate_request *request)
{
	struct gate_program p = {0};
	struct err err = ERR_INIT;

	look_at_arguments(d, name, request);
	/* the gate would repeat the first of those rows */
	if (doctor_look_at_exec(d, name, request))
		return;
	if (gate_resolve(d->gate, request, &p, &err) < 0 ||
	    gate_check(d->gate, request, &err) < 0)
		doctor_add(d, "program", name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		look_at_file(d, name, &p);
	gate_program_release(&p);
}

/* ---- a routine ---- */

static int make_plan(struct doctor *d, const struct routine *routine,
		     struct plan *ret, struct err *err)
{
	const struct plan_options p = {
		.config = d->config,
		.routine = routine,
		.given = {.is_optional = true},
	};

	return plan_make(&p, d->arena, ret, err);
}

/* Report whether an earlier enabled step names the server of step `at`. */
static bool was_met(const struct plan *plan, size_t at)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    plan->steps[i].reason == REASON_NONE)
			return true;
	return false;
}

static void look_at_skipped(struct doctor *d, const char *name,
			    const struct plan_step *s)
{
	if (s->reason == REASON_UNSUPPORTED)
		doctor_add(d, "step", name,
			   s->step->required ? CHECK_FAILED : CHECK_WARNING,
			   s->step->instead, "skipped: %s is not a step type",
			   s->step->type);
	else if (s->reason == REASON_NO_VARIABLE)
		doctor_add(d, "step", name, CHECK_FAILED,
			   "set the variable where matins is started",
			   "a variable is not set; the rest was not looked at");
	else
		doctor_add(d, "step", name, CHECK_OK, "",
			   "disabled, and not looked at");
}

static int look_at_routine(struct doctor *d, const struct routine *routine,
			   struct err *err)
{
	struct plan plan;

	if (make_plan(d, routine, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.n_steps; i++) {
		struct plan_step *s = &plan.steps[i];
		const char *name = doctor_row(d, routine, s->step);

		if (s->reason != REASON_NONE) {
			look_at_skipped(d, name, s);
			continue;
		}
		if (s->request.program)
			look_at_request(d, name, &s->request);
		doctor_look_at_declared(
			d, name, s, !s->request.program && !was_met(&plan, i));
	}
	return 0;
}

static int look_deep(struct doctor *d, const struct routine *routine,
		     struct err *err)
{
	struct plan plan;

	if (make_plan(d, routine, &plan, err) < 0)
		return -1;
	return doctor_look_deep(d, &plan, err);
}

/* Add a row for a variable that is not set; other rows follow all the same. */
static void look_at_unset(struct doctor *d, const struct err *err)
{
	doctor_add(d, "variable",
		   arena_printf(d->arena, "%s:%u:%u", d->options->file->path,
				err->line, err->col),
		   CHECK_FAILED, "set it where matins is started", "%s",
		   err->msg);
}

/* ---- the machine ---- */

/* Add a row; the loss is named where a protection is wholly absent. */
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

static void look_at_protections(struct doctor *d)
{
	size_t n;
	const struct gate_fact *facts = gate_protections(d->gate, &n);

	for (size_t i = 0; i < n; i++)
		add_fact(d, facts[i].guarantee, &facts[i]);
}

/* Add a row where the policy of a program gets less than the usual one. */
static void look_at_policy(struct doctor *d, const char *name,
			   const struct gate_request *request)
{
	size_t n, n_usual;
	const struct gate_fact *facts,
		*usual = gate_protections(d->gate, &n_usual);
	struct err ignored = ERR_INIT;

	/* an error is the row of the program */
	if (gate_check_facts(d->gate, request, &facts, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (facts[i].level != usual[i].level)
			add_fact(d,
				 arena_printf(d->arena, "%s %s", name,
					      facts[i].guarantee),
				 &facts[i]);
}

static int look_at_policies(struct doctor *d, const struct routine *routine,
			    struct err *err)
{
	struct plan plan;

	if (make_plan(d, routine, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.n_steps; i++) {
		const struct plan_step *s = &plan.steps[i];

		if (s->reason == REASON_NONE && s->request.program)
			look_at_policy(d, doctor_row(d, routine, s->step),
				       &s->request);
	}
	return 0;
}

static void look_at_kernel(struct doctor *d)
{
	size_t n;
	const struct gate_fact *rows = gate_machine(d->gate, &n);

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

/* Look at each routine asked for, then at the servers that none uses. */
static int for_each(struct doctor *d,
		    int (*look)(struct doctor *d, const struct routine *routine,
				struct err *err),
		    struct err *err)
{
	const struct doctor_options *o = d->options;
	const struct config *c = d->config;
	struct routine unused;

	for (size_t i = 0; c && i < c->n_routines; i++)
		if ((!o->routine || o->routine == &c->routines[i]) &&
		    look(d, &c->routines[i], err) < 0)
			return -1;
	if (!c || o->routine)
		return 0;
	unused = doctor_unused_servers(d);
	return look(d, &unused, err);
}

/* Add the rows that need no configuration beside those that do. */
static int look_at_all(struct doctor *d, const struct gate_leash *leash,
		       struct err *err)
{
	const struct doctor_options *o = d->options;
	const struct config_file *file = o->file;
	int r;

	if (file && file->not_allowed)
		doctor_add(d, "configuration", file->path, CHECK_FAILED,
			   "matins allow", "%s", file->not_allowed);
	for (size_t i = 0; file && i < file->unset.n; i++)
		look_at_unset(d, &file->unset.item[i].err);
	look_at_leash(d, leash);
	r = for_each(d, look_at_routine, err);
	if (r == 0 && o->deep)
		r = for_each(d, look_deep, err);
	look_at_protections(d);
	if (r == 0)
		r = for_each(d, look_at_policies, err);
	look_at_kernel(d);
	doctor_look_at_state(d);
	return r;
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
