#include "core/run/step_inputs.h"

#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/limits.h"

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
		"type",	   "server",	  "url",     "command", "tool",
		"script",  "interpreter", "routine", "foreach", "with",
		"message", "expect",	  "strict",
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
	for (size_t i = 0; i < t->values.n_inputs; i++) {
		add_str(sum, t->values.input[i].name);
		add_str(sum, t->values.input[i].text);
		add_str(sum, t->values.input[i].json);
	}
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

	for (size_t i = 0; r && i < r->n_steps; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (r->steps[i].written)
			toml_to_json(r->steps[i].written, &text);
		add_str(sum, buf_str(&text));
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
	digest_text(&sum, p->step->server ? p->step->server->url : NULL);
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

static bool is_older(const char *path, struct str then)
{
	char text[CLOCK_TEXT_BYTES];
	struct stat st;

	if (!path)
		return true;
	if (stat(path, &st) < 0)
		return false;
	clock_format((int64_t)st.st_ctim.tv_sec * (int64_t)NS_PER_S +
			     st.st_ctim.tv_nsec,
		     text);
	return then.n == strlen(text) && memcmp(text, then.p, then.n) < 0;
}

bool step_inputs_are_older(struct gate *gate,
			   const struct gate_request *request, struct str then)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_explained e;

	if (!request->program)
		return true;
	return gate_explain(gate, request, &arena, &e, ERR_IGNORED) == 0 &&
	       !e.missing_script && is_older(e.program, then) &&
	       is_older(e.interpreter, then) && is_older(e.script, then);
}
