#include "core/run/plan.h"

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/config/references.h"

static bool in_list(const struct strlist *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->item[i], name) == 0)
			return true;
	return false;
}

/* --only A,B may be repeated; each value is a list. */
static struct strlist split_names(const struct strlist *values,
				  struct arena *arena)
{
	struct strlist all = {NULL, 0};
	size_t n = 0;

	for (size_t i = 0; i < values->n; i++) {
		n++;
		for (const char *p = values->item[i]; *p; p++)
			n += *p == ',';
	}
	all.item = ARENA_ARRAY(arena, const char *, n);
	for (size_t i = 0; i < values->n; i++) {
		struct str rest = str_of(values->item[i]);

		while (rest.p) {
			struct str one = str_trim(str_cut(&rest, ','));

			if (one.n)
				all.item[all.n++] =
					arena_strndup(arena, one.p, one.n);
		}
	}
	return all;
}

static int names_exist(const struct routine *r, const struct strlist *given,
		       const struct strlist *names, const char *option,
		       struct arena *arena, struct err *err)
{
	struct strlist known = {ARENA_ARRAY(arena, const char *, r->n_steps),
				r->n_steps};

	/* an unset variable of a script must not run everything */
	if (given->n && !names->n)
		return err_set(err, ERR_USAGE, "%s names no step", option);
	for (size_t i = 0; i < r->n_steps; i++)
		known.item[i] = r->steps[i].name;
	for (size_t i = 0; i < names->n; i++) {
		const char *near;

		if (in_list(&known, names->item[i]))
			continue;
		near = str_nearest(str_of(names->item[i]), known.item, known.n);
		return err_set(err, ERR_USAGE,
			       "%s: routine %s has no step %s%s%s%s", option,
			       r->name, names->item[i],
			       near ? "; did you mean " : "", near ? near : "",
			       near ? "?" : "");
	}
	return 0;
}

/* ---- what a step may do ---- */

void plan_cwd(struct gate_request *request, const char *cwd,
	      const struct config *config)
{
	request->cwd = cwd ? cwd : config->dir;
	request->cwd_required = cwd != NULL;
}

static void step_policy(const struct plan_options *o, const struct step *step,
			struct arena *arena, struct gate_policy *ret)
{
	*ret = o->config->sandbox;
	if (step->server)
		gate_policy_merge(ret, &step->server->sandbox, arena, ret);
	gate_policy_merge(ret, &step->sandbox, arena, ret);
}

static int make_argv(const struct plan_options *o, struct plan_step *p,
		     const char *command, const struct strlist *args,
		     struct arena *arena, struct err *err)
{
	const char **argv = ARENA_ARRAY(arena, const char *, args->n + 2);
	struct str name, value;

	argv[0] = command;
	for (size_t i = 0; i < args->n; i++) {
		argv[i + 1] = args->item[i];
		name = reference_input(str_of(args->item[i]));
		if (!name.p)
			continue;
		if (plan_input_value(&o->given, p->step, name, &value, err) < 0)
			return -1;
		argv[i + 1] = arena_strndup(arena, value.p, value.n);
	}
	p->request.program = command;
	p->request.argv = argv;
	return 0;
}

static int make_request(const struct plan_options *o, struct plan_step *p,
			struct arena *arena, struct err *err)
{
	const struct step *step = p->step;
	const struct server *server = step->server;
	const char *command = server ? server->command : step->command;
	const struct strlist *args = server ? &server->args : &step->args;
	const char *cwd = step->cwd;

	p->protocol = step->protocol;
	p->strict = step->strict || (server && server->strict);
	if (server) {
		p->server_env = server->env;
		if (!p->protocol)
			p->protocol = server->protocol;
		if (!cwd)
			cwd = server->cwd;
	}
	step_policy(o, step, arena, &p->policy);
	p->request.policy = &p->policy;
	plan_cwd(&p->request, cwd, o->config);
	p->request.start_ms = step->timeout_ms;
	for (int i = 0; i < 3; i++)
		p->request.stdio[i] = GATE_PIPE;
	if (!command)
		return 0; /* a remote server */
	return make_argv(o, p, command, args, arena, err);
}

static void skip(struct plan_step *p, enum step_reason reason,
		 const char *sentence)
{
	p->reason = reason;
	p->error = str_of(sentence);
}

/* A variable that the step lacks, or its server. */
static const char *unset_of(const struct step *step)
{
	return step->unset || !step->server ? step->unset : step->server->unset;
}

/* What a dry run leaves out. The URL is in the file, and may hold a key. */
static void say_what(const struct plan_step *p, struct buf *line)
{
	const struct step *step = p->step;

	if (unset_of(step)) {
		buf_addf(line, "would not run: %s", unset_of(step));
		return;
	}
	if (!p->request.argv) {
		buf_addf(line, "would call: %s of the remote server %s",
			 step->tool ? step->tool : "?",
			 step->server_name ? step->server_name : "?");
		return;
	}
	buf_adds(line, "would run:");
	for (size_t i = 0; p->request.argv[i]; i++)
		buf_addf(line, " %s", p->request.argv[i]);
}

static void decide(const struct plan_options *o, const struct strlist *only,
		   const struct strlist *skipped, struct plan_step *p,
		   struct arena *arena)
{
	const struct step *step = p->step;
	struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (!step->enabled) {
		skip(p, REASON_DISABLED, "disabled: enabled = false");
	} else if ((only->n && !in_list(only, step->name)) ||
		   in_list(skipped, step->name)) {
		skip(p, REASON_ONLY_FILTER,
		     in_list(skipped, step->name) ? "left out by --skip"
						  : "not named by --only");
	} else if (step->instead) {
		skip(p, REASON_UNSUPPORTED,
		     arena_printf(arena, "there is no step type %s here; %s",
				  step->type, step->instead));
	} else if (unset_of(step) && !o->dry_run) {
		skip(p, REASON_NO_VARIABLE, unset_of(step));
	} else if (o->dry_run) {
		say_what(p, &line);
		skip(p, REASON_DRY_RUN, arena_strdup(arena, buf_cstr(&line)));
		buf_release(&line);
	}
}

int plan_make(const struct plan_options *o, struct arena *arena,
	      struct plan *ret_plan, struct err *err)
{
	const struct routine *r = o->routine;
	struct strlist only = split_names(&o->only, arena);
	struct strlist skipped = split_names(&o->skip, arena);
	struct plan plan = {
		.routine = r,
		.steps = ARENA_ARRAY(arena, struct plan_step, r->n_steps),
		.n_steps = r->n_steps,
	};

	if (names_exist(r, &o->only, &only, "--only", arena, err) < 0 ||
	    names_exist(r, &o->skip, &skipped, "--skip", arena, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_steps; i++) {
		struct plan_step *p = &plan.steps[i];

		p->step = &r->steps[i];
		p->with_previous =
			i && p->step->parallel && r->steps[i - 1].parallel;
		/* steps that are left out need no values */
		if (p->step->enabled && !p->step->instead &&
		    !unset_of(p->step) &&
		    (!only.n || in_list(&only, p->step->name)) &&
		    !in_list(&skipped, p->step->name)) {
			if (make_request(o, p, arena, err) < 0 ||
			    plan_inputs_read(&o->given, p->step, arena,
					     &p->inputs, err) < 0)
				return -1;
		}
		decide(o, &only, &skipped, p, arena);
	}
	*ret_plan = plan;
	return 0;
}
