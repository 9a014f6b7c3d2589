#include "core/run/step_facts.h"

#include <string.h>

#include "core/base/scan.h"
#include "core/client/tool_check.h"

static bool sets(const struct env_refs *refs, const char *name)
{
	for (size_t i = 0; i < refs->n; i++)
		if (!strcmp(refs->item[i].name, name))
			return true;
	for (size_t i = 0; i < refs->n_plain; i++)
		if (!strcmp(refs->plain[i].name, name))
			return true;
	return false;
}

/* Plain values of the environment; `over` sets some of these otherwise. */
static void add_plain(struct cleaner *c, struct jw *w,
		      const struct env_refs *refs, const struct env_refs *over)
{
	for (size_t i = 0; i < refs->n_plain; i++) {
		const struct env_plain *p = &refs->plain[i];

		if (!p->is_secret && !(over && sets(over, p->name)))
			facts_text(c, w, p->name, str_of(p->value));
	}
}

static void add_environment(const struct step_run *s, struct cleaner *c,
			    struct jw *w)
{
	const struct env_refs *server = &s->plan->server_env;
	const struct env_refs *own = &s->plan->step->env;

	if (!server->n_plain && !own->n_plain)
		return;
	jw_kv_object(w, "env");
	add_plain(c, w, server, own);
	add_plain(c, w, own, NULL);
	jw_end(w);
}

/* Title that the server gives the tool, where a list of its tools was read. */
static void add_title(struct cleaner *c, struct jw *w, struct str tool)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	if (tool.p &&
	    scan_string_cut(tool_title(tool), LIMIT_NOISE_LINE, &title) &&
	    str_trim(buf_str(&title)).n)
		facts_text(c, w, "title", str_trim(buf_str(&title)));
}

static void add_session(const struct step_run *s, struct cleaner *c,
			struct jw *w)
{
	const struct step *step = s->plan->step;
	const struct step_session *m = s->session;

	facts_text(c, w, "server",
		   str_of(step->server ? step->server_name : step->command));
	facts_text(c, w, "tool", str_of(step->tool));
	if (!m)
		return;
	add_title(c, w, m->tool);
	if (m->user.session_of)
		jw_kv_cstr(w, "session_of", m->user.session_of);
	if (m->user.afresh)
		jw_kv_cstr(w, "started_afresh", m->user.afresh);
	if (m->facts.n > 1)
		jw_raw(w, str_skip(buf_str(&m->facts), 1));
	jw_kv_int(w, "result_repairs", m->repairs);
	c->hits += m->facts_scrubbed;
}

void step_write_facts(struct step_run *s)
{
	AUTO(buf_release) struct buf run = BUF_INIT(BUF_UNBOUNDED);
	struct cleaner clean = {s->scrub, 0};
	struct jw w;

	jw_init(&w, &run, false);
	jw_object(&w);
	if (s->begin_ns) {
		facts_time(&w, "started", s->begin_wall_ns);
		jw_kv_int(&w, "duration_us",
			  (int64_t)((s->end_ns - s->begin_ns) / 1000));
	}
	if (*s->inputs)
		jw_kv_cstr(&w, "inputs", s->inputs);
	if (s->is_call)
		add_session(s, &clean, &w);
	if (s->doer->add_facts)
		s->doer->add_facts(s, &clean, &w);
	if (s->begin_ns)
		add_environment(s, &clean, &w);
	if (s->saved.n)
		jw_kv_raw(&w, "saved", s->saved);
	if (s->scrubbed + clean.hits)
		jw_kv_int(&w, "scrubbed", (int64_t)(s->scrubbed + clean.hits));
	jw_end(&w);
	s->result.run = arena_str(&s->arena, buf_str(&run));
}
