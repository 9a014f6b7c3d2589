#include "core/run/plan.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/place.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/config/references.h"
#include "core/config/routine.h"
#include "core/run/tool_policy.h"

/*
 * ---- plugin ----
 *
 * Request of a step of type `python`: the protocol modulex-plugin/1, one JSON
 * object on stdin and one on stdout. core/run/judge.h reads the answer.
 *
 * Pure. Credentials are in the environment alone.
 */

/* A member of a table of the configuration; `instead` where it lacks it. */
static void add_member(struct jw *w, const char *key,
		       const struct toml_value *table, const char *instead)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *value = toml_get(table, key);

	if (value)
		toml_to_json(value, &json);
	else
		buf_adds(&json, instead);
	jw_kv_raw(w, key, buf_str(&json));
}

static void add_step(struct jw *w, const struct step *step, struct str params)
{
	jw_kv_object(w, "step");
	jw_kv_cstr(w, "name", step->name);
	jw_kv_cstr(w, "type", step->type);
	jw_kv_int(w, "timeout", (int64_t)((step->timeout_ms + 999) / 1000));
	jw_kv_raw(w, "repos", STR("[]"));
	jw_kv_raw(w, "params", params.n ? params : STR("{}"));
	jw_end(w);
}

/*
 * config      its tables [shared] and [identity] go along, as they are written
 * generation  JSON number
 * params      JSON object; n = 0: none
 */
static void plugin_request(const struct config *config, const struct step *step,
			   struct str generation, struct str params,
			   struct buf *out)
{
	struct jw w = jw_begin(out);

	jw_kv_cstr(&w, "protocol", "modulex-plugin/1");
	jw_kv_raw(&w, "generation", generation);
	jw_kv_bool(&w, "dry_run", false);
	add_step(&w, step, params);
	jw_kv_object(&w, "shared");
	add_member(&w, "repos", config->shared, "[]");
	jw_kv_object(&w, "identity");
	add_member(&w, "username", config->identity, "\"\"");
	add_member(&w, "gitlab_host", config->identity, "\"\"");
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}

/* ---- names of steps ---- */

static bool is_in(const struct strlist *l, struct str name)
{
	return str_index(name, l->item, l->n) < l->n;
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

/* Sentences about values that no step takes. */
static struct strlist unused_params(const struct routine *r,
				    const struct values *inputs,
				    struct arena *arena)
{
	struct strlist known = references_inputs(r, arena);
	struct strlist warnings = {NULL, 0};

	/* declared parameters are judged where they are read */
	if (r->params || list_has(&known, REFERENCES_ALL))
		return warnings;
	for (size_t i = 0; i < inputs->n_inputs; i++) {
		struct str name = inputs->input[i].name;

		if (!is_in(&known, name))
			list_addf(&warnings, arena,
				  "-p %.*s: no step uses $input.%.*s%s",
				  STR_ARG(name), STR_ARG(name),
				  hint_of(name, &known, arena));
	}
	return warnings;
}

/* ---- policy and request of a step ---- */

void plan_cwd(struct gate_request *request, const char *cwd,
	      const struct config *config)
{
	request->cwd = cwd ? cwd : config->dir;
	request->cwd_required = cwd != NULL;
}

/* Copy a text as one argument of a program. */
static int make_argument(const struct step *step, struct str text,
			 struct arena *arena, const char **ret, struct err *err)
{
	if (text.n && memchr(text.p, '\0', text.n))
		return err_set(err, ERR_UNKNOWN,
			       "step %s: a value with a NUL cannot be an "
			       "argument",
			       step->name);
	*ret = arena_strndup(arena, text.p, text.n);
	return 0;
}

/* Options whose value is the next word, also where that is "--". */
static bool takes_next(const char *program, const char *option)
{
	static const struct {
		const char *names, *letters, *words;
	} rows[] = {
		{"grep egrep fgrep", "ABCDdefm",
		 "--regexp --file --max-count --context --after-context "
		 "--before-context --binary-files --directories --devices"},
		{"rg", "ABCEMTdefgjmrt", "--regexp --file --glob --replace"},
		{"curl", "ACDEFHKPQTUXYbcdehmortuwxyz",
		 "--config --output --data --header --user --upload-file "
		 "--request --url --form --max-time"},
		{"wget", "ABDIORPQTUXaeiltw", "--output-document"},
		{"git", "CcmFSGnUL", "--git-dir --work-tree --exec-path"},
		{"rsync", "BMTef@", "--rsh --rsync-path --filter --exclude"},
		{"ssh scp sftp", "BDEFIJLOPQRSWbceilmopw", ""},
		{"sort", "STkot", "--key --output --field-separator"},
		{"head tail", "cns", "--lines --bytes"},
		{"cut", "bcdf", "--fields --delimiter --characters"},
		{"jq", "Lf", "--from-file --indent"},
	};
	struct str name = str_of(place_name(program));
	size_t i = 0;

	while (i < ARRAY_LEN(rows) && !str_has_word(rows[i].names, name))
		i++;
	if (i == ARRAY_LEN(rows) || option[0] != '-' || !option[1])
		return false;
	return option[1] == '-' ? str_has_word(rows[i].words, str_of(option))
				: strchr(rows[i].letters,
					 option[strlen(option) - 1]) != NULL;
}

/* Would a value of another program be read as an option? */
static bool is_injected(const struct plan_step *p, size_t nth)
{
	const char *const *argv = p->request.argv;

	if (argv[nth][0] != '-' ||
	    strcmp(p->step->args_from_data, "allow") == 0)
		return false;
	for (size_t i = 1; i < nth; i++)
		if (strcmp(argv[i], "--") == 0 &&
		    (i == 1 || !takes_next(p->request.program, argv[i - 1])))
			return false;
	return true;
}

/* The gate takes an argument that holds data for no more than that. */
static void mark_data(struct plan_step *p, size_t nth, bool **data, size_t n,
		      struct arena *arena)
{
	if (!*data)
		*data = ARENA_ARRAY(arena, bool, n);
	(*data)[nth] = true;
	p->request.from_data = *data;
}

/* The program and what stands before its arguments; it ends in NULL. */
static const char **begin_argv(const struct plan_step *p, size_t n_args,
			       struct arena *arena, size_t *ret_first)
{
	const char **argv = ARENA_ARRAY(arena, const char *, n_args + 3);

	*ret_first = 0;
	argv[(*ret_first)++] = p->request.program;
	if (p->step->script)
		argv[(*ret_first)++] = p->step->script;
	return argv;
}

static int fill_argv(struct plan_step *p, const struct values *v,
		     struct arena *arena, struct err *err)
{
	const struct server *server = p->step->server;
	const struct strlist *args = server ? &server->args : &p->step->args;
	size_t first;
	const char **argv = begin_argv(p, args->n, arena, &first);

	bool *marks = NULL;

	p->request.argv = argv;
	p->request.from_data = NULL;
	for (size_t i = 0; i < args->n; i++) {
		struct str text;
		enum fill_data data;

		if (fill_text(str_of(args->item[i]), v, arena, &text, &data,
			      err) < 0 ||
		    make_argument(p->step, text, arena, &argv[first + i], err) <
			    0)
			return -1;
		if (data != FILL_NONE)
			mark_data(p, first + i, &marks, first + args->n + 1,
				  arena);
		if (data == FILL_FIRST && is_injected(p, first + i))
			return err_set(err, ERR_UNKNOWN,
				       "argument %zu, %s, begins with \"-\", "
				       "which a program reads as an option; "
				       "write \"--\" before it, or "
				       "args_from_data = \"allow\"",
				       i + 1, args->item[i]);
	}
	return 0;
}

static int fill(struct plan_step *p, bool fills_argv, bool fills_params,
		const struct values *v, struct arena *arena, struct err *err)
{
	enum fill_data data = FILL_NONE;

	if (fills_argv && p->request.program && fill_argv(p, v, arena, err) < 0)
		return -1;
	if (!fills_params)
		return 0;
	if (p->step->stdin_text && fill_text(str_of(p->step->stdin_text), v,
					     arena, &p->input, &data, err) < 0)
		return -1;
	p->request.input_from_data = data != FILL_NONE;
	if (p->step->message && fill_text(str_of(p->step->message), v, arena,
					  &p->message, &data, err) < 0)
		return -1;
	return fill_params(p->step->params, v, arena, &p->inputs, err);
}

/* Standard input of a plugin. */
static void write_request(struct plan_step *p, const struct values *v,
			  struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str generation = STR("0");

	if (v->run)
		generation = scan_some(v->run(v->arg), "generation");
	plugin_request(p->config, p->step, generation, p->inputs.json, &out);
	p->input = arena_str(arena, buf_str(&out));
}

int plan_fill(struct plan_step *p, const struct values *v, struct arena *arena,
	      struct err *err)
{
	if (fill(p, p->flow->has_late_args, p->flow->is_late, v, arena, err) <
	    0)
		return -1;
	if (p->step->script)
		write_request(p, v, arena);
	return 0;
}

/* Arguments as they stand in the file, until it is the step's turn. */
static void write_argv(struct plan_step *p, const struct values *v,
		       struct arena *arena)
{
	const struct strlist *args = &p->step->args;
	size_t first;
	const char **argv = begin_argv(p, args->n, arena, &first);
	bool *marks = NULL;

	for (size_t i = 0; i < args->n; i++) {
		argv[first + i] = args->item[i];
		if (fill_has_data(str_of(args->item[i]), v, arena))
			mark_data(p, first + i, &marks, first + args->n + 1,
				  arena);
	}
	p->request.argv = argv;
}

static void make_request(const struct plan_options *o, struct plan_step *p,
			 struct arena *arena)
{
	const struct step *step = p->step;
	const struct server *server = step->server;
	struct gate_request *request = &p->request;
	const char *cwd = step->cwd;

	p->protocol = step->protocol;
	p->strict = step->strict || (server && server->strict);
	p->policy = o->config->sandbox;
	p->is_pinned = server && (step->pin || server->pin);
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
	/* a step that stands in no file has no words */
	request->data_may_start = step->args_from_data &&
				  strcmp(step->args_from_data, "allow") == 0;
	plan_cwd(request, cwd, o->config);
	request->start_ms = step->timeout_ms;
	for (int i = 0; i < 3; i++)
		request->stdio[i] = GATE_PIPE;
	request->program = server ? server->command : step->command;
}

/* A variable that the step lacks, or its server. */
static const char *unset_of(const struct step *step)
{
	return step->unset || !step->server ? step->unset : step->server->unset;
}

/* As one word; a reference stays as it is written. */
static void add_argument(struct buf *line, const char *arg)
{
	buf_addc(line, ' ');
	if (!*arg || strpbrk(arg, " \t\n"))
		text_add_word(line, arg);
	else
		buf_adds(line, arg);
}

/* Values of `params` that are known, else references; "" without. */
static const char *say_params(const struct plan_step *p, struct arena *arena)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (!p->step->params)
		return "";
	buf_adds(&line, " with ");
	if (p->inputs.json.n)
		buf_add_str(&line, p->inputs.json);
	else
		toml_to_json(p->step->params, &line);
	return arena_strdup(arena, buf_cstr(&line));
}

/* Say what a dry run leaves out. The URL of a server may hold a key. */
static const char *say_what(const struct plan_step *p, struct arena *arena)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct step *step = p->step;

	if (unset_of(step))
		return arena_printf(arena, "would not run: %s", unset_of(step));
	if (step->routine)
		return arena_printf(arena, "would run: routine %s",
				    step->routine);
	if (step->is_sync)
		return arena_printf(
			arena, "would list: %s",
			step->servers.n ? list_join(&step->servers, ", ", arena)
					: "all servers");
	if (step->message)
		return arena_printf(arena, "would ask for approval: %s",
				    step->message);
	if (!p->request.program)
		return arena_printf(arena,
				    "would call: %s of the remote server %s%s",
				    step->tool ? step->tool : "?",
				    step->server_name ? step->server_name : "?",
				    say_params(p, arena));
	buf_adds(&line, "would run:");
	for (size_t i = 0; p->request.argv[i]; i++)
		add_argument(&line, p->request.argv[i]);
	if (step->tool)
		buf_addf(&line, "; would call %s%s", step->tool,
			 say_params(p, arena));
	if (step->stdin_text)
		buf_addf(&line, "; its stdin: %s", step->stdin_text);
	return arena_strdup(arena, buf_cstr(&line));
}

/* Does it start a program, or call a server? */
static bool has_program(const struct step *step)
{
	return !step->routine && !step->message && !step->is_sync;
}

/* And files, with where they would be. */
static const char *say_saves(const struct plan_step *p, const char *out,
			     const char *what, struct arena *arena)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *save = p->step->save;

	buf_adds(&line, what);
	for (size_t i = 0; save && out && i < save->table.n; i++)
		buf_addf(&line, "%s%s as %s/%.*s", i ? ", " : "; would save ",
			 save->table.member[i].key, out,
			 STR_ARG(save->table.member[i].value.string));
	return arena_strdup(arena, buf_cstr(&line));
}

/* Make the request and the arguments of a step that runs. */
static int prepare(const struct plan_options *o, const struct values *inputs,
		   struct plan_step *p, struct arena *arena, struct err *err)
{
	struct values v = *inputs;

	if (!unset_of(p->step)) {
		if (has_program(p->step))
			make_request(o, p, arena);
		v.step = p->step->name;
		p->owns_items = v.owns_item =
			p->step->foreach &&
			!fill_has_data(str_of(p->step->foreach), &v, arena);
		if (p->flow->has_late_args && p->request.program)
			write_argv(p, &v, arena);
		if (fill(p, !p->flow->has_late_args, !p->flow->is_late, &v,
			 arena, err) < 0)
			return -1;
	}
	if (o->dry_run) {
		p->reason = REASON_DRY_RUN;
		p->error = str_of(say_saves(p, o->routine->out,
					    say_what(p, arena), arena));
		p->would_not_run = unset_of(p->step);
	}
	return 0;
}

/* Steps that a step waits for, and so on. */
static void take_waits(struct plan *plan, size_t step)
{
	const struct flow_step *flow = plan->steps[step].flow;

	for (size_t i = 0; i < flow->n_waits; i++) {
		struct plan_step *p = &plan->steps[flow->wait[i].step];

		if (!p->is_taken) {
			p->is_taken = true;
			take_waits(plan, flow->wait[i].step);
		}
	}
}

/* Mark the steps that are before it. */
static int take_before(const char *from, const struct strlist *known,
		       struct arena *arena, struct plan *plan, struct err *err)
{
	size_t at = 0;

	if (!from)
		return 0;
	while (at < known->n && strcmp(known->item[at], from) != 0)
		at++;
	if (from && at == known->n)
		return err_set(err, ERR_USAGE,
			       "--from: routine %s has no step %s%s",
			       plan->routine->name, from,
			       hint_of(str_of(from), known, arena));
	if (plan->by_needs)
		take_waits(plan, at);
	for (size_t i = 0; !plan->by_needs && i < at; i++)
		plan->steps[i].is_taken = true;
	return 0;
}

/* Why the call of a step is forbidden; NULL: it is not, or the step is none. */
static const char *refusal(const struct plan_options *o,
			   const struct step *step, struct arena *arena,
			   enum step_reason *ret)
{
	const struct server *server = step->server;
	const char *why;

	/* without `tool` a program prints its result */
	if (!step->tool)
		return NULL;
	*ret = REASON_SERVER_OFF;
	why = tool_policy_off(o->config, server, arena);
	if (why || !server || !*step->tool)
		return why;
	*ret = REASON_TOOL_POLICY;
	return tool_policy_names(server, step->tool,
				 tool_policy_write(o->config, step),
				 o->confirmed, arena);
}

/* Decide about one step; steps that are left out need no values. */
static int decide(const struct plan_options *o, const struct values *inputs,
		  const struct strlist *only, const struct strlist *skipped,
		  struct plan_step *p, struct arena *arena, struct err *err)
{
	const struct step *step = p->step;
	struct str name = str_of(step->name);
	const char *why = NULL;

	if (p->is_taken)
		return 0;
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
	} else if ((why = refusal(o, step, arena, &p->reason))) {
		p->would_not_run = o->dry_run;
		if (o->dry_run) {
			p->reason = REASON_DRY_RUN;
			why = arena_printf(arena, "would be denied: %s", why);
		}
	} else if (unset_of(step) && !o->dry_run) {
		p->reason = REASON_NO_VARIABLE;
		why = unset_of(step);
	} else {
		p->reason = REASON_NONE;
		return prepare(o, inputs, p, arena, err);
	}
	p->error = str_of(why);
	return 0;
}

struct step plan_server_step(const struct server *s)
{
	return (struct step){
		.name = s->name,
		.type = "mcp-client",
		.tool = "",
		.enabled = true,
		.timeout_ms = s->timeout_ms,
		.server_name = s->name,
		.server = s,
		.stdout_max = s->stdout_max,
		.stderr_max = LIMIT_STDERR_BYTES,
	};
}

int plan_make(const struct plan_options *o, struct arena *arena,
	      struct plan *ret_plan, struct err *err)
{
	const struct routine *r = o->routine;
	struct strlist known = names_of(r, arena), only, skipped;
	struct inputs_given given = o->given;
	const struct flow_step *flow;
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
		.by_needs = r->order && strcmp(r->order, "needs") == 0,
		.inputs = {.is_optional = o->given.is_optional,
			   .is_data = o->given.is_data},
	};
	given.is_partial = o->only_step;
	if (inputs_read(o->config, r, &given, arena, &plan.inputs, err) < 0)
		return -1;
	flow = flow_make(r, arena, NULL);
	for (size_t i = 0; i < r->n_steps; i++) {
		struct plan_step *p = &plan.steps[i];

		p->step = &r->steps[i];
		p->with_previous =
			i && p->step->parallel && r->steps[i - 1].parallel;
		p->flow = &flow[i];
		p->config = o->config;
	}
	if (take_before(o->from, &known, arena, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_steps; i++) {
		struct plan_step *p = &plan.steps[i];

		if (decide(o, &plan.inputs, &only, &skipped, p, arena, err) < 0)
			return -1;
	}
	/* `step` accepts each -p that a step of the routine takes */
	plan.warnings = unused_params(o->routine, &plan.inputs, arena);
	*ret_plan = plan;
	return 0;
}
