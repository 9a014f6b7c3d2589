#include "core/run/step_inputs.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/config/paths.h"
#include "core/config/references.h"

static void add_str(struct sha256 *sum, struct str s)
{
	digest_number(sum, s.n);
	if (s.n)
		sha256_add(sum, s.p, s.n);
}

/* Keys that say what is done, as they are written. */
static void add_written(struct sha256 *sum, const struct toml_value *table)
{
	static const char *const keys[] = {
		"type",		  "server",  "url",	    "command",
		"tool",		  "script",  "interpreter", "routine",
		"foreach",	  "with",    "message",	    "expect",
		"strict",	  "sandbox", "stdout_max",  "on_refusal",
		"args_from_data",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		const struct toml_value *v = table && table->type == TOML_TABLE
						     ? toml_get(table, keys[i])
						     : NULL;

		if (v)
			toml_to_json(v, &text);
		add_str(sum, buf_str(&text));
	}
}

/* Of secrets their names only. */
static void add_env(struct sha256 *sum, const struct env_refs *env)
{
	digest_number(sum, env->n + env->n_plain);
	for (size_t i = 0; i < env->n; i++)
		digest_text(sum, env->item[i].name);
	for (size_t i = 0; i < env->n_plain; i++) {
		digest_text(sum, env->plain[i].name);
		digest_text(sum, env->plain[i].is_secret ? NULL
							 : env->plain[i].value);
	}
}

/* A server as it is written, and how its answers are judged. */
static void add_server(struct sha256 *sum, const struct server *s)
{
	digest_text(sum, s->url);
	digest_text(sum, s->command);
	digest_list(sum, &s->args);
	digest_text(sum, s->cwd);
	add_env(sum, &s->env);
	gate_policy_digest(&s->sandbox, sum);
	digest_number(sum, s->strict);
	for (size_t i = 0; i < s->headers.n; i++) {
		const struct header *h = &s->headers.item[i];

		digest_text(sum, h->name);
		digest_text(sum, h->is_reference ? NULL : h->value);
	}
}

/* Digest of values that references of a step stand for. */
struct referred {
	struct sha256 *sum;
	struct values values;
};

/* References to steps are left out: their results are added whole. */
static void add_referred(void *arg, const struct ref *ref)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct referred *r = arg;
	struct str name, value = {NULL, 0};

	if (ref->root == REF_RUN || ref->root == REF_PREVIOUS) {
		(void)!values_find(&r->values, ref, &arena, &value,
				   ERR_IGNORED);
		add_str(r->sum, value);
	}
	if (ref->root != REF_INPUT)
		return;
	name = ref_first_key(ref, &arena);
	for (size_t i = 0; i < r->values.n_inputs; i++) {
		const struct input *input = &r->values.input[i];

		if (name.p && !str_eq(input->name, name))
			continue;
		add_str(r->sum, input->name);
		add_str(r->sum, input->text);
		add_str(r->sum, input->json);
	}
}

/* Values that the step refers to; other parameters are nothing to it. */
static void add_references(struct sha256 *sum, const struct values *v,
			   const struct step *step)
{
	struct referred r = {sum, *v};

	r.values.is_lenient = true;
	references_of_step(step, add_referred, &r);
}

/* Values that are filled in later than the turn. */
static void add_sources(struct sha256 *sum, const struct turn *t,
			const struct plan_step *p)
{
	for (size_t i = 0; i < p->flow->n_waits; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		const struct report_step *s =
			t->result(t->arg, p->flow->wait[i].step);
		struct jw w;

		jw_init(&w, &text, false);
		if (s && report_step_has_data(s))
			report_step_data(&w, s);
		if (s)
			report_step_output(&text, s);
		add_str(sum, buf_str(&text));
	}
	add_references(sum, &t->values, p->step);
	if (p->step->params) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		toml_to_json(p->step->params, &text);
		add_str(sum, buf_str(&text));
	}
}

/* Steps of a routine that is a step, and of those in it. */
static void add_routine(struct sha256 *sum, const struct config *config,
			const char *name, unsigned depth)
{
	const struct routine *r = depth < LIMIT_ROUTINE_DEPTH
					  ? config_routine(config, name)
					  : NULL;

	digest_text(sum, r ? r->out : NULL);
	for (size_t i = 0; r && i < r->n_steps; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (r->steps[i].written)
			toml_to_json(r->steps[i].written, &text);
		add_str(sum, buf_str(&text));
		if (r->steps[i].server)
			add_server(sum, r->steps[i].server);
		if (r->steps[i].routine)
			add_routine(sum, config, r->steps[i].routine,
				    depth + 1);
	}
}

void step_inputs_digest(const struct turn *t, size_t step,
			char ret[SHA256_HEX_BYTES])
{
	const struct plan_step *p = &t->plan->steps[step];
	unsigned char bytes[SHA256_BYTES];
	struct sha256 sum;

	sha256_init(&sum);
	add_written(&sum, p->step->written);
	digest_text(&sum, p->request.program);
	digest_vector(&sum, p->request.argv);
	digest_text(&sum, p->request.cwd);
	digest_text(&sum, p->step->server_name);
	if (p->step->server)
		add_server(&sum, p->step->server);
	/* all that it may do, with that of the file and of the server */
	if (p->request.policy)
		gate_policy_digest(p->request.policy, &sum);
	digest_text(&sum, p->step->tool);
	add_str(&sum, p->inputs.json);
	add_str(&sum, p->input);
	add_str(&sum, p->items);
	add_env(&sum, &p->server_env);
	add_env(&sum, &p->step->env);
	if (p->step->routine)
		add_routine(&sum, p->config, p->step->routine, 0);
	if (p->step->foreach || !p->request.program)
		add_sources(&sum, t, p);
	sha256_end(&sum, bytes);
	sha256_text(bytes, ret);
}

/* ---- files ---- */

static bool is_before(const struct stat *st, struct str then)
{
	char text[CLOCK_TEXT_BYTES];

	clock_format((int64_t)st->st_ctim.tv_sec * (int64_t)NS_PER_S +
			     st->st_ctim.tv_nsec,
		     text);
	return then.n == strlen(text) && memcmp(text, then.p, then.n) < 0;
}

static bool is_older(const char *path, struct str then)
{
	struct stat st;

	return !path || (stat(path, &st) == 0 && is_before(&st, then));
}

/* The path without its first link, which must be older; NULL: it has none. */
static const char *follow_one(const char *path, struct str then,
			      bool *ret_is_older, struct arena *arena)
{
	const char *end = path;
	char target[PATH_MAX];
	struct stat st;

	while (*end) {
		size_t folder = (size_t)(end - path);
		const char *at;
		ssize_t n;

		end += 1 + strcspn(end + 1, "/");
		at = arena_strndup(arena, path, (size_t)(end - path));
		n = readlink(at, target, sizeof(target));
		if (n < 0)
			continue;
		*ret_is_older = lstat(at, &st) == 0 && is_before(&st, then);
		return arena_printf(
			arena, "%.*s%s%.*s%s", *target == '/' ? 0 : (int)folder,
			path, *target == '/' ? "" : "/", (int)n, target, end);
	}
	return NULL;
}

/* A link that was turned since leads to another file, however old. */
static bool way_is_older(const char *path, struct str then, struct arena *arena)
{
	bool older = true;

	for (unsigned n = 0; path && older && *path == '/'; n++) {
		if (n > 40)
			return false;
		path = follow_one(path, then, &older, arena);
	}
	return older;
}

/* Are files that are arguments by themselves older? What the program may write
   says nothing: it may be what the program made. */
static bool arguments_are_older(const struct gate_request *request,
				struct str then, struct arena *arena)
{
	for (const char *const *a = request->argv; a && *a && a[1]; a++) {
		const char *path = path_resolve(a[1], request->cwd, arena);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    !path_is_beneath(path, &request->policy->write) &&
		    (!is_older(path, then) || !way_is_older(path, then, arena)))
			return false;
	}
	return true;
}

/* program  that ran; n = 0: not known */
static bool request_is_older(struct gate *gate,
			     const struct gate_request *request,
			     struct str then, struct str program,
			     struct arena *arena)
{
	struct gate_explained e;

	if (!request->program)
		return true;
	return gate_explain(gate, request, arena, &e, ERR_IGNORED) == 0 &&
	       !e.missing_script && is_older(e.program, then) &&
	       (!program.n || str_is(program, e.program)) &&
	       (!strchr(request->program, '/') ||
		way_is_older(request->program, then, arena)) &&
	       is_older(e.interpreter, then) && is_older(e.script, then) &&
	       arguments_are_older(request, then, arena);
}

static bool step_is_older(struct gate *gate, const struct plan_step *p,
			  struct str then, struct str program, unsigned depth,
			  struct arena *arena)
{
	const struct plan_options o = {
		.config = p->config,
		.routine = p->step->routine
				   ? config_routine(p->config, p->step->routine)
				   : NULL,
		.given.is_optional = true,
		.dry_run = true,
	};
	struct plan plan;

	if (!o.routine)
		return request_is_older(gate, &p->request, then, program,
					arena);
	if (depth == LIMIT_ROUTINE_DEPTH ||
	    plan_make(&o, arena, &plan, ERR_IGNORED) < 0)
		return false;
	for (size_t i = 0; i < plan.n_steps; i++)
		if (!step_is_older(gate, &plan.steps[i], then, STR(""),
				   depth + 1, arena))
			return false;
	return true;
}

bool step_inputs_are_older(struct gate *gate, const struct plan_step *p,
			   struct str run)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return step_is_older(
		gate, p,
		scan_decoded(scan_some(run, "started"), SIZE_MAX, &arena),
		scan_decoded(scan_some(run, "program"), SIZE_MAX, &arena), 0,
		&arena);
}
