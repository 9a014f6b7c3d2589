#include "core/run/plan.h"

#include "core/base/jw.h"
#include "core/base/text.h"
#include "core/base/scan.h"
#include "core/config/references.h"

/* ---- names of steps ---- */

static bool is_in(const struct strlist *l, struct str name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_is(name, l->item[i]))
			return true;
	return false;
}

static struct strlist names_of(const struct routine *r, struct arena *arena)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < r->n_steps; i++)
		list_add(&names, arena, r->steps[i].name);
	return names;
}

/* "; did you mean NAME?", or "". */
static const char *hint_of(struct str name, const struct strlist *known,
			   struct arena *arena)
{
	const char *near = str_nearest(name, known->item, known->n);

	return near ? arena_printf(arena, "; did you mean %s?", near) : "";
}

/*
 * Names that an option gives: it may be repeated, and each value is a list.
 * errors  ERR_USAGE  no step has such a name
 */
static int read_names(const struct routine *r, const struct strlist *given,
		      const struct strlist *known, const char *option,
		      struct arena *arena, struct strlist *ret, struct err *err)
{
	*ret = (struct strlist){NULL, 0};
	for (size_t i = 0; i < given->n; i++) {
		struct str rest = str_of(given->item[i]);

		while (rest.p) {
			struct str one = str_trim(str_cut(&rest, ','));

			if (one.n)
				list_add(ret, arena,
					 arena_strndup(arena, one.p, one.n));
		}
	}
	/* an unset variable of a script must not run everything */
	if (given->n && !ret->n)
		return err_set(err, ERR_USAGE, "%s names no step", option);
	for (size_t i = 0; i < ret->n; i++) {
		struct str name = str_of(ret->item[i]);

		if (!is_in(known, name))
			return err_set(err, ERR_USAGE,
				       "%s: routine %s has no step %s%s",
				       option, r->name, name.p,
				       hint_of(name, known, arena));
	}
	return 0;
}

/* A routine of one step, for `step`. */
static int pick_step(const struct routine **r, const char *name,
		     const struct strlist *known, struct arena *arena,
		     struct err *err)
{
	struct routine *single = ARENA_NEW(arena, struct routine);

	*single = **r;
	single->n_steps = 1;
	for (size_t i = 0; i < known->n; i++) {
		if (strcmp(known->item[i], name) != 0)
			continue;
		single->steps = &(*r)->steps[i];
		*r = single;
		return 0;
	}
	return err_set(err, ERR_UNKNOWN_STEP, "routine %s has no step %s%s",
		       (*r)->name, name, hint_of(str_of(name), known, arena));
}

/* Sentences about values of -p that no step takes. */
static struct strlist unused_params(const struct plan_options *o,
				    struct arena *arena)
{
	struct strlist known = references_inputs(o->routine, arena);
	struct strlist warnings = {NULL, 0};

	for (size_t i = 0; i < o->given.params.n; i++) {
		struct str rest = str_of(o->given.params.item[i]);
		struct str name = str_cut(&rest, '=');

		if (!is_in(&known, name))
			list_add(&warnings, arena,
				 arena_printf(arena,
					      "-p %.*s: no step uses "
					      "$input.%.*s%s",
					      STR_ARG(name), STR_ARG(name),
					      hint_of(name, &known, arena)));
	}
	return warnings;
}

/* ---- values of the command line ---- */

static int input_value(const struct plan_given *given, const struct step *step,
		       struct str name, struct str *ret, struct err *err)
{
	for (size_t i = given->params.n; i-- > 0;) {
		struct str value = str_of(given->params.item[i]);

		if (!str_eq(str_cut(&value, '='), name))
			continue;
		*ret = value.p ? value : STR("");
		return 0;
	}
	*ret = STR("null");
	if (given->is_optional)
		return 0;
	return err_set(err, ERR_USAGE,
		       "step %s needs a value for $input.%.*s: add -p "
		       "%.*s=VALUE",
		       step->name, STR_ARG(name), STR_ARG(name));
}

/* ---- inputs, typed as JSON ---- */

struct reading {
	const struct plan_given *given;
	const struct step *step;
	struct arena *arena;
	struct plan_inputs *ret;
	struct buf json, pointer;
};

/* The text as JSON where it is JSON, else as a string. */
static void write_input(struct reading *r, struct str text)
{
	struct plan_inputs *a = r->ret;
	size_t at = r->json.n;
	struct str value;

	if (scan_document(text, NULL, &value, ERR_IGNORED) == 0)
		scan_compact(value, &r->json);
	else
		jw_quote(&r->json, text);
	a->item = arena_grow(r->arena, a->item, a->n, sizeof(*a->item));
	a->item[a->n++] = (struct plan_input){
		.pointer = arena_str(r->arena, buf_str(&r->pointer)),
		.text = text,
		.at = at,
		.n = r->json.n - at,
	};
}

static int write_value(struct reading *r, const struct toml_value *v,
		       struct err *err);

static int write_array(struct reading *r, const struct toml_value *v,
		       struct err *err)
{
	size_t n = r->pointer.n;

	buf_addc(&r->json, '[');
	for (size_t i = 0; i < v->array.n; i++) {
		if (i)
			buf_addc(&r->json, ',');
		buf_addf(&r->pointer, "/%zu", i);
		if (write_value(r, &v->array.item[i], err) < 0)
			return -1;
		r->pointer.n = n;
	}
	buf_addc(&r->json, ']');
	return 0;
}

static int write_table(struct reading *r, const struct toml_value *v,
		       struct err *err)
{
	size_t n = r->pointer.n;

	buf_addc(&r->json, '{');
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *m = &v->table.member[i];

		if (i)
			buf_addc(&r->json, ',');
		jw_quote(&r->json, str_of(m->key));
		buf_addc(&r->json, ':');
		buf_addc(&r->pointer, '/');
		text_add_pointer(&r->pointer, str_of(m->key));
		if (write_value(r, &m->value, err) < 0)
			return -1;
		r->pointer.n = n;
	}
	buf_addc(&r->json, '}');
	return 0;
}

static int write_value(struct reading *r, const struct toml_value *v,
		       struct err *err)
{
	struct str name = {NULL, 0}, text;

	if (v->type == TOML_ARRAY)
		return write_array(r, v, err);
	if (v->type == TOML_TABLE)
		return write_table(r, v, err);
	if (v->type == TOML_STRING)
		name = reference_input(v->string);
	if (!name.p) {
		toml_to_json(v, &r->json);
		return 0;
	}
	if (input_value(r->given, r->step, name, &text, err) < 0)
		return -1;
	write_input(r, text);
	return 0;
}

static int read_inputs(const struct plan_given *given, const struct step *step,
		       struct arena *arena, struct plan_inputs *ret,
		       struct err *err)
{
	struct reading r = {
		.given = given,
		.step = step,
		.arena = arena,
		.ret = ret,
		.json = BUF_INIT(BUF_UNBOUNDED),
		.pointer = BUF_INIT(BUF_UNBOUNDED),
	};
	int got;

	*ret = (struct plan_inputs){.n = 0};
	if (!step->params)
		return 0;
	got = write_value(&r, step->params, err);
	if (got == 0)
		ret->json = arena_str(arena, buf_str(&r.json));
	buf_release(&r.json);
	buf_release(&r.pointer);
	return got;
}

/* ---- policy and request of a step ---- */

void plan_cwd(struct gate_request *request, const char *cwd,
	      const struct config *config)
{
	request->cwd = cwd ? cwd : config->dir;
	request->cwd_required = cwd != NULL;
}

static int make_request(const struct plan_options *o, struct plan_step *p,
			struct arena *arena, struct err *err)
{
	const struct step *step = p->step;
	const struct server *server = step->server;
	const struct strlist *args = server ? &server->args : &step->args;
	struct gate_request *request = &p->request;
	const char *cwd = step->cwd, **argv;

	p->protocol = step->protocol;
	p->strict = step->strict || (server && server->strict);
	p->policy = o->config->sandbox;
	if (server) {
		p->server_env = server->env;
		if (!p->protocol)
			p->protocol = server->protocol;
		if (!cwd)
			cwd = server->cwd;
		gate_policy_merge(&p->policy, &server->sandbox, arena,
				  &p->policy);
	}
	gate_policy_merge(&p->policy, &step->sandbox, arena, &p->policy);
	request->policy = &p->policy;
	plan_cwd(request, cwd, o->config);
	request->start_ms = step->timeout_ms;
	for (int i = 0; i < 3; i++)
		request->stdio[i] = GATE_PIPE;
	request->program = server ? server->command : step->command;
	if (!request->program)
		return 0; /* a remote server */
	argv = ARENA_ARRAY(arena, const char *, args->n + 2);
	argv[0] = request->program;
	for (size_t i = 0; i < args->n; i++) {
		struct str name = reference_input(str_of(args->item[i])), value;

		argv[i + 1] = args->item[i];
		if (!name.p)
			continue;
		if (input_value(&o->given, step, name, &value, err) < 0)
			return -1;
		argv[i + 1] = arena_strndup(arena, value.p, value.n);
	}
	request->argv = argv;
	return 0;
}

/* A variable that the step lacks, or its server. */
static const char *unset_of(const struct step *step)
{
	return step->unset || !step->server ? step->unset : step->server->unset;
}

/* Say what a dry run leaves out. The URL of a server may hold a key. */
static const char *say_what(const struct plan_step *p, struct arena *arena)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct step *step = p->step;

	if (unset_of(step))
		return arena_printf(arena, "would not run: %s", unset_of(step));
	if (!p->request.argv)
		return arena_printf(
			arena, "would call: %s of the remote server %s",
			step->tool ? step->tool : "?",
			step->server_name ? step->server_name : "?");
	buf_adds(&line, "would run:");
	for (size_t i = 0; p->request.argv[i]; i++)
		buf_addf(&line, " %s", p->request.argv[i]);
	return arena_strdup(arena, buf_cstr(&line));
}

/* Decide about one step; steps that are left out need no values. */
static int decide(const struct plan_options *o, const struct strlist *only,
		  const struct strlist *skipped, struct plan_step *p,
		  struct arena *arena, struct err *err)
{
	const struct step *step = p->step;
	struct str name = str_of(step->name);
	const char *why = NULL;

	if (!step->enabled) {
		p->reason = REASON_DISABLED;
		why = "disabled: enabled = false";
	} else if (is_in(skipped, name) || (only->n && !is_in(only, name))) {
		p->reason = REASON_ONLY_FILTER;
		why = is_in(skipped, name) ? "left out by --skip"
					   : "not named by --only";
	} else if (step->instead) {
		p->reason = REASON_UNSUPPORTED;
		why = arena_printf(arena, "there is no step type %s here; %s",
				   step->type, step->instead);
	} else if (unset_of(step) && !o->dry_run) {
		p->reason = REASON_NO_VARIABLE;
		why = unset_of(step);
	} else if (!unset_of(step) &&
		   (make_request(o, p, arena, err) < 0 ||
		    read_inputs(&o->given, step, arena, &p->inputs, err) < 0)) {
		return -1;
	} else if (o->dry_run) {
		p->reason = REASON_DRY_RUN;
		why = say_what(p, arena);
	}
	p->error = str_of(why);
	return 0;
}

int plan_make(const struct plan_options *o, struct arena *arena,
	      struct plan *ret_plan, struct err *err)
{
	const struct routine *r = o->routine;
	struct strlist known = names_of(r, arena), only, skipped;
	struct plan plan;

	if (o->only_step && pick_step(&r, o->only_step, &known, arena, err) < 0)
		return -1;
	known = names_of(r, arena);
	if (read_names(r, &o->only, &known, "--only", arena, &only, err) < 0 ||
	    read_names(r, &o->skip, &known, "--skip", arena, &skipped, err) < 0)
		return -1;
	plan = (struct plan){
		.routine = r,
		.steps = ARENA_ARRAY(arena, struct plan_step, r->n_steps),
		.n_steps = r->n_steps,
	};
	for (size_t i = 0; i < r->n_steps; i++) {
		struct plan_step *p = &plan.steps[i];

		p->step = &r->steps[i];
		p->with_previous =
			i && p->step->parallel && r->steps[i - 1].parallel;
		if (decide(o, &only, &skipped, p, arena, err) < 0)
			return -1;
	}
	/* `step` accepts each -p that a step of the routine takes */
	plan.warnings = unused_params(o, arena);
	*ret_plan = plan;
	return 0;
}

/* ---- inputs as the text that was written ---- */

struct str plan_inputs_as_text(const struct plan_inputs *a,
			       const struct strlist *pointers,
			       struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t from = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct plan_input *in = &a->item[i];

		if (a->json.p[in->at] == '"' || !is_in(pointers, in->pointer))
			continue;
		buf_add(&out, a->json.p + from, in->at - from);
		jw_quote(&out, in->text);
		from = in->at + in->n;
	}
	if (!from)
		return (struct str){NULL, 0};
	buf_add(&out, a->json.p + from, a->json.n - from);
	return arena_str(arena, buf_str(&out));
}
