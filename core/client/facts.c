#include "core/client/facts.h"

#include "core/base/clock.h"

void facts_time(struct jw *w, const char *key, int64_t wall_ns)
{
	char text[CLOCK_TEXT_BYTES];

	clock_format(wall_ns, text);
	jw_kv_cstr(w, key, text);
}

static void kv_scrubbed(struct cleaner *c, struct jw *w, const char *key,
			struct str text,
			size_t (*scrub)(const struct scrub *, struct str,
					struct buf *))
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	c->hits += scrub(c->scrub, text, &out);
	jw_kv_str(w, key, buf_str(&out));
	buf_release(&out);
}

void facts_text(struct cleaner *c, struct jw *w, const char *key,
		struct str text)
{
	kv_scrubbed(c, w, key, text, scrub_apply);
}

void facts_cut_text(struct cleaner *c, struct jw *w, const char *key,
		    struct str text)
{
	kv_scrubbed(c, w, key, text, scrub_cut);
}

/* A text that may be NULL. */
static void kv_name(struct cleaner *c, struct jw *w, const char *key,
		    const char *text)
{
	facts_text(c, w, key, str_of(text ? text : ""));
}

/* A text that may be NULL, and that the kernel or the gate may have cut. */
static void kv_cut_name(struct cleaner *c, struct jw *w, const char *key,
			const char *text)
{
	facts_cut_text(c, w, key, str_of(text ? text : ""));
}

void facts_enforced(struct jw *w, const char *key,
		    const struct gate_fact *facts, size_t n)
{
	jw_kv_array(w, key);
	for (size_t i = 0; i < n; i++) {
		jw_object(w);
		jw_kv_cstr(w, "guarantee", facts[i].guarantee);
		jw_kv_cstr(w, "level", gate_level_name(facts[i].level));
		jw_kv_cstr(w, "how", facts[i].how ? facts[i].how : "");
		jw_end(w);
	}
	jw_end(w);
}

void facts_denials(struct cleaner *c, struct jw *w, const char *key,
		   const struct gate_verdict *v)
{
	jw_kv_array(w, key);
	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];
		AUTO(buf_release) struct buf allow = BUF_INIT(BUF_UNBOUNDED);

		jw_object(w);
		jw_kv_cstr(w, "kind", d->kind);
		kv_name(c, w, "name", d->name);
		kv_cut_name(c, w, "program", d->program);
		kv_name(c, w, "detail", d->detail);
		jw_kv_int(w, "count", (int64_t)d->count);
		gate_allow_line(&d->allow, &allow);
		if (allow.n)
			kv_name(c, w, "allow", buf_cstr(&allow));
		jw_end(w);
	}
	jw_end(w);
	if (v->denials_dropped)
		jw_kv_int(w, "denials_dropped", (int64_t)v->denials_dropped);
}

void facts_limits(struct jw *w, const char *key, const struct gate_verdict *v)
{
	jw_kv_array(w, key);
	for (size_t i = 0; i < v->limits.n; i++)
		jw_cstr(w, v->limits.item[i]);
	jw_end(w);
}

static void exec_row(struct cleaner *c, struct jw *w,
		     const struct gate_record *r)
{
	struct buf one = BUF_INIT(BUF_UNBOUNDED);

	jw_object(w);
	kv_cut_name(c, w, "path", r->path);
	kv_cut_name(c, w, "by", r->program);
	jw_kv_array(w, "args");
	for (size_t i = 0; i < r->args.n; i++) {
		buf_drop(&one, one.n);
		c->hits += scrub_cut(c->scrub, str_of(r->args.item[i]), &one);
		jw_str(w, buf_str(&one));
	}
	jw_end(w);
	jw_kv_int(w, "count", (int64_t)r->count);
	if (r->refused)
		jw_kv_bool(w, "refused", true);
	jw_end(w);
	buf_release(&one);
}

void facts_execs(struct cleaner *c, struct jw *w, const char *key,
		 const struct gate_verdict *v)
{
	bool any = false;

	for (size_t i = 0; i < v->n_records; i++)
		any |= v->records[i].what == GATE_RECORD_EXEC;
	if (!any)
		return;
	jw_kv_array(w, key);
	for (size_t i = 0; i < v->n_records; i++)
		if (v->records[i].what == GATE_RECORD_EXEC)
			exec_row(c, w, &v->records[i]);
	jw_end(w);
	if (v->records_dropped)
		jw_kv_int(w, "execs_dropped", (int64_t)v->records_dropped);
}

void facts_exit(struct jw *w, const struct gate_verdict *v)
{
	const char *name;
	char text[32];

	jw_kv_object(w, "exit");
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

static const char *how_it_ended(const struct gate_verdict *v,
				struct arena *arena)
{
	const char *name;

	if (v->exited)
		return arena_printf(arena, "exited with status %d",
				    v->exit_status);
	name = sigabbrev_np(v->signal);
	if (name)
		return arena_printf(arena, "was killed by SIG%s", name);
	return arena_printf(arena, "was killed by signal %d", v->signal);
}

const char *facts_say_end(const struct gate_verdict *v, struct arena *arena)
{
	const char *text = how_it_ended(v, arena);

	for (size_t i = 0; i < v->limits.n; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? "; " : ": ",
				    v->limits.item[i]);
	return text;
}

static void streams(struct jw *w, const struct child *child, uint64_t out_bytes)
{
	struct str tail = child_stderr(child);
	uint64_t total = child->err_tail.total;

	jw_kv_object(w, "stdout");
	jw_kv_int(w, "bytes", (int64_t)out_bytes);
	jw_end(w);
	jw_kv_object(w, "stderr");
	jw_kv_int(w, "bytes", (int64_t)total);
	jw_kv_int(w, "dropped", (int64_t)(total - tail.n));
	jw_kv_str(w, "tail", tail);
	jw_end(w);
}

void facts_child(struct cleaner *c, struct jw *w, const struct child *child,
		 uint64_t out_bytes)
{
	const struct gate_verdict *v = &child->verdict;
	const struct gate_child_info *info;

	kv_name(c, w, "program", child->program);
	jw_kv_int(w, "pid", child->pid);
	if (child->phase == CHILD_ENDED) {
		facts_exit(w, v);
		jw_kv_bool(w, "killed", child->killed);
		jw_kv_int(w, "cpu_us", (int64_t)v->cpu_us);
		jw_kv_int(w, "max_rss_bytes", (int64_t)v->max_rss_bytes);
	}
	streams(w, child, out_bytes);
	if (child->phase == CHILD_ENDED) {
		facts_limits(w, "limits", v);
		facts_denials(c, w, "denials", v);
		facts_execs(c, w, "execs", v);
	}
	info = gate_child_info(child->gate);
	facts_enforced(w, "enforced", info->facts, info->n_facts);
}
