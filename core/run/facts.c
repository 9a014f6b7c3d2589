#include "core/run/facts.h"

#include <sys/utsname.h>

#include "core/base/clock.h"

static void kv_time(struct jw *w, const char *key, int64_t wall_ns)
{
	char text[CLOCK_TEXT_BYTES];

	clock_format(wall_ns, text);
	jw_kv_cstr(w, key, text);
}

static void kv_scrubbed(struct step_run *s, struct jw *w, const char *key,
			struct str text,
			size_t (*scrub)(const struct scrub *, struct str,
					struct buf *))
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	s->scrubbed += scrub(s->ctx->scrub, text, &out);
	jw_kv_str(w, key, buf_str(&out));
	buf_release(&out);
}

void facts_text(struct step_run *s, struct jw *w, const char *key,
		struct str text)
{
	kv_scrubbed(s, w, key, text, scrub_apply);
}

void facts_cut_text(struct step_run *s, struct jw *w, const char *key,
		    struct str text)
{
	kv_scrubbed(s, w, key, text, scrub_cut);
}

/* The text may be NULL. */
static void kv_name(struct step_run *s, struct jw *w, const char *key,
		    const char *text)
{
	if (s)
		facts_text(s, w, key, str_of(text ? text : ""));
	else
		jw_kv_cstr(w, key, text ? text : "");
}

void facts_enforced(struct jw *w, const char *key,
		    const struct gate_fact *facts, size_t n)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < n; i++) {
		jw_object(w);
		jw_kv_cstr(w, "guarantee", facts[i].guarantee);
		jw_kv_cstr(w, "level", gate_level_name(facts[i].level));
		jw_kv_cstr(w, "how", facts[i].how ? facts[i].how : "");
		jw_end(w);
	}
	jw_end(w);
}

void facts_denials(struct step_run *s, struct jw *w, const char *key,
		   const struct gate_verdict *v)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];

		jw_object(w);
		jw_kv_cstr(w, "kind", d->kind);
		kv_name(s, w, "name", d->name);
		kv_name(s, w, "program", d->program);
		kv_name(s, w, "detail", d->detail);
		jw_kv_int(w, "count", (int64_t)d->count);
		if (d->allow && *d->allow)
			kv_name(s, w, "allow", d->allow);
		jw_end(w);
	}
	jw_end(w);
	if (v->denials_dropped)
		jw_kv_int(w, "denials_dropped", (int64_t)v->denials_dropped);
}

void facts_exit(struct jw *w, const struct gate_verdict *v)
{
	const char *name;
	char text[32];

	jw_key(w, "exit");
	jw_object(w);
	if (v->exited) {
		jw_kv_int(w, "status", v->exit_status);
	} else {
		name = sigabbrev_np(v->signal);
		snprintf(text, sizeof(text), name ? "SIG%s" : "%.0s%d",
			 name ? name : "", v->signal);
		jw_kv_cstr(w, "signal", text);
	}
	jw_end(w);
}

static void stream(struct jw *w, const struct step_run *s)
{
	struct str tail = tail_str(&s->err_tail);

	jw_key(w, "stdout");
	jw_object(w);
	jw_kv_int(w, "bytes", (int64_t)s->out_bytes);
	jw_end(w);
	jw_key(w, "stderr");
	jw_object(w);
	jw_kv_int(w, "bytes", (int64_t)s->err_tail.total);
	jw_kv_int(w, "dropped", (int64_t)(s->err_tail.total - tail.n));
	jw_kv_str(w, "tail", tail);
	jw_end(w);
}

void facts_step(struct step_run *s, const struct gate_verdict *v,
		struct buf *out)
{
	const struct gate_fact *facts;
	struct jw w;
	size_t n;

	jw_init(&w, out, false);
	jw_object(&w);
	if (s->begin_ns) {
		kv_time(&w, "started", s->begin_wall_ns);
		jw_kv_int(&w, "duration_us",
			  (int64_t)((s->end_ns - s->begin_ns) / 1000));
	}
	if (s->program)
		kv_name(s, &w, "program", s->program);
	if (v) {
		jw_kv_int(&w, "pid", s->child_pid);
		facts_exit(&w, v);
		jw_kv_bool(&w, "killed", s->killed_late);
		jw_kv_int(&w, "cpu_us", (int64_t)v->cpu_us);
		jw_kv_int(&w, "max_rss_bytes", (int64_t)v->max_rss_bytes);
		stream(&w, s);
		facts_denials(s, &w, "denials", v);
		facts = gate_child_facts(s->child, &n);
		facts_enforced(&w, "enforced", facts, n);
	}
	if (s->type->facts)
		s->type->facts(s, &w);
	if (s->scrubbed)
		jw_kv_int(&w, "scrubbed", (int64_t)s->scrubbed);
	jw_end(&w);
}

void facts_run(const struct facts_run *f, struct buf *out)
{
	struct utsname u;
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "matins", MATINS_VERSION);
	if (uname(&u) == 0)
		jw_kv_cstr(&w, "kernel", u.release);
	kv_time(&w, "started", f->begin_wall_ns);
	kv_time(&w, "finished", f->end_wall_ns);
	jw_kv_int(&w, "duration_us", (int64_t)(f->duration_ns / 1000));
	if (f->config)
		jw_kv_cstr(&w, "config", f->config);
	if (f->leash_source)
		jw_kv_cstr(&w, "leash", f->leash_source);
	if (f->ended_by)
		jw_kv_cstr(&w, "ended_by", f->ended_by);
	jw_key(&w, "warnings");
	jw_array(&w);
	for (size_t i = 0; i < f->warnings.n; i++)
		jw_cstr(&w, f->warnings.item[i]);
	jw_end(&w);
	jw_end(&w);
}
